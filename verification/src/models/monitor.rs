//! Models of `monitor`: when it looks, what it does then with each P, and how it ends. One thread plays the monitor and all
//! Ms of a whole scheduler, each in its turn; what is enumerated is what the monitor meets.
//!
//! How long it should nap is told from the list of its looks, and what it should do with a P from the list of what it
//! has seen of that; both as Go's monitor is described.

use crate::checker::diary::{Outside, S, leave, numbers, one_runs, set, submit};
use crate::harness::common::{any_of, g};
use crate::hosts::model_host::ModelHost;
use crate::hosts::solo::Solo;
use crate::hosts::staged::{Staged, for_ever, in_each_sleep, unless_gone, until_woken, vanish};
use crate::model::{Model, sc};
use crate::mutation::mutant::Mutant;
use spinpark::host::{Host, Nanos};
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::stw::safepoint::SafepointFn;
use spinpark::kernel::protocol::syscall::Away;
use spinpark::kernel::protocol::sysmon::{CALM, LONGEST, PATIENCE, QUIET, SHORTEST, SLICE, SOON};
use spinpark::kernel::sched::config::Config;
use spinpark::kernel::sched::stw::StoppedWorld;
use spinpark::kernel::types::p::PId;
use std::cell::RefCell;
use std::ops::ControlFlow::{Break, Continue};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

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
    // Each time twice as long, when it has found nothing to take for long; but it looks soon whether who was asked obeys.
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

/// Who compares the monitor's naps and looks with what they should be.
struct Judge {
    sched: S,
    outside: Arc<Outside>,
    looks: Vec<Look>,
    /// When the last nap ended, was there nothing to see? `None`: it has yet to nap.
    is_quiet: Option<bool>,
    /// When that was to be.
    ends_at: Nanos,
    refused: u64,
    /// When the Ms fell asleep that may be ended, the first to fall asleep first. At least one always stays.
    asleep: Vec<(u32, Nanos)>,
}

impl Judge {
    fn new(sched: &S, outside: &Arc<Outside>) -> Self {
        let (sched, outside) = (Arc::clone(sched), Arc::clone(outside));
        Judge { sched, outside, looks: Vec::new(), is_quiet: None, ends_at: 0, refused: 0, asleep: Vec::new() }
    }

    /// Those end that have slept for long enough. Who?
    fn ends(&mut self) -> Vec<String> {
        let keep = self.sched.config().keep_alive;
        let mut told = Vec::new();
        while let [(m, since), _, ..] = self.asleep[..]
            && since.checked_add(keep).is_some_and(|end| end <= Staged::now())
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
        assert_eq!(Staged::now(), self.ends_at, "it naps until it is woken, or for as long as it should");
        let ends = self.ends();
        assert_eq!(
            told.drain(..ends.len().min(told.len())).collect::<Vec<_>>(),
            ends,
            "who has slept for long is ended"
        );
        if is_quiet && calm(&self.looks) == CALM as usize {
            let end = match self.asleep[..] {
                [(_, since), _, ..] => since.checked_add(self.sched.config().keep_alive),
                _ => None,
            };
            assert_eq!((nanos, &told[..]), (end.map(|end| end - Staged::now()), &[][..]), "it sleeps deeply");
            self.looks.clear();
            return;
        }
        let now = Staged::now();
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
    fn looks_next(&mut self, nanos: Option<Nanos>, nap: Nap) {
        self.ends_at = Staged::now() + if nap == Nap::Woken { 0 } else { nanos.unwrap_or(0) };
        let snapshot = self.sched.snapshot();
        // Who was refused a thread is to be tried for again.
        let is_refused = snapshot.refused > self.refused;
        self.refused = snapshot.refused;
        // Who fell asleep last is the first to be woken for a P.
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
struct Cast {
    sched: S,
    runs: Option<Worker>,
    away: Option<Away>,
    stopped: Option<StoppedWorld>,
}

impl Cast {
    fn act(&mut self, act: Act) {
        let sched = Arc::clone(&self.sched);
        match act {
            Act::Nothing => (),
            Act::Submit => submit(&sched, 7),
            Act::Refused(threads) => {
                Staged::refuse(threads);
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

    /// Nobody looks at them any more.
    fn go(&mut self) {
        leave((self.runs.take(), self.away.take(), self.stopped.take()));
    }
}

/// How a nap should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nap {
    /// When its time is over.
    Whole,
    /// At once: somebody wakes the monitor.
    Woken,
    /// Nobody looks at the monitor any more.
    Left,
}

/// The monitor's life. What happens in its `n`th nap, from 1, is `scenario`, which is told how long that would be.
fn lives(judge: Judge, mut scenario: impl FnMut(usize, Option<Nanos>) -> Nap + 'static) {
    judge.sched.start_sysmon().expect("a thread");
    let (mut judge, mut nth) = (judge, 0);
    let ended = in_each_sleep(Staged::begin, move |nanos| {
        nth += 1;
        judge.hears(nanos);
        match scenario(nth, nanos) {
            Nap::Left => return Break(()),
            nap => judge.looks_next(nanos, nap),
        }
        Continue(())
    });
    assert!(ended.is_none(), "it lives as long as the scheduler");
}

/// The monitor's life for so many naps. M0 runs G1 if `runs`. Each of `acts` is done in the nap of its number.
fn with_acts(procs: usize, runs: bool, naps: usize, acts: Vec<(usize, Act)>) {
    let (sched, outside) = set(numbers(procs), true);
    let runs = runs.then(|| one_runs(&sched));
    let cast = Rc::new(RefCell::new(Cast { sched: Arc::clone(&sched), runs, away: None, stopped: None }));
    let theirs = Rc::clone(&cast);
    lives(Judge::new(&sched, &outside), move |nth, nanos| {
        let now: Vec<Act> = acts.iter().filter(|(at, _)| *at == nth).map(|(_, act)| *act).collect();
        now.iter().for_each(|&act| theirs.borrow_mut().act(act));
        // Whoever takes an idle P wakes it from a deep sleep, and who starts the world.
        let is_woken = now.iter().any(|act| matches!(act, Act::Submit | Act::Refused(_) | Act::Start));
        match nanos {
            _ if nth == naps => Nap::Left,
            None if is_woken => Nap::Woken,
            None => Nap::Left,
            _ => Nap::Whole,
        }
    });
    cast.borrow_mut().go();
}

/// All is idle at first, or M0 runs G1. Two things happen, in two of eleven naps.
fn eleven_naps<H: ModelHost>() -> String {
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
fn eighty_naps<H: ModelHost>() -> String {
    let act = any_of::<H, _>(&[Act::Nothing, Act::Call, Act::Next, Act::Rest]);
    // It has not slowed down, or has; it has asked G1 to yield, or has asked it again.
    let nth = any_of::<H, _>(&[40, 53, 58, 60, 63, 70]);
    // A second P is idle.
    let procs = any_of::<H, _>(&[1, 2]);
    with_acts(procs, true, 80, vec![(nth, act)]);
    format!("{act:?}")
}

/// Some Ms have fallen asleep, one after the other, and the monitor ends those that have slept for long.
fn sleepers<H: ModelHost>() -> String {
    let keep = any_of::<H, _>(&[
        SHORTEST,
        QUIET + SHORTEST,
        // In its first deep sleep it has to wait for just 1 ns.
        SHORTEST + Nanos::from(CALM) * QUIET + 1,
        100 * QUIET,
        Nanos::MAX,
    ]);
    let gaps = [0; 2].map(|_| any_of::<H, _>(&[0, 1, keep.min(1_000 * QUIET) / 2]));
    let (sched, outside) = set(Config { procs: 3, keep_alive: keep, ..numbers(3) }, true);
    let busy: Vec<Worker> = (1..=3)
        .map(|n| {
            submit(&sched, n);
            crate::checker::diary::begin(&sched)
        })
        .collect();
    let mut busy = busy.into_iter();
    let (m0, m1, m2) = (busy.next().expect("M0"), busy.next().expect("M1"), busy.next().expect("M2"));
    let mut judge = Judge::new(&sched, &outside);
    judge.asleep = vec![(0, 1), (1, 1 + gaps[0]), (2, 1 + gaps[0] + gaps[1])];
    Solo::pass(1);
    let theirs = Arc::clone(&sched);
    let monitor = move || {
        Solo::pass(gaps[0]);
        for_ever(|| theirs.next(m1));
        Solo::pass(gaps[1]);
        for_ever(|| theirs.next(m2));
        assert_eq!(theirs.snapshot().sleeping, 3);
        outside.told();
        lives(judge, |_, nanos| if nanos.is_none() { Nap::Left } else { Nap::Whole });
        let left = theirs.snapshot().sleeping;
        assert_eq!(left, if keep == Nanos::MAX { 3 } else { 1 }, "one always stays");
        if left == 3 {
            vanish();
        }
    };
    let slept = unless_gone(|| until_woken(|| sched.next(m0), monitor));
    match slept {
        None => "all stay".to_owned(),
        Some((found, ())) => {
            assert!(found.is_none(), "M0 is told to end");
            assert_eq!(sched.snapshot().alive, 2, "M1 has yet to hear of it");
            "one stays".to_owned()
        }
    }
}

/// Two Ms sleep, and the monitor deeply until the first has slept for long; the world may be stopped. A G is submitted.
fn two_sleepers<H: ModelHost>() -> String {
    let is_stopped = any_of::<H, _>(&[false, true]);
    let submits = any_of::<H, _>(&[8, 9, 10, 11, 12]);
    let (sched, outside) = set(Config { keep_alive: 10 * QUIET, ..numbers(2) }, true);
    let ms = [1, 2].map(|n| {
        submit(&sched, n);
        crate::checker::diary::begin(&sched)
    });
    for m in ms {
        Solo::pass(1);
        for_ever(|| sched.next(m));
    }
    outside.told();
    let mut judge = Judge::new(&sched, &outside);
    judge.asleep = vec![(0, 1), (1, 2)];
    let theirs = Arc::clone(&sched);
    lives(judge, move |nth, _| {
        if nth == 4 && is_stopped {
            leave(theirs.stop_the_world(None));
        }
        if nth == submits {
            submit(&theirs, 3);
        }
        // Of the naps only this one is deep: the first that does not go to its end if a P is taken. A P that is held is not.
        let is_deep = nth == 10;
        match nth {
            15 => Nap::Left,
            _ if is_deep && nth == submits && !is_stopped => Nap::Woken,
            _ => Nap::Whole,
        }
    });
    if is_stopped { "it sleeps on" } else { "it is woken" }.to_owned()
}

/// The scheduler is closed when the monitor has yet to begin, or in one of ten naps, of which the last is deep if there is no
/// M. If M0 runs G1, it ends a while after that.
fn ten_naps<H: ModelHost>() -> String {
    let runs = any_of::<H, _>(&[false, true]);
    let closes = H::choose(11);
    let ends = if runs { (closes + H::choose(3)).max(1) } else { closes };
    let (sched, outside) = set(numbers(1), true);
    let mut worker = runs.then(|| one_runs(&sched));
    sched.start_sysmon().expect("a thread");
    let naps = Rc::new(RefCell::new(Vec::new()));
    let (slept, theirs) = (Rc::clone(&naps), Arc::clone(&sched));
    let life = move || {
        in_each_sleep(Staged::begin, move |nanos| {
            slept.borrow_mut().push(nanos);
            let nth = slept.borrow().len();
            assert!(nth <= ends, "all have ended, and it naps");
            if nth == closes {
                for_ever(|| theirs.close());
            }
            if nth == ends
                && let Some(worker) = worker.take()
            {
                assert!(theirs.next(worker).is_none(), "it is closed");
            }
            Continue(())
        })
    };
    let ended = if closes == 0 {
        until_woken(|| assert!(sched.close().is_empty()), life).1
    } else {
        let ended = life();
        assert!(sched.close().is_empty(), "nobody is waited for any more");
        ended
    };
    assert!(matches!(ended, Some(None)), "its thread ends");
    assert_eq!(naps.borrow().len(), ends, "it ends with the last M");
    // Who closes, and the M that ends last, end a nap.
    let naps = naps.take();
    let whole = naps.iter().zip(1..).filter(|(_, nth)| *nth != closes && *nth != ends);
    assert_eq!(whole.map(|(nap, _)| nap.unwrap_or_default()).sum::<Nanos>(), Staged::now(), "nobody else does");
    assert!(!outside.told().iter().any(|what| what == "interrupt"), "nobody waits in the poller");
    outside.announce(Staged::now());
    assert_eq!((outside.told().len(), Staged::suspended()), (0, 0), "nobody is sent to look any more");
    format!("after {ends} naps")
}

/// No thread can be had for the monitor. Who closes the scheduler does not wait for it.
fn no_thread<H: ModelHost>() -> String {
    let runs = any_of::<H, _>(&[false, true]);
    let (sched, _outside) = set(numbers(1), true);
    let worker = runs.then(|| one_runs(&sched));
    Staged::refuse(1);
    assert!(sched.start_sysmon().is_err(), "it is told so");
    assert_eq!(Staged::suspended(), 0);
    assert!(crate::hosts::staged::close(&sched, worker.into_iter().collect()).is_empty());
    if runs { "closed when M0 ended" } else { "closed at once" }.to_owned()
}

/// What a P is seen to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Nothing: it is idle.
    Idle,
    /// It runs a G.
    Runs,
    /// Its M is in a system call, and in its ring is a G, or none.
    Calls { has_work: bool },
}

/// A P at one look of the monitor's.
#[derive(Debug, Clone, Copy)]
struct Seen {
    when: Nanos,
    dispatches: u32,
    call: Option<u32>,
}

/// For how long it has been seen like this.
fn seen_for<T: PartialEq>(seen: &[Seen], what: impl Fn(&Seen) -> T) -> Nanos {
    let last = seen[seen.len() - 1];
    let same = seen.iter().rev().take_while(|seen| what(seen) == what(&last));
    same.last().map_or(0, |first| last.when - first.when)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Leave,
    Retake,
    Ask,
}

/// Go's rule. Each slice and each call lasts for some time before the monitor sees it.
fn verdict(seen: &[Seen], has_work: bool, somebody_looks: bool) -> Verdict {
    let slice_is_over = seen_for(seen, |seen| seen.dispatches) >= SLICE;
    let last = seen[seen.len() - 1];
    match last.call {
        None if slice_is_over => Verdict::Ask,
        None => Verdict::Leave,
        Some(_) => {
            let same_call = seen.len() > 1 && seen[seen.len() - 2].call == last.call;
            let is_needed = has_work || !somebody_looks || seen_for(seen, |seen| seen.call) >= SLICE;
            if (same_call || slice_is_over) && is_needed { Verdict::Retake } else { Verdict::Leave }
        }
    }
}

/// A P with whoever has it.
struct Played {
    doing: Doing,
    worker: Option<Worker>,
    away: Option<Away>,
    /// So many Gs were dispatched under it, and so many calls were made, as far as it matters here.
    now: Seen,
    seen: Vec<Seen>,
    /// Which slice was asked to end.
    asked: Option<u32>,
}

impl Played {
    /// `n`: the number of a G that nobody has.
    fn does(&mut self, sched: &S, n: u64) {
        let mut worker = self.worker.take().expect("it runs");
        match self.doing {
            Doing::Idle => return for_ever(|| sched.next(worker)),
            Doing::Runs => return self.worker = Some(worker),
            Doing::Calls { has_work: false } => (),
            Doing::Calls { has_work: true } => sched.goyield(&mut worker, g(n)), // nobody is woken for it
        }
        self.now.call = Some(0);
        self.away = Some(sched.entersyscall(worker));
    }

    /// It makes its next call, or runs its next G; unless its P was taken.
    fn goes_on(&mut self, sched: &S) {
        if matches!(self.doing, Doing::Calls { .. })
            && let Some(away) = self.away.take()
        {
            let (worker, _) = sched.exitsyscall_bound(away);
            self.now.call = self.now.call.map(|call| call + 1);
            self.away = Some(sched.entersyscall(worker));
        } else if let Some(mut worker) = self.worker.take() {
            sched.goyield(&mut worker, g(9));
            self.now.dispatches += 1;
            self.worker = sched.next(worker).map(|(worker, _)| worker);
        }
    }
}

/// What the monitor does at its next look at these Ps, told as it happens.
fn expect(sched: &S, ps: &mut [Played]) -> Vec<String> {
    let (now, around) = (Staged::now(), sched.snapshot());
    let somebody_looks = around.idle_ps + around.nmspinning > 0;
    let (mut idle, mut spinning_ms, mut sleeping, mut alive) =
        (around.idle_ps, around.nmspinning, around.sleeping, around.alive);
    let mut told: Vec<String> = (0..2).map(|n| format!("source {n} ticks at {now}")).collect();
    for (n, p) in ps.iter_mut().enumerate().filter(|(_, p)| p.doing != Doing::Idle) {
        p.seen.push(Seen { when: now, ..p.now });
        let has_work = matches!(p.doing, Doing::Calls { has_work: true });
        match verdict(&p.seen, has_work, somebody_looks) {
            Verdict::Leave => continue,
            Verdict::Ask => {
                let again = if p.asked.replace(p.now.dispatches) == Some(p.now.dispatches) { " again" } else { "" };
                told.push(format!("P{n} is asked{again}"));
                continue;
            }
            Verdict::Retake => told.push(format!("P{n} is retaken")),
        }
        // It is run by another M, if there is work or nobody would look for any; else it is idle.
        if !has_work && idle + spinning_ms > 0 {
            told.push(format!("P{n} is idle"));
            (idle, p.doing) = (idle + 1, Doing::Idle);
            continue;
        }
        // That M has yet to begin: the P looks as if a G ran for long.
        (p.doing, p.now.call, spinning_ms) = (Doing::Runs, None, spinning_ms + usize::from(!has_work));
        if sleeping > 0 {
            told.push(format!("M{} is woken", 1 - n));
            sleeping -= 1;
        } else {
            told.push(format!("M{alive} starts"));
            alive += 1;
        }
    }
    told
}

/// Two Ps, at which the monitor looks three times. Before the last time the first has gone on, or not.
fn three_looks<H: ModelHost>() -> String {
    let all = [Doing::Idle, Doing::Runs, Doing::Calls { has_work: false }, Doing::Calls { has_work: true }];
    let doing = [0; 2].map(|_| any_of::<H, _>(&all));
    let gaps = [0; 2].map(|_| any_of::<H, _>(&[SHORTEST, SLICE - 1, SLICE]));
    let goes_on = any_of::<H, _>(&[false, true]);

    let (sched, outside) = set(numbers(2), true);
    let now = Seen { when: 0, dispatches: 1, call: None };
    let begun = |n: u64| {
        submit(&sched, n + 1);
        let worker = Some(crate::checker::diary::begin(&sched));
        Played { doing: doing[n as usize], worker, away: None, now, seen: Vec::new(), asked: None }
    };
    let mut ps = [0, 1].map(begun);
    // Those who idle first: they would steal.
    for is_idle in [true, false] {
        let now = ps.iter_mut().enumerate().filter(|(_, p)| (p.doing == Doing::Idle) == is_idle);
        now.for_each(|(n, p)| p.does(&sched, 11 + n as u64));
    }
    let (mut watch, mut outcome) = (sched.watch(), Vec::new());
    for (nth, gap) in [1, gaps[0], gaps[1]].into_iter().enumerate() {
        Solo::pass(gap);
        if nth == 2 && goes_on {
            ps[0].goes_on(&sched);
        }
        outside.told();
        let expected = expect(&sched, &mut ps);
        let retook = sched.tick(&mut watch, Staged::now());
        assert_eq!(outside.told(), expected, "look {nth} at {doing:?}, {gaps:?} apart; goes on: {goes_on}");
        let is_of_p = |what: &String| what.contains(" is asked") || what.contains(" is retaken");
        assert_eq!(retook, expected.iter().any(|what| what.ends_with("is retaken")), "it says whether it has");
        outcome.extend(expected.into_iter().filter(is_of_p));
    }
    for p in ps {
        let asked = p.worker.as_ref().map(|worker| sched.is_preempted(worker));
        assert!(
            asked.is_none_or(|asked| asked == (p.asked == Some(p.now.dispatches))),
            "the G can see that it is asked"
        );
        leave((p.worker, p.away));
    }
    if outcome.is_empty() { "left alone".to_owned() } else { outcome.join(", ") }
}

/// G1 has run for a slice. Who hears that it is asked to yield, and signals its thread, has it see so.
fn one_signal<H: ModelHost>() -> String {
    let late = any_of::<H, _>(&[0, 1, SLICE]);
    let (sched, outside) = set(numbers(1), true);
    let m0 = Arc::new(Mutex::new(Some(one_runs(&sched))));
    let (mut watch, theirs) = (sched.watch(), Arc::clone(&m0));
    let is_needspinning = |sched: &S, m0: &Mutex<Option<Worker>>| {
        let m0 = m0.lock().expect("one thread");
        m0.as_ref().is_some_and(|m0| sched.is_preempted(m0) && sched.should_yield(m0))
    };
    sched.tick(&mut watch, 1);
    outside.when_told("P0 is asked", move |sched| {
        assert!(is_needspinning(sched, &theirs), "the G that is signalled sees why")
    });
    sched.tick(&mut watch, SLICE);
    assert!(!is_needspinning(&sched, &m0), "its slice is not over");
    sched.tick(&mut watch, 1 + SLICE + late);
    assert!(is_needspinning(&sched, &m0) && outside.told().ends_with(&["P0 is asked".to_owned()]));
    leave(m0.lock().expect("one thread").take());
    "asked".to_owned()
}

/// Why every P is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    No,
    ToStop,
    ForASafepoint,
}

/// G1 is interrupted under P0 while G2 runs under P1; then the monitor looks for the first time.
fn one_interrupted<H: ModelHost>() -> String {
    let wanted = any_of::<H, _>(&[Wanted::No, Wanted::ToStop, Wanted::ForASafepoint]);
    let (sched, outside) = set(numbers(2), true);
    submit(&sched, 1);
    let m0 = crate::checker::diary::begin(&sched);
    submit(&sched, 2);
    let m1 = crate::checker::diary::begin(&sched);
    outside.told();
    let (theirs, its) = (Arc::clone(&sched), Arc::clone(&outside));
    let meanwhile = move || {
        let away = theirs.interrupt(m0);
        let retook = theirs.tick(&mut theirs.watch(), Staged::now());
        assert_eq!(retook, wanted != Wanted::No, "it is taken at once, if it is wanted");
        let told = its.told();
        assert_eq!(told.iter().filter(|what| *what == "P0 is retaken").count(), usize::from(retook), "{told:?}");
        leave(away);
        // Who is wanted, and enters a call, gives its P itself.
        leave(theirs.entersyscall(m1));
    };
    let ran = Arc::new(Mutex::new(Vec::new()));
    match wanted {
        Wanted::No => meanwhile(),
        Wanted::ToStop => {
            let (stopped, ()) = until_woken(|| sched.stop_the_world(None), meanwhile);
            assert_eq!(sched.snapshot().held, 2);
            leave(sched.start_the_world(stopped));
        }
        Wanted::ForASafepoint => {
            let theirs = Arc::clone(&ran);
            let run: Arc<SafepointFn> = Arc::new(move |p: PId| theirs.lock().expect("one thread").push(p.0));
            let (away, ()) = until_woken(|| sched.for_each_p(None, run), meanwhile);
            leave(away);
            assert_eq!(*ran.lock().expect("one thread"), [0, 1], "once under each");
        }
    }
    format!("{wanted:?}")
}

/// M0 runs G1 under the only P, or is done. For G2, which is submitted, so many threads are refused.
fn refusals<H: ModelHost>() -> String {
    let refused = 1 + H::choose(3);
    let (sched, outside) = set(numbers(1), true);
    Staged::refuse(refused);
    submit(&sched, 2);
    let mut watch = sched.watch();
    for look in 1..=4 {
        let snapshot = sched.snapshot();
        let tried = look.min(refused);
        assert_eq!(
            (snapshot.refused as usize, snapshot.global, snapshot.alive),
            (tried, 1, usize::from(look > refused))
        );
        outside.told();
        sched.tick(&mut watch, Staged::now());
        let tries: &[&str] = match look {
            look if look < refused => &["M0 starts", "Refused", "P0 is idle", "M0 ends", "0 of 0 sleep"],
            look if look == refused => &["M0 starts"],
            _ => &[],
        };
        assert_eq!(outside.told()[2..], *tries, "it tries again at each look until there is one");
    }
    assert_eq!(Staged::suspended(), 1);
    format!("{refused} refused")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("monitor::comes_when_go_would::eleven_naps", eleven_naps,
        claim: "the monitor naps shortly, longer while there is nothing to see, and then until it is woken, which it is",
        size: "one thread plays all: the monitor, 1 P; each of 9 pairs of events in each two of 11 naps",
        invariants: [32, 43],
        must_reach: ["Nothing, Submit", "Refused(2)", "Stop, Start", "Rest, Submit", "Next, Call"],
        runs: [sc()]),
    crate::model!("monitor::comes_when_go_would::eighty_naps", eighty_naps,
        claim: "the monitor comes ever later, sooner if a G should yield, and soon again if anything happens",
        size: "one thread plays all: the monitor, 1 M, 1 or 2 Ps; each of 4 events in each of 6 of 80 naps",
        invariants: [43],
        must_reach: ["Nothing", "Call", "Next", "Rest"],
        runs: [sc()]),
    crate::model!("monitor::ends_ms_that_sleep_for_long::three_sleepers", sleepers,
        claim: "an M that has slept for as long as it may is ended, not earlier, the first to fall asleep first, never the last",
        size: "one thread plays all: the monitor, 3 Ms; each of 5 times they may sleep, 9 orders of falling asleep",
        invariants: [32],
        must_reach: ["one stays", "all stay"],
        runs: [sc()]),
    crate::model!("monitor::ends_ms_that_sleep_for_long::two_sleepers", two_sleepers,
        claim: "who takes an idle P ends the monitor's deep sleep, and no nap; who finds none, since the world is stopped, does not",
        size: "one thread plays all: the monitor, 2 Ms, a stopper; a G is submitted in each of 5 of 15 naps",
        invariants: [32],
        must_reach: ["it is woken", "it sleeps on"],
        runs: [sc()]),
    crate::model!("monitor::ends_with_the_last_m::ten_naps", ten_naps,
        claim: "when the scheduler is closed the monitor ends with the last M, however long it would nap",
        size: "one thread plays all: the monitor, no M or 1; closed in each of 10 naps, and before; 44 ends",
        invariants: [36],
        must_reach: ["after 0 naps", "after 1 naps", "after 10 naps", "after 12 naps"],
        runs: [sc()]),
    crate::model!("monitor::ends_with_the_last_m::no_thread", no_thread,
        claim: "if there is no thread for the monitor, who closes the scheduler does not wait for it",
        size: "one thread plays all: no M or 1",
        invariants: [36],
        must_reach: ["closed when M0 ended", "closed at once"],
        runs: [sc()]),
    crate::model!("monitor::does_with_each_p_what_go_would::three_looks", three_looks,
        claim: "a P is taken out of a call, or its G asked to yield, when Go would; what is taken is run, or idle",
        size: "one thread plays all: 2 Ps, each in one of 4 states; 3 looks, each of 9 times apart; 288 plays",
        invariants: [20, 21, 43],
        must_reach: ["P0 is asked, P1 is asked, P0 is asked again, P1 is asked again", "P0 is retaken, P1 is retaken"],
        runs: [sc()]),
    crate::model!("monitor::does_with_each_p_what_go_would::one_signal", one_signal,
        claim: "when it is said that a G is asked to yield, it can see so",
        size: "one thread plays all: 1 P, 1 M; 3 looks, the last of which is late, or not",
        invariants: [43],
        must_reach: ["asked"],
        runs: [sc()]),
    crate::model!("monitor::does_with_each_p_what_go_would::one_interrupted", one_interrupted,
        claim: "a P whose G was interrupted is taken at the monitor's first look if a stop or a safepoint wants it",
        size: "one thread plays all: 2 Ms, 2 Ps, a stopper; each of 3 wishes",
        invariants: [41],
        must_reach: ["No", "ToStop", "ForASafepoint"],
        runs: [sc()]),
    crate::model!("monitor::tries_again::refusals", refusals,
        claim: "a thread that was refused is asked for at each look of the monitor, until there is one, and then no more",
        size: "one thread plays all: 1 P; 1, 2 or 3 refusals, 4 looks",
        invariants: [30],
        must_reach: ["1 refused", "3 refused"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
