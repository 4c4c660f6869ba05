//! Tokens of a cancellation: a tree, of which one branch at a time is cancelled. Go: `context.WithCancel`.
//!
//! ```text
//!   root ──┬── request ──┬── query        cancel(request): request, query, upload are cancelled, root is not
//!          │             └── upload
//!          └── other
//! ```
//!
//! **A waiter of a node goes on once the node, or one above it, is cancelled, and sees what the canceller did before. A
//! child of a node that is cancelled is cancelled, whenever it was made; a thread that sees that a node is cancelled sees
//! that all below it are.**
//!
//! | the canceller | a waiter | the maker of a child |
//! |-------------|-----------|-------------------|
//! | under one lock: marks the branch, from below, and serves the waiters there | under one lock: sees no mark, enqueues its waiter | under one lock: lists the child under its parent, and marks it as the parent is |
//! | unlocks; wakes them | sleeps, until it is woken | |
//!
//! One lock for each tree. The mark stands in a word beside it too, so that a thread that only asks takes no lock. A node
//! without tokens that has one child at most is taken out, and its child put in its place: there are less than two nodes
//! for each token.
//!
//! Pairs: `cancelled`.
//!
//! Checked by: verification/rooms/src/rooms/cancellation.rs

use crate::atomic::{Atomic, UnderLock};
use crate::host::{Host, Lock};
use crate::waits::cancellation_tree::Nodes;
use crate::waits::queue::{Outcome, Renewed, WaitQueue, Waiter, Waiters};
use crate::waits::waker::{Lender, Waker, forget, wake};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Release};
use core::task::Poll;

/// A node's mark, in a word of its own.
pub type Mark<H> = Arc<Atomic<H, bool, UnderLock>>;

/// What a node has besides its place in the tree.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::cancellation::Token;
/// let token = Token::<Os, Task>::new();
/// token.with(|state, node| state.mark(node)); // by `Node::mark`, and wakes no task
/// assert!(token.is_cancelled());
/// # }
/// ```
pub struct Node<H: Host> {
    mark: Mark<H>,
    is_cancelled: bool,
    queue: WaitQueue,
}

impl<H: Host> Node<H> {
    fn new(is_cancelled: bool) -> Self {
        Node { mark: Arc::new(Atomic::new(is_cancelled)), is_cancelled, queue: WaitQueue::new() }
    }

    /// It is cancelled, for threads that ask without the lock.
    pub fn mark(&mut self) {
        self.is_cancelled = true;
        // Release: `cancelled`, the canceller: a thread that reads the mark sees what was done before, and the marks below.
        self.mark.store(true, Release);
    }
}

/// What a tree is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{cancellation::Token, waker::wake};
/// let (token, task) = (Token::<Os, Task>::new(), Task::default());
/// let mut woken = Vec::new();
/// let mark = token.with(|state, root| {
///     let (below, mark) = state.insert_child(root, false);
///     assert_eq!(state.branch(root), [root, below]);
///     state.enqueue(below, task.clone());
///     state.mark(below);
///     assert!(state.is_cancelled(below) && !state.is_cancelled(root));
///     state.serve_all(below, &mut woken);
///     mark
/// });
/// wake(woken);
/// assert!(task.wakes() == 1 && mark.load(Ordering::Acquire));
/// # }
/// ```
pub struct State<H: Host, W> {
    nodes: Nodes<Node<H>>,
    waiters: Waiters<H, (), W>,
}

impl<H: Host, W: Waker> State<H, W> {
    fn new() -> Self {
        State { nodes: Nodes::new(Node::new(false)), waiters: Waiters::new() }
    }

    /// Is it cancelled?
    pub fn is_cancelled(&self, node: usize) -> bool {
        self.nodes.get(node).is_cancelled
    }

    /// How many nodes there are, and how many waiters.
    pub fn sizes(&self) -> (usize, usize) {
        (self.nodes.len(), self.waiters.count())
    }

    /// One below `parent`, with one token. Its number and its mark.
    pub fn insert_child(&mut self, parent: usize, is_cancelled: bool) -> (usize, Mark<H>) {
        let node = Node::new(is_cancelled);
        let mark = Arc::clone(&node.mark);
        (self.nodes.insert(parent, node), mark)
    }

    /// The numbers of a branch, from above.
    pub fn branch(&self, node: usize) -> Vec<usize> {
        self.nodes.branch(node)
    }

    /// Marks one node.
    pub fn mark(&mut self, node: usize) {
        self.nodes.get_mut(node).mark();
    }

    /// Serves all that wait for this node.
    pub fn serve_all(&mut self, node: usize, woken: &mut Vec<W>) {
        let queue = &mut self.nodes.get_mut(node).queue;
        while let Some(key) = queue.next(&mut self.waiters) {
            woken.extend(self.waiters.get(key).serve(Outcome::Done));
        }
    }

    /// Cancels a branch. The waiters, to be woken as soon as the lock is free.
    fn cancel(&mut self, node: usize) -> Vec<W> {
        let mut woken = Vec::new();
        if self.is_cancelled(node) {
            return woken;
        }
        for node in self.branch(node).into_iter().rev() {
            self.mark(node);
            self.serve_all(node, &mut woken);
        }
        woken
    }

    /// One more waits for this node.
    pub fn enqueue(&mut self, node: usize, waker: W) -> usize {
        self.nodes.get_mut(node).queue.join(&mut self.waiters, Waiter::new(waker, None, None))
    }

    fn leave(&mut self, node: usize, key: usize) -> Waiter<H, (), W> {
        self.nodes.get_mut(node).queue.leave(&mut self.waiters, key)
    }
}

/// A token: of one node of one tree.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::cancellation::Token;
/// let (token, mut task) = (Token::<Os, Task>::new(), Task::default());
/// let (child, mut waiter, mut other) = (token.child(), None, None);
/// assert!(child.poll(&mut waiter, &mut task).is_pending());
/// assert!(child.poll(&mut other, &mut Task::default()).is_pending());
/// child.give_up(&mut other); // it waits no more
/// token.cancel();
/// assert!(child.is_cancelled() && task.wakes() == 1);
/// assert!(child.poll(&mut waiter, &mut task).is_ready());
///
/// let (node, mark) = token.with(|state, root| state.insert_child(root, true));
/// assert!(token.of(node, mark).is_cancelled()); // born cancelled
/// # }
/// ```
pub struct Token<H: Host, W: Waker + Send + 'static> {
    tree: Arc<H::Lock<State<H, W>>>,
    node: usize,
    mark: Mark<H>,
}

impl<H: Host, W: Waker + Send + 'static> Token<H, W> {
    /// A tree of one node.
    pub fn new() -> Self {
        let state = State::new();
        let (node, mark) = (state.nodes.root(), Arc::clone(&state.nodes.get(state.nodes.root()).mark));
        Token { tree: Arc::new(H::Lock::new(state)), node, mark }
    }

    /// Under the lock, with the number of this token's node.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<H, W>, usize) -> R) -> R {
        self.tree.with(|state| f(state, self.node))
    }

    /// One below: cancelled with this one, and not the other way.
    #[must_use = "a token that is dropped does nothing"]
    pub fn child(&self) -> Self {
        // Under one lock: a canceller came before, and is seen, or finds the child.
        let (node, mark) = self.with(|state, parent| state.insert_child(parent, state.is_cancelled(parent)));
        self.of(node, mark)
    }

    /// A token of another node of the same tree.
    pub fn of(&self, node: usize, mark: Mark<H>) -> Self {
        Token { tree: Arc::clone(&self.tree), node, mark }
    }

    /// Cancels this node, and all below.
    pub fn cancel(&self) {
        let woken = self.with(State::cancel);
        wake(woken);
    }

    /// Is it cancelled?
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        // Acquire: `cancelled`, a thread that asks: what the canceller did before is seen, and the marks below.
        self.mark.load(Acquire)
    }

    /// Is it cancelled? If not, the caller waits by the lender's waker; `waiter` is where.
    pub fn poll(&self, waiter: &mut Option<usize>, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        loop {
            let tried = self.with(|state, node| match *waiter {
                None => Self::look_or_wait(state, node, lender),
                Some(key) => Self::look_again(state, node, key, lender),
            });
            match tried {
                Tried::Over => {
                    *waiter = None;
                    return Poll::Ready(());
                }
                Tried::Waits(key, old) => {
                    *waiter = Some(key);
                    forget(old);
                    return Poll::Pending;
                }
                Tried::NeedsCopy => lender.prepare(),
            }
        }
    }

    /// Under one lock: a canceller came before, and is seen, or finds the waiter.
    fn look_or_wait(state: &mut State<H, W>, node: usize, lender: &mut impl Lender<Waker = W>) -> Tried<W> {
        match state.is_cancelled(node) {
            true => Tried::Over,
            false => lender.lend().map_or(Tried::NeedsCopy, |waker| Tried::Waits(state.enqueue(node, waker), None)),
        }
    }

    fn look_again(state: &mut State<H, W>, node: usize, key: usize, lender: &mut impl Lender<Waker = W>) -> Tried<W> {
        match state.waiters.renew(key, lender) {
            Renewed::Waits(old) => Tried::Waits(key, old),
            Renewed::NeedsCopy => Tried::NeedsCopy,
            Renewed::Served => {
                drop(state.leave(node, key)); // its waker is gone
                Tried::Over
            }
        }
    }

    /// The waiter there waits no more.
    pub fn give_up(&self, waiter: &mut Option<usize>) {
        if let Some(key) = waiter.take() {
            let waiter = self.with(|state, node| state.leave(node, key));
            forget(waiter.waker);
        }
    }
}

impl<H: Host, W: Waker + Send + 'static> Default for Token<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Host, W: Waker + Send + 'static> Clone for Token<H, W> {
    fn clone(&self) -> Self {
        self.with(|state, node| state.nodes.add_token(node));
        self.of(self.node, Arc::clone(&self.mark))
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Token<H, W> {
    fn drop(&mut self) {
        // A node without a token has no waiters: each has one.
        self.with(|state, node| state.nodes.drop_token(node));
    }
}

/// What became of a try.
enum Tried<W> {
    Over,
    Waits(usize, Option<W>),
    NeedsCopy,
}
