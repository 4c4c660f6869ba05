//! Just before a P is idled, or an M ends: what comes concurrently, after the M has looked.
//!
//! The whole scheduler, played by one thread. Something happens while it asks a source, which is after it has looked
//! elsewhere. The transcript must say what follows, and nothing else.

use crate::harness::common::any_of;
use crate::harness::transcript::{Outside, S, begin, it_is, leave, numbers, one_runs, set, submit};
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::{self, Stepped, in_each_sleep, until_woken};
use crate::model::{Model, sc};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::protocol::stw::safepoint::SafepointFn;
use spinpark_kernel::protocol::work_source::{Waker, WorkSource};
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::ops::ControlFlow::Break;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// M0 runs G2. M1, which was sent for it, has yet to begin, and counts as one that looks.
fn one_runs_and_one_is_sent(sched: &S, outside: &Outside) -> Worker {
    let m0 = one_runs(sched);
    submit(sched, 2);
    let (m0, g) = sched.next(m0).expect("it is open");
    assert!(g.id() == 2 && sched.snapshot().nmspinning == 1, "it is the first to look there");
    outside.told();
    m0
}

/// M0 has found nothing in the global queue, when Gs come there. Either it is the only one, and goes on to look, or it
/// leaves that to another: then the submitter leaves it to that one too.
fn gs_come_behind_its_back<H: ModelHost>() -> String {
    let is_alone = any_of::<H, _>(&[true, false]);
    let gs = any_of::<H, _>(&[1, 2, 3, 4, 5]);
    let procs = if is_alone { 1 } else { 2 };
    let (sched, outside) = set(Config { ring: 8, ..numbers(procs) }, false);
    let m0 = if is_alone { one_runs(&sched) } else { one_runs_and_one_is_sent(&sched, &outside) };
    let theirs = Arc::clone(&outside);
    outside.when_looked_for(1, move |sched| {
        (11..11 + gs as u64).for_each(|n| submit(sched, n));
        theirs.told();
    });
    let (m0, g) = sched.next(m0).expect("it is open");
    assert_eq!(g.id(), 11, "the oldest comes first");

    let found = "M0 runs G11 under P0: Global";
    let expected: &[&str] = if is_alone { &["M0 spins", found, "M0 has sought"] } else { &[found] };
    assert_eq!(outside.told(), expected);
    // Its fair share, and not more than half a ring.
    let share = (gs / procs + 1).min(gs).min(4);
    let trace = sched.detailed_snapshot();
    assert_eq!((trace.snapshot.local[0], trace.snapshot.global), (share - 1, gs - share), "{gs} Gs, {procs} Ps");
    assert_eq!(trace.snapshot.idle_ps, 0, "it has kept its P");
    assert_eq!(trace.needspinning, is_alone && gs > 1, "one more is asked for, if there is more");
    leave(m0);
    if is_alone { "it has looked elsewhere" } else { "it has left that to another" }.to_owned()
}

/// M0 does not look at other Ps' rings, because another M does; which has found work when M0 is about to idle its P.
fn the_other_has_found_work<H: ModelHost>() -> String {
    let idle = any_of::<H, _>(&[0, 1]);
    let (sched, outside) = set(Config { order: SearchOrder::StealFirst, ..numbers(2 + idle) }, false);
    let m0 = one_runs_and_one_is_sent(&sched, &outside);
    let theirs = Arc::clone(&outside);
    outside.when_looked_for(1, move |sched| {
        theirs.gives(1, &[21]);
        leave(begin(sched));
        assert_eq!(sched.snapshot().nmspinning, 0, "no M looks any more");
        theirs.told();
    });
    let slept = in_each_sleep(|| sched.next(m0), |_| Break(()));
    assert!(slept.is_none(), "there is nothing to run");

    let called: &[&str] = if idle == 0 { &["M0 is called"] } else { &[] };
    let sought: &[&str] = if idle == 0 { &["M0 has sought"] } else { &[] };
    let expected = [called, &["M0 idles P0", "P0 is idle"], sought, &["M0 sleeps, 1 of 2"]].concat();
    assert_eq!(outside.told(), expected, "{idle} Ps were idle");
    if idle == 0 { "it looks after all" } else { "who comes next has a P to look with" }.to_owned()
}

/// M0's P is handed on, because its G blocks. Meanwhile a G begins to wait in the poller, or for a moment.
fn somebody_begins_to_wait<H: ModelHost>() -> String {
    let idle = any_of::<H, _>(&[0, 1]);
    // Before, or when it is asked for the nth time what there is to do.
    let nth = any_of::<H, _>(&[0, 1, 2]);
    let waits_for = any_of::<H, _>(&["nothing", "a socket", "a moment"]);
    let (sched, outside) = set(numbers(1 + idle), true);
    let m0 = one_runs(&sched);
    it_is(1);
    let theirs = Arc::clone(&outside);
    let begins = move |_: &S| match waits_for {
        "a socket" => theirs.awaits(true),
        "a moment" => theirs.is_due(0, 1_000),
        _ => (),
    };
    match nth {
        0 => begins(&sched),
        nth => outside.when_looked_for(nth, begins),
    }
    let away = sched.entersyscallblock(m0);

    let mut told = outside.told();
    told.retain(|what| !what.starts_with("Entered"));
    // An M is sent that will wait there; or that looks, for none could be sent when something comes.
    let is_sent = waits_for != "nothing" || idle == 0;
    assert_eq!(told, [if is_sent { "M1 starts" } else { "P0 is idle" }], "{waits_for}, {nth}, {idle}");
    assert_eq!(sched.snapshot().nmspinning, usize::from(idle == 0), "{waits_for}, {nth}, {idle}");
    leave(away);
    if is_sent { "one is sent" } else { "its P is idle" }.to_owned()
}

/// G1 waits for another of its scheduler. G2, the last that could do anything, ends with its M. Something may yet be due.
fn the_last_that_runs_ends<H: ModelHost>() -> String {
    let is_due = any_of::<H, _>(&[false, true]);
    // A third P is idle: no M is sent to look after the Ps that are handed on.
    let (sched, outside) = set(numbers(3), false);
    let m0 = one_runs(&sched);
    submit(&sched, 2);
    let m1 = begin(&sched);
    if is_due {
        it_is(1);
        outside.is_due(0, 1_000);
    }
    outside.told();
    let (m1, theirs) = (Mutex::new(Some(m1)), Arc::clone(&sched));
    let ends = move || theirs.end(m1.lock().ok().and_then(|mut m1| m1.take()).expect("it ends once"));
    let waits = || sched.park_bound(m0, Wake::Inside);
    let why = if is_due {
        let never = in_each_sleep(waits, move |_| {
            ends();
            Break(())
        });
        never.map(|(m0, why)| (leave(m0), why).1)
    } else {
        let ((m0, why), ()) = until_woken(waits, ends);
        leave(m0);
        Some(why)
    };
    assert_eq!(why, (!is_due).then_some(Woken::Deadlock), "something is due: {is_due}");
    let told = outside.told();
    assert_eq!(told.iter().any(|what| what.starts_with("Deadlock")), !is_due, "{told:?}");
    if is_due { "something is due" } else { "nobody is left" }.to_owned()
}

/// A source that expects work until it was asked so often, from then on it has some.
struct GetsWork(Arc<AtomicUsize>, Waker);

impl GetsWork {
    fn has_it_now(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

impl WorkSource for GetsWork {
    fn waker(&self) -> &Waker {
        &self.1
    }
    fn has_work(&self) -> bool {
        self.has_it_now()
    }
    fn take(&self, _: Option<PId>, _: &mut dyn FnMut(G)) {}
    fn is_expecting(&self) -> bool {
        !self.has_it_now()
    }
}

/// The only M's G waits for another of its scheduler, which a source has, or still expects. No second M may be started.
fn a_source_gets_its_work<H: ModelHost>() -> String {
    let nth = H::choose(8);
    Stepped::reset();
    let source = Arc::new(AtomicUsize::new(usize::MAX));
    let theirs = Arc::clone(&source);
    let config = Config { max_ms: 1, ..numbers(1) };
    let sched = Sched::<Stepped, ()>::with_sources(config, (), stepped::enter, |waker| {
        vec![Box::new(GetsWork(theirs, waker.clone()))]
    });
    let sched = sched.expect("these numbers are allowed");
    sched.submit(crate::harness::common::g(1)).expect("it is open");
    let m0 = Stepped::begin().expect("a thread was asked for");
    let (m0, _) = sched.next(m0).expect("it is open");
    source.store(nth, Relaxed);
    let (m0, why) = sched.park_bound(m0, Wake::Inside);
    leave(m0);
    assert!(why == Woken::NoThread, "there is work for it, or will be, and no M: {why:?}, asked {nth} times before");
    if nth == 0 { "it had some" } else { "it got some" }.to_owned()
}

/// G1 leaves G2 in its ring, and makes a call that blocks, while a function is to be run under each P.
fn a_safepoint_is_being_passed<H: ModelHost>() -> String {
    let has_work = any_of::<H, _>(&[false, true]);
    let (sched, outside) = set(numbers(3), false);
    let m0 = one_runs(&sched);
    submit(&sched, 2);
    let m1 = begin(&sched);
    outside.told();
    let ran = Arc::new(Mutex::new(Vec::new()));
    let (run, theirs, its) = (Arc::clone(&ran), Arc::clone(&sched), Arc::clone(&outside));
    let run: Arc<SafepointFn> = Arc::new(move |p: PId| run.lock().expect("one thread").push(p.0));
    let ms = Mutex::new(Some((m0, m1)));
    let (away, ()) = until_woken(
        || sched.for_each_p(None, &run),
        move || {
            let (mut m0, m1) = ms.lock().ok().and_then(|mut ms| ms.take()).expect("once");
            if has_work {
                theirs.goyield(&mut m0, crate::harness::common::g(11));
            }
            its.told();
            leave(theirs.entersyscallblock(m0));
            let told = its.told();
            let is_run = told.iter().any(|what| what.ends_with(" starts"));
            assert!(is_run == has_work, "there is work under P0: {has_work}; {told:?}");
            leave(theirs.entersyscallblock(m1));
        },
    );
    leave(away);
    let mut ran = std::mem::take(&mut *ran.lock().expect("one thread"));
    ran.sort_unstable();
    assert_eq!(ran, [0, 1, 2], "once under each");
    if has_work { "another M goes on" } else { "it is idle" }.to_owned()
}

/// The models.
pub(super) const MODELS: &[Model] = &[
    crate::model!("sched::who_idles_a_p_looks_again::gs_come_behind_its_back", gs_come_behind_its_back,
        claim: "an M that is about to idle its P takes its share of the Gs that came where it had looked, and keeps \
                the P",
        size: "one thread plays all: 1 M that looks, alone or beside one that is about to, 1 to 5 Gs; each of 10 cases",
        invariants: [1, 2, 4],
        must_reach: ["it has looked elsewhere", "it has left that to another"],
        runs: [sc()]),
    crate::model!("sched::who_idles_a_p_looks_again::the_other_has_found_work", the_other_has_found_work,
        claim: "an M that left the looking to another looks after all, if that one has found work and no P is idle",
        size: "one thread plays all: 2 Ms, 2 or 3 Ps; each of 2 cases",
        invariants: [2, 4],
        must_reach: ["it looks after all", "who comes next has a P to look with"],
        runs: [sc()]),
    crate::model!("sched::who_idles_a_p_looks_again::somebody_begins_to_wait", somebody_begins_to_wait,
        claim: "a P whose G blocks goes to an M that waits in the poller, if a G waits for that and no M is there",
        size: "one thread plays all: 1 M, 1 or 2 Ps, a poller, a timer; each of 18 cases",
        invariants: [2, 4, 28],
        must_reach: ["one is sent", "its P is idle"],
        runs: [sc()]),
    crate::model!("sched::a_deadlock_is_told::the_last_that_runs_ends", the_last_that_runs_ends,
        claim: "a G that waits for others of its scheduler is told when the last of them ends with its M, unless \
                something is due",
        size: "one thread plays all: 2 Ms, 3 Ps, 2 Gs; each of 2 cases",
        invariants: [19, 25],
        must_reach: ["something is due", "nobody is left"],
        runs: [sc()]),
    crate::model!("sched::a_deadlock_is_told::a_source_gets_its_work", a_source_gets_its_work,
        claim: "a source that gets the work it expects between two questions is not missed: no deadlock is told",
        size: "one thread plays all: 1 M, 1 P, a source; each of 8 cases",
        invariants: [19, 25],
        must_reach: ["it had some", "it got some"],
        runs: [sc()]),
    crate::model!("sched::who_idles_a_p_looks_again::a_safepoint_is_being_passed", a_safepoint_is_being_passed,
        claim: "an M that hands its P off while a function is to be run under each looks for work as ever",
        size: "one thread plays all: 2 Ms, 3 Ps, a safepoint; each of 2 cases",
        invariants: [18, 30],
        must_reach: ["another M goes on", "it is idle"],
        runs: [sc()]),
];
