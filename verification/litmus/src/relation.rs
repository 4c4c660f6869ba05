//! Relations between at most 64 events, as matrices of bits.

/// A set of events.
pub(super) type Set = u64;

/// A relation: a row of bits for each event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation(Vec<u64>);

/// The numbers of the events in a set.
pub(super) fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..64).filter(move |n| set >> n & 1 == 1)
}

impl Relation {
    /// The empty relation between `n` events.
    pub(super) fn empty(n: usize) -> Self {
        Relation(vec![0; n])
    }
    /// All pairs of which this is true.
    pub(super) fn of(n: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        Relation((0..n).map(|a| (0..n).filter(|b| holds(a, *b)).fold(0, |row, b| row | 1 << b)).collect())
    }
    /// `[set]`
    pub(super) fn identity(n: usize, set: Set) -> Self {
        Relation((0..n).map(|a| set & 1 << a).collect())
    }
    pub(super) fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }
    pub(super) fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 == 1
    }
    /// `self U other`
    pub(super) fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }
    /// Those pairs that are in both.
    pub(super) fn and(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }
    /// Those pairs that are not in `other`.
    pub(super) fn without(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }
    /// `self ; other`
    pub(super) fn then(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().map(|row| members(*row).fold(0, |reached, b| reached | other.0[b])).collect())
    }
    /// `self ; other?`
    pub(super) fn then_maybe(&self, other: &Relation) -> Relation {
        self.or(&self.then(other))
    }
    /// `self^-1`
    pub(super) fn inverse(&self) -> Relation {
        Relation::of(self.0.len(), |a, b| self.has(b, a))
    }
    /// `self+`
    pub(super) fn closure(&self) -> Relation {
        let mut closed = self.clone();
        for middle in 0..closed.0.len() {
            let onward = closed.0[middle];
            for row in &mut closed.0 {
                if *row >> middle & 1 == 1 {
                    *row |= onward;
                }
            }
        }
        closed
    }
    /// `[from] ; self ; [to]`
    pub(super) fn between(&self, from: Set, to: Set) -> Relation {
        Relation(self.0.iter().enumerate().map(|(a, row)| if from >> a & 1 == 1 { row & to } else { 0 }).collect())
    }
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|row| *row == 0)
    }
    pub(super) fn is_irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(a, row)| row >> a & 1 == 0)
    }
    pub(super) fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}

#[cfg(test)]
mod tests {
    use super::Relation;

    #[test]
    fn closure_and_composition() {
        let mut next = Relation::empty(4);
        (0..3).for_each(|n| next.add(n, n + 1));
        assert_eq!(next.closure(), Relation::of(4, |a, b| a < b));
        assert_eq!(next.then(&next), Relation::of(4, |a, b| a + 2 == b));
        assert!(next.is_acyclic());
        next.add(3, 0);
        assert!(!next.is_acyclic() && next.is_irreflexive());
        assert_eq!(next.between(0b0001, 0b1111), Relation::of(4, |a, b| (a, b) == (0, 1)));
    }
}
