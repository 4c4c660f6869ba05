//! FNV-1a: a hash that is the same in each version and on each machine. `build.rs` reads this file too.

/// The hash of `bytes`.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, fold)
}
