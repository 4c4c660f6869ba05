//! What belongs to another scheduler is refused with words: no G is lost, no P gets two owners. The host is the README's.
#![allow(dead_code)]

include!("pool.in");

use spinpark_kernel::protocol::syscall::Away;
use std::panic::resume_unwind;

fn g(n: u64) -> G {
    G::from_raw(NonZeroU64::new(n).expect("numbers begin at 1"))
}

/// Two schedulers: `act` gets the second one, and the first one's worker, in the life of its M. Goes on with the panic of `act`.
fn meet(act: impl Fn(&Arc<Sched<Os>>, &Arc<Sched<Os>>, Worker) -> Worker + Send + Sync + 'static) {
    let other = Sched::<Os>::new(Config::default(), (), live).expect("the numbers are good");
    let (captured, (sender, said)) = (Arc::clone(&other), mpsc::channel());
    // A life that captures: the other scheduler, and a channel.
    let life = move |sched: &Arc<Sched<Os>>, worker| {
        let (worker, _) = sched.next(worker).expect("there is a G");
        let acted = catch_unwind(AssertUnwindSafe(|| act(&captured, sched, worker)));
        match acted {
            Err(payload) => sender.send(Some(payload)).expect("it waits"),
            Ok(worker) => {
                sender.send(None).expect("it waits");
                assert!(sched.next(worker).is_none(), "it is closed");
            }
        }
    };
    let sched = Sched::<Os>::new(Config::default(), (), life).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    let said = said.recv_timeout(Duration::from_secs(10)).expect("it acts");
    assert!(sched.close().is_empty() && other.close().is_empty());
    if let Some(payload) = said {
        assert_eq!(sched.lost(), 1, "the worker was dropped by the panic");
        resume_unwind(payload);
    }
}

#[test]
fn its_own_is_not_refused() {
    meet(|_, sched, mut worker| {
        sched.ready(&mut worker, g(2));
        let (worker, _) = sched.next(worker).expect("there is a G");
        sched.exitsyscall_bound(sched.entersyscall(worker)).0
    });
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn ready_takes_no_foreign_worker() {
    meet(|other, _, mut worker| {
        other.ready(&mut worker, g(2));
        worker
    });
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn goyield_takes_no_foreign_worker() {
    meet(|other, _, mut worker| {
        other.goyield(&mut worker, g(2));
        worker
    });
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn yield_now_takes_no_foreign_worker() {
    meet(|other, _, mut worker| {
        other.yield_now(&mut worker, g(2));
        worker
    });
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn next_takes_no_foreign_worker() {
    meet(|other, _, worker| other.next(worker).expect("it never returns").0);
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn next_local_takes_no_foreign_worker() {
    meet(|other, _, worker| {
        let _ = other.next_local(&worker);
        worker
    });
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn entersyscall_takes_no_foreign_worker() {
    meet(|other, sched, worker| back(sched, other.entersyscall(worker)));
}

#[test]
#[should_panic(expected = "this Away belongs to another scheduler")]
fn exitsyscall_takes_none_from_elsewhere() {
    meet(|other, sched, worker| back(other, sched.entersyscall(worker)));
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn interrupt_takes_no_foreign_worker() {
    meet(|other, sched, worker| back(sched, other.interrupt(worker)));
}

#[test]
#[should_panic(expected = "this Away belongs to another scheduler")]
fn try_reattach_takes_none_from_elsewhere() {
    meet(|other, sched, worker| other.try_reattach(sched.interrupt(worker)).unwrap_or_else(|away| back(sched, away)));
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn stop_the_world_takes_no_foreign_worker() {
    meet(|other, sched, worker| {
        let stopped = other.stop_the_world(Some(worker));
        back(sched, other.start_the_world(stopped).expect("a G stopped it"))
    });
}

#[test]
#[should_panic(expected = "this StoppedWorld belongs to another scheduler")]
fn start_the_world_takes_no_foreign_world() {
    meet(|other, sched, worker| {
        let stopped = sched.stop_the_world(Some(worker));
        back(sched, other.start_the_world(stopped).expect("a G stopped it"))
    });
}

#[test]
#[should_panic(expected = "this StoppedWorld belongs to another scheduler")]
fn procresize_takes_no_foreign_world() {
    meet(|other, sched, worker| {
        let mut stopped = sched.stop_the_world(Some(worker));
        assert!(other.procresize(&mut stopped, 1).is_err(), "it is refused");
        back(sched, sched.start_the_world(stopped).expect("a G stopped it"))
    });
}

#[test]
#[should_panic(expected = "this Worker belongs to another scheduler")]
fn end_takes_no_foreign_worker() {
    meet(|other, _, worker| {
        other.end(worker);
        unreachable!("it is refused");
    });
}

fn back(sched: &Arc<Sched<Os>>, away: Away) -> Worker {
    sched.exitsyscall_bound(away).0
}
