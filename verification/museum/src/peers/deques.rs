//! Work-stealing deques: the owner works at one end by plain stores, thieves take from the other by an exchange.

use crate::common::{Exhibit, Model, ModelHost, Mutant, Source, is_wrong, main_plays, party, rc11, sc, tso};
use spinpark_kernel::atomic::{Atomic, store_load};
use spinpark_verification::harness::common::each_once;
use spinpark_verification::mutation::mutant;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// crossbeam's deque, which is Chase and Lev's: it has a second, smaller buffer to move to.
struct ChaseLev<H: ModelHost> {
    front: Atomic<H, u64>,
    back: Atomic<H, u64>,
    /// Which buffer.
    buffer: Atomic<H, u64>,
    /// 0 is a slot that has not been written.
    buffers: [[Atomic<H, u64>; 4]; 2],
}

impl<H: ModelHost> ChaseLev<H> {
    fn of(tasks: &[u64]) -> Arc<Self> {
        main_plays("owner");
        let buffers = std::array::from_fn(|_| std::array::from_fn(|_| Atomic::new(0)));
        let deque = ChaseLev { front: Atomic::new(0), back: Atomic::new(0), buffer: Atomic::new(0), buffers };
        tasks.iter().for_each(|task| deque.push(*task));
        Arc::new(deque)
    }

    fn slot(&self, buffer: u64, at: u64) -> &Atomic<H, u64> {
        &self.buffers[buffer as usize][at as usize % 4]
    }

    /// `push`, by the owner.
    fn push(&self, task: u64) {
        // Relaxed: only the owner writes these two.
        let (back, buffer) = (self.back.load(Relaxed), self.buffer.load(Relaxed));
        // Relaxed: published below.
        self.slot(buffer, back).store(task, Relaxed);
        // Release: publishes the task.
        self.back.store(back + 1, Release);
    }

    /// `pop`, by the owner, from the end where it pushes.
    fn pop(&self) -> Option<u64> {
        // Relaxed: only the owner writes these two.
        let (back, buffer) = (self.back.load(Relaxed), self.buffer.load(Relaxed));
        let last = back.checked_sub(1)?;
        // Relaxed: the barrier orders it.
        self.back.store(last, Relaxed);
        // `back/front`, the owner's half.
        store_load::<H>();
        // Relaxed: the barrier orders it.
        let front = self.front.load(Relaxed);
        if front < last {
            // Relaxed: the owner's own.
            let task = self.slot(buffer, last).load(Relaxed);
            if last - front <= 1 {
                self.shrink(front, last);
            }
            return Some(task);
        }
        // At most one task is left: the owner takes it as a thief does, or not at all.
        // SeqCst: as crossbeam has it.
        let is_mine = front == last && self.front.compare_exchange(front, front + 1, SeqCst, Relaxed).is_ok();
        // Relaxed: the deque is empty.
        self.back.store(back, Relaxed);
        // Relaxed: the owner's own.
        is_mine.then(|| self.slot(buffer, last).load(Relaxed))
    }

    /// `resize`: what is in the deque moves to the other buffer, once.
    fn shrink(&self, front: u64, back: u64) {
        for at in front..back {
            // Relaxed: the owner's own.
            let task = self.slot(0, at).load(Relaxed);
            // Relaxed: published below.
            self.slot(1, at).store(task, Relaxed);
        }
        // Relaxed, or Release: publishes what was moved.
        self.buffer.store(1, if is_wrong("museum-chase-lev-c11") { Relaxed } else { Release });
    }

    /// `steal_batch`: takes half, one by one.
    fn steal_batch(&self) -> Vec<u64> {
        let mut stolen = vec![];
        // Acquire: as crossbeam has it.
        let first = self.front.load(Acquire);
        // `back/front`, the thief's half.
        store_load::<H>();
        // Acquire: sees the tasks.
        let len = self.back.load(Acquire).saturating_sub(first);
        // Acquire: sees what was moved.
        let buffer = self.buffer.load(Acquire);
        for front in first..first + len.div_ceil(2) {
            if front > first {
                // `back/front`, the thief's half.
                store_load::<H>();
                // Acquire: sees the tasks.
                if self.back.load(Acquire) <= front {
                    break;
                }
            }
            // Relaxed: if the slot is not what it should be, one of the two below fails.
            let task = self.slot(buffer, front).load(Relaxed);
            // Acquire: the task may have been popped since, and another pushed in the other buffer's slot.
            let is_swapped = !is_wrong("museum-crossbeam-726") && self.buffer.load(Acquire) != buffer;
            // SeqCst: takes the task.
            if is_swapped || self.front.compare_exchange(front, front + 1, SeqCst, Relaxed).is_err() {
                break;
            }
            assert!(task != 0, "a slot is read that has not been written");
            stolen.push(task);
        }
        stolen
    }
}

fn the_buffer_shrinks_as_a_batch_is_stolen<H: ModelHost>() -> String {
    let deque = ChaseLev::<H>::of(&[1, 2, 3]);
    let thief = party::<H, _, _>("thief", &deque, ChaseLev::steal_batch);
    let mut mine: Vec<u64> = [deque.pop(), deque.pop()].into_iter().flatten().collect();
    deque.push(4);
    let stolen = H::join(thief);
    mine.extend(std::iter::from_fn(|| deque.pop()));
    each_once(4, &[&mine, &stolen]);
    format!("stolen {stolen:?}")
}

/// ParlayLib's deque, which is Arora, Blumofe and Plaxton's.
struct Parlay<H: ModelHost> {
    /// `age`: the top, and a tag above it that changes when the deque begins anew.
    age: Atomic<H, u64>,
    /// `bot`.
    bottom: Atomic<H, u64>,
    jobs: [Atomic<H, u64>; 2],
}

const TAG: u64 = 1 << 8;

impl<H: ModelHost> Parlay<H> {
    /// `pop_bottom`, by the owner.
    fn pop_bottom(&self) -> Option<u64> {
        // Relaxed: only the owner writes it.
        let bottom = self.bottom.load(Relaxed).checked_sub(1)?;
        // Release: as ParlayLib has it; the barrier orders it.
        self.bottom.store(bottom, Release);
        // `bottom/age`, the owner's half.
        store_load::<H>();
        // Acquire: as ParlayLib has it. So below.
        let job = self.jobs[bottom as usize].load(Acquire);
        // Acquire: the barrier orders it.
        let age = self.age.load(Acquire);
        if bottom > age % TAG {
            return Some(job);
        }
        // Release: the deque begins anew.
        self.bottom.store(0, Release);
        let anew = (age / TAG + 1) * TAG;
        // SeqCst: takes the last job, if no thief has.
        if bottom == age % TAG && self.age.compare_exchange(age, anew, SeqCst, Relaxed).is_ok() {
            return Some(job);
        }
        // Release: as above.
        self.age.store(anew, Release);
        None
    }

    /// `pop_top`, by a thief.
    fn pop_top(&self) -> Option<u64> {
        // Relaxed, or Acquire: what other thieves have taken; the bottom is read after it.
        let order = if is_wrong("museum-parlaylib-54") { Relaxed } else { Acquire };
        let age = self.age.load(order);
        if mutant::variant().is_none() {
            // `bottom/age`, the thief's half: the bottom is not older than the age.
            store_load::<H>();
        }
        // Relaxed, or Acquire: sees the job.
        let bottom = self.bottom.load(order);
        if bottom <= age % TAG {
            return None;
        }
        // Acquire: as ParlayLib has it. If another has the job by now, the exchange fails.
        let job = self.jobs[(age % TAG) as usize].load(Acquire);
        // SeqCst: takes the job.
        self.age.compare_exchange(age, age + 1, SeqCst, Relaxed).ok().map(|_| job)
    }
}

fn two_jobs_are_stolen_and_popped<H: ModelHost>() -> String {
    main_plays("owner");
    let deque = Parlay::<H> { age: Atomic::new(0), bottom: Atomic::new(2), jobs: [Atomic::new(1), Atomic::new(2)] };
    let deque = Arc::new(deque);
    let thief = party::<H, _, _>("thief", &deque, |deque| {
        [deque.pop_top(), deque.pop_top()].into_iter().flatten().collect::<Vec<u64>>()
    });
    let mut mine: Vec<u64> = deque.pop_bottom().into_iter().collect();
    let stolen = H::join(thief);
    mine.extend(deque.pop_bottom());
    each_once(2, &[&mine, &stolen]);
    format!("stolen {stolen:?}")
}

const SHRINKS: &str = "museum::crossbeam_726::the_buffer_shrinks_as_a_batch_is_stolen";
const TWO_JOBS: &str = "museum::parlaylib_54::two_jobs_are_stolen_and_popped";

/// The variants' models.
pub const MODELS: &[Model] = &[
    crate::model!("museum::crossbeam_726::the_buffer_shrinks_as_a_batch_is_stolen",
        the_buffer_shrinks_as_a_batch_is_stolen,
        claim: "of tasks that are popped, pushed and stolen as the deque moves to another buffer, each is taken once",
        size: "2 threads, 4 tasks, 2 pops, 1 push, 1 batch",
        invariants: [],
        must_reach: ["stolen []", "stolen [1]", "stolen [1, 2]"],
        runs: [rc11(), sc()]),
    crate::model!("museum::parlaylib_54::two_jobs_are_stolen_and_popped", two_jobs_are_stolen_and_popped,
        claim: "of two jobs that the owner pops and a thief steals, each is taken once",
        size: "2 threads, 2 jobs, 2 pops, 2 steals",
        invariants: [],
        must_reach: ["stolen [1]", "stolen [1, 2]"],
        runs: [rc11(), sc(), tso()]),
];

/// The variants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "museum";
    "museum-crossbeam-726": "a thief of a batch does not ask whether the buffer is still the same",
        variant("museum-crossbeam-726"), by SHRINKS => [Rc11, Sc, Loom];
    "museum-chase-lev-c11": "the new buffer is published Relaxed",
        variant("museum-chase-lev-c11"), by SHRINKS => [Rc11, Loom];
    // TSO sees nothing wrong: a PC reads in order.
    "museum-parlaylib-54": "a thief reads the age and the bottom Relaxed",
        variant("museum-parlaylib-54"), by TWO_JOBS => [Rc11, Loom];
    "museum-parlaylib-acquire": "a thief reads the age and the bottom Acquire, and no barrier lies between",
        variant("museum-parlaylib-acquire"), by TWO_JOBS => [Rc11, Loom];
};

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "crossbeam-726",
        project: "crossbeam-deque",
        issue: "https://github.com/crossbeam-rs/crossbeam/pull/726",
        year: 2021,
        people: "RUSTSEC-2021-0093: a task could be popped twice and another never; rayon and many others were \
                 affected.",
        cause: "A thief keeps the buffer that it found. While it takes one task after the other, the owner may pop the \
                next one, move to another buffer and push a new task in its place; the thief reads the old one.",
        fix: "Before each exchange the thief looks whether the buffer is still the same.",
        source: Source::OurReading,
        mutant: "museum-crossbeam-726",
    },
    Exhibit {
        name: "chase-lev-c11",
        project: "Chase and Lev's deque in C11, as published in 2013",
        issue: "CDSChecker (OOPSLA 2013) on the deque of Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013)",
        year: 2013,
        people: "Found by a model checker in code that had been proved by hand for ARM.",
        cause: "A resized buffer is not published with Release all the way to the thief, which may read slots that \
                were never written.",
        fix: "Release and Acquire for the buffer.",
        source: Source::Told,
        mutant: "museum-chase-lev-c11",
    },
    Exhibit {
        name: "parlaylib-54",
        project: "ParlayLib",
        issue: "https://github.com/cmuparlay/parlaylib/pull/54",
        year: 2023,
        people: "On ARM jobs were run twice and programs crashed; copies of the old code still do (ParlayANN #44).",
        cause: "A thief reads the age and then the bottom, with no order between. It may pair a new age with an old \
                bottom, and take a job that the owner has popped without an exchange, because it was not the last.",
        fix: "Both are read Acquire.",
        source: Source::Read,
        mutant: "museum-parlaylib-54",
    },
    Exhibit {
        name: "parlaylib-acquire",
        project: "ParlayLib",
        issue: "https://github.com/cmuparlay/parlaylib/blob/5ebfbdba0c56/include/parlay/internal/work_stealing_deque.h",
        year: 2023,
        people: "No user is known to be hurt: the variant of the repaired code showed it.",
        cause: "After its first steal a thief reads the bottom as it was before. Acquire does not keep it from that: \
                its own exchange and the owner's fence order nothing between them in C++'s terms. (ARM keeps the order \
                all the same, for there such an exchange and such loads are in one order.)",
        fix: "None there. Chase and Lev's deque has a SeqCst fence at that place, and so has this variant.",
        source: Source::OurReading,
        mutant: "museum-parlaylib-acquire",
    },
];
