//! What happens in the figures: each family is one run of a small program, on the deterministic runtime, with a recorder.
//!
//! A G that "executes for so long" pauses outside of any system call: its simulated thread does nothing, and keeps its P.

use spinpark::kernel::protocol::sources::SearchOrder;
use spinpark::trace::{Record, Recorder, Trace};
use spinpark::{Builder, Runtime, Wait, blocking, chan, deterministic, lock_thread, syscall, time};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A seed whose temper disturbs nothing: with it the order is the one that the scheduler itself keeps.
pub(crate) const SEED: u64 = 1;

/// Figures 14 and 15's: T1 comes back under another P, as it does there.
pub(crate) const THREADS: u64 = 58;

/// The names of Gs. A trace numbers Gs in the order in which they are made; the figures do not.
#[derive(Clone, Default)]
struct Cast(Arc<Mutex<Vec<&'static str>>>);

impl Cast {
    /// The next G that is made is called so.
    fn enters(&self, name: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(name);
    }

    /// Another goroutine, made by the one that calls this.
    fn go(&self, name: &'static str, f: impl FnOnce() + Send + 'static) {
        self.enters(name);
        drop(spinpark::go(f));
    }

    fn names(&self) -> Vec<&'static str> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What was played, and the players.
pub(crate) struct Play {
    pub(crate) trace: Trace,
    names: Vec<&'static str>,
}

impl Play {
    /// What the figures call the G with this number.
    pub(crate) fn name(&self, g: u64) -> &'static str {
        self.names[g as usize - 1]
    }

    /// How many records there are until that happens to `name` for the first time, with that one.
    pub(crate) fn until(&self, name: &str, happens: impl Fn(&Record) -> bool) -> usize {
        let is = |record: &Record| record.g.is_some_and(|g| self.name(g) == name) && happens(record);
        1 + self
            .trace
            .records()
            .iter()
            .position(is)
            .unwrap_or_else(|| panic!("it never happens to {name}:\n{}", self.trace))
    }
}

/// Plays `program` to its end.
fn play(builder: Builder, program: impl FnOnce(&Runtime, &Cast)) -> Play {
    let (recorder, cast) = (Recorder::new(), Cast::default());
    let runtime = builder.record(&recorder).build().expect("a runtime");
    program(&runtime, &cast);
    drop(runtime);
    Play { trace: recorder.trace(), names: cast.names() }
}

/// The one who made it executes for so long.
fn executes(micros: u64) {
    deterministic::pause(Duration::from_micros(micros));
}

/// With stacks for goroutines, as Go's have them.
pub(crate) fn builder() -> Builder {
    // SAFETY: nothing that the figures play holds anything of its thread across a wait.
    unsafe { Runtime::builder().stackful_goroutines() }
}

fn one_p(seed: u64) -> Builder {
    builder().procs(1).global_every(0).deterministic(seed)
}

type Part = Box<dyn FnOnce() + Send>;

/// G1 does this, G2 that; G3 and G4 wait behind them, and do a little.
fn four(runtime: &Runtime, cast: &Cast, g1: impl FnOnce() + Send + 'static, g2: impl FnOnce() + Send + 'static) {
    let parts: [(&'static str, Part); 4] = [
        ("G1", Box::new(g1)),
        ("G2", Box::new(g2)),
        ("G3", Box::new(|| executes(10))),
        ("G4", Box::new(|| executes(10))),
    ];
    let all = parts.map(|(name, part)| {
        cast.enters(name);
        runtime.go(part)
    });
    all.into_iter().for_each(|one| one.join().expect("no panic"));
}

/// Figures 3 to 5: G1 waits for the network, G2 executes meanwhile. There are no sockets in a deterministic runtime; a
/// timer is waited for in the same place, by the same M, in the same state.
pub(crate) fn the_network_poller(seed: u64) -> Play {
    play(one_p(seed), |runtime, cast| {
        let g1 = || {
            executes(10);
            time::sleep(Duration::from_micros(200)).wait();
        };
        four(runtime, cast, g1, || executes(5_000));
    })
}

/// Figures 6 to 8: G1 makes a system call that blocks M1. When all is over, G5 makes one too, while G6 waits.
pub(crate) fn a_blocking_system_call(seed: u64) -> Play {
    play(one_p(seed), |runtime, cast| {
        let g1 = || {
            executes(10);
            syscall(|| deterministic::pause(Duration::from_micros(500)));
        };
        four(runtime, cast, g1, || executes(2_000));
        cast.enters("G5");
        let g5 = runtime.go(|| blocking(|| deterministic::pause(Duration::from_micros(500))));
        cast.enters("G6");
        let g6 = runtime.go(|| executes(10));
        [g5, g6].into_iter().for_each(|one| one.join().expect("no panic"));
    })
}

/// Figures 9 to 13: P1 has nothing left, and steals; P2 has nothing left, finds nothing at P1, and looks into the global
/// queue.
///
/// Two Gs that are in no figure fill the queues: what a G makes last is the next to run, so each is over when the figure's
/// first G begins. The order of the search is the figures' (Go looks into the global queue first, today), and the global
/// queue has no turns, so that G9 stays where it is drawn.
pub(crate) fn work_stealing(seed: u64, order: SearchOrder) -> Play {
    let builder = builder().procs(2).order(order).global_every(0).deterministic(seed);
    play(builder, |runtime, cast| {
        let fill = |gs: [(&'static str, u64); 4]| {
            let cast = cast.clone();
            cast.enters("");
            runtime.go(move || {
                executes(100); // until the other one executes too
                gs.into_iter().for_each(|(name, micros)| cast.clone().go(name, move || executes(micros)));
            })
        };
        let p1 = fill([("G4", 10), ("G6", 10), ("G8", 10), ("G2", 100)]);
        let p2 = fill([("G3", 10), ("G5", 1_000), ("G7", 10), ("G1", 300)]);
        [p1, p2].into_iter().for_each(|one| one.join().expect("no panic"));
        cast.enters("G9");
        runtime.go(|| executes(500)).join().expect("no panic");
    })
}

/// A ball that two players send to and fro, `rounds` times.
fn ping_pong(runtime: &Runtime, cast: &Cast, names: [&'static str; 2], rounds: usize, is_locked: bool) {
    let (ping, pinged) = chan::bounded(1);
    let (pong, ponged) = chan::bounded(1);
    cast.enters(names[1]);
    let second = runtime.go(move || {
        let lock = is_locked.then(|| lock_thread().expect("it is a task"));
        for _ in 0..rounds {
            pinged.recv().wait().expect("a ping");
            pong.try_send(()).expect("there is room");
        }
        drop(lock);
    });
    cast.enters(names[0]);
    let first = runtime.go(move || {
        let lock = is_locked.then(|| lock_thread().expect("it is a task"));
        for _ in 0..rounds {
            ping.try_send(()).expect("there is room");
            ponged.recv().wait().expect("a pong");
        }
        drop(lock);
    });
    [first, second].into_iter().for_each(|one| one.join().expect("no panic"));
}

/// Figures 14 and 15: two threads of the system.
pub(crate) fn threads_that_play(seed: u64, rounds: usize) -> Play {
    play(one_p(seed).procs(3), |runtime, cast| ping_pong(runtime, cast, ["T1", "T2"], rounds, true))
}

/// Figures 16 and 17: two goroutines.
pub(crate) fn goroutines_that_play(builder: Builder, rounds: usize) -> Play {
    play(builder, |runtime, cast| ping_pong(runtime, cast, ["G1", "G2"], rounds, false))
}
