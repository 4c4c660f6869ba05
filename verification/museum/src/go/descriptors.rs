//! What was on its way when it was called off: a timer's value, an event of a descriptor.

use crate::common::{Engine, ModelHost, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::host::Lock;
use std::sync::Arc;

/// A timer with a channel, of Go 1.23 and later.
struct Timer<H: ModelHost> {
    /// `t.sendLock`: held while a value is sent, and around `stop` and `modify`. Was one sent?
    send_lock: H::Lock<bool>,
    /// `t.mu`.
    mu: H::Lock<State>,
}

struct State {
    /// `t.when`: is it set?
    is_set: bool,
    /// `t.isSending`: a value is on its way.
    is_sending: bool,
    /// `t.seq`: raised by each `stop` and `modify`, and what it was when the value went on its way.
    seq: u64,
    sent_seq: u64,
}

impl<H: ModelHost> Timer<H> {
    /// `unlockAndRun`.
    fn fire(&self) {
        let seq = self.mu.with(|t| {
            if !std::mem::take(&mut t.is_set) {
                return None;
            }
            t.is_sending = true;
            t.sent_seq = t.seq;
            Some(t.seq)
        });
        // Here `t.mu` is open, and `t.sendLock` not yet taken.
        let Some(seq) = seq else { return };
        self.send_lock.with(|sent| {
            self.mu.with(|t| {
                t.is_sending = false;
                *sent = t.seq == seq;
            });
        });
    }

    /// `Stop` and `Reset`: was the timer active, or its value still on its way?
    fn call_off(&self, sets: bool) -> bool {
        self.send_lock.with(|_| {
            self.mu.with(|t| {
                let is_pending = t.is_sending && (t.sent_seq == t.seq || is_wrong("museum-go-80760"));
                let was_active = t.is_set || is_pending;
                t.is_set = sets;
                t.seq += 1;
                was_active
            })
        })
    }
}

fn stopped_and_set_as_it_fires<H: ModelHost>() -> String {
    main_plays("owner");
    let timer = Timer::<H> {
        send_lock: H::Lock::new(false),
        mu: H::Lock::new(State { is_set: true, is_sending: false, seq: 0, sent_seq: 0 }),
    };
    let timer = Arc::new(timer);
    let runner = party::<H, _, _>("runner", &timer, Timer::fire);
    let stopped = timer.call_off(false);
    let reset = timer.call_off(true);
    H::join(runner);
    assert!(!(stopped && reset), "a timer is active that was just stopped");
    format!("stopped {stopped}")
}

const STOPPED: &str = "museum::go_80760::stopped_and_set_as_it_fires";

/// #80760.
pub(super) const COUNTED_AGAIN: Case = Case {
    exhibit: told(
        "a timer that was stopped, and active",
        "golang/go#80760",
        2026,
        "museum-go-80760",
        [
            "A pool of timers panicked: Reset said of a timer that Stop had just stopped that it was active.",
            "A timer that fires opens its own lock before it takes the one under which it sends. A Stop in between calls \
             the value off, and says so; a Reset after it finds that a value is on its way, and counts it again.",
            "What is on its way carries the number under which it set out; if that has passed, it does not count.",
        ],
    ),
    mutant: variant(
        "museum-go-80760",
        "a value on its way counts, though it was called off already",
        &[(STOPPED, Engine::Rc11), (STOPPED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_80760::stopped_and_set_as_it_fires", stopped_and_set_as_it_fires,
        claim: "a timer that was stopped is not active when it is set next",
        size: "2 threads: owner, runner; 1 timer",
        invariants: [],
        must_reach: ["stopped true", "stopped false"],
        runs: [rc11(), sc()]),
};

/// The system's poll set, and Go's descriptor of one file, which is used for another.
struct Reused<H: ModelHost> {
    /// Which file of ours has failed: the pointer to its descriptor, and the number that it had then.
    epoll: H::Lock<Option<u64>>,
    /// `pollDesc`: `fdseq`, and the error that was told of it.
    desc: H::Lock<(u64, bool)>,
}

impl<H: ModelHost> Reused<H> {
    /// `netpoll`. Did it tell of the event?
    fn poll(&self) -> bool {
        let event = self.epoll.with(|event| *event);
        let Some(tag) = event else { return false };
        self.desc.with(|(seq, has_failed)| {
            let is_its_own = tag == *seq || is_wrong("museum-go-59545");
            *has_failed |= is_its_own;
            is_its_own
        })
    }

    /// The file is closed, and the next one opened: it gets the same descriptor.
    fn reuse(&self) {
        // `epoll_ctl(EPOLL_CTL_DEL)`.
        self.epoll.with(|event| *event = None);
        // `pollCache.free`, and `poll_runtime_pollOpen`.
        self.desc.with(|(seq, has_failed)| {
            *seq += 1;
            *has_failed = false;
        });
    }
}

fn closed_and_opened_as_an_event_comes<H: ModelHost>() -> String {
    main_plays("poller");
    let reused = Arc::new(Reused::<H> { epoll: H::Lock::new(Some(0)), desc: H::Lock::new((0, false)) });
    let owner = party::<H, _, _>("owner", &reused, Reused::reuse);
    let told = reused.poll();
    H::join(owner);
    let has_failed = reused.desc.with(|(_, has_failed)| *has_failed);
    assert!(!has_failed, "a file that was just opened is told the failure of one that was closed");
    format!("told {told}")
}

const REUSED: &str = "museum::go_59545::closed_and_opened_as_an_event_comes";

/// #59545.
pub(super) const EVENT_OF_ANOTHER: Case = Case {
    exhibit: told(
        "an event of a file that was closed",
        "golang/go#59545",
        2023,
        "museum-go-59545",
        [
            "Reading a pipe failed now and then: not pollable.",
            "epoll gives back a pointer to the file's descriptor. Between the system's answer and its use the file may be \
             closed, and its descriptor be another file's: the event is told to that one.",
            "A number beside the pointer, raised at each use, as the reporter proposed.",
        ],
    ),
    mutant: variant(
        "museum-go-59545",
        "an event is told to whatever file has the descriptor by now",
        &[(REUSED, Engine::Rc11), (REUSED, Engine::Sc)],
    ),
    model: crate::model!("museum::go_59545::closed_and_opened_as_an_event_comes", closed_and_opened_as_an_event_comes,
        claim: "a file is told of its own events",
        size: "2 threads: poller, owner; 1 descriptor, 2 files",
        invariants: [],
        must_reach: ["told true", "told false"],
        runs: [rc11(), sc()]),
};
