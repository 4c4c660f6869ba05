//! That the systems which are proved for every size are this kernel: what the kernel does, they can do, and what they
//! can do, some execution of the kernel does. See docs/evidence/every-size.md.

#[path = "every_size/account.rs"]
mod account;
#[path = "every_size/beneath.rs"]
mod beneath;
#[path = "every_size/custody.rs"]
mod custody;
#[path = "every_size/functions.rs"]
mod functions;
#[path = "every_size/protocols.rs"]
mod protocols;
#[path = "every_size/recorded.rs"]
mod recorded;
#[path = "every_size/runq.rs"]
mod runq;
#[path = "every_size/sources.rs"]
mod sources;
#[path = "every_size/spinning.rs"]
mod spinning;
#[path = "every_size/stw.rs"]
mod stw;

use crate::scenes::Scenario;
use account::{Account, Traces, is_refused, refused};
use functions::Functions;
use protocols::{Custody, Protocol, RunQueue, Spinning, StopTheWorld};
use sources::{LEAVING, Memory, PLAIN, STOPPING, traces};

/// At least so many executions are played, and more while one of the protocol's transitions has not been seen. The tie of
/// each operation's paths is exhaustive, and in spinpark-paths; this is a cross-check of whole executions.
const EXECUTIONS: usize = 3_000;
const AT_MOST: usize = 10_000;

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

    /// No M sleeps so long that it ends; and where no M is available, the P that goes back has no G.
    #[test]
    fn of_spinning() {
        let never = ["drains_refused", "ends"];
        assert_eq!(all(&Spinning(Functions::new(), ""), Memory::Sc, PLAIN, &never), never);
    }

    /// A thief that sleeps so long that its two cursors are of different times; and more puts than a universe has, to spill two at once.
    #[test]
    fn of_the_run_queue() {
        let rare = ["sees_two_times", "takes_claimed"];
        let never = all(&RunQueue(Functions::new()), Memory::Sc, PLAIN, &rare);
        assert!(never.iter().all(|never| rare.contains(never)), "{never:?}");
    }

    #[test]
    fn of_custody() {
        assert_eq!(all(&Custody(Functions::new(), ""), Memory::Sc, LEAVING, &[]), [""; 0]);
    }

    #[test]
    fn of_stopping_the_world() {
        assert_eq!(all(&StopTheWorld(Functions::new(), ""), Memory::Sc, STOPPING, &[]), [""; 0]);
    }
}

/// The same under store buffers.
mod every_execution_under_store_buffers_is_one {
    use super::*;

    #[test]
    fn of_spinning() {
        let never = ["drains_refused", "ends"];
        assert_eq!(all(&Spinning(Functions::new(), ""), Memory::Tso, PLAIN, &never), never);
    }

    #[test]
    fn of_custody() {
        assert_eq!(all(&Custody(Functions::new(), ""), Memory::Tso, LEAVING, &[]), [""; 0]);
    }

    #[test]
    fn of_stopping_the_world() {
        assert_eq!(all(&StopTheWorld(Functions::new(), ""), Memory::Tso, STOPPING, &[]), [""; 0]);
    }
}

/// And of real threads, whose accesses are made one at a time. Which transitions they take is up to the machine.
mod every_execution_of_real_threads_is_one {
    use super::*;

    #[test]
    fn of_spinning() {
        println!("never: {:?}", all(&Spinning(Functions::new(), ""), Memory::Cores, PLAIN, &[]));
    }

    #[test]
    fn of_the_run_queue() {
        println!("never: {:?}", all(&RunQueue(Functions::new()), Memory::Cores, PLAIN, &[]));
    }

    #[test]
    fn of_custody() {
        println!("never: {:?}", all(&Custody(Functions::new(), ""), Memory::Cores, LEAVING, &[]));
    }

    #[test]
    fn of_stopping_the_world() {
        println!("never: {:?}", all(&StopTheWorld(Functions::new(), ""), Memory::Cores, STOPPING, &[]));
    }
}

/// And of programs that are drawn at random: what the scenarios above have not thought of.
mod every_execution_of_a_random_program_is_one {
    use super::*;

    fn is_one(memory: Memory, seeds: u64) {
        let (spinning, custody) = (Spinning(Functions::new(), ""), Custody(Functions::new(), ""));
        let (runq, stw) = (RunQueue(Functions::new()), StopTheWorld(Functions::new(), ""));
        let mut accounts = [Account::of(&spinning), Account::of(&custody), Account::of(&stw), Account::of(&runq)];
        for seed in 1..=seeds {
            let traces = traces(memory, &sources::random_programs(seed, 20), seed, 4);
            let [of_spinning, of_custody, of_stw, of_runq] = &mut accounts;
            of_spinning.play(&spinning, &traces);
            of_custody.play(&custody, &traces);
            of_stw.play(&stw, &traces);
            // The drawing of the run queue has no store buffers.
            if memory == Memory::Sc {
                of_runq.play(&runq, &traces);
            }
        }
        let played = if memory == Memory::Sc { 4 } else { 3 };
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
    fn of_spinning_nearly_all_are_refused() {
        nearly_all_are_refused(&Spinning(Functions::new(), ""), PLAIN);
    }

    #[test]
    fn of_the_run_queue_nearly_all_are_refused() {
        nearly_all_are_refused(&RunQueue(Functions::new()), PLAIN);
    }

    #[test]
    fn of_custody_nearly_all_are_refused() {
        nearly_all_are_refused(&Custody(Functions::new(), ""), LEAVING);
    }

    #[test]
    fn of_stopping_the_world_nearly_all_are_refused() {
        nearly_all_are_refused(&StopTheWorld(Functions::new(), ""), STOPPING);
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
        refuses(&Spinning(Functions::new(), "drops-the-baton"), PLAIN);
    }

    #[test]
    fn where_an_m_reads_wanted_before_it_leaves_its_p() {
        refuses(&Custody(Functions::new(), "reads-before-it-writes"), LEAVING);
    }

    #[test]
    fn where_a_world_is_started_without_a_wakep() {
        refuses(&StopTheWorld(Functions::new(), "starts-and-wakes-nobody"), STOPPING);
    }
}
