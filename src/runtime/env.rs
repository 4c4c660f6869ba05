//! What the environment says about a runtime. Read when one is built, never later.

use crate::kernel::sched::config::Config;
use crate::runtime::build_error::BuildError;
use crate::runtime::io::netpoll::choice::Poller;
use core::time::Duration;
use std::env;
use std::ffi::OsString;

/// As `GOMAXPROCS`.
const PROCS: &str = "SPINPARK_PROCS";
/// Which poller, if the builder does not say.
pub(super) const POLLER: &str = "SPINPARK_POLLER";
/// As `GODEBUG`.
const DEBUG: &str = "SPINPARK_DEBUG";
/// The longest time between two lines, in milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// How many Ps, if it says.
pub(super) fn procs() -> Result<Option<usize>, BuildError> {
    procs_of(env::var_os(PROCS))
}

/// Which poller, if it says.
pub(super) fn poller() -> Result<Option<Poller>, BuildError> {
    poller_of(env::var_os(POLLER))
}

/// How often to print a line of `schedtrace`, if it says.
pub(super) fn schedtrace() -> Result<Option<Duration>, BuildError> {
    schedtrace_of(env::var_os(DEBUG))
}

/// Not set and empty are the same.
fn text(value: Option<OsString>) -> Option<String> {
    // What is no text is no number either, and is shown as far as it is.
    value.map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}

fn procs_of(value: Option<OsString>) -> Result<Option<usize>, BuildError> {
    let Some(value) = text(value) else { return Ok(None) };
    match value.parse() {
        Ok(procs) if (1..=Config::MAX_PROCS).contains(&procs) => Ok(Some(procs)),
        _ => Err(BuildError::Env {
            variable: PROCS,
            value,
            allowed: format!("a number from 1 to {}", Config::MAX_PROCS),
        }),
    }
}

fn poller_of(value: Option<OsString>) -> Result<Option<Poller>, BuildError> {
    let Some(value) = text(value) else { return Ok(None) };
    match value.as_str() {
        "epoll" => Ok(Some(Poller::Epoll)),
        "io_uring" => Ok(Some(Poller::IoUring)),
        _ => Err(BuildError::Env { variable: POLLER, value, allowed: "epoll or io_uring".into() }),
    }
}

fn schedtrace_of(value: Option<OsString>) -> Result<Option<Duration>, BuildError> {
    let Some(value) = text(value) else { return Ok(None) };
    let mut every = None;
    for setting in value.split(',') {
        let millis = setting.strip_prefix("schedtrace=").and_then(|millis| millis.parse().ok());
        match millis {
            Some(millis @ 1..=LONGEST) => every = Some(Duration::from_millis(millis)),
            _ => {
                let allowed = format!("schedtrace=N, one line every N milliseconds, 1 to {LONGEST}");
                return Err(BuildError::Env { variable: DEBUG, value, allowed });
            }
        }
    }
    Ok(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(text: &str) -> Option<OsString> {
        Some(text.into())
    }

    mod spinpark_procs {
        use super::*;

        #[test]
        fn says_how_many_ps() {
            assert_eq!(procs_of(os("3")), Ok(Some(3)));
            assert_eq!(procs_of(os("4096")), Ok(Some(4096)));
            assert_eq!(procs_of(os("")), Ok(None));
            assert_eq!(procs_of(None), Ok(None));
        }

        #[test]
        fn with_a_bad_value_is_an_error_that_says_what_is_allowed() {
            for bad in ["0", "-1", "4097", "two", " 2", "2.5", "99999999999999999999999"] {
                let error = procs_of(os(bad)).expect_err(bad).to_string();
                assert_eq!(error, format!("SPINPARK_PROCS is {bad:?}: give a number from 1 to 4096"));
            }
        }
    }

    mod spinpark_poller {
        use super::*;

        #[test]
        fn says_which() {
            assert_eq!(poller_of(os("epoll")), Ok(Some(Poller::Epoll)));
            assert_eq!(poller_of(os("io_uring")), Ok(Some(Poller::IoUring)));
            assert_eq!(poller_of(os("")), Ok(None));
            let error = poller_of(os("kqueue")).expect_err("it is not there").to_string();
            assert_eq!(error, "SPINPARK_POLLER is \"kqueue\": give epoll or io_uring");
        }
    }

    mod spinpark_debug {
        use super::*;

        #[test]
        fn says_how_often_to_print_a_line() {
            assert_eq!(schedtrace_of(os("schedtrace=1000")), Ok(Some(Duration::from_secs(1))));
            assert_eq!(schedtrace_of(os("schedtrace=1")), Ok(Some(Duration::from_millis(1))));
            assert_eq!(schedtrace_of(os("schedtrace=5,schedtrace=7")), Ok(Some(Duration::from_millis(7))));
            assert_eq!(schedtrace_of(os("")), Ok(None));
            assert_eq!(schedtrace_of(None), Ok(None));
        }

        #[test]
        fn with_a_bad_value_is_an_error_that_says_what_is_allowed() {
            for bad in
                ["schedtrace", "schedtrace=", "schedtrace=0", "schedtrace=86400001", "gctrace=1", "schedtrace=5,"]
            {
                let error = schedtrace_of(os(bad)).expect_err(bad).to_string();
                let allowed = "schedtrace=N, one line every N milliseconds, 1 to 86400000";
                assert_eq!(error, format!("SPINPARK_DEBUG is {bad:?}: give {allowed}"));
            }
        }
    }
}
