//! That the systems which are proved for every size are this kernel: what the kernel does, they can do, and what they
//! can do, some execution of the kernel does. See docs/evidence/every-size.md.

#[path = "every_size/account.rs"]
mod account;
#[path = "every_size/beneath.rs"]
mod beneath;
#[path = "every_size/functions.rs"]
mod functions;
#[path = "every_size/protocols.rs"]
mod protocols;
#[path = "every_size/recorded.rs"]
mod recorded;
#[path = "every_size/runq.rs"]
mod runq;
#[path = "every_size/sched.rs"]
mod sched;
#[path = "every_size/sources.rs"]
mod sources;

use crate::scenes::Scenario;
use account::{Account, Traces, is_refused, refused};
use functions::Functions;
use protocols::{Protocol, RunQueue, Scheduler};
use sources::{Memory, PLAIN, traces};
use spinpark_parameterized::sched::{calls, poller, stops};
use std::collections::BTreeSet;

/// At least so many executions are played, and more while one of the protocol's transitions has not been seen. The tie of
/// each operation's paths is exhaustive, and in spinpark-paths; this is a cross-check of whole executions.
const EXECUTIONS: usize = 3_000;
const AT_MOST: usize = 10_000;

/// What no execution of the scheduler that is played does: where no M is available, the P that goes back has no G; no thread is
/// refused; no M sleeps so long that it ends; no G comes from a poller, or is interrupted; and no thread stops the world.
fn never() -> Vec<&'static str> {
    let mut drawn = Vec::new();
    poller::steps("", &mut drawn);
    stops::steps("", &mut drawn);
    calls::scans("", &mut drawn);
    let more = ["drains_refused", "ends", "gets_no_thread", "gets_no_thread_uncounted", "is_interrupted"];
    let wanted = ["is_wanted", "gives", "has_none_to_give"];
    sorted(more.into_iter().chain(wanted).chain(drawn.into_iter().map(|transition| transition.name)))
}

/// Two threads try for the same P: rarely seen.
const RARE: &[&str] = &["misses_call", "misses_old_p"];

fn the_scheduler_does_all(memory: Memory) {
    let may = [&never()[..], RARE].concat();
    let unseen = all(&Scheduler(Functions::new(), ""), memory, PLAIN, &may);
    assert_eq!(sorted(unseen.into_iter().filter(|name| !RARE.contains(name))), never());
}

fn sorted(names: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    names.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Plays executions until there are enough. Which transitions were never seen, and only these `may` be, is the answer.
fn all<P: Protocol>(protocol: &P, memory: Memory, scenes: &[Scenario], may: &[&str]) -> Vec<&'static str> {
    // Those of real threads take longer, and which transitions they take is up to the machine.
    let wanted = if memory == Memory::Cores { AT_MOST / 5 } else { EXECUTIONS };
    let mut account = Account::of(protocol);
    let mut seed = 0;
    loop {
        let never = account.never();
        let is_seen = memory == Memory::Cores || never.iter().all(|transition| may.contains(transition));
        if account.executions >= AT_MOST || (account.executions >= wanted && is_seen) {
            return never;
        }
        seed += 1;
        account.play(protocol, &traces(memory, scenes, seed, 60));
    }
}

/// Each execution of the kernel is one of the protocol; and each transition is one of the kernel's, but for those that
/// are named.
mod every_execution_of_the_kernel_is_one {
    use super::*;

    #[test]
    fn of_the_scheduler() {
        the_scheduler_does_all(Memory::Sc);
    }

    /// A thief that sleeps so long that its two cursors are of different times; and more puts than a universe has, to spill two at once.
    #[test]
    fn of_the_run_queue() {
        let rare = ["sees_two_times", "takes_claimed"];
        let never = all(&RunQueue(Functions::new()), Memory::Sc, PLAIN, &rare);
        assert!(never.iter().all(|never| rare.contains(never)), "{never:?}");
    }
}

/// The same under store buffers.
mod every_execution_under_store_buffers_is_one {
    use super::*;

    #[test]
    fn of_the_scheduler() {
        the_scheduler_does_all(Memory::Tso);
    }
}

/// And of real threads, whose accesses are made one at a time. Which transitions they take is up to the machine.
mod every_execution_of_real_threads_is_one {
    use super::*;

    #[test]
    fn of_the_scheduler() {
        println!("never: {:?}", all(&Scheduler(Functions::new(), ""), Memory::Cores, PLAIN, &[]));
    }

    #[test]
    fn of_the_run_queue() {
        println!("never: {:?}", all(&RunQueue(Functions::new()), Memory::Cores, PLAIN, &[]));
    }
}

/// And of programs that are drawn at random: what the scenarios above have not thought of.
mod every_execution_of_a_random_program_is_one {
    use super::*;

    fn is_one(memory: Memory, seeds: u64) {
        let (sched, runq) = (Scheduler(Functions::new(), ""), RunQueue(Functions::new()));
        let mut accounts = [Account::of(&sched), Account::of(&runq)];
        for seed in 1..=seeds {
            let traces = traces(memory, &sources::random_programs(seed, 20), seed, 4);
            let [of_sched, of_runq] = &mut accounts;
            of_sched.play(&sched, &traces);
            // The drawing of the run queue has no store buffers.
            if memory == Memory::Sc {
                of_runq.play(&runq, &traces);
            }
        }
        let played = if memory == Memory::Sc { 2 } else { 1 };
        accounts[..played].iter().for_each(|account| println!("never: {:?}", account.never()));
        assert!(accounts[..played].iter().all(|account| account.executions as u64 > 50 * seeds));
    }

    #[test]
    fn on_sequentially_consistent_memory() {
        is_one(Memory::Sc, 5);
    }

    #[test]
    fn under_store_buffers() {
        is_one(Memory::Tso, 5);
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn of_four_times_as_many() {
        is_one(Memory::Sc, 20);
        is_one(Memory::Tso, 20);
    }
}

/// At one place of each: an event is gone, is there twice, or has changed places with the next of its thread.
mod of_changed_traces {
    use super::*;

    fn nearly_all_are_refused<P: Protocol>(protocol: &P, scenes: &[Scenario]) {
        let traces: Traces = traces(Memory::Sc, scenes, 1, 5).into_iter().step_by(3).collect();
        let (refused, all) = refused(protocol, &traces);
        assert!(all > 1000 && refused * 100 >= all * 99, "{refused} of {all}");
    }

    #[test]
    fn of_the_scheduler_nearly_all_are_refused() {
        nearly_all_are_refused(&Scheduler(Functions::new(), ""), PLAIN);
    }

    #[test]
    fn of_the_run_queue_nearly_all_are_refused() {
        nearly_all_are_refused(&RunQueue(Functions::new()), PLAIN);
    }
}

/// A drawing that is not the kernel's is noticed.
mod a_drawing_that_differs_from_the_kernel_refuses_executions {
    use super::*;

    fn refuses<P: Protocol>(protocol: &P, scenes: &[Scenario]) {
        let system = protocol.system();
        let traces = traces(Memory::Sc, scenes, 1, 5);
        let refused = traces.iter().filter(|(scenario, items)| is_refused(protocol, &system, scenario, items)).count();
        println!("{refused} of {} executions are refused", traces.len());
        assert!(refused > 0, "the kernel does it otherwise");
    }

    #[test]
    fn where_the_last_spinning_m_finds_work_and_wakes_nobody() {
        refuses(&Scheduler(Functions::new(), "drops-the-baton"), PLAIN);
    }

    #[test]
    fn where_an_m_reads_wanted_before_it_leaves_its_p() {
        refuses(&Scheduler(Functions::new(), "reads-before-it-writes"), PLAIN);
    }
}
