//! The order in which a thief visits the Ps.

use proptest::prelude::*;
use spinpark_kernel::host::Host;
use spinpark_kernel::protocol::random_order::random_order;
use spinpark_proptests::check::{Broken, Tally, check};
use spinpark_proptests::solo::Solo;
use std::cell::RefCell;
use std::collections::BTreeSet;

const CASES: u32 = 256;

/// How many of `1..=n` share no factor with `n`: as many steps there are.
fn steps(n: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (1..=n).filter(|&step| gcd(n, step) == 1).count()
}

fn order(n: usize, choices: &[usize]) -> Vec<usize> {
    Solo::dictate(choices);
    random_order(n, Solo::choose).collect()
}

fn visits_each_once(n: usize, order: &[usize]) -> bool {
    order.len() == n && order.iter().copied().collect::<BTreeSet<_>>() == (0..n).collect()
}

mod each_p_comes_once {
    use super::*;

    #[test]
    fn for_every_start_and_every_step() {
        for n in 1..=64 {
            let mut orders = BTreeSet::new();
            // The second choice is one of `n - 1`; of one P there is nothing to choose.
            let choices = (0..n).flat_map(|start| (0..n.max(2) - 1).map(move |at| (start, at)));
            for (start, at) in choices {
                let order = order(n, &[start, at]);
                assert!(visits_each_once(n, &order), "of {n}, from {start}, step from {}: {order:?}", at + 1);
                assert_eq!(order[0], start);
                orders.insert(order);
            }
            // Alive: each start and each step that shares no factor with `n` was there.
            assert_eq!(orders.len(), n * steps(n), "orders of {n}");
        }
    }

    #[test]
    fn for_one_choice_of_a_start_and_one_of_a_step() {
        thread_local! {
            static ASKED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
        }
        let choose = |n| {
            ASKED.with_borrow_mut(|asked| asked.push(n));
            0
        };
        assert!(visits_each_once(6, &random_order(6, choose).collect::<Vec<_>>()));
        assert_eq!(ASKED.take(), [6, 5], "a start of six, a step of one to five");
    }

    #[test]
    fn of_none_there_is_none() {
        assert!(order(0, &[]).is_empty());
    }

    #[test]
    fn for_any_number_of_ps_and_any_draw() {
        check(CASES, (1..=4096usize, any::<u64>()), |(n, seed)| {
            Solo::seed(seed);
            let order: Vec<usize> = random_order(n, Solo::choose).collect();
            if visits_each_once(n, &order) { Ok(Tally::default()) } else { Err(Broken::because("not each once")) }
        });
    }

    #[test]
    fn even_if_the_host_chooses_out_of_range() {
        for n in 1..=64 {
            let order: Vec<usize> = random_order(n, |_| usize::MAX).collect();
            assert!(visits_each_once(n, &order), "{order:?}");
        }
    }
}
