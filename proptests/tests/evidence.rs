//! A duty that is forgotten is a panic; one that is done is none.

use spinpark_kernel::protocol::syscall::SyscallWord;
use spinpark_kernel::sched::Sched;
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::types::m::{MId, SpinningToken};
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_proptests::oracle::g;
use spinpark_proptests::solo::Solo;
use spinpark_proptests::stepped::{self, Stepped};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// What it panics with. `None`: it does not.
fn panics_with(act: impl FnOnce()) -> Option<String> {
    let payload = panic::catch_unwind(AssertUnwindSafe(act)).err()?;
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
}

/// A scheduler whose first M runs G1.
fn running() -> (Arc<Sched<Stepped>>, spinpark_kernel::protocol::find::Worker) {
    Stepped::reset();
    let config = Config { procs: 2, max_ms: 4, ..Config::default() };
    let sched = Sched::<Stepped>::new(config, (), stepped::enter).expect("the numbers are good");
    sched.submit(g(1)).expect("it is open");
    let m1 = Stepped::begin().expect("a thread was asked for");
    let (m1, _) = sched.next(m1).expect("there is a G");
    (sched, m1)
}

mod a_p {
    use super::*;

    #[test]
    fn that_is_dropped_is_a_panic() {
        let why = panics_with(|| drop(OwnedP::forge(PId(3))));
        assert!(why.is_some_and(|why| why.starts_with("p: ")));
    }

    #[test]
    fn that_is_given_up_is_none() {
        assert_eq!(OwnedP::forge(PId(3)).discard(), PId(3));
    }

    #[test]
    fn that_is_put_in_its_word_and_taken_out_is_still_a_duty() {
        let word = SyscallWord::<Solo>::new(PId(3));
        assert_eq!(panics_with(|| _ = word.put(OwnedP::forge(PId(3)), MId(0))), None);
        let why = panics_with(|| drop(word.take_any()));
        assert!(why.is_some_and(|why| why.starts_with("p: ")));
    }
}

mod a_spinning_m {
    use super::*;

    #[test]
    fn that_is_forgotten_is_a_panic() {
        let why = panics_with(|| drop(SpinningToken::forge()));
        assert!(why.is_some_and(|why| why.starts_with("m: ")));
    }

    #[test]
    fn that_is_counted_down_is_none() {
        assert_eq!(panics_with(|| SpinningToken::forge().discard()), None);
    }
}

mod a_system_call {
    use super::*;

    #[test]
    fn that_is_never_exited_is_a_panic() {
        let (sched, m1) = running();
        let why = panics_with(|| drop(sched.entersyscall(m1)));
        assert!(why.is_some_and(|why| why.starts_with("syscall: ")));
    }

    #[test]
    fn that_is_exited_is_none() {
        let (sched, m1) = running();
        let away = sched.entersyscall(m1);
        let Ok((m1, ..)) = sched.exitsyscall(away, g(1)) else { panic!("its P is still there") };
        assert_eq!(panics_with(|| drop(stepped::close(&sched, vec![m1]))), None);
    }
}

mod a_stopped_world {
    use super::*;

    #[test]
    fn that_is_never_started_is_a_panic() {
        let (sched, m1) = running();
        let why = panics_with(|| drop(sched.stop_the_world(Some(m1))));
        assert!(why.is_some_and(|why| why.starts_with("stw: ")));
    }
}
