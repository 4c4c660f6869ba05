//! Whose turn it is: one dispatch in so many is the global queue's; and how long a G may be overtaken under one P that
//! has both queues.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark_kernel::protocol::sources::{SearchOrder, Source};
use spinpark_kernel::queues::globq::{GlobQueue, Len};
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runq::{Capacity, Spilled};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::{Every, Turn};
use spinpark_proptests::check::{Broken, Tally, check, refute};
use spinpark_proptests::deadlines::Deadlines;
use spinpark_proptests::oracle::g;
use spinpark_proptests::solo::Solo;
use std::collections::VecDeque;

const CASES: u32 = 500;

/// `Turn`, compared with the list of all dispatches.
mod the_turn_counts_as_a_list_would {
    use super::*;

    #[test]
    fn dispatches_from_everywhere() {
        let from = prop_oneof![3 => Just(Source::Local), 2 => Just(Source::Steal), 1 => Just(Source::Global)];
        // Here, `Local` stands for `runnext`, and `Steal` for any ring.
        let start = prop_oneof![Just(0u32), u32::MAX - 100..=u32::MAX];
        let inputs = (start, 0..10u32, 0..5u32, vec(from, 0..200));
        let seen = check(CASES, inputs, |(start, every, at_most, froms)| {
            let (mut turn, mut seen) = (Turn::starting_at(start), Tally::default());
            for i in 0..froms.len() {
                let past = &froms[..i];
                let is_global = every > 0 && start.wrapping_add(past.len() as u32) % every == 0;
                let served = past.iter().rposition(|&from| from == Source::Steal).map_or(0, |at| at + 1);
                let in_a_row = past[served..].iter().filter(|&&from| from == Source::Local).count();
                if turn.is_global(Every::new(every)) != is_global
                    || turn.may_be_asked() == (past.last() == Some(&Source::Global))
                    || turn.may_inherit(at_most) != (in_a_row < at_most as usize)
                {
                    return Err(Broken::because(format_args!("after {past:?} it is {turn:?}")));
                }
                seen.note(if is_global { "it was the global queue's turn" } else { "it was not" });
                seen.note_if(in_a_row as u32 == at_most && at_most > 0, "runnext had all its turns");
                seen.note_if(turn.dispatches() < start, "the number of dispatches has wrapped around");
                match froms[i] {
                    Source::Local => turn.from_runnext(),
                    Source::Steal => turn.from_ring(),
                    _ => turn.from_global(),
                }
            }
            Ok(seen)
        });
        seen.must_have(&["it was the global queue's turn", "it was not", "runnext had all its turns"]);
        seen.must_have(&["the number of dispatches has wrapped around"]);
    }

    #[test]
    fn of_sixty_one_dispatches_one_is_global_and_it_is_the_first() {
        let mut turn = Turn::default();
        let globals: Vec<u32> = (0..200)
            .filter(|_| {
                let is_global = turn.is_global(Every::new(61));
                turn.from_ring();
                is_global
            })
            .collect();
        assert_eq!(globals, [0, 61, 122, 183]);
        assert!(!turn.is_global(Every::new(0)), "0 is never");
    }
}

/// What happens to one P and the global queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    /// The P dispatches, if there is anything.
    Dispatch,
    /// The G that runs readies another.
    PutNext,
    /// A G goes to the ring's tail.
    Put,
    /// A G goes to the global queue.
    PutGlobal,
    /// The P dispatches, and a turn of the global queue is asked for.
    DispatchAtTurn,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![5 => Just(Op::Dispatch), 3 => Just(Op::PutNext), 2 => Just(Op::Put), 1 => Just(Op::PutGlobal)]
}

/// Where turns are asked for too.
fn op_with_turns() -> impl Strategy<Value = Op> {
    prop_oneof![3 => op(), 1 => Just(Op::DispatchAtTurn)]
}

/// The numbers that the bounds depend on.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    every: u32,
    at_most: u32,
    ring: usize,
    order: SearchOrder,
    /// How much less than the bound is asked for.
    slack: usize,
    /// Wrong: a turn that is asked for may follow a G of the global queue.
    in_a_row: bool,
}

const GO: Numbers =
    Numbers { every: 61, at_most: 16, ring: 256, order: SearchOrder::StealFirst, slack: 0, in_a_row: false };

/// One P that dispatches as the scheduler does, from its own queues and the global one. Beside each queue stands a
/// list of what is in it.
struct OneP {
    numbers: Numbers,
    local: LocalQueue<Solo>,
    global: GlobQueue,
    len: Len<Solo>,
    turn: Turn,
    next: Option<u64>,
    ring: VecDeque<u64>,
    waiting: VecDeque<u64>,
}

impl OneP {
    fn new(numbers: Numbers) -> Self {
        OneP {
            numbers,
            local: LocalQueue::new(Capacity::new(numbers.ring).expect("an allowed capacity")),
            global: GlobQueue::default(),
            len: Len::new(),
            turn: Turn::default(),
            next: None,
            ring: VecDeque::new(),
            waiting: VecDeque::new(),
        }
    }

    fn put(&mut self, number: u64, next: bool) {
        let (global, len, waiting) = (&mut self.global, &self.len, &mut self.waiting);
        let ring = &mut self.ring;
        let mut spilled = false;
        let spill = |half: Spilled<'_, Solo, 32>, g| {
            spilled = true;
            let gs = half.chain([g]).inspect(|g| {
                ring.retain(|n| *n != g.id());
                waiting.push_back(g.id());
            });
            global.put_batch(gs, len);
        };
        let displaced = if next {
            self.local.put_next(g(number), spill);
            self.next.replace(number)
        } else {
            self.local.put(g(number), spill);
            Some(number)
        };
        if !spilled {
            self.ring.extend(displaced);
        }
    }

    fn put_global(&mut self, number: u64) {
        self.global.put(g(number), &self.len);
        self.waiting.push_back(number);
    }

    /// The next, and where it was.
    fn dispatch(&mut self) -> Option<(u64, Source)> {
        self.dispatch_at(false)
    }

    /// The same; a turn may be asked for.
    fn dispatch_at(&mut self, asks: bool) -> Option<(u64, Source)> {
        let found = self.numbers.order.sources().iter().find_map(|&from| Some((self.take(from, asks)?, from)));
        if let Some((g, _)) = found {
            self.next = self.next.filter(|&next| next != g);
            self.ring.retain(|&n| n != g);
            self.waiting.retain(|&n| n != g);
        }
        found
    }

    fn take(&mut self, from: Source, asks: bool) -> Option<u64> {
        let asks = asks && (self.turn.may_be_asked() || self.numbers.in_a_row);
        let g = match from {
            Source::GlobalTurn if !self.turn.is_global(Every::new(self.numbers.every)) && !asks => None,
            Source::GlobalTurn => self.take_share(self.local.len()),
            Source::Local => self.local.get(&mut self.turn, self.numbers.at_most),
            Source::Steal | Source::Extra => None,
            Source::Global => self.take_share(0),
        };
        g.map(|g| g.id())
    }

    fn take_share(&mut self, waiting: usize) -> Option<G> {
        let before = self.local.len();
        let room = (self.numbers.ring / 2).saturating_sub(waiting).max(1);
        let g = self.global.get_batch(1, room, &self.len, |mut gs| {
            self.local.put_batch(&mut gs);
        });
        let moved = self.local.len() - before;
        self.ring.extend(self.waiting.drain(..moved + usize::from(g.is_some())).skip(1));
        g.inspect(|_| self.turn.from_global())
    }
}

/// Each G leaves the global queue within `every * (d+1)` dispatches; and the ring within `(d+1)(K+1)` local dispatches,
/// plus one global one for each `every - 1` of these, or part of them; plus two before each if turns are asked for.
fn within_bounds(numbers: Numbers, ops: &[Op]) -> Result<Tally, Broken> {
    let mut p = OneP::new(numbers);
    let mut seen = Tally::default();
    let mut in_global = Deadlines::of("the global queue");
    let (mut in_ring, mut in_ring_total) = (Deadlines::of("the ring, locally,"), Deadlines::of("the ring"));
    let (mut local, mut all) = (0, 0);
    let every = numbers.every as usize;
    let asks = ops.contains(&Op::DispatchAtTurn);
    for (number, &op) in (1..).zip(ops) {
        match op {
            Op::PutNext => p.put(number, true),
            Op::Put => p.put(number, false),
            Op::PutGlobal => p.put_global(number),
            Op::Dispatch | Op::DispatchAtTurn => {
                let asks = op == Op::DispatchAtTurn;
                let is_by_count = p.turn.is_global(Every::new(numbers.every));
                let Some((_, from)) = p.dispatch_at(asks) else { continue };
                seen.note_if(asks && !is_by_count && from == Source::GlobalTurn, "a turn was asked for");
                all += 1;
                local += usize::from(from == Source::Local);
                seen.note_if(from == Source::GlobalTurn, "the global queue had its turn");
                seen.note_if(from == Source::Global && !p.ring.is_empty(), "a share was moved to the ring");
            }
        }
        let (ring, waiting) = (&p.ring, &p.waiting);
        for g in waiting.iter().copied().filter(|&g| !in_global.has(g)) {
            seen.note_if(in_ring.has(g), "a G was spilled");
            [&mut in_ring, &mut in_ring_total].into_iter().for_each(|due| due.forget(g));
        }
        let left = in_global.check(all, |g| waiting.contains(&g))?;
        seen.add("a G left the global queue at the last moment", left);
        seen.add("a G left the ring at the last moment", in_ring.check(local, |g| ring.contains(&g))?);
        in_ring_total.check(all, |g| ring.contains(&g))?;
        for (d, &g) in waiting.iter().enumerate() {
            in_global.enter(g, all, every * (d + 1) - numbers.slack);
        }
        for (d, &g) in ring.iter().enumerate() {
            let bound = (d + 1) * (numbers.at_most as usize + 1);
            in_ring.enter(g, local, bound);
            in_ring_total.enter(g, all, bound + if asks { 2 * bound } else { bound.div_ceil(every - 1) });
        }
    }
    Ok(seen)
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let order = prop_oneof![Just(SearchOrder::StealFirst), Just(SearchOrder::GlobalFirst)];
    let ring = prop_oneof![Just(2), Just(4), Just(8), Just(256)];
    (2..=61u32, 0..=20u32, ring, order).prop_map(|(every, at_most, ring, order)| Numbers {
        every,
        at_most,
        ring,
        order,
        ..GO
    })
}

/// With one dispatch in N for the global queue, a G at position d of it leaves it within N(d+1) dispatches, and a G at
/// position d of the ring within (d+1)(K+1) local ones.
mod overtaking_is_bounded {
    use super::*;

    #[test]
    fn by_one_p_with_any_numbers() {
        let seen = check(CASES, (numbers(), vec(op(), 0..400)), |(numbers, ops)| within_bounds(numbers, &ops));
        seen.must_have(&[
            "the global queue had its turn",
            "a share was moved to the ring",
            "a G was spilled",
            "a G left the global queue at the last moment",
            "a G left the ring at the last moment",
        ]);
    }

    #[test]
    fn by_one_p_with_the_default_numbers() {
        let seen = check(CASES, vec(op(), 0..800), |ops| within_bounds(GO, &ops));
        seen.must_have(&["the global queue had its turn", "a G left the global queue at the last moment"]);
    }

    #[test]
    fn by_one_p_for_which_turns_are_asked_for() {
        let seen =
            check(CASES, (numbers(), vec(op_with_turns(), 0..400)), |(numbers, ops)| within_bounds(numbers, &ops));
        seen.must_have(&["a turn was asked for", "a G left the ring at the last moment"]);
    }

    #[test]
    fn and_not_if_turns_that_are_asked_for_follow_each_other() {
        let wrong = Numbers { in_a_row: true, at_most: 0, ring: 4, ..GO };
        let ops = || prop_oneof![1 => Just(Op::Put), 2 => Just(Op::PutGlobal), 3 => Just(Op::DispatchAtTurn)];
        refute(CASES, vec(ops(), 0..100), |ops| within_bounds(wrong, ops));
        check(CASES, vec(ops(), 0..100), |ops| within_bounds(Numbers { in_a_row: false, ..wrong }, &ops));
    }

    #[test]
    fn the_global_bound_is_reached_at_every_position() {
        for d in 0..4 {
            // A first dispatch, which is the global queue's turn; then Gs that wait, and always something local to run. The ring
            // is too small for more than one in turn.
            let one = Numbers { ring: 2, ..GO };
            let mut ops = vec![Op::Put, Op::Dispatch];
            ops.extend([Op::PutGlobal].repeat(d + 1));
            ops.extend([Op::PutNext, Op::Dispatch].repeat(61 * (d + 1)));
            within_bounds(one, &ops).expect("within the bound");
            within_bounds(Numbers { slack: 1, ..one }, &ops).expect_err("not within one less");
        }
    }

    #[test]
    fn a_global_bound_of_one_less_is_refuted() {
        let two = Numbers { every: 2, slack: 1, ..GO };
        let (ops, _) = refute(CASES, vec(op(), 0..200), |ops| within_bounds(two, ops));
        assert!(ops.len() <= 12, "{} operations are too many to read: {ops:?}", ops.len());

        let (ops, _) = refute(CASES, vec(op(), 0..800), |ops| within_bounds(Numbers { slack: 1, ..GO }, ops));
        assert!(ops.iter().filter(|&&op| op == Op::Dispatch).count() > 60, "61 dispatches are needed: {ops:?}");
    }
}

/// What the bounds do not promise.
mod overtaking_is_not_bounded {
    use super::*;

    /// A share moves a G behind what waits in the ring: there it may wait for longer than it would have waited in the global
    /// queue.
    #[test]
    fn by_the_global_queues_bound_once_a_share_has_moved_a_g() {
        let mut p = OneP::new(Numbers { every: 4, at_most: 8, ..GO });
        p.put(1, false);
        assert_eq!(p.dispatch(), Some((1, Source::Local)), "the first turn found nothing");
        (2..=4).for_each(|number| p.put(number, false));
        (5..=6).for_each(|number| p.put_global(number));
        let mut froms = Vec::new();
        for number in 7.. {
            p.put(number, true);
            let (g, from) = p.dispatch().expect("there is always one");
            froms.push(from);
            if g == 6 {
                break;
            }
        }
        let turn = froms.iter().position(|&from| from == Source::GlobalTurn).expect("it had its turn");
        assert_eq!(turn, 3, "the next number that four divides");
        // It was the second of the global queue, which is given up within 8; then it was the fourth of the ring at most.
        assert!(froms.len() > 8 && froms.len() <= turn + 4 * 9 + 12, "after {} dispatches", froms.len());
    }

    /// If every dispatch is the global queue's turn, a submitter that feeds it starves the ring.
    #[test]
    fn in_the_ring_if_every_turn_is_the_global_queues() {
        let mut p = OneP::new(Numbers { every: 1, ..GO });
        p.put(1, false);
        for number in 2..10_000 {
            p.put_global(number);
            assert_eq!(p.dispatch(), Some((number, Source::GlobalTurn)));
        }
    }

    /// If no dispatch is its turn, local work starves the global queue.
    #[test]
    fn in_the_global_queue_if_no_turn_is_its_own() {
        let mut p = OneP::new(Numbers { every: 0, ..GO });
        p.put_global(1);
        for number in 2..10_000 {
            p.put(number, true);
            assert_eq!(p.dispatch(), Some((number, Source::Local)));
        }
    }
}
