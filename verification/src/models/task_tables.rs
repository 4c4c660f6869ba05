//! A tree of tokens and a place in a wait list that are driven by hand, one step after the other: every few steps. A list
//! says what each step answers, which tasks it wakes, and what is left after it.

use crate::harness::common::any_of;
use crate::harness::told::{Log, Told};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::host::{Host, Lock};
use spinpark_kernel::waits::cancellation_tree::Nodes;
use spinpark_kernel::waits::wait_list::{self, Served, WaitList};
use std::sync::Arc;

/// A tree as a list: of each node its tokens and the node above it; `None` if it was taken out.
struct Above(Vec<Option<(usize, Option<usize>)>>);

impl Above {
    fn children(&self, node: usize) -> Vec<usize> {
        let is_child = |i: &usize| matches!(self.0[*i], Some((_, above)) if above == Some(node));
        (0..self.0.len()).filter(is_child).collect()
    }

    /// A node and all below it.
    fn branch(&self, node: usize) -> Vec<usize> {
        let mut found = vec![node];
        self.children(node).into_iter().for_each(|child| found.extend(self.branch(child)));
        found.sort_unstable();
        found
    }

    fn add_token(&mut self, node: usize) {
        self.0[node].as_mut().expect("it is there").0 += 1;
    }

    /// What is not needed is taken out, in any order.
    fn drop_token(&mut self, node: usize) {
        self.0[node].as_mut().expect("it is there").0 -= 1;
        while let Some((node, above)) = (0..self.0.len()).find_map(|i| match self.0[i] {
            Some((0, above)) if self.children(i).len() <= 1 => Some((i, above)),
            _ => None,
        }) {
            for child in self.children(node) {
                self.0[child].as_mut().expect("it is there").1 = above;
            }
            self.0[node] = None;
        }
    }

    fn are_there(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|&i| self.0[i].is_some()).collect()
    }

    fn check(&self, nodes: &Nodes<usize>, keys: &[usize]) {
        let there = self.are_there();
        assert!(nodes.len() == there.len(), "{} nodes, and not {there:?}", nodes.len());
        assert!(nodes.is_empty() == there.is_empty(), "it is empty: {}, with {there:?}", nodes.is_empty());
        if let Some(&top) = there.iter().find(|&&i| matches!(self.0[i], Some((_, None)))) {
            assert!(nodes.root() == keys[top], "{} is the root, and not node {top}", nodes.root());
        }
        for &i in &there {
            let found: Vec<usize> = nodes.branch(keys[i]).into_iter().map(|key| *nodes.get(key)).collect();
            let mut sorted = found.clone();
            sorted.sort_unstable();
            assert!(sorted == self.branch(i), "the branch of {i} is {found:?}, and not {:?}", self.branch(i));
            let place = |node: usize| found.iter().position(|&other| other == node);
            let is_after = |&node: &usize| {
                node == i || self.0[node].is_some_and(|(_, above)| place(above.unwrap_or(i)) < place(node))
            };
            assert!(found.iter().all(is_after), "in the branch {found:?} one comes before the one above it");
        }
    }
}

/// Four nodes in each shape, one perhaps with a second token; all tokens are dropped, in each order.
fn a_tree_as_a_list<H: ModelHost>() -> String {
    let (mut nodes, mut list) = (Nodes::new(0), Above(vec![Some((1, None))]));
    let mut keys = vec![nodes.root()];
    for i in 1..4 {
        let above = H::choose(i);
        keys.push(nodes.insert(keys[above], i));
        list.0.push(Some((1, Some(above))));
        list.check(&nodes, &keys);
    }
    let mut tokens: Vec<usize> = (0..4).collect();
    let twice = H::choose(5);
    if twice < 4 {
        nodes.add_token(keys[twice]);
        list.add_token(twice);
        tokens.push(twice);
    }
    let shape = list.branch(0).iter().map(|&i| list.children(i).len()).collect::<Vec<_>>();
    while !tokens.is_empty() {
        let node = tokens.remove(H::choose(tokens.len()));
        nodes.drop_token(keys[node]);
        list.drop_token(node);
        list.check(&nodes, &keys);
    }
    assert!(nodes.is_empty(), "no token is left, and there is a node");
    format!("children {shape:?}")
}

#[derive(Debug, Clone, Copy)]
enum OfAPlace {
    Poll(u64),
    Enable,
    Leave,
    One,
    All,
    /// It answers from now on, or no longer; none is served.
    Turn,
}

/// A list, and whether a task that looks need not wait.
struct Door<H: ModelHost> {
    list: WaitList<H, Told>,
    is_open: bool,
}

fn list<H: ModelHost>(door: &mut Door<H>) -> &mut WaitList<H, Told> {
    &mut door.list
}

fn look<H: ModelHost>(door: &mut Door<H>, served: Served) -> Option<Served> {
    (served != Served::No || door.is_open).then_some(served)
}

/// One looks and waits; it may find what it waits for although it was not served.
fn one_looks_and_waits<H: ModelHost>() -> String {
    use OfAPlace::{All, Enable, Leave, One, Poll, Turn};
    const OPS: [OfAPlace; 7] = [Poll(0), Poll(1), Enable, Leave, One, All, Turn];
    let lock = <H as Host>::Lock::new(Door::<H> { list: WaitList::new(), is_open: false });
    let (log, is_trusted) = (Arc::new(Log::default()), H::choose(2) == 1);
    let mut place = wait_list::Place::new();
    // It waits: by which waker, how it was served.
    let (mut at, mut is_open, mut woken): (Option<(Option<u64>, Served)>, _, _) = (None, false, Vec::new());
    let mut answers = 0;
    for _ in 0..5 {
        let op = any_of::<H, _>(&OPS);
        let served = at.map_or(Served::No, |(_, served)| served);
        let expected = (is_open || served != Served::No).then_some(served);
        let mut answer = None;
        match op {
            Poll(by) => {
                let polled = place.poll(&lock, list::<H>, &mut log.lender(by, is_trusted), look::<H>);
                answer = Some(if let std::task::Poll::Ready(served) = polled { Some(served) } else { None });
                at = expected.is_none().then_some((Some(by), Served::No));
            }
            Enable => {
                answer = Some(place.enable(&lock, list::<H>, look::<H>));
                at = expected.is_none().then_some(at.unwrap_or((None, Served::No)));
            }
            Leave => {
                let mut asked = None;
                place.leave(&lock, list::<H>, |_, served| {
                    asked = Some(served);
                    None
                });
                assert!(asked == at.map(|(_, served)| served), "it left, and was told {asked:?}");
                at = None;
            }
            One | All => {
                let by = lock.with(|door| match op {
                    One => door.list.serve_one().into_iter().flatten().collect(),
                    _ => door.list.serve_all(),
                });
                spinpark_kernel::waits::waker::wake(by);
                if let Some((by, served @ Served::No)) = &mut at {
                    woken.extend(by.take());
                    *served = if matches!(op, One) { Served::Alone } else { Served::WithAll };
                }
            }
            Turn => {
                is_open = !is_open;
                lock.with(|door| door.is_open = is_open);
            }
        }
        if let Some(answer) = answer {
            assert!(answer == expected, "{op:?}: {answer:?}, and not {expected:?}");
            answers += usize::from(answer.is_some());
        }
        log.check(&mut woken, &op);
        assert!(place.is_taken() == at.is_some(), "after {op:?} it waits: {}", place.is_taken());
    }
    place.leave(&lock, list::<H>, |_, _| None);
    log.check(&mut woken, &"the end");
    format!("answers: {answers}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("cancellation::all_below_are_cancelled::a_tree_as_a_list", a_tree_as_a_list,
        claim: "the branches of a tree are what a list of parents says, whichever tokens are dropped, and what is not \
                needed is taken out",
        size: "1 thread; 4 nodes in each shape, 4 or 5 tokens, dropped in each order",
        invariants: [109],
        must_reach: ["children [3, 0, 0, 0]", "children [1, 1, 1, 0]", "children [2, 1, 0, 0]"],
        runs: [sc()]),
    crate::model!("wait_group::who_waits_sees_all_done::one_looks_and_waits", one_looks_and_waits,
        claim: "one that looks and waits is served, told how, and woken, as a table would; also if it finds unserved what it waits for: no \
            waker is lost",
        size: "1 thread; 1 place, 5 steps of 7 kinds",
        invariants: [97],
        must_reach: ["answers: 0", "answers: 4"],
        runs: [sc()]),
];
