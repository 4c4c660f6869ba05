//! A scheduler that is closed, to its very end, beside a submitter of Gs: each G that was accepted is run, or given
//! back, exactly once; and one that was not comes back to its submitter.
//!
//! | what queues a G                              | what takes it, or gives it back         | model              |
//! |----------------------------------------------|-----------------------------------------|--------------------|
//! | a submitter; there is no M yet               | the M it starts, or `close`             | `no_m`             |
//! | a submitter; an M sleeps                     | that M, or `close`                      | `an_m_sleeps`      |
//! | a submitter; an M runs a G, and ends it      | that M, or `close`                      | `an_m_runs`        |
//! | a G under its own P, before its M ends       | the P's next M, or `handoffp`           | `an_m_ends`        |
//! | the same, before it blocks; there is no M    | `refused`, and `close`                  | `there_is_no_m`    |
//! | nothing: a bound G begins to wait            | itself, as `close` ends its wait        | `a_g_begins_to_wait` |

use crate::harness::embedder::{Embedded, open, small, submit, until_all_sleep};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, rc11_cut};
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::sched::config::Config;
use std::sync::Arc;

/// Gates.
struct Gates<H: ModelHost> {
    runs: H::Parker,
    goes_on: H::Parker,
}

impl<H: ModelHost> crate::harness::embedder::Extra for Gates<H> {}

type Closing<H> = Embedded<H, Gates<H>>;

fn scheduler<H: ModelHost>(config: Config, n: u64, play: fn(&Closing<H>, Worker, u64) -> Option<Worker>) -> Closing<H> {
    let gates = Gates { runs: H::Parker::new(), goes_on: H::Parker::new() };
    open(config, n, gates, play)
}

fn numbers(procs: usize, max_ms: usize) -> Config {
    Config { global_every: 0, keep_alive: u64::MAX, ..small(procs, max_ms) }
}

/// A submitter of G `n`, on a thread of its own. Was it refused?
fn submitter<H: ModelHost>(sched: &Closing<H>, n: u64) -> H::Thread<bool> {
    let sched = Arc::clone(sched);
    H::fork("submitter", move || {
        let refused = sched.submit(sched.observer().make(n)).err();
        let is_refused = refused.is_some();
        refused.into_iter().for_each(|closed| {
            sched.observer().runs(closed.0);
        });
        is_refused
    })
}

/// Closes it. What is given back counts as run, so nothing may be both.
fn close<H: ModelHost>(sched: &Closing<H>) -> usize {
    sched.observer().events.closes();
    let left = sched.close();
    let n = left.len();
    left.into_iter().for_each(|g| {
        sched.observer().runs(g);
    });
    n
}

fn outcome<H: ModelHost>(sched: &Closing<H>, back: usize, is_refused: bool) -> String {
    sched.observer().each_ran_once();
    format!("{back} given back{}", if is_refused { ", refused" } else { "" })
}

fn ends<H: ModelHost>(_: &Closing<H>, worker: Worker, _: u64) -> Option<Worker> {
    Some(worker)
}

fn no_m<H: ModelHost>() -> String {
    let sched = scheduler::<H>(numbers(1, 1), 1, ends::<H>);
    let submitter = submitter(&sched, 1);
    let back = close(&sched);
    let is_refused = H::join(submitter);
    outcome(&sched, back, is_refused)
}

fn an_m_sleeps<H: ModelHost>() -> String {
    let sched = scheduler::<H>(numbers(1, 1), 2, ends::<H>);
    until_all_sleep(&sched, 1, || submit(&sched, 1, 1));
    let submitter = submitter(&sched, 2);
    let back = close(&sched);
    let is_refused = H::join(submitter);
    outcome(&sched, back, is_refused)
}

/// G1 waits until the model goes on.
fn first_waits<H: ModelHost>(sched: &Closing<H>) {
    sched.observer().more.runs.unpark();
    sched.observer().more.goes_on.park();
}

fn begin<H: ModelHost>(sched: &Closing<H>) {
    submit(sched, 1, 1);
    sched.observer().more.runs.park();
}

fn an_m_runs<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Closing<H>, worker: Worker, n: u64) -> Option<Worker> {
        if n == 1 {
            first_waits(sched);
        }
        Some(worker)
    }
    let sched = scheduler::<H>(numbers(1, 1), 2, play::<H>);
    begin(&sched);
    let submitter = submitter(&sched, 2);
    sched.observer().more.goes_on.unpark();
    let back = close(&sched);
    let is_refused = H::join(submitter);
    outcome(&sched, back, is_refused)
}

/// G1 leaves G2 under its P, and makes a call that blocks.
fn blocks<H: ModelHost>(sched: &Closing<H>, mut worker: Worker, n: u64) -> Option<Worker> {
    if n > 1 {
        return Some(worker);
    }
    sched.goyield(&mut worker, sched.observer().make(2));
    first_waits(sched);
    Some(sched.exitsyscall_bound(sched.entersyscallblock(worker)).0)
}

fn an_m_ends<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Closing<H>, mut worker: Worker, n: u64) -> Option<Worker> {
        if n > 1 {
            return Some(worker);
        }
        sched.goyield(&mut worker, sched.observer().make(2));
        first_waits(sched);
        sched.observer().events.leaves(worker.m().0);
        sched.end(worker);
        None
    }
    let sched = scheduler::<H>(numbers(1, 2), 2, play::<H>);
    begin(&sched);
    sched.observer().more.goes_on.unpark();
    let back = close(&sched);
    outcome(&sched, back, false)
}

fn there_is_no_m<H: ModelHost>() -> String {
    let sched = scheduler::<H>(numbers(1, 1), 2, blocks::<H>);
    begin(&sched);
    sched.observer().more.goes_on.unpark();
    let back = close(&sched);
    let refused = sched.observer().reported().refused;
    outcome(&sched, back, false) + if refused > 0 { ", no M" } else { "" }
}

/// G1 begins to wait for a wake from outside, which never comes.
fn a_g_begins_to_wait<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Closing<H>, worker: Worker, _: u64) -> Option<Worker> {
        first_waits(sched);
        let (worker, woken) = sched.park_bound(worker, Wake::Outside);
        assert!(woken == Woken::Closed, "its wait ended: {woken:?}");
        Some(worker)
    }
    let sched = scheduler::<H>(numbers(1, 1), 1, play::<H>);
    begin(&sched);
    sched.observer().more.goes_on.unpark();
    let back = close(&sched);
    let tickets = sched.observer().reported().refused;
    outcome(&sched, back, false) + if tickets > 0 { ", waited" } else { "" }
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::close_gives_back_what_never_ran::no_m", no_m,
        claim: "a G that is submitted as the scheduler is closed runs on the first M, or is given back, or is refused; once",
        size: "1 P, 1 M, 1 G, a submitter, a closer",
        invariants: [1, 2],
        must_reach: ["0 given back", "1 given back", "refused"],
        runs: [rc11()]),
    crate::model!("sched::close_gives_back_what_never_ran::an_m_sleeps", an_m_sleeps,
        claim: "the same while an M sleeps, which the submitter wakes, or the closer",
        size: "1 P, 1 M, 2 Gs, a submitter, a closer",
        invariants: [1, 2],
        must_reach: ["0 given back", "1 given back", "refused"],
        runs: [rc11()]),
    crate::model!("sched::close_gives_back_what_never_ran::an_m_runs", an_m_runs,
        claim: "the same while an M runs a G, and ends it",
        size: "1 P, 1 M, 2 Gs, a submitter, a closer",
        invariants: [1, 2],
        must_reach: ["0 given back", "1 given back", "refused"],
        runs: [rc11_cut()]),
    crate::model!("sched::close_gives_back_what_never_ran::an_m_ends", an_m_ends,
        claim: "what is left under a P is run, or given back, though its M ends just when the scheduler is closed",
        size: "1 P, 2 Ms, 2 Gs, a closer",
        invariants: [1, 2],
        must_reach: ["0 given back", "1 given back"],
        runs: [rc11()]),
    crate::model!("sched::close_gives_back_what_never_ran::there_is_no_m", there_is_no_m,
        claim: "the same if there is no M for that P",
        size: "1 P, 1 M, 2 Gs, a closer",
        invariants: [1, 2],
        must_reach: ["0 given back", "1 given back", "no M"],
        runs: [rc11()]),
    crate::model!("sched::close_gives_back_what_never_ran::a_g_begins_to_wait", a_g_begins_to_wait,
        claim: "a bound G that begins to wait as the scheduler is closed is told so, and the closer does not wait for it for ever",
        size: "1 P, 1 M, 1 G, a closer",
        invariants: [19, 36],
        must_reach: ["0 given back", "waited"],
        runs: [rc11()]),
];
