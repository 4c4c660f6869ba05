//! Bugs that a mutant of our kernel makes again, line for line.

use crate::common::{Exhibit, Model, Mutant, Source};

/// None but the kernel's.
pub const MODELS: &[Model] = &[];

/// The same.
pub const MUTANTS: &[Mutant] = &[];

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "tokio-5041",
        project: "tokio",
        issue: "https://github.com/tokio-rs/tokio/issues/5041",
        year: 2022,
        people: "Found by reading: a thief that sleeps for a millisecond at the wrong moment would take what is not \
                 there.",
        cause: "The ring's cursors had 16 bits. They come round while a thief sleeps between its look and its \
                exchange, and the exchange finds what it expects.",
        fix: "32 bits where the machine has a 64-bit exchange (#5042): rarer by 2^16, as here.",
        source: Source::Read,
        mutant: "runq-cursors-of-two-bits",
    },
    Exhibit {
        name: "affinitypool-21",
        project: "affinitypool",
        issue: "https://github.com/surrealdb/affinitypool/pull/22",
        year: 2026,
        people: "Miri reported a deadlock of a thread pool that all tests on PCs had passed.",
        cause: "A thread that spawns puts the task into one queue and then looks into another for a parked thread; \
                Release and Acquire order nothing between the two.",
        fix: "SeqCst fences where a task is put, where a thread parks, and where one is woken.",
        source: Source::Read,
        mutant: "sched-no-submitter-fence",
    },
    Exhibit {
        name: "silk-76",
        project: "ClickHouse silk",
        issue: "https://github.com/ClickHouse/silk/pull/76",
        year: 2026,
        people: "A thread parked though there was work for it.",
        cause: "No StoreLoad between saying that it parks and its last look, nor between the push and the look for \
                parked threads.",
        fix: "SeqCst fences in parkThread and wakeThread.",
        source: Source::OurReading,
        mutant: "sched-no-spinning-m-fence",
    },
    Exhibit {
        name: "zio-610",
        project: "zio (Zig)",
        issue: "https://github.com/lalinsky/zio/pull/610",
        year: 2026,
        people: "On Apple silicon a test hung for hours, though a timeout of a minute should have saved it.",
        cause: "Three handshakes that store and then load; one is an executor that announces itself idle and then \
                looks for work once more, without a barrier in between.",
        fix: "Barriers, as SeqCst exchanges: Zig has no fence any more.",
        source: Source::OurReading,
        mutant: "spinning-no-spinning-m-fence",
    },
    Exhibit {
        name: "parlaylib-89",
        project: "ParlayLib",
        issue: "https://github.com/cmuparlay/parlaylib/pull/89",
        year: 2025,
        people: "A job may wait while all workers sleep, soon after the start.",
        cause: "A worker looked for jobs to steal, and then said that it sleeps. A job that is pushed in between finds \
                a worker awake, and wakes none.",
        fix: "Proposed: it says so first, and then steals once more before it sleeps.",
        source: Source::OurReading,
        mutant: "spinning-looks-before-it-leaves",
    },
];
