//! What a channel counts, and what it really has: messages that are counted and not yet put, a block of memory that is
//! there at one end and not yet at the other.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

const OPEN: u64 = 1 << 32;

/// futures' mpsc: messages are counted, and then put.
struct Mpsc<H: ModelHost> {
    /// Is it open, and how many messages are there?
    state: Atomic<H, u64>,
    /// How many were put.
    queue: H::Lock<u32>,
    /// Where a receiver waits that is dropped. The original yields and looks again.
    parker: H::Parker,
}

impl<H: ModelHost> Mpsc<H> {
    /// `try_send`. Was it accepted?
    fn send(&self) -> bool {
        // SeqCst: as futures has it. So everywhere here.
        let mut found = self.state.load(SeqCst);
        loop {
            if found & OPEN == 0 {
                return false;
            }
            // SeqCst: as above.
            match self.state.compare_exchange(found, found + 1, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(now) => found = now,
            }
        }
        self.queue.with(|queue| *queue += 1);
        self.parker.unpark();
        true
    }

    /// `close`.
    fn close(&self) {
        // SeqCst: as above.
        let mut found = self.state.load(SeqCst);
        // SeqCst: as above.
        while let Err(now) = self.state.compare_exchange(found, found & !OPEN, SeqCst, SeqCst) {
            found = now;
        }
    }

    /// `Drop for Receiver`; how many messages it dropped.
    fn drop_receiver(&self) -> u32 {
        self.close();
        let mut dropped = 0;
        loop {
            let got = self.queue.with(std::mem::take);
            dropped += got;
            // SeqCst: as above.
            let counted = self.state.fetch_sub(u64::from(got), SeqCst) - u64::from(got);
            if counted == 0 || got == 0 && is_wrong("museum-futures-909") {
                return dropped;
            }
            if got == 0 {
                self.parker.park();
            }
        }
    }
}

fn a_message_is_sent_as_the_receiver_is_dropped<H: ModelHost>() -> String {
    main_plays("receiver");
    let mpsc = Mpsc::<H> { state: Atomic::new(OPEN), queue: H::Lock::new(0), parker: H::Parker::new() };
    let mpsc = Arc::new(mpsc);
    let sender = party::<H, _, _>("sender", &mpsc, Mpsc::send);
    let dropped = mpsc.drop_receiver();
    let accepted = H::join(sender);
    let left = mpsc.queue.with(|queue| *queue);
    assert!(left == 0, "a message was accepted, and neither received nor dropped");
    format!("accepted {accepted} dropped {dropped}")
}

/// crossbeam-channel's list, of which the first block is still to be made. A block is the number 7.
struct List<H: ModelHost> {
    /// `tail.block` and `head.block`, or 0.
    tail_block: Atomic<H, u64>,
    head_block: Atomic<H, u64>,
    /// `tail.index`; `head.index` stays 0.
    tail: Atomic<H, u64>,
    /// How often the block was freed.
    freed: Atomic<H, u64>,
    /// Where a receiver waits that goes. The original spins.
    parker: H::Parker,
}

const BLOCK: u64 = 7;

impl<H: ModelHost> List<H> {
    /// `send`: makes the first block, if there is none, and puts a message. Did it make the block?
    fn send(&self) -> bool {
        // Acquire: sees the block.
        let makes = self.tail_block.load(Acquire) == 0
            // AcqRel: publishes the block. Acquire: it is another's; sees it.
            && self.tail_block.compare_exchange(0, BLOCK, AcqRel, Acquire).is_ok();
        if makes {
            // AcqRel: publishes the block for the receiver. Release would do.
            self.head_block.swap(BLOCK, AcqRel);
            self.parker.unpark();
        }
        // AcqRel: takes a slot, and publishes the message. The original writes it after that, and says so in the slot.
        self.tail.fetch_add(1, AcqRel);
        makes
    }

    /// `discard_all_messages`, by the last receiver; how many it dropped.
    fn discard(&self) -> u64 {
        // Acquire: sees the messages.
        let messages = self.tail.load(Acquire);
        // AcqRel: takes the block, so that it is freed once.
        let mut block = self.head_block.swap(0, AcqRel);
        if messages > 0 && !is_wrong("museum-crossbeam-971") {
            while block == 0 {
                self.parker.park();
                block = match is_wrong("museum-crossbeam-1187") {
                    // Acquire: sees the block, and leaves it there.
                    true => self.head_block.load(Acquire),
                    // AcqRel: takes it, as above.
                    false => self.head_block.swap(0, AcqRel),
                };
            }
        }
        assert!(messages == 0 || block == BLOCK, "the messages are looked for in a block that is not there");
        self.free(block);
        messages
    }

    fn free(&self, block: u64) {
        if block != 0 {
            // Relaxed: counted for the end.
            self.freed.fetch_add(1, Relaxed);
        }
    }
}

fn the_receiver_goes_as_two_send_first<H: ModelHost>() -> String {
    main_plays("receiver");
    let word = || Atomic::new(0);
    let list =
        List::<H> { tail_block: word(), head_block: word(), tail: word(), freed: word(), parker: H::Parker::new() };
    let list = Arc::new(list);
    let senders = ["one", "two"].map(|name| party::<H, _, _>(name, &list, List::send));
    let messages = list.discard();
    senders.into_iter().for_each(|sender| {
        H::join(sender);
    });
    // `Drop for Channel`. AcqRel: as above.
    list.free(list.head_block.swap(0, AcqRel));
    // Relaxed: all have ended.
    let freed = list.freed.load(Relaxed);
    assert!(freed == 1, "the block was freed {freed} times");
    format!("{messages} messages")
}

/// std's old mpsc: a count of messages, and of those that were received without the count's knowledge.
struct Std<H: ModelHost> {
    queue: H::Lock<i32>,
    /// `cnt`: how many were sent, less what the receiver has told; -1 if it sleeps. Stored with 100 added.
    cnt: Atomic<H, u64>,
    /// `to_wake`: does the receiver's token lie there?
    to_wake: Atomic<H, u64>,
    /// The token: was the receiver woken?
    woken: Atomic<H, bool>,
    parker: H::Parker,
}

/// What stands for no messages.
const NONE: u64 = 100;

/// The receiver's own.
struct Receiver<'a, H: ModelHost> {
    std: &'a Std<H>,
    /// `steals`: what it has received and not yet told.
    steals: u64,
}

impl<H: ModelHost> Std<H> {
    /// `send`.
    fn send(&self) {
        self.queue.with(|queue| *queue += 1);
        // SeqCst: as std had it. So everywhere here.
        if self.cnt.fetch_add(1, SeqCst) == NONE - 1 {
            // SeqCst: as above.
            self.to_wake.swap(0, SeqCst);
            // SeqCst: as above.
            self.woken.store(true, SeqCst);
            self.parker.unpark();
        }
    }
}

impl<H: ModelHost> Receiver<'_, H> {
    fn try_recv(&mut self) -> bool {
        let is_there = self.std.queue.with(|queue| {
            let is_there = *queue > 0;
            *queue -= i32::from(is_there);
            is_there
        });
        self.steals += u64::from(is_there);
        is_there
    }

    /// `decrement`: may it sleep?
    fn decrement(&mut self) -> bool {
        // SeqCst: as above.
        self.std.to_wake.store(1, SeqCst);
        let steals = std::mem::take(&mut self.steals);
        // SeqCst: as above.
        let found = self.std.cnt.fetch_sub(1 + steals, SeqCst);
        assert!(found >= NONE, "the receiver sleeps twice");
        if found - NONE <= steals {
            return true;
        }
        // SeqCst: as above.
        self.std.to_wake.store(0, SeqCst);
        false
    }

    /// `WaitToken::wait`.
    fn wait(&self) {
        // SeqCst: as above.
        while !self.std.woken.swap(false, SeqCst) {
            self.std.parker.park();
        }
    }

    /// `abort_selection`: the time is over.
    fn abort(&mut self) {
        // SeqCst: as above.
        let steals = NONE.saturating_sub(self.std.cnt.load(SeqCst));
        // SeqCst: as above.
        if self.std.cnt.fetch_add(steals + 1, SeqCst) < NONE {
            // SeqCst: as above.
            self.std.to_wake.store(0, SeqCst);
        } else {
            // A sender is about to wake it. The original spins until `to_wake` is empty.
            self.wait();
        }
        self.steals = steals;
    }

    /// `recv`, or `recv_timeout`. Was there a message?
    fn receive(&mut self, times_out: bool) -> bool {
        if self.try_recv() {
            return true;
        }
        let sleeps = self.decrement();
        let aborts = sleeps && times_out;
        if aborts {
            self.abort();
        } else if sleeps {
            self.wait();
        }
        let is_there = self.try_recv();
        assert!(is_there || times_out, "a receiver was woken, and there is no message");
        if is_there && (!aborts || is_wrong("museum-rust-94518")) {
            // This one was told when it lay down to sleep.
            self.steals -= 1;
        }
        is_there
    }
}

fn a_message_comes_as_the_time_is_over<H: ModelHost>() -> String {
    main_plays("receiver");
    let std = Std::<H> {
        queue: H::Lock::new(0),
        cnt: Atomic::new(NONE),
        to_wake: Atomic::new(0),
        woken: Atomic::new(false),
        parker: H::Parker::new(),
    };
    let std = Arc::new(std);
    let sender = party::<H, _, _>("sender", &std, |std| {
        std.send();
        std.send();
    });
    let mut receiver = Receiver { std: &std, steals: 0 };
    let in_time = receiver.receive(true);
    let mut received = u32::from(in_time);
    while received < 2 {
        received += u32::from(receiver.receive(false));
    }
    H::join(sender);
    format!("in time {in_time}")
}

const MPSC: &str = "museum::futures_909::a_message_is_sent_as_the_receiver_is_dropped";
const LIST: &str = "museum::crossbeam_971::the_receiver_goes_as_two_send_first";
const STD: &str = "museum::rust_94518::a_message_comes_as_the_time_is_over";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::futures_909::a_message_is_sent_as_the_receiver_is_dropped",
        a_message_is_sent_as_the_receiver_is_dropped,
        claim: "a message that was accepted is received, or dropped with the receiver",
        size: "2 threads, 1 message",
        invariants: [],
        must_reach: ["accepted true dropped 1", "accepted false dropped 0"],
        runs: [rc11(), sc()]),
    crate::model!("museum::crossbeam_971::the_receiver_goes_as_two_send_first", the_receiver_goes_as_two_send_first,
        claim: "the last receiver finds the block in which messages are, and it is freed once",
        size: "3 threads, 2 messages",
        invariants: [],
        must_reach: ["0 messages", "1 messages", "2 messages"],
        runs: [rc11(), sc()]),
    crate::model!("museum::rust_94518::a_message_comes_as_the_time_is_over", a_message_comes_as_the_time_is_over,
        claim: "a receiver whose time is over may receive what has just come, and wait again",
        size: "2 threads, 2 messages, 1 timeout",
        invariants: [],
        must_reach: ["in time true", "in time false"],
        runs: [rc11(), sc()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-futures-909": "a receiver that is dropped ends when it finds the queue empty",
        variant("museum-futures-909"), by MPSC => [Rc11, Sc, Loom];
    "museum-crossbeam-971": "a receiver that goes takes it that where messages are counted a block is there",
        variant("museum-crossbeam-971"), by LIST => [Rc11, Sc, Loom];
    "museum-crossbeam-1187": "a receiver that has waited for the block reads where it is and leaves it there",
        variant("museum-crossbeam-1187"), by LIST => [Rc11, Sc, Loom];
    "museum-rust-94518": "a receiver whose time was over counts a message as told, as if it had been woken for it",
        variant("museum-rust-94518"), by STD => [Rc11, Sc, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "futures-909",
        project: "futures",
        issue: "https://github.com/rust-lang/futures-rs/issues/909",
        year: 2018,
        people: "A thread that had sent a command waited for ever for the answer: the command was neither received nor \
                 dropped.",
        cause: "A sender counts its message and then puts it. A receiver that is dropped in between finds the queue \
                empty, and leaves the message behind.",
        fix: "It goes on as long as messages are counted (#1241; in 0.3 two years later, #2304).",
        source: Source::Read,
        mutant: "museum-futures-909",
    },
    Exhibit {
        name: "crossbeam-971",
        project: "crossbeam-channel",
        issue: "https://github.com/crossbeam-rs/crossbeam/issues/971",
        year: 2023,
        people: "Programs crashed now and then; std's channel, a port of it, crashed as well (rust-lang/rust#110001).",
        cause: "The first block is set at the tail, and then at the head. A second sender may put its message in \
                between; the last receiver sees it counted, and follows the head's pointer, which is null.",
        fix: "It waits until the block is there (#972).",
        source: Source::Read,
        mutant: "museum-crossbeam-971",
    },
    Exhibit {
        name: "crossbeam-1187",
        project: "crossbeam-channel",
        issue: "https://github.com/crossbeam-rs/crossbeam/pull/1187",
        year: 2025,
        people: "Memory was freed twice (RUSTSEC-2025-0024); three releases were withdrawn.",
        cause: "To mend a leak, the last receiver takes the head's block by an exchange. But where it waits for a \
                block that is still to be set there it only reads it; the channel's own drop frees it again.",
        fix: "An exchange there, too.",
        source: Source::Read,
        mutant: "museum-crossbeam-1187",
    },
    Exhibit {
        name: "rust-94518",
        project: "Rust's std",
        issue: "https://github.com/rust-lang/rust/issues/94518",
        year: 2022,
        people: "recv panicked after a recv_timeout (#39364, open for five years).",
        cause: "A receiver whose time is over gives its sleep back, and looks once more. If a message has come since \
                then, it counts it as one for which it was woken, and which the count knows; the count is wrong by one \
                from then on.",
        fix: "std took crossbeam's channels. Here it makes the difference.",
        source: Source::Read,
        mutant: "museum-rust-94518",
    },
];
