//! What the monitor does with each P.

use crate::harness::common::{any_of, g};
use crate::harness::transcript::{S, leave, numbers, one_runs, set, submit};
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::{Stepped, for_ever, until_woken};
use spinpark_kernel::host::{Host, Nanos};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::stw::safepoint::SafepointFn;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::protocol::sysmon::{SHORTEST, SLICE};
use spinpark_kernel::types::p::PId;
use std::sync::{Arc, Mutex};

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
struct Sighting {
    when: Nanos,
    dispatches: u32,
    call: Option<u32>,
}

/// For how long it has been seen like this.
fn seen_for<T: PartialEq>(seen: &[Sighting], what: impl Fn(&Sighting) -> T) -> Nanos {
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
fn verdict(seen: &[Sighting], has_work: bool, somebody_looks: bool) -> Verdict {
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

/// A P with its M.
struct Played {
    doing: Doing,
    worker: Option<Worker>,
    away: Option<Away>,
    /// So many Gs were dispatched under it, and so many calls were made, as far as it matters here.
    now: Sighting,
    seen: Vec<Sighting>,
    /// Which slice was asked to end.
    asked: Option<u32>,
}

impl Played {
    /// `n`: the number of a G that is not in use.
    fn does(&mut self, sched: &S, n: u64) {
        let mut worker = self.worker.take().expect("it runs");
        match self.doing {
            Doing::Idle => return for_ever(|| sched.next(worker)),
            Doing::Runs => return self.worker = Some(worker),
            Doing::Calls { has_work: false } => (),
            Doing::Calls { has_work: true } => sched.goyield(&mut worker, g(n)), // no M is woken for it
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
    let (now, around) = (Stepped::now(), sched.snapshot());
    let somebody_looks = around.idle_ps + around.nmspinning > 0;
    let (mut idle, mut spinning_ms, mut sleeping, mut alive) =
        (around.idle_ps, around.nmspinning, around.sleeping, around.alive);
    let mut told: Vec<String> = (0..2).map(|n| format!("source {n} ticks at {now}")).collect();
    for (n, p) in ps.iter_mut().enumerate().filter(|(_, p)| p.doing != Doing::Idle) {
        p.seen.push(Sighting { when: now, ..p.now });
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
        // It is run by another M, if there is work or no M would look for any; else it is idle.
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
pub(super) fn three_looks<H: ModelHost>() -> String {
    looks::<H>(0, 0)
}

/// The same, and both counters of each P wrap around when it goes on.
pub(super) fn three_looks_at_the_wrap<H: ModelHost>() -> String {
    looks::<H>(u32::MAX, u32::MAX - 1)
}

fn looks<H: ModelHost>(takings: u32, dispatches: u32) -> String {
    let all = [Doing::Idle, Doing::Runs, Doing::Calls { has_work: false }, Doing::Calls { has_work: true }];
    let doing = [0; 2].map(|_| any_of::<H, _>(&all));
    let gaps = [0; 2].map(|_| any_of::<H, _>(&[SHORTEST, SLICE - 1, SLICE]));
    let goes_on = any_of::<H, _>(&[false, true]);

    let (sched, outside) = set(numbers(2), true);
    sched.counters_start_at(takings, dispatches);
    let now = Sighting { when: 0, dispatches: 1, call: None };
    let begun = |n: u64| {
        submit(&sched, n + 1);
        let worker = Some(crate::harness::transcript::begin(&sched));
        Played { doing: doing[n as usize], worker, away: None, now, seen: Vec::new(), asked: None }
    };
    let mut ps = [0, 1].map(begun);
    // Those that idle first: they would steal.
    for is_idle in [true, false] {
        let now = ps.iter_mut().enumerate().filter(|(_, p)| (p.doing == Doing::Idle) == is_idle);
        now.for_each(|(n, p)| p.does(&sched, 11 + n as u64));
    }
    let (mut watch, mut outcome) = (sched.watch(), Vec::new());
    for (nth, gap) in [1, gaps[0], gaps[1]].into_iter().enumerate() {
        Stepped::pass(gap);
        if nth == 2 && goes_on {
            ps[0].goes_on(&sched);
        }
        outside.told();
        let expected = expect(&sched, &mut ps);
        let retook = sched.tick(&mut watch, Stepped::now());
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

/// G1 has run for a slice. An observer that sees the preemption request, and signals its thread, makes it see the
/// request.
pub(super) fn one_signal<H: ModelHost>() -> String {
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
pub(super) fn one_interrupted<H: ModelHost>() -> String {
    let wanted = any_of::<H, _>(&[Wanted::No, Wanted::ToStop, Wanted::ForASafepoint]);
    let (sched, outside) = set(numbers(2), true);
    submit(&sched, 1);
    let m0 = crate::harness::transcript::begin(&sched);
    submit(&sched, 2);
    let m1 = crate::harness::transcript::begin(&sched);
    outside.told();
    let (theirs, its) = (Arc::clone(&sched), Arc::clone(&outside));
    let meanwhile = move || {
        let away = theirs.interrupt(m0);
        let retook = theirs.tick(&mut theirs.watch(), Stepped::now());
        assert_eq!(retook, wanted != Wanted::No, "it is taken at once, if it is wanted");
        let told = its.told();
        assert_eq!(told.iter().filter(|what| *what == "P0 is retaken").count(), usize::from(retook), "{told:?}");
        leave(away);
        // An M that is wanted, and enters a call, gives its P itself.
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
            let (away, ()) = until_woken(|| sched.for_each_p(None, &run), meanwhile);
            leave(away);
            assert_eq!(*ran.lock().expect("one thread"), [0, 1], "once under each");
        }
    }
    format!("{wanted:?}")
}

/// M0 runs G1 under the only P, or is done. For G2, which is submitted, so many threads are refused.
pub(super) fn refusals<H: ModelHost>() -> String {
    let refused = 1 + H::choose(3);
    let (sched, outside) = set(numbers(1), true);
    Stepped::refuse(refused);
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
        sched.tick(&mut watch, Stepped::now());
        let tries: &[&str] = match look {
            look if look < refused => &["M0 starts", "Refused", "P0 is idle", "M0 ends", "0 of 0 sleep"],
            look if look == refused => &["M0 starts"],
            _ => &[],
        };
        assert_eq!(outside.told()[2..], *tries, "it tries again at each look until there is one");
    }
    assert_eq!(Stepped::suspended(), 1);
    format!("{refused} refused")
}
