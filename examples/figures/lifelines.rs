//! Two players as lifelines: what each of them does, one record below the other, and the messages between them.

use super::scenarios::Play;
use super::svg::{FAINT, INK, PAPER, RUNS, Svg, WAITS};
use spinpark::trace::{Record, State, What};

const XS: [i32; 2] = [180, 480];
const TOP: i32 = 130;
const ROW: i32 = 66;

/// What one of the two does from now on.
pub(crate) struct Turn {
    /// The first player, or the second.
    pub(crate) who: usize,
    pub(crate) state: State,
    /// Where, if it executes.
    pub(crate) m: Option<u32>,
    pub(crate) p: Option<u32>,
    /// The player that brought it about.
    by: Option<usize>,
}

/// Everything the two do, from the first time that the first of them executes and the other one waits.
pub(crate) fn turns(play: &Play, names: [&str; 2]) -> Vec<Turn> {
    let who = |g: u64| names.iter().position(|&name| name == play.name(g));
    let turn = |record: &Record| {
        let (m, p) = (record.m, record.p);
        Some(Turn { who: who(record.g?)?, state: record.state()?, m, p, by: record.by.and_then(who) })
    };
    let records = play.trace.records();
    let first_waits = |record: &&Record| matches!(record.what, What::Waiting { .. } | What::Syscall { .. });
    let begins = records.iter().position(|record| first_waits(&record)).expect("one of them waits");
    let all = records[begins + 1..].iter().filter_map(turn);
    all.skip_while(|turn| !(turn.who == 0 && turn.state == State::Executing)).collect()
}

/// The first `many` of them, under this title.
pub(crate) fn draw(title: &str, names: [&str; 2], turns: &[Turn]) -> String {
    let mut svg = Svg::new(660);
    let low = TOP + ROW * turns.len() as i32;
    svg.title(title);
    for (x, name) in XS.into_iter().zip(names) {
        svg.triangle(x, 46, INK, name);
        svg.line([x, 104, x, low + 10], FAINT);
    }
    label(&mut svg, 1, TOP, &Turn { who: 1, state: State::Waiting(""), m: None, p: None, by: None });
    turns.iter().zip(0..).for_each(|(turn, n)| label(&mut svg, turn.who, TOP + ROW * n, turn));
    (0..turns.len()).for_each(|n| message(&mut svg, turns, n));
    svg.end(low + 20)
}

fn label(svg: &mut Svg, who: usize, y: i32, turn: &Turn) {
    let (ink, words) = match turn.state {
        State::Executing => (RUNS, "executing"),
        State::Runnable => (WAITS, "runnable"),
        _ => (FAINT, "waiting"),
    };
    svg.rect([XS[who] - 52, y, 104, 32], ink, PAPER);
    svg.text(XS[who], y + 21, ink, words);
    if turn.state == State::Executing
        && let (Some(m), Some(p)) = (turn.m, turn.p)
    {
        let side = if who == 0 { XS[0] - 105 } else { XS[1] + 105 };
        svg.text(side, y + 21, ink, &format!("M{} · P{}", m + 1, p + 1));
    }
}

/// A goroutine is runnable as soon as it has its message. When a thread was woken the trace does not say, that is the
/// system's; so the arrow leads to the beginning of the receiver's turn.
fn message(svg: &mut Svg, turns: &[Turn], n: usize) {
    let turn = &turns[n];
    let y = TOP + ROW * n as i32 + 16;
    let wakes = turn.state == State::Runnable && turn.by.is_some();
    let follows = n > 0 && turn.state == State::Executing && is_waiting(&turns[n - 1]) && turns[n - 1].who != turn.who;
    let had = turns[..n].iter().rev().find(|other| other.who == turn.who);
    let was_woken = had.is_some_and(|had| had.state == State::Runnable);
    if !wakes && (!follows || was_woken) {
        return;
    }
    let sends = |other: &Turn| other.who != turn.who && other.state == State::Executing;
    let sent = turns[..n].iter().rposition(sends).expect("a sender executes");
    let from_y = TOP + ROW * sent as i32 + 16;
    let (out, into) = if turn.who == 1 { (XS[0] + 53, XS[1] - 56) } else { (XS[1] - 53, XS[0] + 56) };
    svg.arrow([out, from_y, into, y], INK);
    svg.text((out + into) / 2, (from_y + y) / 2 - 26, INK, "message");
}

fn is_waiting(turn: &Turn) -> bool {
    matches!(turn.state, State::Waiting(_) | State::Syscall)
}
