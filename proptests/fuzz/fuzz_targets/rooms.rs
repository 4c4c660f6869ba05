//! The programs of `cargo verify fuzz`, with their dice thrown by libFuzzer: it keeps the bytes that reach new code.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spinpark_proptests::fuzz::play_bytes;

fuzz_target!(|bytes: &[u8]| {
    if let Some(found) = play_bytes(bytes) {
        panic!("{}\n{}\n{}", found.room, found.picture.join("\n"), found.failure.message);
    }
});
