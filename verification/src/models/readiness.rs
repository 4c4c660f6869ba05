//! Models of sockets: tasks that wait beside the M that polls, beside each other, beside the end of the socket; which
//! are counted; and how an M's wait is ended.

use crate::harness::common::party;
use crate::harness::readiness::{Net, READER, WRITER};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, sc, sc_cut, tso};
use crate::mutation::mutant::{Mutant, is_variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{NEVER, Nanos, Parker};
use spinpark_kernel::protocol::netpoll::{Neighbours, Netpoll};
use spinpark_kernel::waits::readiness::{Direction, Waiting};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A task reads as the other end sends.
fn a_report_beside_the_wait<H: ModelHost>(reports_changes: bool) -> String {
    main_plays("reader");
    let net = Net::<H>::new();
    let socket = net.register(reports_changes);
    let m = {
        let (net, socket) = (Arc::clone(&net), Arc::clone(&socket));
        H::fork("M", move || {
            socket.change(&net, Direction::Read);
            net.run_m();
        })
    };
    let tries = socket.io(&net, Direction::Read, READER);
    net.is_over();
    H::join(m);
    net.check_at_rest();
    format!("tried {tries:?}")
}

fn a_change_beside_the_wait<H: ModelHost>() -> String {
    a_report_beside_the_wait::<H>(true)
}

fn an_armed_report_beside_the_wait<H: ModelHost>() -> String {
    a_report_beside_the_wait::<H>(false)
}

/// One waits to read; another comes to write as something can be read, and then written.
fn two_directions<H: ModelHost>(reports_changes: bool) -> String {
    main_plays("M");
    let net = Net::<H>::new();
    let socket = net.register(reports_changes);
    socket.begin(&net, Direction::Read, READER);
    let writer = {
        let (net, socket) = (Arc::clone(&net), Arc::clone(&socket));
        H::fork("writer", move || {
            let tries = socket.io(&net, Direction::Write, WRITER);
            net.is_over();
            tries
        })
    };
    socket.change(&net, Direction::Read);
    net.poll();
    socket.change(&net, Direction::Write);
    net.run_m();
    net.sleep(READER);
    let tries = H::join(writer);
    net.check_at_rest();
    format!("tried {tries:?}")
}

fn changes_in_two_directions<H: ModelHost>() -> String {
    two_directions::<H>(true)
}

fn armed_in_two_directions<H: ModelHost>() -> String {
    two_directions::<H>(false)
}

/// A socket goes while it is reported, and another gets its key.
fn a_key_is_reused<H: ModelHost>() -> String {
    main_plays("task");
    let net = Net::<H>::new();
    let old = net.register(true);
    let m = {
        let (net, old) = (Arc::clone(&net), Arc::clone(&old));
        H::fork("M", move || {
            old.change(&net, Direction::Read);
            net.run_m();
        })
    };
    let new = net.replace(&old);
    let sender = {
        let (net, new) = (Arc::clone(&net), Arc::clone(&new));
        H::fork("sender", move || new.change(&net, Direction::Read))
    };
    let tries = new.io(&net, Direction::Read, READER);
    H::join(sender);
    net.is_over();
    H::join(m);
    net.check_at_rest();
    format!("tried {tries:?}")
}

/// A task gives up as its socket is reported.
fn a_task_gives_up<H: ModelHost>() -> String {
    main_plays("reader");
    let net = Net::<H>::new();
    let socket = net.register(true);
    let m = {
        let (net, socket) = (Arc::clone(&net), Arc::clone(&socket));
        H::fork("M", move || {
            socket.change(&net, Direction::Read);
            net.poll();
        })
    };
    let reported = socket.give_up(&net, READER);
    H::join(m);
    net.check_at_rest();
    format!("reported {reported}")
}

/// One thread alone: what each step does.
fn one_step_after_the_other<H: ModelHost>() -> String {
    let reports_changes = H::choose(2) == 0;
    let is_forgotten = H::choose(2) == 0;
    let net = Net::<H>::new();
    let socket = net.register(reports_changes);
    socket.step_by_step(&net);
    socket.ends(&net, is_forgotten);
    net.check_at_rest();
    format!("changes {reports_changes}, forgotten {is_forgotten}")
}

/// A task reads by a function, and another polls once by the same, as the other end sends.
fn another_polls_once<H: ModelHost>() -> String {
    main_plays("reader");
    let net = Net::<H>::new();
    let socket = net.register(true);
    let m = {
        let (net, socket) = (Arc::clone(&net), Arc::clone(&socket));
        H::fork("M", move || {
            socket.change(&net, Direction::Read);
            net.run_m();
        })
    };
    let other = {
        let (net, socket) = (Arc::clone(&net), Arc::clone(&socket));
        H::fork("other", move || socket.poll_once(&net, Direction::Read, WRITER))
    };
    let tries = socket.poll_io(&net, Direction::Read, READER);
    H::join(other);
    net.is_over();
    H::join(m);
    net.forget(&socket);
    net.check_at_rest();
    format!("tried {tries:?}")
}

/// Two wait for the same, and give up.
fn two_give_up<H: ModelHost>() -> String {
    main_plays("reader");
    let net = Net::<H>::new();
    let socket = net.register(true);
    let other = {
        let (net, socket) = (Arc::clone(&net), Arc::clone(&socket));
        H::fork("other", move || socket.give_up(&net, WRITER))
    };
    socket.give_up(&net, READER);
    H::join(other);
    net.check_at_rest();
    "nobody waits".to_owned()
}

/// The runtime ends as a task waits.
fn a_close_beside_the_wait<H: ModelHost>() -> String {
    main_plays("reader");
    let net = Net::<H>::new();
    let socket = net.register(true);
    let closer = {
        let net = Arc::clone(&net);
        H::fork("closer", move || net.close())
    };
    let read = socket.io(&net, Direction::Read, READER);
    H::join(closer);
    net.check_at_rest();
    assert!(read.is_none(), "nothing was sent");
    "closed".to_owned()
}

/// One M wakes a task that waited; another asks whether a task waits.
fn an_m_reads_that_nobody_waits<H: ModelHost>() -> String {
    struct Woken<H: ModelHost> {
        waiting: Waiting<H>,
        /// What was woken can be run.
        is_ready: Atomic<H, bool>,
    }
    let woken = Woken::<H> { waiting: Waiting::new(), is_ready: Atomic::new(false) };
    woken.waiting.add();
    let woken = Arc::new(woken);
    let poller = party::<H, _, _>("poller", &woken, |woken| {
        if is_variant("readiness-counts-down-before-it-wakes") {
            woken.waiting.woken(1);
        }
        // Relaxed: a queue; that it is seen is what the count is for.
        woken.is_ready.store(true, Relaxed);
        if !is_variant("readiness-counts-down-before-it-wakes") {
            woken.waiting.woken(1);
        }
    });
    let is_any = woken.waiting.is_any();
    // Relaxed: as above.
    let is_ready = woken.is_ready.load(Relaxed);
    assert!(is_any || is_ready, "no task waits, and nothing can be run: the M believes that nothing will come");
    H::join(poller);
    format!("any {is_any}, ready {is_ready}")
}

/// The poller of an M, on a parker.
struct Idle<H: ModelHost> {
    netpoll: Netpoll<H>,
    waiting: Waiting<H>,
    parker: H::Parker,
}

impl<H: ModelHost> Neighbours for Idle<H> {
    fn deadline(&self) -> Nanos {
        NEVER
    }
    fn is_awaited(&self) -> bool {
        self.waiting.is_any()
    }
    fn interrupt(&self) {
        self.parker.unpark();
    }
    fn wakep(&self) {}
}

/// The last that waited gives up as an M goes to wait in the poller.
fn the_last_gives_up<H: ModelHost>() -> String {
    main_plays("M");
    let idle = Idle::<H> { netpoll: Netpoll::new(), waiting: Waiting::new(), parker: H::Parker::new() };
    idle.waiting.add();
    let idle = Arc::new(idle);
    let task = party::<H, _, _>("task", &idle, |idle| {
        // As `Sched::break_idle_poll`.
        if idle.waiting.gave_up(1) && idle.netpoll.is_blocked() {
            idle.interrupt();
        }
    });
    // As `Sched::sleep`, until there is nothing to wait for.
    let mut waited = 0;
    while let Some(poll) = idle.netpoll.claim(&*idle) {
        let until = idle.netpoll.prepare(&poll, &*idle);
        if idle.is_awaited() {
            idle.parker.park();
            waited += 1;
        }
        assert!(until == NEVER, "there is no timer");
        idle.netpoll.leave(poll, 0);
    }
    H::join(task);
    format!("waited {waited}")
}

/// Two interrupt; the M waits until it has seen what both want.
fn two_interrupts<H: ModelHost>() -> String {
    main_plays("M");
    struct Both<H: ModelHost> {
        net: Arc<Net<H>>,
        news: [Atomic<H, bool>; 2],
    }
    let both = Arc::new(Both::<H> { net: Net::new(), news: [Atomic::new(false), Atomic::new(false)] });
    // Relaxed: that the M sees it is what an interrupt is for.
    let interrupt = |both: &Both<H>, n: usize| {
        both.news[n].store(true, Relaxed);
        both.net.interrupt();
    };
    let one = party::<H, _, _>("one", &both, move |both| interrupt(both, 0));
    let two = party::<H, _, _>("two", &both, move |both| interrupt(both, 1));
    let mut waited = 0;
    // Relaxed: as above.
    while both.news.iter().any(|news| !news.load(Relaxed)) {
        both.net.wait_for_interrupt();
        waited += 1;
    }
    H::join(one);
    H::join(two);
    format!("waited {waited}")
}

const CHANGE: &str = "readiness::no_report_is_missed::a_change_beside_the_wait";
const SLOT: &str = "readiness::no_report_is_missed::another_polls_once";
const ARMED_TWO: &str = "readiness::no_report_is_missed::armed_in_two_directions";
const REUSE: &str = "readiness::no_report_is_missed::a_key_is_reused";
const COUNT: &str = "readiness::who_waits_is_counted::an_m_reads_that_nobody_waits";
const LAST: &str = "readiness::who_waits_is_counted::the_last_gives_up";
const INTERRUPT: &str = "readiness::an_interrupt_is_seen::two_interrupts";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("readiness::no_report_is_missed::a_change_beside_the_wait", a_change_beside_the_wait,
        claim: "a task that would block, and a change that is reported as it begins to wait: it is woken, or tries again",
        size: "2 threads, 1 socket, 1 change",
        invariants: [78, 29],
        must_reach: ["tried Some(1)", "tried Some(2)"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::no_report_is_missed::an_armed_report_beside_the_wait", an_armed_report_beside_the_wait,
        claim: "the same with a socket that is armed for each report",
        size: "2 threads, 1 socket, 1 change",
        invariants: [78, 29],
        must_reach: ["tried Some(1)", "tried Some(2)"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::no_report_is_missed::changes_in_two_directions", changes_in_two_directions,
        claim: "two tasks, one for each direction: a report for one takes nothing from the other",
        size: "2 threads, 1 socket, 2 changes",
        invariants: [78, 29],
        must_reach: ["tried Some(1)", "tried Some(2)"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::no_report_is_missed::armed_in_two_directions", armed_in_two_directions,
        claim: "the same with a socket that is armed for each report: the poller arms it again for the other direction",
        size: "2 threads, 1 socket, 2 changes",
        invariants: [78, 29],
        must_reach: ["tried Some(1)", "tried Some(2)"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::no_report_is_missed::a_key_is_reused", a_key_is_reused,
        claim: "a socket that is forgotten while it is reported, and another that gets its key: what is reported of the new \
            one is not lost, and a report of the old one costs a try",
        size: "3 threads, 2 sockets, 1 key",
        invariants: [78, 29],
        must_reach: ["tried Some(1)", "tried Some(2)", "tried Some(3)"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::no_report_is_missed::another_polls_once", another_polls_once,
        claim: "a task that polls by a function, and another that polls by the same and gives up: the first is woken by the report, \
            and not by the other",
        size: "3 threads, 1 socket, 1 change",
        invariants: [78, 29],
        must_reach: ["tried Some(1)", "tried Some(2)"],
        runs: [rc11(), sc_cut()]),
    crate::model!("readiness::who_waits_is_counted::a_task_gives_up", a_task_gives_up,
        claim: "a task that gives up as its socket is reported is counted down once: by itself, or by the poller",
        size: "2 threads, 1 socket",
        invariants: [29],
        must_reach: ["reported true", "reported false"],
        runs: [rc11(), sc()]),
    crate::model!("readiness::who_waits_is_counted::two_give_up", two_give_up,
        claim: "two that wait for the same direction have a place each, and are counted down once each",
        size: "2 threads, 1 socket",
        invariants: [29],
        must_reach: ["nobody waits"],
        runs: [rc11(), sc()]),
    crate::model!("readiness::who_waits_is_counted::one_step_after_the_other", one_step_after_the_other,
        claim: "which task is on which list in which place, which is woken by which report, and which is counted, step \
                by step",
        size: "1 thread, 1 socket of either kind, 2 wakers",
        invariants: [29, 78],
        must_reach: ["changes true, forgotten true", "changes false, forgotten false"],
        runs: [rc11(), sc()]),
    crate::model!("readiness::nobody_waits_after_the_end::a_close_beside_the_wait", a_close_beside_the_wait,
        claim: "a task that waits for a socket as the runtime ends is told so",
        size: "2 threads, 1 socket",
        invariants: [78],
        must_reach: ["closed"],
        runs: [rc11(), sc()]),
    crate::model!("readiness::who_waits_is_counted::an_m_reads_that_nobody_waits", an_m_reads_that_nobody_waits,
        claim: "an M that reads that no task waits sees what can be run of what was woken",
        size: "2 threads",
        invariants: [29],
        must_reach: ["any true, ready false", "any false, ready true"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("readiness::who_waits_is_counted::the_last_gives_up", the_last_gives_up,
        claim: "an M does not stay in the poller when the last that waited has given up",
        size: "2 threads",
        invariants: [79],
        must_reach: ["waited 0", "waited 1"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("readiness::an_interrupt_is_seen::two_interrupts", two_interrupts,
        claim: "of two interrupts, of which one may only have read that there is a notice, both are seen by the M",
        size: "3 threads, 2 interrupts",
        invariants: [80],
        must_reach: ["waited 1", "waited 2"],
        runs: [rc11(), sc(), tso()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "readiness";
    "readiness-reads-the-tick-after-the-try": "a task asks how often its socket was reported when it has tried already",
        variant("readiness-reads-the-tick-after-the-try"), by CHANGE => [Rc11, Sc];
    "readiness-one-place-for-all-polls": "a task that polls by a function takes the place of another, which is woken by no report",
        variant("readiness-one-place-for-all-polls"), by SLOT => [Rc11, Sc];
    "readiness-the-poller-arms-nothing": "the poller does not arm a socket for the direction that was not reported",
        variant("readiness-the-poller-arms-nothing"), by ARMED_TWO => [Rc11];
    "readiness-forgets-a-key-that-is-another's": "a socket is forgotten when its key is another's already",
        variant("readiness-forgets-a-key-that-is-another's"), by REUSE => [Rc11];
    // As in golang/go #61454.
    "readiness-counts-down-before-it-wakes": "the poller counts down, and then wakes",
        variant("readiness-counts-down-before-it-wakes"), by COUNT => [Rc11, Sc];
    "readiness-no-fence-at-the-last": "the last that gives up asks for an M in the poller without a StoreLoad",
        weaken("waits/readiness.rs", "pub fn gave_up", "store_load::<H>()"), by LAST => [Rc11];
    "readiness-no-release-of-the-woken": "the poller counts down, Relaxed",
        weaken("waits/readiness.rs", "pub fn woken", "fetch_sub(woken, Release)"), by COUNT => [Rc11];
    "readiness-no-acquire-of-the-count": "an M asks whether a task waits, Relaxed",
        weaken("waits/readiness.rs", "pub fn count", "load(Acquire)"), by COUNT => [Rc11];
    "interrupt-no-fence-before-the-notice": "an interrupter leaves its notice without a StoreLoad",
        weaken("waits/interrupt.rs", "pub fn interrupt", "store_load::<H>()"), by INTERRUPT => [Rc11];
    "interrupt-no-fence-after-the-wait": "the M looks after its wait without a StoreLoad",
        weaken("waits/interrupt.rs", "pub fn wait", "store_load::<H>()"), by INTERRUPT => [Rc11];
};
