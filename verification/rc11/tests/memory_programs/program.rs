//! A program: what each thread does, one after the other, to shared words that point to nodes.
//!
//! A thread has two pointers, `mine` and `seen`, both null at first. Before the threads start, word 0 points to a node.

/// How many shared words there are.
pub(crate) const WORDS: usize = 2;

/// How strong an access or a fence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    Relaxed,
    Acquire,
    Release,
    Both,
}

impl Strength {
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Strength::Acquire | Strength::Both)
    }

    pub(crate) fn releases(self) -> bool {
        matches!(self, Strength::Release | Strength::Both)
    }
}

/// What a thread does. What goes through a pointer is left out where that is null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `mine` is a new node, which holds this.
    Alloc(u64),
    /// Frees `seen`.
    Free,
    /// Moves the value out of `seen`, frees that, reads the value's word, and drops it.
    Move,
    /// The word is `mine`.
    Publish(usize, Strength),
    /// `seen` is the word.
    Look(usize, Strength),
    /// The word is `mine`, and `seen` is what it was.
    Swap(usize, Strength),
    /// The word is `mine`, if it was `seen`.
    Exchange(usize, Strength),
    /// Reads the atomic of `seen`.
    Read(Strength),
    /// Writes it.
    Write(u64, Strength),
    /// Reads the cell of `seen`.
    ReadPlain,
    /// Writes it.
    WritePlain(u64),
    Fence(Strength),
}

#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Op>>,
}

/// A generator of numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % n
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

impl Program {
    pub(crate) fn sample(random: &mut Random, threads: usize, most: usize) -> Program {
        let mut thread = |n: usize| {
            let len = 2 + random.below(most - 1);
            let value = |nth: usize| (10 * n + nth) as u64 + 1;
            // A thread that has seen nothing has little to do.
            let looks = (random.below(3) > 0).then(|| Op::looking(random));
            let others = (usize::from(looks.is_some())..len).map(|nth| Op::sample(random, value(nth)));
            looks.into_iter().chain(others).collect()
        };
        Program { threads: (1..=threads).map(&mut thread).collect() }
    }
}

impl Op {
    fn looking(random: &mut Random) -> Op {
        use Strength::{Acquire, Both, Relaxed};
        random.one_of(&[Op::Look(0, Acquire), Op::Look(0, Relaxed), Op::Swap(0, Both)])
    }

    fn sample(random: &mut Random, value: u64) -> Op {
        use Strength::{Acquire, Both, Relaxed, Release};
        let word = if random.below(4) == 0 { 1 } else { 0 };
        // Strong ones more often: else most programs are wrong.
        let of_update = random.one_of(&[Both, Both, Both, Acquire, Release, Relaxed]);
        let of_read = random.one_of(&[Acquire, Acquire, Acquire, Relaxed]);
        let of_write = random.one_of(&[Release, Release, Release, Relaxed]);
        match random.below(17) {
            0..=2 => Op::Alloc(value),
            3..=5 => Op::Free,
            6 => Op::Move,
            7 => Op::Publish(word, of_write),
            8..=9 => Op::Swap(word, of_update),
            10..=12 => Op::Exchange(word, of_update),
            13 => Op::Read(of_read),
            14 => Op::Look(word, of_read),
            15 => random.one_of(&[Op::Write(value, of_write), Op::WritePlain(value), Op::ReadPlain]),
            _ => Op::Fence(random.one_of(&[Acquire, Release, Both])),
        }
    }
}
