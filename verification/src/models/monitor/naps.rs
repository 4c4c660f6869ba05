//! How long the monitor naps, told from its looks.

use crate::harness::common::{any_of, g};
use crate::harness::transcript::{Outside, S, leave, numbers, one_runs, set, submit};
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::{Stepped, for_ever, in_each_sleep};
use spinpark_kernel::host::{Host, Nanos};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::protocol::sysmon::{CALM, LONGEST, PATIENCE, QUIET, SHORTEST, SOON};
use spinpark_kernel::sched::stw::StoppedWorld;
use std::cell::RefCell;
use std::ops::ControlFlow::{Break, Continue};
use std::rc::Rc;
use std::sync::Arc;

/// What came of a look of the monitor's at all Ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// There was nothing to see.
    Quiet,
    /// It took a P out of a call.
    Retook,
    /// It asked a G to yield, which it had not before.
    Asked,
    /// Nothing of that.
    Nothing,
}

/// For how long it naps after these looks, the first of which came after it began, or after it was woken.
fn nap_after(looks: &[Look]) -> Nanos {
    match looks.last() {
        None | Some(Look::Retook) => return SHORTEST,
        Some(Look::Quiet) => return QUIET,
        _ => (),
    }
    // Each time twice as long, when it has found nothing to take for long; but it looks soon whether the preempted G
    // obeys.
    let anew = looks.iter().rposition(|look| matches!(look, Look::Quiet | Look::Retook)).map_or(0, |last| last + 1);
    let later = |nap: Nanos, (looks, look): (usize, &Look)| {
        let nap = if looks >= PATIENCE as usize { (nap * 2).min(LONGEST) } else { nap };
        if *look == Look::Asked { nap.min(SOON) } else { nap }
    };
    looks[anew..].iter().enumerate().fold(SHORTEST, later)
}

/// How many naps there were with nothing to see, up to now.
fn calm(looks: &[Look]) -> usize {
    looks.iter().rev().take_while(|look| **look == Look::Quiet).count()
}

/// Compares the monitor's naps and looks with what they should be.
pub(super) struct NapChecker {
    sched: S,
    outside: Arc<Outside>,
    looks: Vec<Look>,
    /// When the last nap ended, was there nothing to see? `None`: it has yet to nap.
    is_quiet: Option<bool>,
    /// When that was to be.
    ends_at: Nanos,
    refused: u64,
    /// When the Ms fell asleep that may be ended, the first to fall asleep first. At least one always stays.
    pub(super) asleep: Vec<(u32, Nanos)>,
}

impl NapChecker {
    pub(super) fn new(sched: &S, outside: &Arc<Outside>) -> Self {
        let (sched, outside) = (Arc::clone(sched), Arc::clone(outside));
        NapChecker { sched, outside, looks: Vec::new(), is_quiet: None, ends_at: 0, refused: 0, asleep: Vec::new() }
    }

    /// Those end that have slept for long enough. Which?
    fn ends(&mut self) -> Vec<String> {
        let keep = self.sched.config().keep_alive;
        let mut told = Vec::new();
        while let [(m, since), _, ..] = self.asleep[..]
            && since.checked_add(keep).is_some_and(|end| end <= Stepped::now())
        {
            told.push(format!("M{m} is woken"));
            self.asleep.remove(0);
        }
        told
    }

    /// The monitor begins to nap, for `nanos`. `None`: until it is woken.
    fn hears(&mut self, nanos: Option<Nanos>) {
        let mut told = self.outside.told();
        let Some(is_quiet) = self.is_quiet else {
            assert_eq!((nanos, told.len()), (Some(SHORTEST), 0), "it naps before it looks");
            return;
        };
        assert_eq!(Stepped::now(), self.ends_at, "it naps until it is woken, or for as long as it should");
        let ends = self.ends();
        assert_eq!(
            told.drain(..ends.len().min(told.len())).collect::<Vec<_>>(),
            ends,
            "the Ms that have slept for long are ended"
        );
        if is_quiet && calm(&self.looks) == CALM as usize {
            let end = match self.asleep[..] {
                [(_, since), _, ..] => since.checked_add(self.sched.config().keep_alive),
                _ => None,
            };
            assert_eq!((nanos, &told[..]), (end.map(|end| end - Stepped::now()), &[][..]), "it sleeps deeply");
            self.looks.clear();
            return;
        }
        let now = Stepped::now();
        let ticks: Vec<String> = (0..2).map(|n| format!("source {n} ticks at {now}")).collect();
        assert!(told.starts_with(&ticks) && !told[2..].iter().any(|what| what.contains("ticks")), "one look: {told:?}");
        let has = |what: &str| told.iter().any(|told| told.ends_with(what));
        self.looks.push(match is_quiet {
            true => Look::Quiet,
            _ if has("is retaken") => Look::Retook,
            _ if has("is asked") => Look::Asked,
            _ => Look::Nothing,
        });
        assert_eq!(nanos, Some(nap_after(&self.looks)), "after these looks: {:?}", self.looks);
    }

    /// Its nap of `nanos` goes to its end, or it was woken.
    fn looks_next(&mut self, nanos: Option<Nanos>, nap: NapEnd) {
        self.ends_at = Stepped::now() + if nap == NapEnd::Woken { 0 } else { nanos.unwrap_or(0) };
        let snapshot = self.sched.snapshot();
        // A start that was refused a thread is to be tried again.
        let is_refused = snapshot.refused > self.refused;
        self.refused = snapshot.refused;
        // The M that fell asleep last is the first to be woken for a P.
        self.asleep.truncate(snapshot.sleeping);
        let all = |ps| ps == snapshot.procs;
        self.is_quiet = Some(all(snapshot.idle_ps) && !is_refused || all(snapshot.held));
        self.outside.told();
    }
}

/// What others do while the monitor naps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Nothing,
    /// Submit a G.
    Submit,
    /// The same, and so many threads are refused.
    Refused(usize),
    /// The M that runs a G has nothing more to do.
    Rest,
    /// It enters a system call.
    Call,
    /// It runs another G.
    Next,
    /// The world is stopped, from outside or by the G that runs,
    Stop,
    /// and goes on.
    Start,
}

/// The Ms.
pub(super) struct Ms {
    sched: S,
    runs: Option<Worker>,
    away: Option<Away>,
    stopped: Option<StoppedWorld>,
}

impl Ms {
    fn act(&mut self, act: Act) {
        let sched = Arc::clone(&self.sched);
        match act {
            Act::Nothing => (),
            Act::Submit => submit(&sched, 7),
            Act::Refused(threads) => {
                Stepped::refuse(threads);
                submit(&sched, 7);
            }
            Act::Rest => for_ever(|| sched.next(self.runs.take().expect("one runs"))),
            Act::Call => self.away = self.runs.take().map(|worker| sched.entersyscall(worker)),
            Act::Next => {
                let mut worker = self.runs.take().expect("one runs");
                sched.goyield(&mut worker, g(7));
                self.runs = sched.next(worker).map(|(worker, _)| worker);
            }
            Act::Stop => {
                // Its P has work: when the world goes on, no idle P is taken.
                self.runs.iter_mut().for_each(|worker| sched.goyield(worker, g(8)));
                self.stopped = Some(sched.stop_the_world(self.runs.take()));
            }
            Act::Start => self.away = sched.start_the_world(self.stopped.take().expect("it was stopped")),
        }
    }

    /// They are not looked at any more.
    fn go(&mut self) {
        leave((self.runs.take(), self.away.take(), self.stopped.take()));
    }
}

/// How a nap should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NapEnd {
    /// When its time is over.
    Whole,
    /// At once: the monitor is woken.
    Woken,
    /// The monitor is not looked at any more.
    Left,
}

/// The monitor's life. What happens in its `n`th nap, from 1, is `scenario`, which is told how long that would be.
pub(super) fn lives(checker: NapChecker, mut scenario: impl FnMut(usize, Option<Nanos>) -> NapEnd + 'static) {
    checker.sched.start_sysmon().expect("a thread");
    let (mut checker, mut nth) = (checker, 0);
    let ended = in_each_sleep(Stepped::begin, move |nanos| {
        nth += 1;
        checker.hears(nanos);
        match scenario(nth, nanos) {
            NapEnd::Left => return Break(()),
            nap => checker.looks_next(nanos, nap),
        }
        Continue(())
    });
    assert!(ended.is_none(), "it lives as long as the scheduler");
}

/// The monitor's life for so many naps. M0 runs G1 if `runs`. Each of `acts` is done in the nap of its number.
fn with_acts(procs: usize, runs: bool, naps: usize, acts: Vec<(usize, Act)>) {
    let (sched, outside) = set(numbers(procs), true);
    let runs = runs.then(|| one_runs(&sched));
    let ms = Rc::new(RefCell::new(Ms { sched: Arc::clone(&sched), runs, away: None, stopped: None }));
    let theirs = Rc::clone(&ms);
    lives(NapChecker::new(&sched, &outside), move |nth, nanos| {
        let now: Vec<Act> = acts.iter().filter(|(at, _)| *at == nth).map(|(_, act)| *act).collect();
        now.iter().for_each(|&act| theirs.borrow_mut().act(act));
        // A taker of an idle P wakes it from a deep sleep, and so does the starter of the world.
        let is_woken = now.iter().any(|act| matches!(act, Act::Submit | Act::Refused(_) | Act::Start));
        match nanos {
            _ if nth == naps => NapEnd::Left,
            None if is_woken => NapEnd::Woken,
            None => NapEnd::Left,
            _ => NapEnd::Whole,
        }
    });
    ms.borrow_mut().go();
}

/// All is idle at first, or M0 runs G1. Two things happen, in two of eleven naps.
pub(super) fn eleven_naps<H: ModelHost>() -> String {
    const NAPS: usize = 11;
    let (runs, first, second) = any_of::<H, _>(&[
        (false, Act::Nothing, Act::Submit),
        (false, Act::Refused(1), Act::Nothing),
        (false, Act::Refused(2), Act::Nothing),
        (false, Act::Stop, Act::Start),
        (true, Act::Rest, Act::Submit),
        (true, Act::Rest, Act::Refused(1)),
        (true, Act::Rest, Act::Stop),
        (true, Act::Next, Act::Call),
        (true, Act::Stop, Act::Start),
    ]);
    let early = 1 + H::choose(NAPS - 1);
    let late = early + 1 + H::choose(NAPS - early);
    with_acts(1, runs, NAPS, vec![(early, first), (late, second)]);
    format!("{first:?}, {second:?}")
}

/// M0 runs G1, on and on. Then something happens.
pub(super) fn eighty_naps<H: ModelHost>() -> String {
    let act = any_of::<H, _>(&[Act::Nothing, Act::Call, Act::Next, Act::Rest]);
    // It has not slowed down, or has; it has asked G1 to yield, or has asked it again.
    let nth = any_of::<H, _>(&[40, 53, 58, 60, 63, 70]);
    // A second P is idle.
    let procs = any_of::<H, _>(&[1, 2]);
    with_acts(procs, true, 80, vec![(nth, act)]);
    format!("{act:?}")
}
