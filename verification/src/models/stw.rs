//! Models of `stw`, `safepoint`, `wanted` and `resize`: first with the smallest scheduler around the rooms, then with
//! the real one.
//!
//! A P is a cell that only its owner may touch. While the world is stopped the stopper touches all of them, so a P that
//! was counted without being held is seen.

use crate::engines::Engine;
use crate::harness::common::{any_of, party};
use crate::harness::stw::Tiny;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, rc11_cut, sampled, sc, tso};
use crate::mutation::mutant::{Mutant, Mutation};
use spinpark::atomic::Atomic;
use spinpark::host::Parker;
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::stw::resize::procresize;
use spinpark::kernel::protocol::stw::safepoint::{Safepoint, SafepointFn};
use spinpark::kernel::protocol::stw::wanted::{Want, Wanted};
use spinpark::kernel::protocol::syscall::Way;
use spinpark::kernel::sched::config::Config;
use spinpark::kernel::sched::observer::Event;
use spinpark::kernel::types::m::{MId, NextP};
use spinpark::kernel::types::p::{OwnedP, PId};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The M of `p` is about to find its next G: runs one, unless it sees that the world is to stop; then idles its P.
fn runs_one_and_idles<H: ModelHost>(tiny: &Tiny<H>, p: OwnedP) -> bool {
    let ran = !tiny.wanted.is(Want::Stop);
    if ran {
        tiny.run(&p);
    }
    tiny.release(p);
    ran
}

fn an_m_enters_a_system_call_and_blocks<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(1, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| tiny.block(OwnedP::forge(PId(0))));
    tiny.stop(0, &Tiny::<H>::bed());
    tiny.start();
    tiny.io.unpark();
    let way = H::join(m);
    tiny.judge();
    format!("{}, back: {way:?}", if tiny.gave_up.load(Relaxed) { "its M gave it up" } else { "the stopper took it" })
}

fn one_idles_and_one_enters_a_system_call<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(2, 0);
    let caller = party::<H, _, _>("caller", &tiny, |tiny| tiny.block(OwnedP::forge(PId(0))));
    let idler = party::<H, _, _>("idler", &tiny, |tiny| runs_one_and_idles(tiny, OwnedP::forge(PId(1))));
    tiny.stop(0, &Tiny::<H>::bed());
    tiny.start();
    tiny.io.unpark();
    let way = H::join(caller);
    let ran = H::join(idler);
    tiny.judge();
    format!("ran {ran}, gave up {}, back: {way:?}", tiny.gave_up.load(Relaxed))
}

fn the_p_lies_in_nextp<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(1, 0);
    let giver = party::<H, _, _>("giver", &tiny, |tiny| {
        let p = OwnedP::forge(PId(0));
        tiny.run(&p);
        tiny.m.wake_with(NextP::Run { p, token: None });
    });
    let taker = party::<H, _, _>("taker", &tiny, |tiny| match tiny.m.wait_nextp() {
        NextP::Run { p, .. } => runs_one_and_idles(tiny, p),
        NextP::Exit => unreachable!("nobody sent an exit"),
    });
    tiny.stop(0, &Tiny::<H>::bed());
    tiny.start();
    H::join(giver);
    let ran = H::join(taker);
    tiny.judge();
    format!("ran {ran}")
}

/// An M whose G makes `n` system calls. Returns how many it came back from with its P.
fn calls<H: ModelHost>(tiny: &Tiny<H>, n: u32) -> u32 {
    let mut p = OwnedP::forge(PId(0));
    for made in 0..n {
        tiny.run(&p);
        let asked = tiny.is_needspinning();
        let back = tiny.enter(MId(0), p).and_then(|away| tiny.come_back(away));
        p = match back {
            Some((p, way)) => {
                assert!(way != Way::Kept || !asked, "a system call after the stop was asked for, and the P is kept");
                p
            }
            None => return made,
        };
    }
    tiny.release(p);
    n
}

fn one_system_call_after_another<H: ModelHost>() -> String {
    main_plays("stopper");
    let tiny = Tiny::<H>::new(1, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| calls(tiny, 3));
    tiny.stop(0, &Tiny::<H>::bed());
    tiny.start();
    let made = H::join(m);
    tiny.judge();
    format!("came back {made} times")
}

fn two_stoppers_and_an_m<H: ModelHost>() -> String {
    main_plays("stopper 1");
    let tiny = Tiny::<H>::new(1, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| calls(tiny, 1));
    let two = party::<H, _, _>("stopper 2", &tiny, |tiny| {
        tiny.stop(2, &Tiny::<H>::bed());
        tiny.start();
    });
    tiny.stop(1, &Tiny::<H>::bed());
    tiny.start();
    let made = H::join(m);
    H::join(two);
    tiny.judge();
    let first = tiny.served()[0];
    format!("came back {made} times, first {first}")
}

fn one_stops_again_and_again<H: ModelHost>() -> String {
    main_plays("stopper 1");
    let tiny = Tiny::<H>::new(0, 0);
    let two = party::<H, _, _>("stopper 2", &tiny, |tiny| tiny.stop_at_once(2));
    for _ in 0..2 {
        tiny.stop_at_once(1);
    }
    H::join(two);
    tiny.judge();
    format!("{:?}", tiny.served())
}

fn one_is_idle_and_one_enters_a_system_call<H: ModelHost>() -> String {
    main_plays("caller");
    let tiny = Tiny::<H>::new(2, 1);
    let m = party::<H, _, _>("m", &tiny, |tiny| tiny.block(OwnedP::forge(PId(0))));
    tiny.for_each_p(None);
    tiny.io.unpark();
    let way = H::join(m);
    tiny.judge();
    format!("{}, back: {way:?}", if tiny.gave_up.load(Relaxed) { "its M gave it up" } else { "the caller took it" })
}

fn one_is_the_callers_and_one_runs<H: ModelHost>() -> String {
    main_plays("caller");
    let tiny = Tiny::<H>::new(2, 0);
    let m = party::<H, _, _>("m", &tiny, |tiny| {
        let p = OwnedP::forge(PId(1));
        let before = tiny.passed[1].get();
        tiny.run(&p);
        // Its next scheduling point, and then there is nothing to run.
        tiny.attend(&p);
        let between = tiny.passed[1].get();
        tiny.run(&p);
        tiny.release(p);
        (before, between)
    });
    tiny.for_each_p(Some(OwnedP::forge(PId(0))));
    let (before, between) = H::join(m);
    assert!(before == 0, "it ran under a P that was somebody's");
    tiny.judge();
    if between == 1 { "at its scheduling point" } else { "when its P was idle, or about to be" }.to_owned()
}

fn four_operations_on_bits<H: ModelHost>() -> String {
    const ALL: [Want; 3] = [Want::Stop, Want::Safepoint, Want::Close];
    let (wanted, mut told) = (Wanted::<H>::new(), Vec::new());
    for step in 0..=4 {
        let is_end = told.contains(&Want::Stop) || told.contains(&Want::Close);
        assert!(wanted.any() != told.is_empty(), "{told:?} is wanted: anything? {}", wanted.any());
        assert!(wanted.is_end() == is_end, "{told:?} is wanted: is that the end? {}", wanted.is_end());
        for want in ALL {
            assert!(wanted.is(want) == told.contains(&want), "{told:?} is wanted: {want:?}? {}", wanted.is(want));
        }
        if step == 4 {
            break;
        }
        let (want, is_needspinning) = (any_of::<H, _>(&ALL), H::choose(2) == 0);
        told.retain(|other| *other != want);
        if is_needspinning {
            wanted.ask(want);
            told.push(want);
        } else {
            wanted.done(want);
        }
    }
    format!("{} wanted", told.len())
}

/// A function that is to run under three Ps. Their owners come in any order, some of them twice.
fn five_come<H: ModelHost>() -> String {
    let run: Arc<SafepointFn> = Arc::new(|_| ());
    let mut safepoint = Safepoint::<H>::new(3, run, Arc::new(H::Parker::new()));
    let (mut begun, mut ended) = (Vec::new(), 0);
    for _ in 0..5 {
        // One of the Ps; one beyond them; or one ends.
        let n = H::choose(5);
        if n == 4 {
            if ended < begun.len() {
                ended += 1;
                let last = safepoint.ran().is_some();
                assert!(last == (ended == 3), "it has run under {ended} of 3 Ps: is the caller woken? {last}");
            }
        } else {
            let p = OwnedP::forge(PId(n as u32));
            let is_wanted = n < 3 && !begun.contains(&n);
            assert!(safepoint.wants(&p) == is_wanted, "begun under {begun:?}: has it yet to run under P{n}?");
            let begins = safepoint.begin(&p).is_some();
            assert!(begins == is_wanted, "begun under {begun:?}: does it begin under P{n}? {begins}");
            begun.extend(begins.then_some(n));
            p.discard();
        }
        assert!(safepoint.is_passed() == (ended == 3), "it has run under {ended} of 3 Ps");
    }
    format!("begun {}, ended {ended}", begun.len())
}

/// Four Ps, all held at first.
fn three_resizes<H: ModelHost>() -> String {
    let mut held: Vec<OwnedP> = (0..4).map(|p| OwnedP::forge(PId(p))).collect();
    let (mut spare, mut emptied) = (Vec::new(), 0);
    for _ in 0..3 {
        // Ps come to the stopper in any order.
        let turn = H::choose(2) * (held.len() - 1);
        held.rotate_left(turn);
        let (before, procs) = (held.len() as u32, 1 + H::choose(4));
        let mut ended = Vec::new();
        procresize(&mut held, &mut spare, procs, |p| ended.push(p.id().0));
        let numbers = |ps: &[OwnedP]| ps.iter().map(|p| p.id().0).collect::<std::collections::BTreeSet<u32>>();
        assert!(held.len() == procs && numbers(&held) == (0..procs as u32).collect(), "{held:?}, of {procs} Ps");
        assert!(numbers(&spare) == (procs as u32..4).collect(), "{spare:?} are spare, with {procs} Ps of 4");
        // The last first: what each puts before the global queue stands in the order of the Ps.
        let told: Vec<u32> = (procs as u32..before).rev().collect();
        assert!(ended == told, "emptied {ended:?}, not {told:?}");
        emptied += ended.len();
    }
    let left = held.len();
    held.into_iter().chain(spare).for_each(|p| {
        p.discard();
    });
    format!("{left} left, emptied {emptied}")
}

/// The real scheduler, with Gs that do as a model says. The models of other rooms have it too.
pub(super) mod real {
    use crate::checker::story::Story;
    use crate::harness::common::Tasks;
    use crate::hosts::model_host::{Cell, ModelHost};
    use spinpark::atomic::Atomic;
    use spinpark::host::Parker;
    use spinpark::kernel::protocol::find::Worker;
    use spinpark::kernel::protocol::locked::Woken;
    use spinpark::kernel::protocol::work_source::{Poller, Waker};
    use spinpark::kernel::sched::config::Config;
    use spinpark::kernel::sched::observer::{Event, Observer};
    use spinpark::kernel::sched::snapshot::Snapshot;
    use spinpark::kernel::sched::{Sched, Sources};
    use spinpark::kernel::types::g::G;
    use spinpark::kernel::types::p::PId;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use std::sync::{Arc, Mutex};

    /// Something that happens once, and can be waited for.
    pub(in crate::models) struct Sign<H: ModelHost> {
        is_put: Atomic<H, bool>,
        bed: H::Parker,
    }

    impl<H: ModelHost> Sign<H> {
        pub(in crate::models) fn new() -> Self {
            Sign { is_put: Atomic::new(false), bed: H::Parker::new() }
        }

        pub(in crate::models) fn put(&self) {
            self.is_put.store(true, Release);
            self.bed.unpark();
        }

        /// By one thread.
        pub(in crate::models) fn wait(&self) {
            // A park may wake spuriously.
            while !self.is_put.load(Acquire) {
                self.bed.park();
            }
        }
    }

    /// What a model adds to the embedder.
    pub(in crate::models) trait More: Send + Sync + 'static {
        /// It watches, too.
        fn event(&self, event: &Event<'_>) {
            let _ = event;
        }
    }

    impl More for () {}

    /// What G number `n` does under `worker`; what it ends with. `None`: its thread ends.
    pub(in crate::models) type Play<H, X> = fn(&On<H, X>, Worker, u64) -> Option<Worker>;

    /// A scheduler with its embedder.
    pub(in crate::models) type On<H, X> = Arc<Sched<H, Crew<H, X>>>;

    /// The embedder: what its Gs do, and who watches.
    pub(in crate::models) struct Crew<H: ModelHost, X: More> {
        play: Play<H, X>,
        tasks: Tasks<H>,
        /// How often each G ran. No part of what is checked, as all that is of `std` here.
        ran: Vec<AtomicU32>,
        /// Has every M fallen asleep since the main thread last looked?
        all_asleep: H::Parker,
        /// G1 runs.
        first_runs: Sign<H>,
        /// Is the world stopped? Who stops it writes it, Gs read it: never at the same time.
        stopped: H::Cell<bool>,
        /// One cell a P: only its owner uses it.
        used: Vec<H::Cell<bool>>,
        seen: Mutex<Seen>,
        pub(in crate::models) story: Story,
        pub(in crate::models) more: X,
    }

    /// What was reported.
    #[derive(Debug, Default, Clone)]
    pub(in crate::models) struct Seen {
        /// Those that were told that they wait for ever.
        pub(in crate::models) told: Vec<Woken>,
        /// How many tickets were found in a queue.
        pub(in crate::models) tickets: usize,
        pub(in crate::models) refused: usize,
        pub(in crate::models) stops: usize,
    }

    impl<H: ModelHost, X: More> Observer for Crew<H, X> {
        fn event(&self, event: Event<'_>) {
            self.story.hear(&event);
            let mut seen = self.seen.lock().unwrap();
            match &event {
                Event::Deadlock { why, .. } => seen.told.push(*why),
                Event::Refused => seen.refused += 1,
                Event::Found { g, .. } if g.bound().is_some() => seen.tickets += 1,
                Event::Stopped => seen.stops += 1,
                _ => (),
            }
            drop(seen);
            self.more.event(&event);
            match event {
                Event::Slept { sleeping, alive, .. } if sleeping == alive => self.all_asleep.unpark(),
                Event::Gone { .. } => self.all_asleep.unpark(),
                _ => (),
            }
        }
    }

    /// Small numbers.
    pub(in crate::models) fn small(procs: usize, max_ms: usize) -> Config {
        Config { procs, max_ms, ring: 2, steal_passes: 1, ..Config::default() }
    }

    impl<H: ModelHost, X: More> Crew<H, X> {
        /// Makes G `n`.
        pub(in crate::models) fn make(&self, n: u64) -> G {
            self.tasks.make(n)
        }

        /// `g` runs, or is given back, for the first time. Its number.
        pub(in crate::models) fn runs(&self, g: G) -> u64 {
            let n = self.tasks.run(g);
            assert!(self.ran[n as usize - 1].fetch_add(1, Relaxed) == 0, "G{n} runs twice");
            n
        }

        /// A G runs under `worker`'s P: nobody else does, and the world is not stopped.
        pub(in crate::models) fn uses(&self, worker: &Worker) {
            assert!(!self.stopped.get(), "a G runs, but the world is stopped");
            self.uses_p(worker.p());
        }

        pub(in crate::models) fn uses_p(&self, p: PId) {
            let used = &self.used[p.index()];
            assert!(!used.get(), "two use P{}", p.0);
            used.set(true);
            used.set(false);
        }

        /// For who has stopped the world, or is about to start it.
        pub(in crate::models) fn is_stopped(&self, yes: bool) {
            assert!(self.stopped.get() != yes, "two have stopped the world");
            self.stopped.set(yes);
        }

        pub(in crate::models) fn each_ran_once(&self) {
            for (i, ran) in self.ran.iter().enumerate() {
                assert!(ran.load(Relaxed) == 1, "all is quiet, but G{} did not run", i + 1);
            }
        }

        pub(in crate::models) fn seen(&self) -> Seen {
            self.seen.lock().unwrap().clone()
        }
    }

    fn life<H: ModelHost, X: More>(sched: &On<H, X>, mut worker: Worker) {
        let crew = sched.observer();
        while let Some((next, g)) = sched.next(worker) {
            let n = crew.runs(g);
            crew.uses(&next);
            if n == 1 {
                crew.first_runs.put();
            }
            match (crew.play)(sched, next, n) {
                Some(next) => worker = next,
                None => return,
            }
        }
    }

    /// A scheduler for `n` Gs, with no M yet.
    pub(in crate::models) fn open<H: ModelHost, X: More>(
        config: Config,
        n: u64,
        more: X,
        play: Play<H, X>,
    ) -> On<H, X> {
        open_with(config, n, more, play, |_| Vec::new())
    }

    /// The same, with sources.
    pub(in crate::models) fn open_with<H: ModelHost, X: More>(
        config: Config,
        n: u64,
        more: X,
        play: Play<H, X>,
        make: impl FnOnce(&Waker) -> Sources,
    ) -> On<H, X> {
        let crew = crew(&config, n, more, play);
        Sched::with_sources(config, crew, life, make).expect("the numbers are allowed")
    }

    /// The same, with a poller.
    pub(in crate::models) fn open_polling<H: ModelHost, X: More>(
        config: Config,
        n: u64,
        more: X,
        play: Play<H, X>,
        make: impl FnOnce(&Waker) -> (Sources, Box<dyn Poller>),
    ) -> On<H, X> {
        let crew = crew(&config, n, more, play);
        Sched::with_poller(config, crew, life, make).expect("the numbers are allowed")
    }

    fn crew<H: ModelHost, X: More>(config: &Config, n: u64, more: X, play: Play<H, X>) -> Crew<H, X> {
        Crew {
            play,
            tasks: Tasks::new(n as usize),
            ran: (0..n).map(|_| AtomicU32::new(0)).collect(),
            all_asleep: H::Parker::new(),
            first_runs: Sign::new(),
            stopped: Cell::new(false),
            used: (0..config.capacity()).map(|_| Cell::new(false)).collect(),
            seen: Mutex::default(),
            story: Story::default(),
            more,
        }
    }

    /// Submits Gs `from` to `to`.
    pub(in crate::models) fn submit<H: ModelHost, X: More>(sched: &On<H, X>, from: u64, to: u64) {
        for n in from..=to {
            assert!(sched.submit(sched.observer().make(n)).is_ok(), "the scheduler is open");
        }
    }

    /// Waits until G1 runs: what comes then is more likely to come between.
    pub(in crate::models) fn first_runs<H: ModelHost, X: More>(sched: &On<H, X>) {
        sched.observer().first_runs.wait();
    }

    /// Waits until every M sleeps, and asks the invariants of quiescence.
    pub(in crate::models) fn quiet<H: ModelHost, X: More>(sched: &On<H, X>) -> Snapshot {
        let snapshot = loop {
            sched.observer().all_asleep.park();
            let snapshot = sched.snapshot();
            // Who waits in the poller waits for something.
            if snapshot.is_quiescent() && snapshot.held == 0 && snapshot.polling == 0 {
                break snapshot;
            }
        };
        if let Some(violation) = snapshot.violation() {
            panic!("{violation}: {snapshot:?}");
        }
        assert!(snapshot.idle_ps == snapshot.procs, "every M sleeps, but a P is not idle: {snapshot:?}");
        snapshot
    }

    /// Waits until all is quiet, sees that each G ran once, and closes.
    pub(in crate::models) fn finish<H: ModelHost, X: More>(sched: &On<H, X>) -> Snapshot {
        let snapshot = quiet(sched);
        sched.observer().each_ran_once();
        sched.observer().story.closes();
        let left = sched.close();
        assert!(left.is_empty(), "{} Gs were given back that nobody submitted", left.len());
        snapshot
    }
}

use real::{More, On, Sign, finish, first_runs, open, small, submit};

/// A stop from outside: no G runs meanwhile.
fn stops<H: ModelHost, X: More>(sched: &On<H, X>) {
    let stopped = sched.stop_the_world(None);
    sched.observer().is_stopped(true);
    sched.observer().is_stopped(false);
    assert!(sched.start_the_world(stopped).is_none(), "the stopper was no M");
}

/// A G makes a system call.
fn calls_once<H: ModelHost, X: More>(sched: &On<H, X>, worker: Worker) -> (Worker, Way) {
    let away = sched.entersyscall(worker);
    let (worker, way) = sched.exitsyscall_bound(away);
    sched.observer().uses(&worker);
    (worker, way)
}

fn one_g_makes_a_system_call<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &On<H, ()>, worker: Worker, _: u64) -> Option<Worker> {
        Some(calls_once(sched, worker).0)
    }
    let sched = open::<H, ()>(small(1, 2), 1, (), play::<H>);
    submit(&sched, 1, 1);
    first_runs(&sched);
    stops(&sched);
    let snapshot = finish(&sched);
    format!("{} Ms", snapshot.alive)
}

fn gs_run_call_spawn_and_are_submitted<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &On<H, ()>, mut worker: Worker, n: u64) -> Option<Worker> {
        match n {
            1 | 2 => worker = calls_once(sched, worker).0,
            3 => {
                let children = [sched.observer().make(5), sched.observer().make(6)];
                children.into_iter().for_each(|child| sched.ready(&mut worker, child));
            }
            _ => (),
        }
        sched.observer().uses(&worker);
        Some(worker)
    }
    let sched = open::<H, ()>(small(2, 4), 6, (), play::<H>);
    submit(&sched, 1, 2);
    let submitter = H::fork("submitter", {
        let sched = Arc::clone(&sched);
        move || submit(&sched, 3, 4)
    });
    first_runs(&sched);
    stops(&sched);
    H::join(submitter);
    let snapshot = finish(&sched);
    let tickets = sched.observer().seen().tickets;
    format!("{} Ms, {}", snapshot.alive, if tickets > 0 { "one came back too early" } else { "nobody had to wait" })
}

fn a_g_and_two_outsiders<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &On<H, ()>, worker: Worker, n: u64) -> Option<Worker> {
        if n > 1 {
            return Some(worker);
        }
        sched.observer().story.leaves(worker.m().0);
        let stopped = sched.stop_the_world(Some(worker));
        sched.observer().is_stopped(true);
        sched.observer().is_stopped(false);
        let away = sched.start_the_world(stopped).expect("the stopper was an M");
        let (worker, _) = sched.exitsyscall_bound(away);
        sched.observer().uses(&worker);
        Some(worker)
    }
    let sched = open::<H, ()>(small(2, 3), 2, (), play::<H>);
    submit(&sched, 1, 2);
    let other = H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || stops(&sched)
    });
    stops(&sched);
    H::join(other);
    let snapshot = finish(&sched);
    let seen = sched.observer().seen();
    assert!(seen.stops == 3, "{} stops of 3", seen.stops);
    format!("{} Ms, {} tickets", snapshot.alive, seen.tickets)
}

/// The world is stopped, a G waits in the ring of a P that is held, and another thread closes the scheduler.
fn the_world_is_stopped<H: ModelHost>() -> String {
    /// The world is stopped; and the stopper, which is not joined (see `locked`), is done.
    struct Stopped<H: ModelHost>(Sign<H>, Sign<H>);
    impl<H: ModelHost> More for Stopped<H> {}
    fn play<H: ModelHost>(sched: &On<H, Stopped<H>>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            let child = sched.observer().make(2);
            sched.ready(&mut worker, child);
        }
        Some(worker)
    }
    let sched = open::<H, _>(small(1, 2), 2, Stopped(Sign::new(), Sign::new()), play::<H>);
    submit(&sched, 1, 1);
    first_runs(&sched);
    H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || {
            let stopped = sched.stop_the_world(None);
            sched.observer().more.0.put();
            assert!(sched.start_the_world(stopped).is_none(), "the stopper was no M");
            sched.observer().more.1.put();
        }
    });
    sched.observer().more.0.wait();
    sched.observer().story.closes();
    let left: Vec<u64> = sched.close().into_iter().map(|g| sched.observer().runs(g)).collect();
    sched.observer().more.1.wait();
    sched.observer().each_ran_once();
    let snapshot = sched.snapshot();
    assert!(snapshot.alive == 0 && snapshot.global == 0 && snapshot.idle_ps == 1, "closed, but {snapshot:?}");
    format!("gave back {}", left.len())
}

/// What a stop that was asked for has to do with the system calls of a G.
struct Counts<H: ModelHost> {
    /// Made in all, and since the stop was asked for.
    made: AtomicU32,
    late: AtomicU32,
    asked: Atomic<H, bool>,
}

impl<H: ModelHost> More for Counts<H> {
    fn event(&self, event: &Event<'_>) {
        match event {
            // The first P is held, so the stop was asked for. Release: who sees this sees `wanted` too.
            Event::Held { .. } => self.asked.store(true, Release),
            Event::Started { .. } => {
                // Relaxed: a P comes with it.
                self.asked.store(false, Relaxed);
                self.late.store(0, Relaxed);
            }
            _ => (),
        }
    }
}

fn a_g_makes_one_system_call_after_another<H: ModelHost>() -> String {
    const CALLS: u32 = 6;
    fn play<H: ModelHost>(sched: &On<H, Counts<H>>, mut worker: Worker, _: u64) -> Option<Worker> {
        let counts = &sched.observer().more;
        for _ in 0..CALLS {
            // Acquire: then `wanted` is seen as well.
            let asked = counts.asked.load(Acquire);
            let late = if asked { counts.late.fetch_add(1, Relaxed) } else { 0 };
            assert!(late == 0, "a second system call was made after the stop was asked for");
            let way;
            (worker, way) = calls_once(sched, worker);
            counts.made.fetch_add(1, Relaxed);
            assert!(way != Way::Kept || !asked, "the P was kept through a system call after the stop was asked for");
        }
        Some(worker)
    }
    let counts = Counts { made: AtomicU32::new(0), late: AtomicU32::new(0), asked: Atomic::new(false) };
    let sched = open::<H, _>(small(2, 2), 1, counts, play::<H>);
    submit(&sched, 1, 1);
    first_runs(&sched);
    let stopped = sched.stop_the_world(None);
    let made = sched.observer().more.made.load(Relaxed);
    sched.observer().is_stopped(true);
    sched.observer().is_stopped(false);
    assert!(sched.start_the_world(stopped).is_none(), "the stopper was no M");
    finish(&sched);
    format!("stopped after {made} calls")
}

fn from_two_to_one_to_three<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &On<H, ()>, mut worker: Worker, n: u64) -> Option<Worker> {
        assert!(worker.p().index() < sched.procs(), "P{} of {}", worker.p().0, sched.procs());
        if n <= 2 {
            for child in [2 * n + 1, 2 * n + 2] {
                let child = sched.observer().make(child);
                sched.ready(&mut worker, child);
            }
            sched.observer().uses(&worker);
        }
        Some(worker)
    }
    fn resizes<H: ModelHost>(sched: &On<H, ()>, from: usize, to: usize) -> usize {
        let mut stopped = sched.stop_the_world(None);
        sched.observer().is_stopped(true);
        let moved = sched.snapshot().local.iter().skip(to).sum();
        let before = sched.procresize(&mut stopped, to).expect("there is a place for so many");
        assert!(before == from, "there were {before} Ps, not {from}");
        sched.observer().is_stopped(false);
        assert!(sched.start_the_world(stopped).is_none(), "the stopper was no M");
        moved
    }
    let config = Config { max_procs: 3, ..small(2, 4) };
    let sched = open::<H, ()>(config, 6, (), play::<H>);
    submit(&sched, 1, 2);
    first_runs(&sched);
    let moved = resizes(&sched, 2, 1);
    resizes(&sched, 1, 3);
    let snapshot = finish(&sched);
    assert!(snapshot.procs == 3, "{} Ps", snapshot.procs);
    format!("moved {moved}")
}

/// How often the function ran under each P.
struct Passed([AtomicU32; 2]);

impl More for Passed {}

/// A function that counts under which P it runs.
fn function<H: ModelHost>(sched: &On<H, Passed>) -> Arc<SafepointFn> {
    let sched = Arc::clone(sched);
    Arc::new(move |p| {
        sched.observer().uses_p(p);
        sched.observer().more.0[p.index()].fetch_add(1, Relaxed);
    })
}

fn while_a_p_is_released<H: ModelHost>() -> String {
    let sched = open::<H, Passed>(small(1, 2), 1, Passed(Default::default()), |_, worker, _| Some(worker));
    submit(&sched, 1, 1);
    first_runs(&sched);
    // Its M finds nothing more meanwhile, and lets go of the only P.
    assert!(sched.for_each_p(None, function(&sched)).is_none(), "the caller was no M");
    let count = sched.observer().more.0[0].load(Relaxed);
    assert!(count == 1, "it ran {count} times under the only P");
    finish(&sched);
    String::new()
}

fn while_gs_run<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &On<H, Passed>, mut worker: Worker, n: u64) -> Option<Worker> {
        match n {
            2 => worker = calls_once(sched, worker).0,
            3 => {
                let child = sched.observer().make(4);
                sched.ready(&mut worker, child);
            }
            1 => {
                sched.observer().story.leaves(worker.m().0);
                let away = sched.for_each_p(Some(worker), function(sched)).expect("the caller was an M");
                (worker, _) = sched.exitsyscall_bound(away);
                sched.observer().uses(&worker);
            }
            _ => (),
        }
        Some(worker)
    }
    let sched = open::<H, Passed>(small(2, 4), 4, Passed(Default::default()), play::<H>);
    submit(&sched, 1, 3);
    first_runs(&sched);
    let before = [0, 1].map(|p: usize| sched.observer().more.0[p].load(Relaxed));
    assert!(sched.for_each_p(None, function(&sched)).is_none(), "the caller was no M");
    let after = [0, 1].map(|p: usize| sched.observer().more.0[p].load(Relaxed));
    finish(&sched);
    let counts = [0, 1].map(|p: usize| sched.observer().more.0[p].load(Relaxed));
    assert!(counts == [2, 2], "two ran a function under each P, and it ran {counts:?} times");
    assert!((0..2).all(|p| after[p] > before[p]), "it came back before it had run under each P");
    format!(
        "the G was {}",
        if before == [2, 2] {
            "first"
        } else if after == [1, 1] {
            "second"
        } else {
            "meanwhile"
        }
    )
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("stw::every_p_is_held::an_m_enters_a_system_call_and_blocks", an_m_enters_a_system_call_and_blocks,
        claim: "a P whose M just enters a system call that lasts does not sit out a stop there",
        size: "2 threads, 1 P, 1 stop",
        invariants: [4, 16, 17, 41],
        must_reach: ["the stopper took it, back: Some(Idle)", "its M gave it up, back: Some(Idle)"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("stw::every_p_is_held::one_idles_and_one_enters_a_system_call",
        one_idles_and_one_enters_a_system_call,
        claim: "the same, while another M idles its P: both are held, each once, and the last wakes the stopper",
        size: "3 threads, 2 Ps, 1 stop",
        invariants: [4, 16, 17, 41],
        must_reach: [
            "ran true, gave up false",
            "ran true, gave up true",
            "ran false, gave up false",
            "ran false, gave up true",
        ],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("stw::every_p_is_held::the_p_lies_in_nextp", the_p_lies_in_nextp,
        claim: "a P on its way to another M is held when it gets there, after one G at most",
        size: "3 threads, 1 P, 1 stop",
        invariants: [4, 16, 17],
        must_reach: ["ran true", "ran false"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("stw::a_stop_ends::one_system_call_after_another", one_system_call_after_another,
        claim: "of a G's system calls, one after the other, none that begins after the stop is asked for keeps its P",
        size: "2 threads, 1 P, 3 system calls, 1 stop",
        invariants: [4, 16, 17, 41],
        must_reach: ["came back 0 times", "came back 3 times"],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("stw::first_come_first_served::two_stoppers_and_an_m", two_stoppers_and_an_m,
        claim: "two stop the world, each once, in the order in which they came, the second after it ran again",
        size: "3 threads, 1 P, 1 system call, 2 stops",
        invariants: [4, 16, 17, 18, 45],
        must_reach: ["first 1", "first 2", "came back 0 times", "came back 1 times"],
        runs: [rc11(), loom_bounded(3), sampled(Engine::Random, 10_000), sampled(Engine::Pct, 10_000)]),
    crate::model!("stw::first_come_first_served::one_stops_again_and_again", one_stops_again_and_again,
        claim: "who stops the world again and again does not overtake one that waits to",
        size: "2 threads, 3 stops",
        invariants: [16, 17, 45],
        must_reach: ["[1, 1, 2]", "[1, 2, 1]", "[2, 1, 1]"],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("stw::no_g_runs_while_stopped::one_g_makes_a_system_call", one_g_makes_a_system_call,
        claim: "the real scheduler is stopped and started while a G makes a system call; it runs on, and all is quiet",
        size: "1 P, 2 Ms, 1 G, 1 stop",
        invariants: [1, 2, 4, 16, 17, 30, 31, 32, 33, 34, 42],
        must_reach: ["1 Ms", "2 Ms"],
        runs: [rc11(), loom_bounded(1), sampled(Engine::Random, 4_000), sampled(Engine::Pct, 4_000)]),
    crate::model!("stw::no_g_runs_while_stopped::gs_run_call_spawn_and_are_submitted",
        gs_run_call_spawn_and_are_submitted,
        claim: "Gs run, spawn, make system calls, are submitted: no G runs while the world is stopped, each does after",
        size: "2 Ps, 4 Ms, 6 Gs, 1 stop",
        invariants: [1, 2, 4, 16, 17, 30, 31, 32, 33, 34, 36, 42],
        must_reach: ["one came back too early", "nobody had to wait"],
        runs: [rc11_cut(), sampled(Engine::Random, 6_000), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("stw::first_come_first_served::a_g_and_two_outsiders", a_g_and_two_outsiders,
        claim: "a G and two threads outside stop the world: each does, none waits for ever",
        size: "2 Ps, 3 Ms, 2 Gs, 3 stops",
        invariants: [1, 2, 4, 16, 17, 30, 31, 32, 33, 34, 42],
        must_reach: ["0 tickets", "1 tickets"],
        runs: [rc11_cut(), sampled(Engine::Random, 6_000), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("stw::a_stop_ends::a_g_makes_one_system_call_after_another", a_g_makes_one_system_call_after_another,
        claim: "after the stop is asked for a G makes one more system call at most, and keeps its P through none",
        size: "2 Ps, 2 Ms, 1 G, 6 system calls, 1 stop",
        invariants: [16, 17, 41, 42],
        must_reach: ["after 0 calls", "after 1 calls", "after 6 calls"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Pct, 10_000), sampled(Engine::TsoPct, 4_000)]),
    crate::model!("stw::close_gives_back_what_never_ran::the_world_is_stopped", the_world_is_stopped,
        claim: "a scheduler is closed while another thread has stopped it: a G in the ring of a held P is given back",
        size: "1 P, 2 Ms, 2 Gs, 1 stop",
        invariants: [1, 2, 4],
        must_reach: ["gave back 0", "gave back 1"],
        runs: [rc11_cut(), loom_bounded(1), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000)]),
    crate::model!("wanted::answers_as_a_set_would::four_operations", four_operations_on_bits,
        claim: "what is asked for and not done is wanted; a stop and the close are the end",
        size: "1 thread, 3 wants, every 4 operations: ask or done",
        invariants: [16],
        must_reach: ["0 wanted", "3 wanted"],
        runs: [sc()]),
    crate::model!("safepoint::once_under_each_p::five_come", five_come,
        claim: "a function begins once under each P there is, and the caller is woken when it has run under the last",
        size: "1 thread, 3 Ps, every 5 events: the owner of a P comes, of one too many, or the function has run",
        invariants: [17, 18],
        must_reach: ["begun 0, ended 0", "begun 3, ended 2", "begun 3, ended 0"],
        runs: [sc()]),
    crate::model!("safepoint::once_under_each_p::one_is_idle_and_one_enters_a_system_call",
        one_is_idle_and_one_enters_a_system_call,
        claim: "a function runs once under an idle P and once under one whose M just enters a system call that lasts",
        size: "2 threads, 2 Ps",
        invariants: [4, 18, 41],
        must_reach: ["the caller took it", "its M gave it up"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("safepoint::once_under_each_p::one_is_the_callers_and_one_runs", one_is_the_callers_and_one_runs,
        claim: "it runs once under the caller's P and once under one that runs: at its next scheduling point, or idled",
        size: "2 threads, 2 Ps",
        invariants: [4, 18],
        must_reach: ["at its scheduling point", "when its P was idle"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("safepoint::once_under_each_p::while_a_p_is_released", while_a_p_is_released,
        claim: "a P whose M has found nothing, and lets go of it just when a function is wanted under it, is not missed",
        size: "the whole scheduler: 2 threads, 1 P, 1 G, 1 safepoint",
        invariants: [18],
        must_reach: [],
        runs: [rc11_cut(), sampled(Engine::Random, 500), sampled(Engine::Pct, 500)]),
    crate::model!("safepoint::once_under_each_p::while_gs_run", while_gs_run,
        claim: "a G and a thread outside each run a function under every P of the real scheduler, while Gs run",
        size: "2 Ps, 4 Ms, 4 Gs, 2 functions",
        invariants: [1, 2, 4, 18, 30, 31, 32, 33, 34],
        must_reach: ["the G was meanwhile", "the G was second"],
        runs: [rc11_cut(), sampled(Engine::Random, 6_000), sampled(Engine::Pct, 6_000), sampled(Engine::TsoPct, 3_000)]),
    crate::model!("resize::the_first_numbers_are_held::three_resizes", three_resizes,
        claim: "of four Ps those with the first numbers are held, the others spare, and each that ends is emptied",
        size: "1 thread, 4 Ps, every 3 resizes, the Ps in 2 orders",
        invariants: [4, 26],
        must_reach: ["4 left, emptied 0", "1 left, emptied 3", "1 left, emptied 6", "4 left, emptied 3"],
        runs: [sc()]),
    crate::model!("resize::no_g_is_lost::from_two_to_one_to_three", from_two_to_one_to_three,
        claim: "while Gs wait in rings there are two Ps, one, three: each G runs once, under a P that there is",
        size: "2, 1, 3 Ps, 4 Ms, 6 Gs, 2 stops",
        invariants: [1, 2, 4, 16, 26, 27, 30, 31, 32, 33, 34, 42],
        must_reach: ["moved 0", "moved 2"],
        runs: [rc11_cut(), sampled(Engine::Random, 5_000), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 2_000)]),
];

const BLOCKS: &str = "stw::every_p_is_held::an_m_enters_a_system_call_and_blocks";
const TWO_PS: &str = "stw::every_p_is_held::one_idles_and_one_enters_a_system_call";
const TWO_STOPPERS: &str = "stw::first_come_first_served::two_stoppers_and_an_m";
const PASSES: &str = "safepoint::once_under_each_p::one_is_idle_and_one_enters_a_system_call";

/// The mutants.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "stw-no-stopper-fence",
        room: "stw",
        // Not on tso: there leaving the lock drains the store to `wanted`, as a fence would.
        what: "a stopper looks at the words without a StoreLoad after it has said that it stops",
        mutation: Mutation::Weaken {
            file: "kernel/protocol/stw/mod.rs",
            after: "pub fn stop<",
            needle: "store_load::<H>()",
        },
        killed_by: &[(BLOCKS, Engine::Loom), (BLOCKS, Engine::Rc11)],
    },
    Mutant {
        name: "stw-scans-before-it-says",
        room: "stw",
        what: "a stopper looks at the words, then says that it stops",
        mutation: Mutation::Variant("scans-before-it-says"),
        killed_by: &[(BLOCKS, Engine::Sc), (BLOCKS, Engine::Loom), (BLOCKS, Engine::Rc11)],
    },
    Mutant {
        name: "stw-enters-in-gos-order",
        room: "stw",
        what: "an M that enters a system call reads `wanted`, then leaves its P in its word (as Go 1.27 does)",
        mutation: Mutation::Variant("enters-in-gos-order"),
        killed_by: &[(BLOCKS, Engine::Sc), (BLOCKS, Engine::Loom), (BLOCKS, Engine::Rc11)],
    },
    Mutant {
        name: "stw-counts-a-p-twice",
        room: "stw",
        what: "a stopper that sees a P in a system call holds it without an exchange",
        mutation: Mutation::Variant("takes-without-an-exchange"),
        killed_by: &[(TWO_PS, Engine::Sc), (TWO_PS, Engine::Rc11)],
    },
    Mutant {
        name: "stw-wakes-nobody",
        room: "stw",
        what: "who lets go of the last P does not wake the stopper",
        mutation: Mutation::Variant("wakes-nobody"),
        killed_by: &[(TWO_PS, Engine::Sc), (TWO_PS, Engine::Loom), (TWO_PS, Engine::Rc11)],
    },
    Mutant {
        name: "stw-released-before-the-world-runs",
        room: "stw",
        what: "the next in line is let in before the world runs again (golang/go #10618)",
        mutation: Mutation::Variant("released-early"),
        killed_by: &[(TWO_STOPPERS, Engine::Sc), (TWO_STOPPERS, Engine::Rc11)],
    },
    Mutant {
        name: "stw-pushes-in",
        room: "stw",
        what: "a semaphore instead of a line: who asks just when it is free overtakes who waits (golang/go #40459)",
        mutation: Mutation::Variant("pushes"),
        killed_by: &[
            ("stw::first_come_first_served::one_stops_again_and_again", Engine::Sc),
            ("stw::first_come_first_served::one_stops_again_and_again", Engine::Rc11),
        ],
    },
    Mutant {
        name: "safepoint-no-callers-fence",
        room: "safepoint",
        what: "for_each_p looks at the words without a StoreLoad after it has said what it wants",
        mutation: Mutation::Weaken {
            file: "kernel/protocol/stw/safepoint.rs",
            after: "pub fn for_each_p",
            needle: "store_load::<H>()",
        },
        killed_by: &[(PASSES, Engine::Loom), (PASSES, Engine::Rc11)],
    },
    Mutant {
        name: "safepoint-enters-blindly",
        room: "safepoint",
        what: "an M that enters a system call does not look whether a function is to run",
        mutation: Mutation::Variant("enters-blindly"),
        killed_by: &[(PASSES, Engine::Sc), (PASSES, Engine::Rc11)],
    },
    Mutant {
        name: "safepoint-idles-what-is-wanted",
        room: "safepoint",
        what: "a P is idled without a look whether the function has run under it",
        mutation: Mutation::Variant("idles-what-is-wanted"),
        killed_by: &[
            ("safepoint::once_under_each_p::one_is_the_callers_and_one_runs", Engine::Sc),
            ("safepoint::once_under_each_p::one_is_the_callers_and_one_runs", Engine::Rc11),
        ],
    },
    Mutant {
        name: "safepoint-counts-before-it-ran",
        room: "safepoint",
        what: "a P counts as done before the function has run under it",
        mutation: Mutation::Variant("counts-before-it-ran"),
        killed_by: &[
            ("safepoint::once_under_each_p::one_is_the_callers_and_one_runs", Engine::Sc),
            ("safepoint::once_under_each_p::one_is_the_callers_and_one_runs", Engine::Rc11),
        ],
    },
];
