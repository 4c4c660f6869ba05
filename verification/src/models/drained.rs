//! Models of streams that are not tried where it is known that there is no more: a task that reads beside the other end and the M
//! that polls.

use crate::harness::common::any_of;
use crate::harness::drained::{Stream, read_all, read_one};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, sc, sc_cut};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::waits::drained::LAST;
use spinpark_kernel::waits::readiness::{Direction, Entry, Interest, Source};
use std::sync::Arc;

/// So much is read at once.
const BUFFER: u64 = 2;

/// The other end sends, and then the end, in one or in two reports.
fn the_end_with_the_bytes<H: ModelHost>() -> String {
    main_plays("reader");
    let sent = any_of::<H, _>(&[1, BUFFER]);
    let is_one_report = H::choose(2) == 0;
    let stream = Stream::<H>::new(1);
    let m = {
        let stream = Arc::clone(&stream);
        H::fork("M", move || {
            stream.comes(sent);
            if !is_one_report {
                stream.poll();
            }
            stream.ends();
            stream.poll();
        })
    };
    let (got, tries) = read_all(&stream, BUFFER);
    H::join(m);
    stream.check_at_rest();
    assert!(got == sent, "{sent} were sent, {got} were read before the end");
    format!("tried {tries}")
}

/// The other end sends twice.
fn bytes_after_a_short_read<H: ModelHost>() -> String {
    main_plays("reader");
    let first = any_of::<H, _>(&[1, BUFFER]);
    let stream = Stream::<H>::new(1);
    let m = {
        let stream = Arc::clone(&stream);
        H::fork("M", move || {
            stream.comes(first);
            stream.poll();
            stream.comes(1);
            stream.poll();
            stream.ends();
            stream.poll();
        })
    };
    let (got, tries) = read_all(&stream, BUFFER);
    H::join(m);
    stream.check_at_rest();
    assert!(got == first + 1, "{} were sent, {got} were read before the end", first + 1);
    format!("tried {tries}")
}

/// Two tasks read one byte each; what one of them has found out, the other goes by.
fn two_that_read<H: ModelHost>() -> String {
    main_plays("reader");
    let stream = Stream::<H>::new(2);
    let m = {
        let stream = Arc::clone(&stream);
        H::fork("M", move || {
            stream.comes(2);
            stream.poll();
        })
    };
    let other = {
        let stream = Arc::clone(&stream);
        H::fork("other", move || read_one(&stream, 1))
    };
    let tries = read_one(&stream, 0) + H::join(other);
    H::join(m);
    stream.check_at_rest();
    format!("tried {tries}")
}

/// The runtime ends after a short read, as more comes that is not reported.
fn a_close_after_a_short_read<H: ModelHost>() -> String {
    main_plays("reader");
    let stream = Stream::<H>::new(1);
    stream.comes(1);
    stream.poll();
    let closer = {
        let stream = Arc::clone(&stream);
        H::fork("closer", move || {
            stream.comes(1);
            stream.ends();
            stream.close();
        })
    };
    let (got, tries) = read_all(&stream, BUFFER);
    H::join(closer);
    stream.check_at_rest();
    assert!(got == 2, "{got} were read, and 2 are there");
    format!("tried {tries}")
}

/// A socket that is armed already, or never has to be.
struct Armed;

impl Source for Armed {
    type Error = std::convert::Infallible;
    fn arm(&self, _: Interest) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// What is known of a direction.
#[derive(Debug, Default, Clone, Copy)]
struct Known {
    reports: u64,
    is_last: bool,
    drained_at: Option<u64>,
}

impl Known {
    fn tick(self) -> u64 {
        self.reports | if self.is_last { LAST } else { 0 }
    }
}

/// Reports, the end among them, tries that found no more, then or a report ago, and the end of the runtime: in one direction, as seen in
/// both.
fn moved_by_hand<H: ModelHost>() -> String {
    const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];
    let is_armed_each_time = H::choose(2) == 1;
    let entry = Entry::<H, Armed, u64>::new(is_armed_each_time);
    entry.open(Armed);
    let at = H::choose(2);
    let mut known = [Known::default(); 2];
    let (mut nobody, mut was) = (Vec::new(), false);
    let only = |is_so: bool| Interest { read: is_so && at == 0, write: is_so && at == 1 };
    for _ in 0..4 {
        let of = &mut known[at];
        match H::choose(5) {
            n @ 0..2 => {
                (of.reports, of.is_last) = (of.reports + 1, of.is_last || n == 1);
                let Ok(()) = entry.take_ready(only(true), only(n == 1), &mut nobody);
            }
            n @ 2..4 => {
                let seen = of.tick().wrapping_sub(n as u64 - 2);
                let is_drained = !is_armed_each_time && seen & LAST == 0;
                of.drained_at = if is_drained { Some(seen) } else { of.drained_at };
                entry.set_drained(BOTH[at], seen);
            }
            _ => {
                known.iter_mut().for_each(|known| known.is_last = true);
                entry.close(&mut nobody);
            }
        }
        for (known, direction) in known.into_iter().zip(BOTH) {
            let (told, tick) = (!known.is_last && known.drained_at == Some(known.tick()), entry.ticks(direction));
            assert!(tick == known.tick(), "{direction:?}: the tick is {tick:x}: {known:x?}");
            assert!(entry.is_drained(direction, tick) == told, "{direction:?}, drained: not {told}, {known:x?}");
            was |= told;
        }
    }
    assert!(nobody.is_empty(), "no task waited");
    format!("drained: {was}")
}

const END: &str = "readiness::a_drained_stream_is_waited_for::the_end_with_the_bytes";
const SHORT: &str = "readiness::a_drained_stream_is_waited_for::bytes_after_a_short_read";
const TWO: &str = "readiness::a_drained_stream_is_waited_for::two_that_read";
const CLOSE: &str = "readiness::a_drained_stream_is_waited_for::a_close_after_a_short_read";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("readiness::a_drained_stream_is_waited_for::the_end_with_the_bytes", the_end_with_the_bytes,
        claim: "a task that has read fewer bytes than it asked for waits without a try, and misses neither the end that came with \
            them nor one that comes later",
        size: "2 threads, 1 stream, 1 or 2 bytes and the end, in 1 or 2 reports",
        invariants: [78],
        must_reach: ["tried 2", "tried 3", "tried 4"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::a_drained_stream_is_waited_for::bytes_after_a_short_read", bytes_after_a_short_read,
        claim: "a task that waits without a try is woken by what comes after the read that was short",
        size: "2 threads, 1 stream, 2 or 3 bytes and the end, 3 reports",
        invariants: [78],
        must_reach: ["tried 2", "tried 3", "tried 4"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::a_drained_stream_is_waited_for::two_that_read", two_that_read,
        claim: "what one task has found out of a stream another goes by, and misses nothing",
        size: "3 threads, 1 stream, 2 bytes, 1 report",
        invariants: [78],
        must_reach: ["tried 2", "tried 3", "tried 4"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::a_drained_stream_is_waited_for::a_close_after_a_short_read", a_close_after_a_short_read,
        claim: "after the runtime's end nothing is drained: what is there is read, though it is reported no more",
        size: "2 threads, 1 stream, 2 bytes and the end",
        invariants: [78],
        must_reach: ["tried 2", "tried 3"],
        runs: [rc11(), sc()]),
    crate::model!("readiness::a_drained_stream_is_waited_for::moved_by_hand", moved_by_hand,
        claim: "a direction is drained at the tick at which a try has found so, unless the end was reported, or the runtime has ended",
        size: "1 thread, every 4 moves: a report, one of the end, a try that finds no more, a late one, a close; armed each time or for ever",
        invariants: [78],
        must_reach: ["drained: true", "drained: false"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "readiness";
    "readiness-forgets-the-end": "the poller does not say that the end was reported",
        variant("readiness-forgets-the-end"), by END => [Rc11, Sc];
    "readiness-drained-at-the-tick-after-the-try": "a task asks for the tick at which there is no more when it has tried already",
        variant("readiness-drained-at-the-tick-after-the-try"), by SHORT => [Rc11];
    "readiness-a-full-read-drains": "a task that has read as many bytes as it asked for waits without a try",
        variant("readiness-a-full-read-drains"), by TWO => [Rc11, Sc];
    "readiness-drained-after-the-close": "a task that knows that there is no more does not try, though the runtime has ended",
        variant("readiness-drained-after-the-close"), by CLOSE => [Rc11, Sc];
};
