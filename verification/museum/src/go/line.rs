//! Stopping the world, with the kernel's own words and line: a P that is left behind, and a stopper that is let in too early, or overtakes another.

use crate::common::{Cell, Engine, Exhibit, ModelHost, Source, is_wrong, main_plays, party, rc11, sc, tso};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::store_load;
use spinpark_kernel::host::{Lock, Parker};
use spinpark_kernel::protocol::stw::WorldState;
use spinpark_kernel::protocol::stw::wanted::{Want, Wanted};
use spinpark_kernel::protocol::syscall::SyscallWord;
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::sync::Arc;

/// One P, and its M that enters a system call.
struct OneP<H: ModelHost> {
    world: H::Lock<WorldState<H>>,
    wanted: Wanted<H>,
    word: SyscallWord<H>,
}

impl<H: ModelHost> OneP<H> {
    fn holds(&self, p: Option<OwnedP>) {
        p.into_iter().for_each(|p| _ = self.world.with(|world| world.hold(p)));
    }

    /// `reentersyscall`.
    fn enters(&self) {
        let p = OwnedP::forge(PId(0));
        if is_wrong("museum-go-reentersyscall") {
            let is_wanted = self.wanted.any();
            let left = self.word.put(p, MId(0));
            store_load::<H>();
            return if is_wanted {
                self.holds(self.word.take(left))
            };
        }
        let left = self.word.put(p, MId(0));
        store_load::<H>();
        if self.wanted.any() {
            self.holds(self.word.take(left));
        }
    }
}

fn an_m_enters<H: ModelHost>() -> String {
    main_plays("stopper");
    let (world, wanted) = (H::Lock::new(WorldState::new(1)), Wanted::new());
    let one = Arc::new(OneP::<H> { world, wanted, word: SyscallWord::new(PId(0)) });
    let m = party::<H, _, _>("M", &one, OneP::enters);
    one.world.with(|world| {
        world.begin_stop();
        one.wanted.ask(Want::Stop);
    });
    store_load::<H>();
    let taken = one.word.take_any();
    let by = if taken.is_some() { "the stopper" } else { "its M" };
    one.holds(taken);
    H::join(m);
    assert!(one.world.with(|world| world.is_stopped()), "a P is left in a system call, and the stopper looks no more");
    format!("held by {by}")
}

const ENTERS: &str = "museum::go_reentersyscall::an_m_enters";

/// Found by reading.
pub(super) const LEFT_BEHIND: Case = Case {
    exhibit: Exhibit {
        source: Source::OurReading,
        ..told(
            "a P that was left in a system call after the stopper had looked",
            "golang/go runtime/proc.go of 1.27.3, reentersyscall; we know of no report",
            2026,
            "museum-go-reentersyscall",
            [
                "Stops of the world that last as long as some M's system call. We made them happen with a delay of 50 \
                 us in the window: one stop in five took more than 100 ms.",
                "An M that enters a system call reads whether the world is to stop, and says later that it is in a \
                 call. The stopper says that it stops and looks at all Ps once: it can miss that P, and does not look \
                 again.",
                "First say it, then read; or look again while waiting. Our kernel does the first.",
            ],
        )
    },
    mutant: variant(
        "museum-go-reentersyscall",
        "an M that enters a system call reads `wanted`, then leaves its P in its word",
        &[(ENTERS, Engine::Rc11), (ENTERS, Engine::Sc)],
    ),
    model: crate::model!("museum::go_reentersyscall::an_m_enters", an_m_enters,
        claim: "a P whose M just enters a system call is held by the stopper, or by its M",
        size: "2 threads: stopper, M; 1 P",
        invariants: [4, 16, 41],
        must_reach: ["held by the stopper", "held by its M"],
        runs: [rc11(), sc(), tso()]),
};

/// A line of stoppers, and how many Ps there are.
struct Line<H: ModelHost> {
    central: H::Lock<Stoppers<H>>,
    procs: H::Cell<u32>,
}

struct Stoppers<H: ModelHost> {
    world: WorldState<H>,
    /// Of a semaphore instead of a line.
    is_taken: bool,
    waiting: Vec<Arc<H::Parker>>,
    came: Vec<u8>,
    served: Vec<u8>,
}

impl<H: ModelHost> Line<H> {
    fn new() -> Arc<Self> {
        let (world, waiting, came, served) = (WorldState::new(1), Vec::new(), Vec::new(), Vec::new());
        let stoppers = Stoppers { world, is_taken: false, waiting, came, served };
        Arc::new(Line { central: H::Lock::new(stoppers), procs: Cell::new(1) })
    }

    /// `semacquire(&worldsema)`.
    fn acquires(&self, name: u8) {
        let parker = Arc::new(H::Parker::new());
        let is_semaphore = is_wrong("museum-go-40459");
        let mut is_first = self.central.with(|c| {
            c.came.push(name);
            !is_semaphore && c.world.queue_up(&parker)
        });
        loop {
            let is_in = self.central.with(|c| {
                if is_semaphore {
                    is_first = !std::mem::replace(&mut c.is_taken, true);
                    c.waiting.extend((!is_first).then(|| Arc::clone(&parker)));
                }
                let is_in = is_first || c.world.is_first(&parker);
                c.served.extend(is_in.then_some(name));
                is_in
            });
            if is_in {
                return;
            }
            parker.park();
        }
    }

    /// `semrelease(&worldsema)`.
    fn releases(&self) {
        let next = self.central.with(|c| {
            c.is_taken = false;
            if is_wrong("museum-go-40459") { c.waiting.pop() } else { c.world.leave_line() }
        });
        next.into_iter().for_each(|next| next.unpark());
    }
}

fn more_ps<H: ModelHost>() -> String {
    main_plays("stopper");
    let line = Line::<H>::new();
    line.acquires(1);
    let other = party::<H, _, _>("forEachP", &line, |line| {
        line.acquires(2);
        let procs = line.procs.get();
        line.releases();
        procs
    });
    if is_wrong("museum-go-10618") {
        line.releases();
    }
    // `procresize`, and `startTheWorld`.
    line.procs.set(2);
    if !is_wrong("museum-go-10618") {
        line.releases();
    }
    let counted = H::join(other);
    assert!(counted == 2, "forEachP: P did not run fn: {counted} counted");
    format!("{counted} counted")
}

const MORE: &str = "museum::go_10618::more_ps";

/// #10618.
pub(super) const LET_IN_EARLY: Case = Case {
    exhibit: told(
        "let in before the world ran",
        "golang/go#10618",
        2015,
        "museum-go-10618",
        [
            "Go's builders crashed: forEachP, P did not run fn.",
            "The stopper released the semaphore for that before it started the world. The number of Ps \
             changes at the start, so the next one counted too few.",
            "Start the world, then release.",
        ],
    ),
    mutant: variant(
        "museum-go-10618",
        "the next in line is let in before there are as many Ps as there shall be",
        &[(MORE, Engine::Rc11), (MORE, Engine::Sc)],
    ),
    model: crate::model!("museum::go_10618::more_ps", more_ps,
        claim: "a thread that is let in counts the Ps that the one before has made",
        size: "2 threads: stopper, forEachP; 1 P, then 2",
        invariants: [16, 45],
        must_reach: ["2 counted"],
        runs: [rc11(), sc(), tso()]),
};

fn again_and_again<H: ModelHost>() -> String {
    main_plays("reads statistics");
    let line = Line::<H>::new();
    let other = party::<H, _, _>("collects", &line, |line| {
        line.acquires(2);
        line.releases();
    });
    for _ in 0..2 {
        line.acquires(1);
        line.releases();
    }
    H::join(other);
    line.central.with(|c| {
        assert!(c.came == c.served, "{:?} came, and {:?} were served", c.came, c.served);
        format!("{:?}", c.served)
    })
}

const AGAIN: &str = "museum::go_40459::again_and_again";

/// #40459.
pub(super) const OVERTAKEN: Case = Case {
    exhibit: told(
        "stopping the world again and again",
        "golang/go#40459",
        2020,
        "museum-go-40459",
        [
            "Where memory statistics were read in a tight loop, collections could not begin or end.",
            "A G that had just released the semaphore for stopping the world took it again before the Gs it had woken.",
            "The release hands the semaphore to the first in line.",
        ],
    ),
    mutant: variant(
        "museum-go-40459",
        "a semaphore instead of a line: a stopper that asks just when it is free overtakes those that wait",
        &[(AGAIN, Engine::Rc11), (AGAIN, Engine::Sc)],
    ),
    model: crate::model!("museum::go_40459::again_and_again", again_and_again,
        claim: "a thread that stops the world again and again does not overtake one that waits to",
        size: "2 threads, 3 stops",
        invariants: [45],
        must_reach: ["[1, 1, 2]", "[1, 2, 1]", "[2, 1, 1]"],
        runs: [rc11(), sc(), tso()]),
};
