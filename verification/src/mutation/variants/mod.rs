//! The wrong protocols, each beside the right one: ten lines, to see which step matters, and a schedule that kills it.

/// Declares the variants of a room: what a scenario is that can be played with each, and how it is played with the one that
/// is asked for on this thread, or with the room as it is.
macro_rules! variants {
    ($room:literal, $kind:ident, right: $right:ident, $($name:literal => $variant:ident,)*) => {
        /// A scenario, to be played with the right room or with a variant.
        pub trait Scenario<H> {
            /// Plays it once; returns how it ended.
            fn play<D: $kind>(self) -> String;
        }

        /// Plays `scenario` with the variant that is asked for on this thread, or with the room as it is.
        pub fn play<H, S: Scenario<H>>(scenario: S) -> String {
            match crate::mutation::mutant::variant() {
                None => scenario.play::<$right>(),
                $(Some($name) => scenario.play::<$variant>(),)*
                Some(other) => panic!(concat!($room, " has no variant `{}`"), other),
            }
        }
    };
}
use variants;

/// A model's body, for the right room and for each of its variants.
#[cfg(not(test))]
macro_rules! scenario {
    ($room:ident::$kind:ident, $(#[$doc:meta])* $name:ident, |$h:ident, $d:ident| $play:block) => {
        $(#[$doc])*
        fn $name<H: ModelHost>() -> String {
            struct This;
            impl<$h: ModelHost> $crate::mutation::variants::$room::Scenario<$h> for This {
                fn play<$d: $kind>(self) -> String $play
            }
            $crate::mutation::variants::$room::play::<H, This>(This)
        }
    };
}
#[cfg(not(test))]
pub(crate) use scenario;

pub mod spinning;
pub mod task;
