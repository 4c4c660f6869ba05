//! The host whose threads move one at a time.

use spinpark::host::{Host, Parker as _};
use spinpark_proptests::puppets::{ModelHost, Parker, Puppets, Scenario, draw};
use std::sync::{Arc, Mutex};

mod the_test_says_who_moves {
    use super::*;

    #[test]
    fn and_a_sleeper_goes_on_when_it_is_told_to() {
        let mut stage = ModelHost::new();
        let (bed, told) = (Arc::new(Parker::new()), Arc::new(Mutex::new(Vec::new())));
        let (theirs, tells) = (Arc::clone(&bed), Arc::clone(&told));
        let scenario = stage.play(move || {
            theirs.park();
            tells.lock().expect("one moves").push("went on");
        });
        assert_eq!((scenario, stage.is_woken(0)), (Scenario::Asleep(0), false));
        assert_eq!(stage.play(|| ()), Scenario::Over, "another moves meanwhile");
        bed.unpark();
        assert!(stage.is_woken(0) && told.lock().expect("one moves").is_empty());
        assert_eq!(stage.go_on(0), Scenario::Over);
        assert_eq!(*told.lock().expect("one moves"), ["went on"]);
    }

    #[test]
    fn and_who_sleeps_at_the_end_leaves() {
        let left = Arc::new(());
        let mut stage = ModelHost::new();
        let theirs = Arc::clone(&left);
        assert_eq!(
            stage.play(move || {
                let _left = theirs;
                Parker::new().park();
            }),
            Scenario::Asleep(0)
        );
        drop(stage);
        assert_eq!(Arc::strong_count(&left), 1);
    }
}

mod everything_else_is_the_tests_too {
    use super::*;

    #[test]
    fn which_threads_are_refused_and_when_the_others_begin() {
        let mut stage = ModelHost::new();
        stage.refuse(1);
        assert!(Puppets::spawn("refused", || ()).is_err());
        assert!(Puppets::spawn("later", || Parker::new().park()).is_ok());
        assert!(stage.has_suspended("later") && !stage.has_suspended("refused"));
        assert_eq!((stage.begin("refused"), stage.begin("later")), (None, Some(Scenario::Asleep(0))));
        assert!(!stage.has_suspended("later"));
        assert_eq!(stage.go_on(0), Scenario::Over, "spuriously");
    }

    #[test]
    fn what_is_drawn_and_what_time_it_is() {
        let stage = ModelHost::new();
        stage.draw_by(7);
        let drawn = [1, 2, 3].map(|nth| (Puppets::choose(5), draw(7, nth, 5)));
        assert!(drawn.iter().all(|(drawn, told)| drawn == told && *told < 5), "{drawn:?}");
        let before = Puppets::now();
        stage.pass(3);
        assert_eq!(Puppets::now(), before + 3);
    }

    #[test]
    #[should_panic(expected = "it fails on the stage")]
    fn and_what_fails_on_the_stage_fails_in_the_test() {
        let _ = ModelHost::new().play(|| panic!("it fails on the stage"));
    }
}
