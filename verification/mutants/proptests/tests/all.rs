//! The property tests that need nothing but the kernel, and the kernel's own tests, in one program: `cargo verify mutants` puts
//! what no model kills before those of its room, and before the kernel's.
#![allow(unused)]

#[path = "../../../../src/kernel/tests/at_rest.rs"]
mod at_rest;
#[path = "../../../../proptests/tests/config.rs"]
mod config;
#[path = "../../../../proptests/tests/costs.rs"]
mod costs;
#[path = "../../../../proptests/tests/evidence.rs"]
mod evidence;
#[path = "../../../../proptests/tests/globq.rs"]
mod globq;
#[path = "../../../../src/kernel/tests/identity.rs"]
mod identity;
#[path = "../../../../proptests/tests/local.rs"]
mod local;
#[path = "../../../../src/kernel/tests/lost.rs"]
mod lost;
#[path = "../../../../proptests/tests/netpoll.rs"]
mod netpoll;
#[path = "../../../../proptests/tests/random_order.rs"]
mod random_order;
#[path = "../../../../proptests/tests/refused.rs"]
mod refused;
#[path = "../../../../proptests/tests/resize.rs"]
mod resize;
#[path = "../../../../proptests/tests/runq.rs"]
mod runq;
#[path = "../../../../proptests/tests/sysmon.rs"]
mod sysmon;
#[path = "../../../../proptests/tests/turn.rs"]
mod turn;
#[path = "../../../../proptests/tests/words.rs"]
mod words;
#[path = "../../../../proptests/tests/work_source.rs"]
mod work_source;

/// The test of `proptests/tests/sched_oracle.rs` in short.
mod the_scheduler {
    use spinpark_proptests::machine::check;
    use spinpark_proptests::oracle::sched::Machine;

    #[test]
    fn answers_as_lists_would() {
        check::<Machine<0>>(6000, 60);
    }
}
