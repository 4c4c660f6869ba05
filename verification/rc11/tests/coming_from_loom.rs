//! The programs of docs/guide/coming-from-loom.md do what the page says, on loom and on rc11.

#![expect(unreachable_pub, reason = "the programs stand in the page as they are")]

/// On rc11.
mod on_rc11 {
    extern crate rc11 as loom;
    include!("coming_from_loom/programs.rs");
}

/// On loom.
mod on_loom {
    include!("coming_from_loom/programs.rs");
}

use std::panic::catch_unwind;

/// Does the check pass? The panic of one that does not is a test's output.
fn passes(check: impl FnOnce() + std::panic::UnwindSafe) -> bool {
    catch_unwind(check).is_ok()
}

macro_rules! judged {
    ($($(#[$doc:meta])* $name:ident: loom $loom:literal, rc11 $rc11:literal;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            assert_eq!(passes(|| rc11::model(on_rc11::$name)), $rc11, "rc11");
            assert_eq!(passes(|| loom::model(on_loom::$name)), $loom, "loom");
        }
    )*};
}

judged! {
    /// loom takes `SeqCst` accesses for weaker ones: a false alarm.
    store_buffering: loom false, rc11 true;
    /// loom lets the others go first after a yield, and then shows the newest: it misses that they need not have.
    what_a_yield_gives: loom true, rc11 false;
    /// loom keeps seven values of a location: it misses that an older one may be seen.
    a_value_that_is_old: loom true, rc11 false;
    /// loom's channels have no end.
    a_channel_is_closed: loom false, rc11 true;
    /// loom's barrier is there to be compiled.
    a_barrier: loom false, rc11 true;
}

#[test]
fn the_page_shows_these_programs() {
    let page = include_str!("../../../docs/guide/coming-from-loom.md");
    for program in include_str!("coming_from_loom/programs.rs").split("\npub fn ").skip(1) {
        assert!(page.contains(program.trim_end()), "{program}");
    }
}
