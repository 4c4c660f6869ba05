//! Bugs of Go's that are one line of our kernel: its own variants have them.

use crate::common::{Exhibit, Source};
use crate::go::told;

/// The bugs.
pub(super) const EXHIBITS: &[Exhibit] = &[
    told(
        "work for which no M could be woken",
        "golang/go#45867",
        2021,
        "spinning-retire-does-not-ask",
        [
            "Go's parallelism tests hung from time to time, for nine months, until core files showed a G in a ring \
             beside an idle P.",
            "An M that had stopped looking saw the G, but found no idle P to come back with, and slept. The M that \
             gave its P up just then had not looked for work, so it did not look again.",
            "An M that finds no idle P leaves a request under the lock; an M about to release its P sees it there.",
        ],
    ),
    Exhibit {
        source: Source::OurReading,
        ..told(
            "a request that was cleared before its count was lowered",
            "golang/go runtime/proc.go of 1.27.3, wakep",
            2026,
            "spinning-asks-before-it-lowers",
            [
                "No known user. Random programs found it in our code, which had the order of Go's text.",
                "wakep finds no idle P, asks for an M that looks, and then lowers its own count. An M that takes the \
                 request up in between can read that count and leave the search to an M that will not search.",
                "None in Go. Our kernel lowers the count first, and an M that releases a P also asks whether an M \
                 spins.",
            ],
        )
    },
    Exhibit {
        source: Source::Told,
        ..told(
            "looked, then left",
            "golang/go runtime/proc.go, the comment on worker thread parking",
            2014,
            "spinning-looks-before-it-leaves",
            [
                "No known user: the comment says what would happen, since the scheduler is as it is.",
                "If an M looks at the queues and then leaves the count of those that look, a G that comes in between \
                 wakes none, because an M was counted, and no M sees it.",
                "Leave the count, then look.",
            ],
        )
    },
    Exhibit {
        source: Source::Told,
        ..told(
            "a store and a load that change places",
            "golang/go runtime/proc.go, the comment on worker thread parking",
            2014,
            "spinning-no-submitter-fence",
            [
                "No user: Go's atomics order more than those of C or Rust. It is what a port that is made line by line \
                 loses.",
                "An M that queues a G and then reads whether an M spins may read before its store can be seen. Release \
                 and Acquire do not forbid that, on x86 either.",
                "A full barrier between the two, on both sides.",
            ],
        )
    },
    told(
        "a deadline of a timer that was gone",
        "golang/go#51654",
        2022,
        "timers-forgets-to-tell-when",
        [
            "Servers became unresponsive, with their processors fully loaded by epoll_wait.",
            "A P that was idle went on saying that a timer of its was due, though there was none. An M that slept in \
             the poller woke at once, found nothing, and slept again, for no time.",
            "The earliest deadline is computed anew when timers go. The variant has its shape: the word is not written \
             when a timer is removed.",
        ],
    ),
    told(
        "work without a waker",
        "golang/go#60693",
        2023,
        "work_source-does-not-wake",
        [
            "Readers of traces and parts of collections waited until an M came by; preemption every 10 ms hid it.",
            "Two of the sources of work that the search knows of wake no M when they get work.",
            "It is open. A source of our kernel's cannot get work without waking.",
        ],
    ),
];
