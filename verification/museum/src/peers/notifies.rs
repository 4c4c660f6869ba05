//! tokio's `Notify`, and its `broadcast`: a call wakes exactly the waiters that were there when it began; and a permit
//! that was stored stays there for the next waiter.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Empty,
    Waiting,
    Notified,
}

/// Why a waiter was taken out of the list.
#[derive(Clone, Copy, PartialEq)]
enum Notification {
    One,
    All,
}

/// `Notify` under its lock, with one `Notified` that was polled, and is dropped.
struct Dropped {
    state: State,
    is_listed: bool,
    notification: Option<Notification>,
}

impl Dropped {
    /// `notify_waiters`.
    fn notify_waiters(&mut self) {
        if std::mem::take(&mut self.is_listed) {
            self.notification = Some(Notification::All);
            self.state = State::Empty;
        }
    }

    /// `notify_one`, and what a dropped future does with a notification that it has not used.
    fn notify_one(&mut self) {
        if std::mem::take(&mut self.is_listed) {
            self.notification = Some(Notification::One);
            self.state = State::Empty;
        } else {
            self.state = State::Notified;
        }
    }

    /// `Drop for Notified`.
    fn drop_notified(&mut self) {
        self.is_listed = false;
        if self.state == State::Waiting || is_wrong("museum-tokio-3652") {
            // The list is empty.
            self.state = State::Empty;
        }
        if self.notification == Some(Notification::One) {
            self.notify_one();
        }
    }
}

fn a_notified_is_dropped_as_two_notify<H: ModelHost>() -> String {
    main_plays("dropper");
    let notify = Dropped { state: State::Waiting, is_listed: true, notification: None };
    let notify = Arc::new(H::Lock::new(notify));
    let notifier = party::<H, _, _>("notifier", &notify, |notify| {
        notify.with(Dropped::notify_waiters);
        notify.with(Dropped::notify_one);
    });
    let was = notify.with(|notify| {
        let was = notify.notification;
        notify.drop_notified();
        was
    });
    H::join(notifier);
    let state = notify.with(|notify| notify.state);
    assert!(state == State::Notified, "notify_one was called, and the next waiter waits for ever");
    if was.is_some() { "woken, then dropped" } else { "dropped while it waits" }.to_owned()
}

const NOTIFIED: u64 = 1;
const CALL: u64 = 2;

/// `Notify` without waiters: whether a permit is stored, and above that the number of calls of `notify_waiters`.
struct Called<H: ModelHost> {
    state: Atomic<H, u64>,
    /// Guards the list, and the number.
    waiters: H::Lock<()>,
}

impl<H: ModelHost> Called<H> {
    /// `notify_waiters`.
    fn notify_waiters(&self) -> bool {
        self.waiters.with(|()| {
            // SeqCst: as tokio has it.
            let found = self.state.load(SeqCst);
            if is_wrong("museum-tokio-3660") {
                // SeqCst: the number is guarded by the lock, but the permit beside it is not.
                self.state.store(found + CALL, SeqCst);
            } else {
                // SeqCst: as above; whatever the permit is by now, it stays.
                self.state.fetch_add(CALL, SeqCst);
            }
            found & NOTIFIED != 0
        })
    }

    /// `notify_one`: no task waits, so the lock is not needed.
    fn notify_one(&self) {
        // SeqCst: as tokio has it.
        let mut found = self.state.load(SeqCst);
        // SeqCst: as above. Relaxed: tried again.
        while let Err(now) = self.state.compare_exchange(found, found | NOTIFIED, SeqCst, Relaxed) {
            found = now;
        }
    }
}

fn all_and_one_are_notified_at_once<H: ModelHost>() -> String {
    main_plays("all");
    let notify = Arc::new(Called::<H> { state: Atomic::new(0), waiters: H::Lock::new(()) });
    let one = party::<H, _, _>("one", &notify, Called::notify_one);
    let saw = notify.notify_waiters();
    H::join(one);
    // SeqCst: as above.
    let state = notify.state.load(SeqCst);
    assert!(state == CALL | NOTIFIED, "notify_one was called, and its permit is gone");
    format!("the call saw the permit {saw}")
}

/// `Notify` whose waiters are woken one at a time, the lock open in between, as tokio does it 32 at a time.
struct Batches<H: ModelHost> {
    waiters: H::Lock<Waiters>,
    parker: H::Parker,
}

struct Waiters {
    /// The waiters, each a number, the oldest first.
    list: Vec<u32>,
    /// Those that are woken already.
    woken: Vec<u32>,
}

impl<H: ModelHost> Batches<H> {
    /// `notify_waiters`; how many it woke.
    fn notify_waiters(&self) -> usize {
        let mut begun: Option<Vec<u32>> = None;
        loop {
            let woken = self.waiters.with(|waiters| {
                let of_this_call = match is_wrong("museum-tokio-5396") {
                    true => &mut waiters.list,
                    // Those that wait when the call begins are a list of their own.
                    false => begun.get_or_insert_with(|| std::mem::take(&mut waiters.list)),
                };
                let woken = (!of_this_call.is_empty()).then(|| of_this_call.remove(0));
                waiters.woken.extend(woken);
                woken
            });
            match woken {
                None => return self.waiters.with(|waiters| waiters.woken.len()),
                Some(1) => self.parker.unpark(),
                Some(_) => (),
            }
        }
    }

    /// `notified().await`, which was polled already, and another one after it, which is polled once.
    fn wait_twice(&self) {
        while self.waiters.with(|waiters| !waiters.woken.contains(&1)) {
            self.parker.park();
        }
        self.waiters.with(|waiters| waiters.list.push(3));
    }
}

fn one_call_wakes_one_that_waits_again<H: ModelHost>() -> String {
    main_plays("notifier");
    let waiters = Waiters { list: vec![1, 2], woken: Vec::new() };
    let notify = Arc::new(Batches::<H> { waiters: H::Lock::new(waiters), parker: H::Parker::new() });
    let waiter = party::<H, _, _>("waiter", &notify, Batches::wait_twice);
    let woken = notify.notify_waiters();
    let has_returned_first = notify.waiters.with(|waiters| waiters.list.is_empty());
    H::join(waiter);
    assert!(woken == 2, "one call of notify_waiters has woken one that began to wait after it");
    format!("the call ends first {has_returned_first}")
}

/// tokio's `broadcast`, with room for one message, of which one was sent.
struct Broadcast {
    /// How many were sent.
    tail: u64,
}

/// The room.
const CAPACITY: u64 = 1;

/// `Drop for Receiver`: reads what was there when it began, so that the slots are free again; from which message to
/// which.
fn drop_receiver<H: ModelHost>(channel: &H::Lock<Broadcast>) -> (u64, u64) {
    let mut next = 0;
    let until = channel.with(|channel| channel.tail);
    while if is_wrong("museum-tokio-3434") { next != until } else { next < until } {
        channel.with(|channel| {
            // `recv_ref`.
            assert!(next < channel.tail, "unexpected empty broadcast channel");
            let oldest = channel.tail.saturating_sub(CAPACITY);
            // It lags: on to the oldest that is there still. Else it has read one.
            next = if next < oldest { oldest } else { next + 1 };
        });
    }
    (next, until)
}

fn a_slow_receiver_is_dropped_as_one_sends<H: ModelHost>() -> String {
    main_plays("receiver");
    let channel = Arc::new(H::Lock::new(Broadcast { tail: 1 }));
    let sender = party::<H, _, _>("sender", &channel, |channel| {
        channel.with(|channel| channel.tail += 1);
        channel.with(|channel| channel.tail += 1);
    });
    let (next, until) = drop_receiver::<H>(&channel);
    H::join(sender);
    format!("{} too far", next - until)
}

const DROPPED: &str = "museum::tokio_3652::a_notified_is_dropped_as_two_notify";
const CALLED: &str = "museum::tokio_3660::all_and_one_are_notified_at_once";
const BATCHES: &str = "museum::tokio_5396::one_call_wakes_one_that_waits_again";
const BROADCAST: &str = "museum::tokio_3434::a_slow_receiver_is_dropped_as_one_sends";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::tokio_3652::a_notified_is_dropped_as_two_notify", a_notified_is_dropped_as_two_notify,
        claim: "a permit stays until a waiter uses it, though a future is dropped",
        size: "2 threads, 1 waiter, 2 notifications",
        invariants: [],
        must_reach: ["woken, then dropped", "dropped while it waits"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_3660::all_and_one_are_notified_at_once", all_and_one_are_notified_at_once,
        claim: "a permit stays though all waiters are notified",
        size: "2 threads, 2 notifications",
        invariants: [],
        must_reach: ["true", "false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_5396::one_call_wakes_one_that_waits_again", one_call_wakes_one_that_waits_again,
        claim: "a call of notify_waiters wakes those that wait when it begins",
        size: "2 threads, 3 waits, 1 call",
        invariants: [],
        must_reach: ["true", "false"],
        runs: [rc11(), sc()]),
    crate::model!("museum::tokio_3434::a_slow_receiver_is_dropped_as_one_sends",
        a_slow_receiver_is_dropped_as_one_sends,
        claim: "a receiver that is dropped reads no further than there is something to read",
        size: "2 threads, 3 messages, room for 1",
        invariants: [],
        must_reach: ["0 too far", "1 too far"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-tokio-3652": "a future that is dropped empties the state, whatever it was",
        variant("museum-tokio-3652"), by DROPPED => [Rc11, Sc, Loom];
    "museum-tokio-3660": "the number of calls is raised by a load and a store, and the permit is beside it",
        variant("museum-tokio-3660"), by CALLED => [Rc11, Sc, Loom];
    "museum-tokio-5396": "each batch of waiters is taken from the list as it is by then",
        variant("museum-tokio-5396"), by BATCHES => [Rc11, Sc, Loom];
    "museum-tokio-3434": "a receiver that is dropped reads until it meets a number that it may have jumped over",
        variant("museum-tokio-3434"), by BROADCAST => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-3652",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/3652",
        year: 2021,
        people: "Found by reading: a task could wait for ever for a notification that was given.",
        cause: "A Notified that is dropped sets the state to empty. That was right as long as only notify_one took it \
                out of the list; notify_waiters does, too, and a permit that was stored after that is wiped out.",
        fix: "The state is emptied only if it says that a task waits.",
        source: Source::Read,
        mutant: "museum-tokio-3652",
    },
    Exhibit {
        name: "tokio-3660",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/3660",
        year: 2021,
        people: "Found by reading, and then by loom: a permit was lost.",
        cause: "notify_waiters raises a number by a load and a store. The lock guards the number, but not the permit \
                in the same word, which notify_one stores without the lock.",
        fix: "An atomic addition.",
        source: Source::Read,
        mutant: "museum-tokio-3660",
    },
    Exhibit {
        name: "tokio-5396",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/5396",
        year: 2023,
        people: "One call of notify_waiters woke the same task twice.",
        cause: "The waiters are woken in batches of 32, the lock open in between. A task that was woken and waits \
                again is in the list when the next batch is taken.",
        fix: "The list is taken as a whole when the call begins (#5458).",
        source: Source::Read,
        mutant: "museum-tokio-5396",
    },
    Exhibit {
        name: "tokio-3434",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/pull/3434",
        year: 2021,
        people: "Receivers of a broadcast channel with little room panicked when they were dropped (#2533).",
        cause: "A dropped receiver reads all messages up to the last that there was. If it is overtaken meanwhile, it \
                jumps to the oldest that is there still, which may lie behind that last one.",
        fix: "It reads on only while it is before the last.",
        source: Source::Read,
        mutant: "museum-tokio-3434",
    },
];
