//! Every figure, drawn from what is played now.

use super::figures;
use super::{lifelines, scene};
use spinpark::trace::State;

const SCENES: [(&str, &str); 11] = [
    ("figure-03", "3: G1 executes, and wants the network"),
    ("figure-04", "4: G1 waits in the poller, G2 executes"),
    ("figure-05", "5: G1 is back in a queue"),
    ("figure-06", "6: G1 executes, and is about to call"),
    ("figure-07", "7: M1 is blocked with G1, P is with M2"),
    ("figure-08", "8: the call is over, G1 is back in a queue"),
    ("figure-09", "9: nine Gs under two Ps"),
    ("figure-10", "10: nothing is left under P1"),
    ("figure-11", "11: P1 has stolen half of P2's queue"),
    ("figure-12", "12: P2 has nothing left, and P1 nothing to steal"),
    ("figure-13", "13: P2 has taken G9 from the global queue"),
];

/// Its name, and the picture.
pub(crate) type Drawn = (&'static str, String);

/// All fifteen.
pub(crate) fn all() -> Vec<Drawn> {
    let stages = [figures::network(), figures::syscall(), figures::stealing()].into_iter().flatten();
    let scenes = SCENES.into_iter().zip(stages).enumerate();
    let scenes = scenes.map(|(n, ((file, title), stage))| (file, scene::draw(title, &stage, n < 3)));
    scenes.chain(players()).collect()
}

fn players() -> [Drawn; 4] {
    let threads = lifelines::turns(&figures::threads(), ["T1", "T2"]);
    let goroutines = lifelines::turns(&figures::goroutines(), ["G1", "G2"]);
    let draw = |title, names, turns: &[_]| lifelines::draw(title, names, turns);
    [
        ("figure-14", draw("14: a message from thread to thread", ["T1", "T2"], &threads[..=until(&threads, 1)])),
        ("figure-15", draw("15: there and back, from thread to thread", ["T1", "T2"], &threads[..=until(&threads, 0)])),
        (
            "figure-16",
            draw("16: a message from goroutine to goroutine", ["G1", "G2"], &goroutines[..=until(&goroutines, 1)]),
        ),
        ("figure-17", draw("17: there and back, all on one M", ["G1", "G2"], &goroutines[..=until(&goroutines, 0)])),
    ]
}

/// The turn with which `who` executes, not counting the very first.
fn until(turns: &[lifelines::Turn], who: usize) -> usize {
    let executes = |turn: &lifelines::Turn| turn.who == who && turn.state == State::Executing;
    1 + turns[1..].iter().position(executes).expect("it is its turn again")
}
