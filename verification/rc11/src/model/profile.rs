//! A checker that is compiled without optimisation is ten times slower: it says so, once, where it was waited for.

use std::io::{self, Write as _};
use std::sync::Once;

/// How this crate was compiled.
const LEVEL: &str = env!("RC11_OPT_LEVEL");

/// Fewer are fine.
const SECONDS: f64 = 1.0;

/// An exploration has taken so long.
pub(super) fn explored(seconds: f64) {
    static SAID: Once = Once::new();
    if let Some(text) = advice(LEVEL, seconds) {
        // Not by `eprintln!`, which a test that passes keeps to itself.
        SAID.call_once(|| drop(io::stderr().write_all(text.as_bytes())));
    }
}

fn advice(level: &str, seconds: f64) -> Option<String> {
    (seconds >= SECONDS && matches!(level, "0" | "1")).then(|| {
        format!(
            "rc11: a model took {seconds:.1} s, by a checker that is compiled with opt-level {level}: it is up to ten times \
             slower so. In the Cargo.toml of your workspace:\n\n\
             [profile.dev.package]\nrc11 = {{ opt-level = 3 }}\ncorosensei = {{ opt-level = 3 }}\n\n"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn says_what_mends_it_only_if_it_is_slow_and_was_waited_for() {
        let text = advice("0", 2.0).expect("it is slow, and was waited for");
        assert!(text.contains("[profile.dev.package]\nrc11 = { opt-level = 3 }\n"), "{text}");
        assert_eq!((advice("0", 0.5), advice("2", 20.0), advice("s", 20.0)), (None, None, None));
    }
}
