//! Models that mistakes of two lines have shown to be missing: a step that is right in every state of its room but one.

use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::waits::claim::Ticket;
use spinpark_kernel::waits::select::{Cases, Selection};
use std::task::Poll;

/// Three cases that are never ready; what a select asks of them.
struct Asked {
    order: Vec<usize>,
    is_ready: Option<usize>,
    has_asked: bool,
}

impl<H: ModelHost> Cases<H> for Asked {
    type Output = usize;
    const LEN: usize = 3;

    fn choose(&mut self, n: usize) -> usize {
        H::choose(n)
    }

    fn attempt(&mut self, case: usize) -> Poll<usize> {
        assert!(!self.has_asked, "what there is besides was asked before case {case}");
        self.order.push(case);
        if self.is_ready == Some(case) { Poll::Ready(case) } else { Poll::Pending }
    }

    fn otherwise(&mut self) -> Poll<usize> {
        self.has_asked = true;
        Poll::Ready(3)
    }

    fn enlist(&mut self, case: usize, _: Ticket<H>) -> bool {
        panic!("case {case} is to wait, and there is a default")
    }

    fn collect(&mut self, case: usize) -> usize {
        panic!("case {case} was not served")
    }

    fn withdraw(&mut self) {
        panic!("none of them has waited")
    }
}

/// In which order the cases are tried.
fn the_order_of_cases<H: ModelHost>() -> String {
    let is_ready = Some(H::choose(4)).filter(|&case| case < 3);
    let mut asked = Asked { order: Vec::new(), is_ready, has_asked: false };
    let polled = Selection::<H>::new().poll(&mut asked);
    let Asked { order, has_asked, .. } = asked;
    assert!(polled == Poll::Ready(is_ready.unwrap_or(3)), "case {is_ready:?} is ready, and it came to {polled:?}");
    assert!(has_asked == is_ready.is_none(), "case {is_ready:?} is ready; the default was asked: {has_asked}");
    let mut sorted = order.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert!(sorted.len() == order.len() && (has_asked <= (order.len() == 3)), "the cases were tried so: {order:?}");
    format!("{is_ready:?}: {order:?}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("select::the_cases_come_in_any_order::the_order_of_cases", the_order_of_cases,
        claim: "the cases are tried in each order, each once, and what there is besides after them",
        size: "1 thread, 3 cases",
        invariants: [96],
        must_reach: ["None: [0, 1, 2]", "None: [0, 2, 1]", "None: [1, 0, 2]", "None: [1, 2, 0]", "None: [2, 0, 1]", "None: [2, 1, 0]"],
        runs: [sc()]),
];
