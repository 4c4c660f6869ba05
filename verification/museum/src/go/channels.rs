//! Channels and conditions: a G goes to sleep in several steps, and another thread acts between two of them.

use crate::common::{Cell, Engine, ModelHost, is_wrong, main_plays, party, rc11, sc};
use crate::go::{Case, told, variant};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A G that is about to park in `chansend`. Its stack may be moved; the channel's queue has a pointer into it.
struct Sender<H: ModelHost> {
    /// The channel's lock.
    chan: H::Lock<()>,
    /// `sudog.elem`, a pointer into the stack; 0 when the value was received.
    elem: H::Cell<u64>,
    /// `_Gwaiting`.
    waiting: Atomic<H, bool>,
    /// `gp.activeStackChans`: the stack is pointed into, and is to be moved under the channels' locks only.
    active: Atomic<H, bool>,
    /// `gp.parkingOnChan`: that is about to be so.
    parking: Atomic<H, bool>,
}

/// How far a stack is moved.
const MOVED: u64 = 100;

impl<H: ModelHost> Sender<H> {
    /// `chansend`: enqueues itself, and `gopark`. The lock is held until `chanparkcommit` is over.
    fn send(&self) {
        self.chan.with(|()| {
            self.elem.set(1);
            // Relaxed: the status publishes it.
            self.parking.store(true, Relaxed);
            // Release: `casgstatus`, in `park_m`.
            self.waiting.store(true, Release);
            // `chanparkcommit`. Relaxed: the next line publishes it.
            self.active.store(true, Relaxed);
            // Release: a thread that sees the end of this sees that a pointer into the stack exists.
            self.parking.store(false, Release);
        });
    }

    /// `shrinkstack`, by a worker of the collector that has suspended the G. How?
    fn shrink(&self) -> &'static str {
        // Acquire: `suspendG`.
        if !self.waiting.load(Acquire) {
            return "not yet";
        }
        // Acquire: `isShrinkStackSafe`.
        if !is_wrong("museum-go-40641") && self.parking.load(Acquire) {
            return "not safe";
        }
        let adjust = || {
            // `adjustsudogs`.
            if self.elem.get() != 0 {
                self.elem.set(self.elem.get() + MOVED);
            }
        };
        // Acquire: as above.
        if self.active.load(Acquire) {
            // `syncadjustsudogs`.
            self.chan.with(|()| adjust());
            return "under the lock";
        }
        adjust();
        "without the lock"
    }
}

fn a_stack_is_shrunk_as_its_g_parks<H: ModelHost>() -> String {
    main_plays("sender");
    let sender = Sender::<H> {
        chan: H::Lock::new(()),
        elem: Cell::new(0),
        waiting: Atomic::new(false),
        active: Atomic::new(false),
        parking: Atomic::new(false),
    };
    let sender = Arc::new(sender);
    let worker = party::<H, _, _>("worker", &sender, Sender::shrink);
    // `chanrecv`: takes the value from the sender's stack.
    let receiver = party::<H, _, _>("receiver", &sender, |sender| {
        sender.chan.with(|()| {
            let is_there = sender.elem.get() != 0;
            sender.elem.set(0);
            is_there
        })
    });
    sender.send();
    let how = H::join(worker);
    if H::join(receiver) {
        assert!(sender.elem.get() == 0, "sudog with non-nil elem");
    }
    how.to_owned()
}

const SHRUNK: &str = "museum::go_40641::a_stack_is_shrunk_as_its_g_parks";

/// #40641.
pub(super) const SHRUNK_WHILE_IT_PARKS: Case = Case {
    exhibit: told(
        "a stack that was moved as its G lay down",
        "golang/go#40641",
        2020,
        "museum-go-40641",
        [
            "Large programs crashed now and then: sudog with non-nil elem, from a send or a receive.",
            "A G that parks at a channel is waiting first, and only then says that pointers into its stack are in the \
             channel. A worker of the collector that comes in between moves the stack without the channel's lock.",
            "The G says before it is waiting that it is about to park at a channel; then its stack is left alone.",
        ],
    ),
    mutant: variant(
        "museum-go-40641",
        "a worker that shrinks a stack does not ask whether its G is just parking at a channel",
        &[(SHRUNK, Engine::Rc11), (SHRUNK, Engine::Sc)],
    ),
    model: crate::model!("museum::go_40641::a_stack_is_shrunk_as_its_g_parks", a_stack_is_shrunk_as_its_g_parks,
        claim: "pointers into a stack that are in a channel are moved under its lock",
        size: "3 threads: sender, receiver, a worker of the collector",
        invariants: [],
        must_reach: ["not yet", "not safe", "under the lock"],
        runs: [rc11(), sc()]),
};

/// `sync.Cond` on the runtime's semaphores.
struct Cond<H: ModelHost> {
    /// `c.L`, and what is waited for: may the first go on, may the second?
    l: H::Lock<[bool; 2]>,
    /// The semaphore, or the list, of those that wait.
    list: H::Lock<List>,
    parkers: [H::Parker; 2],
}

#[derive(Default)]
struct List {
    /// How many wait that no broadcast has counted yet.
    waiters: u32,
    /// The semaphore's count.
    tokens: u32,
    asleep: Vec<usize>,
    /// `notifyList`: the next ticket, and up to which all are notified.
    wait: u32,
    notify: u32,
}

impl<H: ModelHost> Cond<H> {
    /// `Wait`, by `me`, until it may go on; how many times it slept.
    fn wait(&self, me: usize) -> u32 {
        let mut slept = 0;
        // `Wait` counts itself, or takes its ticket, before it opens the lock.
        while let Some(ticket) = self.l.with(|may| {
            (!may[me]).then(|| {
                self.list.with(|list| {
                    list.waiters += 1;
                    list.wait += 1;
                    list.wait - 1
                })
            })
        }) {
            let sleeps = self.list.with(|list| {
                let goes_on = match is_wrong("museum-go-14064") {
                    // `runtime_Semacquire`: any token will do.
                    true => list.tokens > 0,
                    // `notifyListWait`: only what came after its own ticket.
                    false => ticket < list.notify,
                };
                list.tokens -= u32::from(goes_on && list.tokens > 0);
                list.asleep.extend((!goes_on).then_some(me));
                !goes_on
            });
            if sleeps {
                slept += 1;
                while self.list.with(|list| list.asleep.contains(&me)) {
                    self.parkers[me].park();
                }
            }
        }
        slept
    }

    /// `Broadcast`, after `whose` may go on.
    fn broadcast(&self, whose: usize) {
        self.l.with(|may| may[whose] = true);
        let woken = self.list.with(|list| {
            let waiters = std::mem::take(&mut list.waiters);
            let woken = std::mem::take(&mut list.asleep);
            list.tokens += waiters - woken.len() as u32;
            list.notify = list.wait;
            woken
        });
        woken.into_iter().for_each(|waiter| self.parkers[waiter].unpark());
    }
}

fn another_waits_after_the_broadcast<H: ModelHost>() -> String {
    main_plays("broadcaster");
    let cond = Cond::<H> {
        l: H::Lock::new([false; 2]),
        list: H::Lock::new(List::default()),
        parkers: [H::Parker::new(), H::Parker::new()],
    };
    let cond = Arc::new(cond);
    let one = party::<H, _, _>("one", &cond, |cond| cond.wait(0));
    let two = party::<H, _, _>("two", &cond, |cond| cond.wait(1));
    cond.broadcast(0);
    let slept = H::join(one);
    cond.broadcast(1);
    H::join(two);
    format!("the first slept {slept} times")
}

const AFTER: &str = "museum::go_14064::another_waits_after_the_broadcast";

/// #14064.
pub(super) const A_LATER_WAITER: Case = Case {
    exhibit: told(
        "a wake that a later waiter took",
        "golang/go#14064",
        2016,
        "museum-go-14064",
        [
            "Found by reading, and shown with a pause at the right place: a goroutine that waited before a Broadcast \
             slept on.",
            "A waiter counts itself, opens the lock, and then acquires a semaphore; a broadcast releases as many as it \
             counts. A G that waits after the broadcast may acquire first, in another's place.",
            "Tickets: a waiter is woken by what was broadcast after it took its own.",
        ],
    ),
    mutant: variant(
        "museum-go-14064",
        "a waiter of a condition takes any token of its semaphore",
        &[(AFTER, Engine::Rc11)],
    ),
    model: crate::model!("museum::go_14064::another_waits_after_the_broadcast", another_waits_after_the_broadcast,
        claim: "a broadcast wakes all that waited before it",
        size: "3 threads: broadcaster, 2 waiters",
        invariants: [],
        must_reach: ["the first slept 0 times", "the first slept 1 times"],
        runs: [rc11()]),
};
