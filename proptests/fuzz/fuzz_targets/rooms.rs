//! The programs of `cargo verify fuzz`, with their dice thrown by libFuzzer: it keeps the bytes that reach new code.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spinpark_proptests::fuzz::play_bytes;
use std::panic;
use std::process::abort;
use std::sync::Once;

fuzz_target!(|bytes: &[u8]| {
    // libFuzzer's hook takes every panic for a crash; the engines catch theirs, and report what fails.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| panic::set_hook(Box::new(|_| ())));
    if let Some(found) = play_bytes(bytes) {
        eprintln!("FOUND in {}\n{}\n{}", found.room, found.picture.join("\n"), found.failure.message);
        abort();
    }
});
