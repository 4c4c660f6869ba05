//! A file of a name that another has.

use rc11::sync::atomic::AtomicUsize;
use rc11::sync::atomic::Ordering::Relaxed;

pub(crate) fn store(word: &AtomicUsize) {
    word.store(1, Relaxed);
}
