//! Code that needs tokio's runtime and finds none panics with tokio's message, which does not know what to write here. This does.

use std::sync::Once;

/// A part of tokio's message.
const THEIRS: &str = "context of a Tokio 1.x runtime";

/// What to write.
const CURE: &str = "on spinpark write #[spinpark::main(tokio)] or Builder::tokio_context() for all tasks, or .compat() behind this future \
                    (feature tokio-context)";

/// What to write, if this is the message of such a panic.
pub(in crate::runtime) fn cure(message: &str) -> Option<&'static str> {
    message.contains(THEIRS).then_some(CURE)
}

/// Prints it, behind what the panic hook has printed; once in a process.
pub(in crate::runtime) fn report(message: Option<&str>) {
    static REPORTED: Once = Once::new();
    if let Some(cure) = message.and_then(cure) {
        REPORTED.call_once(|| eprintln!("{cure}"));
    }
}
