//! What the attributes say of what is written wrongly, and make of what is right.

use crate::expand::{Kind, expand};
use proc_macro2::TokenStream;

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("tokens")
}

fn said(arguments: &str, function: &str, kind: Kind) -> String {
    match expand(tokens(arguments), tokens(function), kind) {
        Ok(expanded) => panic!("it is right: {expanded}"),
        Err(error) => error.to_string(),
    }
}

fn made(arguments: &str, function: &str, kind: Kind) -> String {
    expand(tokens(arguments), tokens(function), kind).expect("it is right").to_string()
}

mod a_wrong_argument {
    use super::*;

    #[test]
    fn is_told_with_what_to_write() {
        let main = |arguments| said(arguments, "async fn main() {}", Kind::Main);
        for (arguments, expected) in [
            ("procs", "`procs` has no value: write `procs = 4`"),
            ("procs = 0", "`procs = 0` would run nothing: write 1, or more"),
            ("procs = \"4\"", "`procs` is a number, as in `procs = 4`"),
            ("procs = -1", "`procs` is a number, as in `procs = 4`"),
            ("procs = 1.5", "`procs` is a number, as in `procs = 4`"),
            ("procs = 99999999999999999999999", "`procs` is a number, as in `procs = 4`"),
            ("start_paused", "`start_paused` has no value: write `start_paused = true`"),
            ("start_paused = 1", "`start_paused` is `true` or `false`"),
            ("tokio = true", "`tokio` has no value: write `tokio`"),
            ("tokio, tokio", "`tokio` is said twice: leave one out"),
            ("start_paused = true, start_paused = true", "`start_paused` is said twice: leave one out"),
            ("procs = 1, procs = 2", "`procs` is said twice: leave one out"),
            (
                "cores = 1",
                "there is no argument `cores`: there are `procs`, as in `procs = 4`, `start_paused = true`, `tokio`, and `unsafe(stackful)`",
            ),
            (
                "stackful",
                "`stackful` takes a promise: write `unsafe(stackful)` if no goroutine of this program holds across a wait what belongs to \
                 its thread; see `Builder::stackful_goroutines`",
            ),
            ("unsafe(procs = 4)", "the only argument that is unsafe is `unsafe(stackful)`"),
            ("unsafe(stackful), unsafe(stackful)", "`stackful` is said twice: leave one out"),
            (
                "worker_threads = 4",
                "there is no argument `worker_threads`: write `procs = 4`, which is how many tasks run at once",
            ),
            (
                "flavor = \"current_thread\"",
                "there is no argument `flavor`: there is one kind of runtime; for one task at a time write `procs = 1`",
            ),
        ] {
            assert_eq!(main(arguments), expected, "{arguments}");
        }
    }
}

mod a_wrong_function {
    use super::*;

    #[test]
    fn is_told_with_what_is_wrong() {
        for (function, kind, expected) in [
            ("fn main() {}", Kind::Main, "#[spinpark::main]: the function is not async: write `async fn main`"),
            ("fn works() {}", Kind::Test, "#[spinpark::test]: the function is not async: write `async fn works`"),
            (
                "async fn works(n: u32) {}",
                Kind::Test,
                "#[spinpark::test]: the function has arguments, but it is called without any",
            ),
            (
                "async fn works<T>() {}",
                Kind::Test,
                "#[spinpark::test]: the function is generic, but its parameters cannot be inferred",
            ),
            (
                "async fn serve() {}",
                Kind::Main,
                "#[spinpark::main]: this is for `async fn main`; for another function call `spinpark::run`",
            ),
            ("#[test] async fn works() {}", Kind::Test, "#[spinpark::test]: it is a test already: leave `#[test]` out"),
        ] {
            assert_eq!(said("", function, kind), expected, "{function}");
        }
    }
}

mod a_right_one {
    use super::*;

    #[test]
    fn has_a_runtime_with_so_many_ps() {
        let made = made("procs = 3,", "pub async fn main() -> u8 { 1 }", Kind::Main);
        assert!(made.starts_with("pub fn main () -> u8 {"), "{made}");
        for part in [
            "async fn main () -> u8 { 1 }",
            ":: spinpark :: Runtime :: builder () . procs (3) . build ()",
            "run (main ())",
        ] {
            assert!(made.contains(part), "{part}: {made}");
        }
        assert!(!made.contains("test"), "{made}");
    }

    #[test]
    fn has_tokios_context() {
        let made = made("tokio, procs = 2", "async fn main() {}", Kind::Main);
        assert!(made.contains("builder () . procs (2) . tokio_context () . build ()"), "{made}");
    }

    #[test]
    fn has_stacks_by_the_users_own_unsafe() {
        let made = made("unsafe(stackful), procs = 2", "async fn main() {}", Kind::Main);
        let builds = "{ :: spinpark :: Runtime :: builder () . stackful_goroutines () } . procs (2) . build ()";
        assert!(made.contains(&format!("match unsafe {builds}")), "{made}");
    }

    #[test]
    fn keeps_its_attributes_outside() {
        let made = made("", "#[should_panic] async fn fails() { panic!() }", Kind::Test);
        assert!(made.starts_with("# [:: core :: prelude :: v1 :: test] # [should_panic] fn fails ()"), "{made}");
        assert_eq!(made.matches("should_panic").count(), 1);
        assert!(!made.contains("procs"), "{made}");
    }
}
