//! Nodes of a tree, as long as a token refers to them or two nodes are below them: their places, parents and children.
//!
//! **A node that is below another stays below it, whatever is taken out between them. A node without tokens has two
//! children or more.**
//!
//! All of it happens under the lock of whose the tree is.
//!
//! Checked by: verification/src/models/task_tables.rs

use alloc::vec::Vec;
use slab::Slab;

/// No node.
const NONE: usize = usize::MAX;

struct Place<T> {
    value: T,
    tokens: usize,
    parent: usize,
    children: usize,
    first_child: usize,
    before: usize,
    behind: usize,
}

/// The nodes of one tree.
///
/// ```
/// use spinpark_kernel::waits::cancellation_tree::Nodes;
/// let mut nodes = Nodes::new("root");
/// let child = nodes.insert(nodes.root(), "child");
/// let grandchild = nodes.insert(child, "grandchild");
/// assert_eq!(nodes.branch(child), [child, grandchild]);
/// *nodes.get_mut(child) = "daughter";
/// assert_eq!(nodes.get(child), &"daughter");
///
/// nodes.add_token(child);
/// nodes.drop_token(child);
/// assert_eq!(nodes.len(), 3); // one token is left
/// nodes.drop_token(child);
/// assert_eq!(nodes.branch(nodes.root()), [nodes.root(), grandchild]); // taken out, its child in its place
/// ```
pub struct Nodes<T> {
    places: Slab<Place<T>>,
    root: usize,
}

impl<T> Nodes<T> {
    /// The root, with one token.
    pub fn new(value: T) -> Self {
        let mut nodes = Nodes { places: Slab::new(), root: NONE };
        nodes.root = nodes.place(NONE, value);
        nodes
    }

    /// The number of the root, while it is there.
    pub const fn root(&self) -> usize {
        self.root
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What is there.
    pub fn get(&self, node: usize) -> &T {
        &self.places[node].value
    }

    /// What is there.
    pub fn get_mut(&mut self, node: usize) -> &mut T {
        &mut self.places[node].value
    }

    fn place(&mut self, parent: usize, value: T) -> usize {
        let (children, first_child, before, behind) = (0, NONE, NONE, NONE);
        self.places.insert(Place { value, tokens: 1, parent, children, first_child, before, behind })
    }

    /// One below `parent`, with one token.
    pub fn insert(&mut self, parent: usize, value: T) -> usize {
        let node = self.place(parent, value);
        self.link(node);
        node
    }

    /// One token more.
    pub fn add_token(&mut self, node: usize) {
        self.places[node].tokens += 1;
    }

    /// One token less. Nodes that are not needed any more are taken out.
    pub fn drop_token(&mut self, node: usize) {
        self.places[node].tokens -= 1;
        let mut node = node;
        // One that is taken out may leave its parent with one child.
        while node != NONE && self.places[node].tokens == 0 && self.places[node].children <= 1 {
            let parent = self.places[node].parent;
            self.take_out(node);
            node = parent;
        }
    }

    /// The node, and all below it, each after the one above it.
    pub fn branch(&self, node: usize) -> Vec<usize> {
        let (mut found, mut next) = (Vec::new(), 0);
        found.push(node);
        while let Some(&above) = found.get(next) {
            let mut child = self.places[above].first_child;
            while child != NONE {
                found.push(child);
                child = self.places[child].behind;
            }
            next += 1;
        }
        found
    }

    /// Takes a node out. Its child, if there is one, is put in its place.
    fn take_out(&mut self, node: usize) {
        let (parent, child) = (self.places[node].parent, self.places[node].first_child);
        if parent != NONE {
            self.unlink(node);
        }
        self.places.remove(node);
        if child != NONE {
            self.places[child].parent = parent;
            if parent != NONE {
                self.link(child);
            }
        }
        if self.root == node {
            self.root = child;
        }
    }

    /// The first among the children of its parent.
    fn link(&mut self, node: usize) {
        let parent = self.places[node].parent;
        let first = core::mem::replace(&mut self.places[parent].first_child, node);
        self.places[parent].children += 1;
        (self.places[node].before, self.places[node].behind) = (NONE, first);
        if first != NONE {
            self.places[first].before = node;
        }
    }

    fn unlink(&mut self, node: usize) {
        let Place { parent, before, behind, .. } = self.places[node];
        self.places[parent].children -= 1;
        match before {
            NONE => self.places[parent].first_child = behind,
            before => self.places[before].behind = behind,
        }
        if behind != NONE {
            self.places[behind].before = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    mod a_tree {
        use super::*;

        fn below(nodes: &Nodes<u32>, node: usize) -> Vec<u32> {
            let mut values: Vec<u32> = nodes.branch(node).into_iter().map(|node| *nodes.get(node)).collect();
            values.sort_unstable();
            values
        }

        #[test]
        fn keeps_what_is_below_a_node_that_is_taken_out() {
            let mut nodes = Nodes::new(0);
            let root = nodes.root();
            let middle = nodes.insert(root, 1);
            let leaf = nodes.insert(middle, 2);
            nodes.insert(root, 3);
            nodes.drop_token(middle);
            assert_eq!((nodes.len(), below(&nodes, root)), (3, vec![0, 2, 3]));
            assert_eq!(below(&nodes, leaf), [2]);
        }

        #[test]
        fn keeps_a_node_without_tokens_that_has_two_below_it() {
            let mut nodes = Nodes::new(0);
            let root = nodes.root();
            let middle = nodes.insert(root, 1);
            let (one, two) = (nodes.insert(middle, 2), nodes.insert(middle, 3));
            nodes.drop_token(middle);
            assert_eq!(below(&nodes, root), [0, 1, 2, 3]);
            nodes.drop_token(one);
            assert_eq!((nodes.len(), below(&nodes, root)), (2, vec![0, 3]));
            nodes.drop_token(two);
            nodes.drop_token(root);
            assert!(nodes.is_empty());
        }

        #[test]
        fn does_not_grow_in_a_chain_of_which_only_the_end_is_kept() {
            let mut nodes = Nodes::new(0);
            let mut end = nodes.root();
            for n in 1..1000 {
                let next = nodes.insert(end, n);
                nodes.drop_token(end);
                end = next;
            }
            assert_eq!((nodes.len(), nodes.root()), (1, end));
        }
    }
}
