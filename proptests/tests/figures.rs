//! Figures 6 to 8 of the document this project began with (a Vietnamese text on Go's scheduler, section 6), played by
//! hand: G1 makes a system call that blocks, its P goes on under another M, and G1 comes back.
//!
//! Where the figures and Go part, the comment says so. M1 of the figures has the number 0 here, M2 the number 1.

use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::syscall::{Away, Way};
use spinpark_kernel::protocol::work_source::Wakep;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::PId;
use spinpark_proptests::oracle::g;
use spinpark_proptests::stepped::{self, Stepped, close, close_with, until_woken};
use std::sync::Arc;

type S = Arc<Sched<Stepped>>;

const M1: MId = MId(0);
const M2: MId = MId(1);
const P: PId = PId(0);

/// The monitor's first two ticks.
const TICKS: [u64; 2] = [20_000, 40_000];

fn scheduler(procs: usize) -> S {
    Sched::new(Config { procs, ..Config::default() }, (), stepped::enter).expect("these numbers are allowed")
}

fn submit(sched: &S, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| sched.submit(g(number)).expect("it is open"));
}

/// The M that was asked for first is there.
fn begin() -> Worker {
    Stepped::begin().expect("a thread was asked for")
}

/// `m` runs its next G, which is G`number`.
#[track_caller]
fn runs(sched: &S, m: Worker, number: u64) -> (Worker, G) {
    let (m, next) = sched.next(m).expect("it is open");
    assert_eq!(next, g(number));
    (m, next)
}

/// Gs in P's ring, Gs in the global queue, Ms that sleep, Ps in a system call.
#[track_caller]
fn shows(sched: &S, ring: usize, global: usize, sleeping: usize, in_syscall: usize) {
    let now = sched.snapshot();
    let seen = (now.local[P.index()], now.global, now.sleeping, now.in_syscall);
    assert_eq!(seen, (ring, global, sleeping, in_syscall), "{now:?}");
    assert!(now.masks_agree, "{now:?}");
}

/// Figure 6: G1 runs on M1, and is about to call; G2, G3 and G4 wait in P's ring.
fn figure_6() -> (S, Worker, G) {
    let sched = scheduler(1);
    // A program's first G leaves the four behind, and is over: M1 takes them as its share of the global queue.
    submit(&sched, [9]);
    let (m1, _) = runs(&sched, begin(), 9);
    submit(&sched, 1..=4);
    let (m1, g1) = runs(&sched, m1, 1);
    (sched, m1, g1)
}

/// Figure 7: M1 waits in its call, still with G1; P is with M2, which runs G2; G3 and G4 wait.
fn figure_7() -> (S, Away, G, Worker, G) {
    let (sched, m1, g1) = figure_6();
    let away = sched.entersyscall(m1);
    let mut watch = sched.watch();
    assert!(!sched.tick(&mut watch, TICKS[0]), "the call may be a short one");
    shows(&sched, 3, 0, 0, 1);
    assert!(sched.tick(&mut watch, TICKS[1]), "it is not");
    let (m2, g2) = runs(&sched, begin(), 2);
    (sched, away, g1, m2, g2)
}

mod figure_6_g1_is_about_to_call {
    use super::*;

    #[test]
    fn g1_runs_on_m1_and_g2_g3_g4_wait_in_the_ring() {
        let (sched, m1, g1) = figure_6();
        assert_eq!((m1.m(), m1.p(), g1), (M1, P, g(1)));
        shows(&sched, 3, 0, 0, 0);
        assert_eq!(Stepped::suspended(), 0, "there is one P: no other M is needed");
        assert_eq!(close(&sched, vec![m1]), [2, 3, 4]);
    }
}

mod figure_7_m2_takes_over {
    use super::*;

    #[test]
    fn after_two_ticks_p_is_with_m2_and_g2_runs_and_g3_g4_wait() {
        let (sched, away, g1, m2, g2) = figure_7();
        assert_eq!((m2.m(), m2.p(), g2), (M2, P, g(2)));
        assert_eq!((away.m(), g1.id()), (M1, 1), "M1 is still in its call, with G1");
        shows(&sched, 2, 0, 0, 0);
        assert_eq!(sched.snapshot().alive, 2);
        assert_eq!(close_with(&sched, vec![m2], vec![(away, g1)]), [1, 3, 4]);
    }

    /// A call that is known to block does not wait for the monitor.
    #[test]
    fn at_once_if_the_call_is_known_to_block() {
        let (sched, m1, g1) = figure_6();
        let away = sched.entersyscallblock(m1);
        let (m2, g2) = runs(&sched, begin(), 2);
        assert_eq!((m2.m(), m2.p(), g2), (M2, P, g(2)));
        shows(&sched, 2, 0, 0, 0);
        assert_eq!(close_with(&sched, vec![m2], vec![(away, g1)]), [1, 3, 4]);
    }
}

/// Four ways out of the call, one test each, in the order in which they are tried.
mod figure_8_g1_comes_back {
    use super::*;

    #[test]
    fn and_goes_on_under_p_if_nobody_took_it() {
        let (sched, m1, g1) = figure_6();
        let away = sched.entersyscall(m1);
        assert!(!sched.tick(&mut sched.watch(), TICKS[0]));
        let (m1, g1, way) = sched.exitsyscall(away, g1).expect("P is there");
        assert_eq!((way, m1.m(), m1.p(), g1), (Way::Kept, M1, P, g(1)));
        shows(&sched, 3, 0, 0, 0);
        assert_eq!(Stepped::suspended(), 0, "M2 was not needed");
        assert_eq!(close(&sched, vec![m1]), [2, 3, 4]);
    }

    #[test]
    fn and_takes_p_back_out_of_the_call_that_g2_makes() {
        let (sched, away, g1, m2, g2) = figure_7();
        let second = sched.entersyscall(m2);
        let (m1, g1, way) = sched.exitsyscall(away, g1).expect("P is in a call");
        assert_eq!((way, m1.m(), m1.p(), g1.id()), (Way::TookBack, M1, P, 1));
        shows(&sched, 2, 0, 0, 0);

        // Now it is G2 that has to wait for a P.
        let m2 = sched.exitsyscall(second, g2).expect_err("M1 has P");
        shows(&sched, 2, 1, 0, 0);
        let later = Arc::clone(&sched);
        let (woken, away) = until_woken(|| sched.rest(m2), move || later.entersyscallblock(m1));
        let (m2, _) = runs(&sched, woken.expect("it is open"), 3);
        assert_eq!((m2.m(), m2.p()), (M2, P));
        assert_eq!(close_with(&sched, vec![m2], vec![(away, g1)]), [2, 1, 4]);
    }

    /// Where Gs wait no P is idle, so this is not quite the figure: there are two Ps, G1 is alone, and in its call for
    /// so long that its P is taken though no G waits for it. Then G2 comes, and gets that P.
    #[test]
    fn and_goes_on_under_another_p_that_is_idle() {
        let sched = scheduler(2);
        submit(&sched, [1]);
        let (m1, g1) = runs(&sched, begin(), 1);
        assert_eq!((m1.m(), m1.p()), (M1, P));
        // M2 is woken to look for more; it finds none, and sleeps.
        Wakep::wakep(Arc::clone(&sched));
        let m2 = begin();
        let later = Arc::clone(&sched);
        let (woken, (m1, g1, way)) = until_woken(
            || sched.next(m2),
            move || {
                let away = later.entersyscall(m1);
                let mut watch = later.watch();
                let ticks = TICKS.into_iter().chain([TICKS[0] + 10_000_000]);
                assert_eq!(ticks.map(|now| later.tick(&mut watch, now)).collect::<Vec<_>>(), [false, false, true]);
                assert_eq!(later.snapshot().idle_ps, 2);
                submit(&later, [2]);
                later.exitsyscall(away, g1).expect("a P is idle")
            },
        );
        let (m2, g2) = woken.expect("it is open");
        assert_eq!((m2.m(), m2.p(), g2), (M2, P, g(2)), "G2 has the P that G1 had");
        assert_eq!((way, m1.m(), m1.p(), g1), (Way::Idle, M1, PId(1), g(1)), "and G1 has the other one");
        assert!(close(&sched, vec![m1, m2]).is_empty());
    }

    /// The figure's own situation. It draws G1 in P's ring, behind G4. Go puts it at the end of the **global** queue,
    /// and so does this kernel: only the owner of a P may put into its ring, and M1 has none.
    #[test]
    fn and_waits_in_the_global_queue_if_there_is_no_p_and_m1_is_kept_for_the_next_call() {
        let (sched, away, g1, m2, g2) = figure_7();
        submit(&sched, [5]);
        let m1 = sched.exitsyscall(away, g1).expect_err("M2 has P");
        assert_eq!(m1, M1);
        shows(&sched, 2, 2, 0, 0);

        // M1 sleeps, until G2 makes a call of that kind too. No third thread is needed.
        let later = Arc::clone(&sched);
        let (woken, away) = until_woken(
            || sched.rest(m1),
            move || {
                shows(&later, 2, 2, 1, 0);
                later.entersyscallblock(m2)
            },
        );
        let m1 = woken.expect("it is open");
        assert_eq!((m1.m(), m1.p()), (M1, P));
        shows(&sched, 2, 2, 0, 0);
        assert_eq!((Stepped::suspended(), sched.snapshot().alive), (0, 2));

        // G3 and G4 come first, and G5, which waited in the global queue when G1 came.
        let m1 = [3, 4, 5, 1].into_iter().fold(m1, |m1, number| runs(&sched, m1, number).0);
        assert_eq!(close_with(&sched, vec![m1], vec![(away, g2)]), [2]);
    }
}
