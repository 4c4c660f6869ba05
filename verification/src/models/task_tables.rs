//! A tree of tokens, a scope and a place in a wait list that are driven by hand, one step after the other: every few steps. A list
//! says what each step answers, which tasks it wakes, and what is left after it.

use crate::harness::common::{Counted, any_of};
use crate::harness::told::{Log, Told};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::host::{Host, Lock};
use spinpark_kernel::waits::cancellation_tree::Nodes;
use spinpark_kernel::waits::scope::{self, Scope, Task};
use spinpark_kernel::waits::wait_list::{self, Served, WaitList};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Ready,
    Pending,
    /// The scope is ended while it runs; it would wait.
    Unwanted,
}

#[derive(Debug, Clone, Copy)]
enum OfAScope {
    Begin(usize),
    Run(usize, Ends),
    End,
}

fn steps_of_a_scope<H: ModelHost>() -> String {
    use OfAScope::{Begin, End, Run};
    const OPS: [OfAScope; 8] = [
        Begin(0),
        Begin(1),
        Run(0, Ends::Ready),
        Run(0, Ends::Pending),
        Run(0, Ends::Unwanted),
        Run(1, Ends::Ready),
        Run(1, Ends::Unwanted),
        End,
    ];
    let scope = Scope::<H, Told, Counted>::new();
    let mut tasks: [Option<Arc<Task<H, Told, Counted>>>; 2] = [None, None];
    // Of each that was begun: is its content there?
    let (mut is_there, mut is_closed) = ([None; 2], false);
    let dropped = Arc::new(AtomicUsize::new(0));
    for _ in 0..4 {
        let op = any_of::<H, _>(&OPS);
        let mut ends = false;
        match op {
            Begin(i) if is_there[i].is_none() => {
                tasks[i] = Some(scope.begin(Counted(Arc::clone(&dropped))));
                is_there[i] = Some(!is_closed);
            }
            Run(i, how) => {
                let (Some(task), Some(was_there)) = (&tasks[i], is_there[i]) else { continue };
                let mut has_run = false;
                let polled = task.run(|_| {
                    has_run = true;
                    if how == Ends::Unwanted {
                        scope.end();
                    }
                    if how == Ends::Ready { Poll::Ready(()) } else { Poll::Pending }
                });
                let waits = was_there && how == Ends::Pending;
                assert!(has_run == was_there, "{op:?}: there {was_there}, has run {has_run}");
                assert!(polled.is_pending() == waits, "{op:?}: {polled:?}, there {was_there}");
                is_there[i] = Some(waits);
                ends = has_run && how == Ends::Unwanted;
            }
            End => {
                scope.end();
                ends = true;
            }
            Begin(_) => (),
        }
        if ends {
            is_closed = true;
            is_there.iter_mut().flatten().for_each(|there| *there = false);
        }
        let gone = is_there.iter().flatten().filter(|&&there| !there).count();
        let left = is_there.iter().flatten().count() - gone;
        let (now, count) = (dropped.load(SeqCst), scope.group().with(|state| state.count()));
        assert!((now, count) == (gone, left), "after {op:?} {now} contents were dropped and {count} are counted");
        for (task, there) in tasks.iter().zip(is_there) {
            let is_gone = task.as_ref().map(|task| task.with(|place| matches!(place, scope::Place::Gone)));
            assert!(is_gone == there.map(|there: bool| !there), "after {op:?} a content is gone: {is_gone:?}");
        }
    }
    scope.end();
    let begun = is_there.iter().flatten().count();
    assert!(dropped.load(SeqCst) == begun, "it was ended, and of {begun} {dropped:?} were dropped");
    assert!(scope.with(|list| list.is_closed() && list.close().is_empty()), "it was ended, and a task is listed");
    format!("begun {begun}, ended early {is_closed}")
}

/// What becomes of a content's place by each step, from wherever it is.
fn where_a_content_is<H: ModelHost>() -> String {
    use scope::Place::{Gone, Out, There, Unwanted};
    fn name(place: &scope::Place<u32>) -> &'static str {
        match place {
            There(_) => "there",
            Out => "out",
            Unwanted => "unwanted",
            Gone => "gone",
        }
    }
    let mut place = [There(1), Out, Unwanted, Gone].into_iter().nth(H::choose(4)).expect("there are four");
    let from = name(&place);
    let (step, got, expected) = match H::choose(3) {
        0 => {
            let got = place.take_out();
            ("taken out", got, if from == "there" { (Some(1), "out") } else { (None, from) })
        }
        1 => {
            let got = place.take_away();
            let then = if ["out", "unwanted"].contains(&from) { "unwanted" } else { "gone" };
            ("taken away", got, ((from == "there").then_some(1), then))
        }
        // Only the holder puts it back.
        _ if ["there", "gone"].contains(&from) => return String::from("it is nobody's"),
        _ => {
            let got = place.put_back(2);
            ("put back", got, if from == "unwanted" { (Some(2), "gone") } else { (None, "there") })
        }
    };
    let became = (got, name(&place));
    assert!(became == expected, "{from}, and {step}: it became {became:?}, and not {expected:?}");
    format!("{from}, {step}")
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
    crate::model!("scope::an_early_end_leaves_none::steps_of_a_scope", steps_of_a_scope,
        claim: "tasks that are begun and run, and ended between or in the midst of a run, are ready, counted and dropped as a list would",
        size: "1 thread; 2 tasks, 4 steps of 8 kinds",
        invariants: [110, 119],
        must_reach: ["begun 2, ended early true", "begun 2, ended early false", "begun 0, ended early false"],
        runs: [sc()]),
    crate::model!("scope::an_early_end_leaves_none::where_a_content_is", where_a_content_is,
        claim: "a content that is taken out, put back or taken away is where a table says",
        size: "1 thread; 4 places, 3 steps",
        invariants: [119],
        must_reach: ["out, taken out", "unwanted, put back", "out, taken away"],
        runs: [sc()]),
    crate::model!("wait_group::who_waits_sees_all_done::one_looks_and_waits", one_looks_and_waits,
        claim: "one that looks and waits is served, told how, and woken, as a table would; also if it finds unserved what it waits for: no \
            waker is lost",
        size: "1 thread; 1 place, 5 steps of 7 kinds",
        invariants: [97],
        must_reach: ["answers: 0", "answers: 4"],
        runs: [sc()]),
];
