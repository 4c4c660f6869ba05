//! Steps that are changed: all that are wrong are noticed, and those that are right are not.

use crate::system::Variant;

/// Wrong variants.
pub const WRONG: &[Variant] = &[
    wrong(17, "no-submitters-fence", "wakep without its StoreLoad", "mutant spinning-no-submitter-fence"),
    wrong(
        17,
        "looks-before-it-leaves",
        "retire scans the queues, then leaves nmspinning; or its StoreLoad is missing, so that it may",
        "mutants spinning-looks-before-it-leaves, spinning-no-spinning-m-fence; Go: recheck before decrement",
    ),
    wrong(
        17,
        "finder-looks-before-it-leaves",
        "found_work scans the queues, then leaves nmspinning; or its StoreLoad is missing",
        "mutant spinning-no-finders-fence",
    ),
    wrong(6, "drops-the-baton", "the last spinning M finds work and wakes no M", "mutant spinning-drops-the-baton"),
    wrong(12, "no-second-look", "retire does not look again", "Spin: NO_SECOND_LOOK"),
    wrong(
        16,
        "only-the-last-looks",
        "a spinning M that reads that others are counted does not look again",
        "mutant spinning-only-the-last-looks",
    ),
    wrong(
        15,
        "lowers-its-count-late",
        "wakep finds no idle P and lowers its count after the lock is released",
        "mutant spinning-lowers-its-count-late; Spin: COUNT_STAYS_UP",
    ),
    wrong(
        0,
        "trusts-any-request",
        "wakep finds a spinning M asked for, and does not ask whether a P is idle",
        "mutant spinning-trusts-any-request",
    ),
    wrong(
        15,
        "ignores-the-call",
        "an M idles its P without a look at needspinning, or at the count",
        "mutant spinning-ignores-the-call",
    ),
    wrong(
        15,
        "leaves-it-to-nobody",
        "an M idles its P without asking whether those it left the looking to still look",
        "mutant spinning-leaves-it-to-nobody",
    ),
    wrong(
        15,
        "wakep-does-not-ask-as-go",
        "wakep finds no idle P and does not ask, nor does an M that idles its P count",
        "mutant spinning-wakep-does-not-ask; golang/go #45867",
    ),
    wrong(
        15,
        "retire-does-not-ask-as-go",
        "retire finds no idle P and does not ask, nor does an M that idles its P count",
        "mutant spinning-retire-does-not-ask; golang/go #45867",
    ),
    wrong(
        15,
        "asks-before-it-lowers-as-go",
        "wakep asks, and then lowers its count, and an M that idles its P does not count",
        "mutant spinning-asks-before-it-lowers",
    ),
    Variant {
        sizes: &[2, 2, 2, 0],
        ..wrong(
            20,
            "leaves-without-a-drain",
            "a finder leaves nmspinning before the rest of what it found can be seen",
            "mutant spinning-leaves-relaxed",
        )
    },
    wrong(
        10,
        "idles-at-once",
        "a P that is handed off is idled without a look at anything under the lock",
        "mistake of sched/handoff.rs",
    ),
    wrong(
        18,
        "handoff-ignores-the-call",
        "whether an M looks is asked before the lock, and not whether a spinning M is asked for",
        "mistake of sched/handoff.rs; Go's handoffp",
    ),
    Variant {
        sizes: &[3, 3, 1, 0],
        ..wrong(
            0,
            "elects-outside-the-lock",
            "whether an M looks, or a P is idle, is asked before the lock, and not again",
            "mistake of sched/handoff.rs",
        )
    },
    wrong(
        17,
        "no-spinning-m",
        "no M looks and no P is idle, and still the P that is handed off is not sent to look",
        "mistake of sched/handoff.rs",
    ),
    wrong(
        17,
        "spills-and-wakes-nobody",
        "goyield into a full ring spills half of it into the global queue and wakes no M",
        "Go's goyield",
    ),
    wrong(
        17,
        "trusts-the-idle-count",
        "an M that injects Gs reads once that no P is idle, and wakes no M for them",
        "golang/go #63555",
    ),
    wrong(20, "scans-the-rings-first", "a scan comes to the rings before the global queue", "pair share"),
    wrong(
        0,
        "steals-uncounted",
        "an M steals without being counted",
        "golang/go #43997, as its first repair would have been",
    ),
    wrong(
        17,
        "sleeps-on-a-request",
        "an M goes to sleep without a look at needspinning, although a start was refused",
        "Spin: SLEEPS_UNASKED",
    ),
    wrong(
        9,
        "refused-and-nobody-asked",
        "no M is available, and no spinning M is asked for",
        "Spin: REFUSED_AND_NOBODY_ASKED",
    ),
    wrong(
        14,
        "forgets-who-fell-asleep",
        "when a start is refused, it is not checked whether an M fell asleep meanwhile",
        "client programs of `threads`",
    ),
    wrong(
        20,
        "queues-outside-the-lock",
        "an M that returns looks for an idle P under one hold of the lock, and queues its G under the next",
        "mistake of sched/syscall.rs",
    ),
    wrong(8, "leaves-its-share-in-the-queue", "an M takes a share of the global queue, which stays there as well", ""),
    wrong(
        10,
        "spills-all-but-the-last",
        "a full ring's half goes to the global queue, and the G that did not fit is lost",
        "",
    ),
    wrong(4, "queues-beside-an-idle-p", "an M that is back from the poller queues Gs beside an idle P, and sleeps", ""),
    wrong(6, "wakes-nobody-for-more", "an M that is back from the poller with more than one G wakes no M", ""),
    Variant {
        sizes: &[2, 2, 2, 0],
        ..wrong(
            4,
            "runs-it-next-beside-others",
            "an M that finds a G at its turn runs it next and wakes no M, though others wait in its ring",
            "",
        )
    },
    wrong(17, "ends-a-p-with-gs", "a resize ends a P with Gs in its ring", ""),
    wrong(17, "starts-and-wakes-no-m", "a stopper starts the world, and wakes no M for what was queued meanwhile", ""),
    wrong(17, "idles-what-has-gs", "when the world is started, a P with Gs in its ring is idled", ""),
    wrong(21, "stays-counted-in-a-stop", "a spinning M that hands its P in for a stop does not leave nmspinning", ""),
    wrong(12, "idles-in-a-stop", "a P is idled although the world is to stop", "mistake of sched/handoff.rs"),
    wrong(
        15,
        "wakes-nobody",
        "an M that hands in the last P does not wake the stopper",
        "mistake of protocol/stw/mod.rs",
    ),
    Variant {
        sizes: &[2, 1, 1, 0],
        ..wrong(
            23,
            "released-early",
            "the next stopper is let in before the world runs again",
            "mistake of protocol/stw/mod.rs; golang/go #10618",
        )
    },
    wrong(
        9,
        "pushes",
        "a stopper that asks just when the turn is free overtakes those that wait",
        "mistake of protocol/stw/mod.rs; golang/go #40459",
    ),
    wrong(
        13,
        "stopped-with-a-p-in-hand",
        "a thread that holds a P for another M waits for the world to start",
        "golang/go #42237",
    ),
    of_a_call(16, "no-entering-fence", "entersyscall without its StoreLoad", "mutant syscall-no-entering-fence"),
    of_a_call(
        16,
        "no-stopping-fence",
        "stop without its StoreLoad",
        "mutants syscall-no-stopping-fence, stw-no-stopper-fence",
    ),
    of_a_call(
        15,
        "reads-before-it-writes",
        "an M that enters reads whether its P is wanted, then leaves it in its word",
        "mistake of protocol/syscall.rs; Go 1.27's reentersyscall",
    ),
    Variant {
        sizes: &[2, 1, 0, 2],
        ..of_a_call(
            14,
            "take-without-tick",
            "a retaker compares the M, but not the call",
            "mistake of protocol/syscall.rs",
        )
    },
    of_a_call(12, "retake-by-store", "a retaker loads the word, then stores", "mistake of protocol/syscall.rs"),
    of_a_call(
        13,
        "exit-without-its-exchange",
        "an M that returns keeps its P if a load says that it is still there",
        "mistake of protocol/syscall.rs",
    ),
    of_a_call(
        15,
        "takes-without-an-exchange",
        "a stopper that sees a P in a system call holds it without an exchange",
        "mistake of protocol/syscall.rs",
    ),
    of_a_call(
        16,
        "scans-before-it-says",
        "a stopper looks at the words, then says that it stops",
        "mistake of protocol/stw/mod.rs",
    ),
    of_a_call(6, "takes-nextp-without-an-exchange", "an M that wakes leaves its P in its nextp", ""),
];

/// Wrong in so many steps; 0: no execution was found that goes wrong.
const fn wrong(steps: usize, name: &'static str, what: &'static str, known: &'static str) -> Variant {
    Variant { name, what, known, sizes: &[3, 2, 1, 0], steps: if steps == 0 { None } else { Some(steps) } }
}

/// Of a system call, or of a wake: without a G.
const fn of_a_call(steps: usize, name: &'static str, what: &'static str, known: &'static str) -> Variant {
    Variant { sizes: &[2, 1, 0, 1], ..wrong(steps, name, what, known) }
}

/// Changes that are right: all obligations hold with them, too.
pub const RIGHT: &[Variant] = &[
    wrong(0, "wakep-does-not-ask", "wakep finds no idle P and does not set needspinning", ""),
    wrong(0, "retire-does-not-ask", "retire finds no idle P and does not set needspinning", ""),
    wrong(0, "the-last-looks-by-its-decrement", "only the M whose decrement says that it was the last scans again", ""),
];
