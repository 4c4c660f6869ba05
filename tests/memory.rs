//! The memory of tasks that have ended. Alone in its process, for it measures all of it.

use crate::cases::Case;
use spinpark::{Runtime, spawn};

pub(crate) const CASES: &[Case] = &[(
    "the_memory_of_a_million_tasks_that_have_ended_is_used_again",
    the_memory_of_a_million_tasks_that_have_ended_is_used_again,
)];

/// What this process has in memory, in kilobytes. 0 where the system does not tell.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn the_memory_of_a_million_tasks_that_have_ended_is_used_again() {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    let run = |tasks: u64| {
        runtime.spawn(async move {
            let mut sum = 0;
            for batch in 0..tasks / 1000 {
                let tasks: Vec<_> = (0..1000).map(|n| spawn(async move { batch * 1000 + n })).collect();
                for task in tasks {
                    sum += task.await.expect("a value");
                }
            }
            sum
        })
    };
    let sum = |n: u64| n * (n - 1) / 2;
    assert_eq!(run(100_000).join().expect("a value"), sum(100_000));
    let before = resident();
    assert_eq!(run(1_000_000).join().expect("a value"), sum(1_000_000));
    let grown = resident().saturating_sub(before);
    assert!(grown < 16 * 1024, "a million tasks later there are {grown} kB more");
}
