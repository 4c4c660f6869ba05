//! Fences: C++'s, and the light and heavy ones of P1202.

use crate::machine::ask;
use crate::step::Ask;
use std::sync::atomic::Ordering;

/// A fence of that ordering. `SeqCst` ones have one order for all threads.
///
/// ```
/// use rc11::engine::{Config, Word, explore, fence, fork};
/// use std::sync::{Arc, atomic::Ordering::{Relaxed, SeqCst}};
/// let report = explore(&Config::default(), || {
///     let words = Arc::new([Word::new(0), Word::new(0)]);
///     let theirs = Arc::clone(&words);
///     let other = fork("other", move || { theirs[0].store(1, Relaxed); fence(SeqCst); theirs[1].load(Relaxed) });
///     words[1].store(1, Relaxed);
///     fence(SeqCst);
///     format!("{} {}", words[0].load(Relaxed), other.join())
/// }, |_| ());
/// assert!(!report.tally.outcomes.contains_key("0 0"));
/// ```
#[track_caller]
pub fn fence(order: Ordering) {
    ask(Ask::Fence(order.into()));
}

/// A light fence: for its own thread it orders no more than a compiler fence does. Beside a [`heavy_fence`] of another
/// thread it is a `SeqCst` fence, beside any other fence or access it is nothing.
///
/// It stands for C++'s `asymmetric_thread_fence_light(memory_order_seq_cst)` (P1202): on Linux and Windows a compiler
/// fence, elsewhere a `SeqCst` fence.
///
/// ```
/// use rc11::engine::{Config, Word};
/// use std::sync::{Arc, atomic::Ordering::Relaxed};
///
/// /// Each writes its own word, then reads the other's.
/// fn store_buffering(fences: [fn(); 2]) -> String {
///     let shared = Arc::new((Word::new(0), Word::new(0)));
///     let other = Arc::clone(&shared);
///     let rare = rc11::engine::fork("rare", move || {
///         other.1.store(1, Relaxed);
///         fences[1]();
///         other.0.load(Relaxed)
///     });
///     shared.0.store(1, Relaxed);
///     fences[0]();
///     format!("{} {}", shared.1.load(Relaxed), rare.join())
/// }
/// let outcomes = |fences: [fn(); 2]| {
///     let report = rc11::engine::explore(&Config::default(), move || store_buffering(fences), |_| ());
///     report.tally.outcomes.into_keys().collect::<Vec<_>>()
/// };
/// assert_eq!(outcomes([rc11::engine::light_fence, rc11::engine::heavy_fence]), ["0 1", "1 0", "1 1"]);
/// assert_eq!(outcomes([rc11::engine::light_fence, rc11::engine::light_fence]), ["0 0", "0 1", "1 0", "1 1"]);
/// ```
#[track_caller]
pub fn light_fence() {
    ask(Ask::Light);
}

/// A heavy fence: a `SeqCst` fence, and for each [`light_fence`] of another thread: what that thread did before the light
/// fence is known to what comes after the heavy one, or what it does after the light fence knows what came before
/// the heavy one.
///
/// It stands for C++'s `asymmetric_thread_fence_heavy(memory_order_seq_cst)` (P1202): on Linux
/// `membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)`, on Windows `FlushProcessWriteBuffers`, elsewhere a `SeqCst` fence. A
/// program that can fall back to the last must decide so once, for all its light and heavy fences.
///
/// ```
/// use rc11::engine::{Config, Word, explore, fork, heavy_fence, light_fence};
/// use std::sync::{Arc, atomic::Ordering::Relaxed};
/// let report = explore(&Config::default(), || {
///     let words = Arc::new([Word::new(0), Word::new(0)]);
///     let theirs = Arc::clone(&words);
///     let other = fork("other", move || { theirs[0].store(1, Relaxed); light_fence(); theirs[1].load(Relaxed) });
///     words[1].store(1, Relaxed);
///     heavy_fence(); // one heavy side is enough
///     format!("{} {}", words[0].load(Relaxed), other.join())
/// }, |_| ());
/// assert!(!report.tally.outcomes.contains_key("0 0"));
/// ```
#[track_caller]
pub fn heavy_fence() {
    ask(Ask::HeavyCall);
    ask(Ask::HeavyReturn);
}
