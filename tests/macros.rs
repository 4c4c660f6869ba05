//! `#[spinpark::main]` and `#[spinpark::test]`. A module names the property, a function the situation. What they say of
//! what is written wrongly: src/macros/src/tests.rs.

use spinpark::{Handle, deterministic, spawn, time, yield_now};
use std::num::ParseIntError;
use std::time::Duration;

mod a_test {
    use super::*;

    #[spinpark::test]
    async fn runs_in_a_runtime() {
        time::sleep(Duration::from_millis(1)).await;
        assert_eq!(spawn(async { 6 * 7 }).await.expect("no panic"), 42);
    }

    #[spinpark::test(procs = 1, start_paused = true)]
    async fn has_time_that_jumps_if_it_is_asked_to() {
        let from = deterministic::now();
        time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(deterministic::now() - from, Duration::from_secs(3600));
    }

    #[spinpark::test(procs = 1)]
    async fn has_as_many_ps_as_it_says() {
        assert!(Handle::current().schedtrace().contains("gomaxprocs=1 "), "{}", Handle::current().schedtrace());
    }

    #[spinpark::test]
    async fn fails_by_its_result() -> Result<(), ParseIntError> {
        yield_now().await;
        assert_eq!("7".parse::<u32>()?, 7);
        Ok(())
    }

    #[spinpark::test]
    #[should_panic(expected = "on purpose")]
    async fn fails_by_a_panic() {
        yield_now().await;
        panic!("on purpose");
    }
}

mod a_main {
    use super::*;

    #[spinpark::main(procs = 2)]
    async fn main() -> Result<u32, ParseIntError> {
        let text = spawn(async { "20" }).await.expect("no panic");
        text.parse::<u32>()
    }

    #[test]
    fn is_an_ordinary_function() {
        assert_eq!(main(), Ok(20));
    }
}
