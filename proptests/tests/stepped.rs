//! The host whose threads move one at a time.

use spinpark_kernel::host::{Host, Parker as _};
use spinpark_proptests::stepped::{Halt, Parker, Stepped, Threads, draw};
use std::sync::{Arc, Mutex};

mod the_test_says_who_moves {
    use super::*;

    #[test]
    fn and_a_sleeper_goes_on_when_it_is_told_to() {
        let mut threads = Threads::new();
        let (bed, told) = (Arc::new(Parker::new()), Arc::new(Mutex::new(Vec::new())));
        let (theirs, tells) = (Arc::clone(&bed), Arc::clone(&told));
        let halt = threads.play(move || {
            theirs.park();
            tells.lock().expect("one moves").push("went on");
        });
        assert_eq!((halt, threads.is_woken(0)), (Halt::Asleep(0), false));
        assert_eq!(threads.play(|| ()), Halt::Over, "another moves meanwhile");
        bed.unpark();
        assert!(threads.is_woken(0) && told.lock().expect("one moves").is_empty());
        assert_eq!(threads.go_on(0), Halt::Over);
        assert_eq!(*told.lock().expect("one moves"), ["went on"]);
    }

    #[test]
    fn and_who_sleeps_at_the_end_leaves() {
        let left = Arc::new(());
        let mut threads = Threads::new();
        let theirs = Arc::clone(&left);
        assert_eq!(
            threads.play(move || {
                let _left = theirs;
                Parker::new().park();
            }),
            Halt::Asleep(0)
        );
        drop(threads);
        assert_eq!(Arc::strong_count(&left), 1);
    }
}

mod everything_else_is_the_tests_too {
    use super::*;

    #[test]
    fn which_threads_are_refused_and_when_the_others_begin() {
        let mut threads = Threads::new();
        Stepped::refuse(1);
        assert!(Stepped::spawn("refused", || ()).is_err());
        assert!(Stepped::spawn("later", || Parker::new().park()).is_ok());
        assert!(threads.has_suspended("later") && !threads.has_suspended("refused"));
        assert_eq!((threads.begin("refused"), threads.begin("later")), (None, Some(Halt::Asleep(0))));
        assert!(!threads.has_suspended("later"));
        assert_eq!(threads.go_on(0), Halt::Over, "spuriously");
    }

    #[test]
    fn what_is_drawn_and_what_time_it_is() {
        let _threads = Threads::new();
        Stepped::draw_by(7);
        let drawn = [1, 2, 3].map(|nth| (Stepped::choose(5), draw(7, nth, 5)));
        assert!(drawn.iter().all(|(drawn, told)| drawn == told && *told < 5), "{drawn:?}");
        let before = Stepped::now();
        Stepped::pass(3);
        assert_eq!(Stepped::now(), before + 3);
    }

    #[test]
    #[should_panic(expected = "it fails on the threads")]
    fn and_what_fails_in_a_thread_fails_in_the_test() {
        let _ = Threads::new().play(|| panic!("it fails on the threads"));
    }
}
