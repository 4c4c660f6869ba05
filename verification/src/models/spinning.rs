//! The race of `spinning` as a scene: a party that queues a G beside an M that stops to look.
//!
//! By hand, beside the room's client programs (verification/rooms/src/rooms/spinning.rs), for two reasons: it is what the pages draw, on every
//! engine; and two of the wrong protocols, which are Go's, are wrong in two places at once.
//!
//! The rest of the scheduler is as small as it can be: a word that says how many Gs are queued, idle Ps that are a number under a lock, and
//! Ms that are started by being counted. At the end of every execution all parties have come to rest, and the question is: a G waits and a P
//! is idle, but does an M look?

use crate::harness::common::party;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_apart_bounded, loom_bounded, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::scenario;
use crate::mutation::variants::spinning::SpinProtocol;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::spinning::{Neighbours, Spinning};
use spinpark_kernel::types::m::SpinningToken;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

/// The smallest scheduler around the room.
struct Tiny<H: ModelHost, D> {
    room: Spinning<H>,
    /// How many Gs wait.
    queued: Atomic<H, u64>,
    /// How many Ps are idle; and the same as a hint, written under the lock.
    idle: H::Lock<u32>,
    npidle: Atomic<H, u32>,
    /// How many Ms were started to look for work and have yet to do so.
    started: Atomic<H, u64>,
    protocol: PhantomData<fn() -> D>,
}

/// An idle P, off the list.
struct IdleP;

/// How an M ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It sleeps.
    Asleep,
    /// It holds a P and is about to look at every queue.
    Looking,
    /// It holds a P and runs a G.
    Busy,
}

impl<H: ModelHost, D: SpinProtocol> Neighbours for Tiny<H, D> {
    type IdleP = IdleP;

    fn any_work(&self) -> bool {
        // Relaxed: the room's fence has to do.
        self.queued.load(Relaxed) > 0
    }
    fn is_any_p_idle(&self) -> bool {
        // Relaxed: as the kernel's.
        self.npidle.load(Relaxed) > 0
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<IdleP> {
        self.idle.with(|idle| match idle.checked_sub(1) {
            Some(left) => {
                self.idle_ps_are(idle, left);
                Some(IdleP)
            }
            None => {
                or_else();
                None
            }
        })
    }
    fn startm(&self, IdleP: IdleP, token: SpinningToken) {
        token.discard();
        self.started.fetch_add(1, AcqRel);
    }
}

impl<H: ModelHost, D: SpinProtocol> Tiny<H, D> {
    /// The parties hold all Ps.
    fn new() -> Arc<Self> {
        main_plays("spinning_m");
        Arc::new(Tiny {
            room: Spinning::new(),
            queued: Atomic::new(0),
            idle: H::Lock::new(0),
            npidle: Atomic::new(0),
            started: Atomic::new(0),
            protocol: PhantomData,
        })
    }

    fn idle_ps_are(&self, idle: &mut u32, n: u32) {
        *idle = n;
        // Relaxed: as the kernel's.
        self.npidle.store(n, Relaxed);
    }

    /// Queues a G, as the owner of a P does.
    fn submit(&self) {
        // Release: as the ring's `publish`.
        self.queued.fetch_add(1, Release);
        D::wakep(&self.room, self);
    }

    /// Queues a G by a plain store, as the ring does: the only G of the model.
    fn submit_the_only(&self) {
        // Release: as the ring's `publish`.
        self.queued.store(1, Release);
        D::wakep(&self.room, self);
    }

    /// Takes a G, if there is one.
    fn take(&self) -> bool {
        // Relaxed: the exchange has to find it unchanged.
        let mut n = self.queued.load(Relaxed);
        while n > 0 {
            match self.queued.compare_exchange(n, n - 1, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(found) => n = found,
            }
        }
        false
    }

    /// A spinning M has looked everywhere and found nothing: idles its P and looks again.
    fn retire(&self, token: SpinningToken) -> End {
        self.idle.with(|idle| self.idle_ps_are(idle, *idle + 1));
        D::retire(&self.room, token, self).map_or(End::Asleep, |(IdleP, token)| {
            token.discard();
            End::Looking
        })
    }

    /// An M with a P that was never spinning and has nothing to do: idles its P unless a spinning M is asked for.
    fn idle_unless_called(&self) -> End {
        let called = self.idle.with(|idle| {
            let called = D::must_recheck(&self.room, *idle > 0);
            if called.is_none() {
                self.idle_ps_are(idle, *idle + 1);
            }
            called
        });
        called.map_or(End::Asleep, |token| {
            token.discard();
            End::Looking
        })
    }

    /// All parties have come to rest.
    ///
    /// # Panics
    /// If a G waits and a P is idle, and no M looks; or if the count is not that of the Ms that look.
    fn check_at_rest(&self, ends: &[End]) -> String {
        // Relaxed, both: the parties have ended.
        let (started, queued) = (self.started.load(Relaxed), self.queued.load(Relaxed));
        let idle = self.idle.with(|idle| *idle);
        let looking = ends.iter().filter(|end| **end == End::Looking).count() as u64;
        assert!(
            queued == 0 || idle == 0 || looking + started > 0,
            "a G is queued and a P is idle, but every M sleeps and none was started"
        );
        let spinning = self.room.count() as u64;
        assert!(
            spinning == looking + started,
            "{spinning} Ms are counted as spinning, but {looking} look and {started} were started"
        );
        format!("looking={looking} started={started} queued={queued} idle={idle}")
    }
}

scenario!(spinning::SpinProtocol, one_submitter_one_spinning_m, |H, D| {
    let tiny = Tiny::<H, D>::new();
    let token = tiny.room.become_spinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let end = tiny.retire(token);
    H::join(submitter);
    tiny.check_at_rest(&[end])
});

scenario!(spinning::SpinProtocol, four_parties_one_p_is_taken, |H, D| {
    // A spinning M idles its P, an M back from elsewhere takes it and is busy; a submitter, or the spinning M itself, finds no
    // idle P; an M that was never spinning is about to idle its own.
    let tiny = Tiny::<H, D>::new();
    let token = tiny.room.become_spinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let returner = party::<H, _, _>("returner", &tiny, |tiny| tiny.pidleget(|| ()).is_some());
    let idler = party::<H, _, _>("idler", &tiny, |tiny| tiny.idle_unless_called());
    let end = tiny.retire(token);
    H::join(submitter);
    H::join(returner);
    let idler = H::join(idler);
    tiny.check_at_rest(&[end, idler])
});

scenario!(spinning::SpinProtocol, a_count_that_is_about_to_go, |H, D| {
    // Two Ps: the spinning M's, and the submitter's, which goes on to run.
    let tiny = Tiny::<H, D>::new();
    let token = tiny.room.become_spinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| {
        tiny.submit();
        tiny.submit();
    });
    let end = finds_one_and_runs_out(&tiny, token);
    H::join(submitter);
    tiny.check_at_rest(&[end, End::Busy])
});

/// A spinning M finds nothing, idles its P, looks again; if it then finds a G, it runs that and looks for the next.
fn finds_one_and_runs_out<H: ModelHost, D: SpinProtocol>(tiny: &Tiny<H, D>, token: SpinningToken) -> End {
    let end = tiny.retire(token);
    if end == End::Asleep || !tiny.take() {
        return end;
    }
    tiny.room.found_work(SpinningToken::forge(), tiny);
    // No P is idle: both are in use.
    if tiny.room.may_spin(2, 0, 2) {
        tiny.room.become_spinning().discard();
        return End::Looking;
    }
    tiny.idle_unless_called()
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("spinning::work_is_conserved::one_submitter_one_spinning_m", one_submitter_one_spinning_m,
        claim: "a G submitted while the last spinning M gives up is not missed",
        size: "2 threads, 1 G, 1 P idled",
        invariants: [11, 30, 31],
        must_reach: ["looking=1 started=0 queued=1", "looking=0 started=1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::four_parties_one_p_is_taken", four_parties_one_p_is_taken,
        claim: "an M that sees work and finds no idle P leaves a request, and the next M about to idle its P looks \
                again",
        size: "4 threads, 1 G, 2 Ps idled, 1 taken",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=1 started=0 queued=1 idle=0", "looking=0 started=1"],
        runs: [rc11(), loom_bounded(3), sc()]),
    crate::model!("spinning::work_is_conserved::a_count_that_is_about_to_go", a_count_that_is_about_to_go,
        claim: "a spinning M that found work and trusts a count that is about to go is asked for again",
        size: "2 threads, 2 Gs, 2 Ps, of which 1 is idled",
        invariants: [30, 31],
        must_reach: ["looking=0 started=1", "looking=1 started=0 queued=1"],
        runs: [rc11(), loom_bounded(4), loom_apart_bounded(3), sc(), tso()]),
];

const ONE: &str = "spinning::work_is_conserved::one_submitter_one_spinning_m";
const TAKEN: &str = "spinning::work_is_conserved::four_parties_one_p_is_taken";
const ABOUT_TO_GO: &str = "spinning::work_is_conserved::a_count_that_is_about_to_go";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "spinning";
    "spinning-asks-before-it-lowers":
        "wakep asks for a spinning M, and then lowers its count (Go's order); an M that idles its P does not count",
        variant("asks-before-it-lowers"), by ABOUT_TO_GO => [Sc, Loom, Rc11];
    "spinning-no-submitter-fence": "wakep without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn wakep", "store_load::<H>()"), by ONE => [Loom, Tso, Rc11];
    "spinning-no-spinning-m-fence": "retire without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn retire", "store_load::<H>()"), by ONE => [Loom, Rc11];
    "spinning-looks-before-it-leaves": "retire looks at the queues, then leaves nmspinning",
        variant("looks-before-it-leaves"), by ONE => [Loom, Sc, Rc11];
    "spinning-retire-does-not-ask":
        "retire sees work, finds no idle P and does not set needspinning (golang/go #45867), nor does an M that idles \
         its P count",
        variant("retire-does-not-ask"), by TAKEN => [Sc, Loom, Rc11];
};
