use rc11::cell::UnsafeCell;
use rc11::sync::Arc;
use rc11::sync::atomic::{AtomicBool, Ordering::{self, Acquire, Relaxed, Release}};
use rc11::{hint, thread};

struct Locked {
    is_taken: AtomicBool,
    count: UnsafeCell<u32>,
}
// SAFETY: only the thread that has taken the lock touches the count. Is that so?
unsafe impl Send for Locked {}
unsafe impl Sync for Locked {}

fn add_one(shared: &Locked, unlock: Ordering) {
    while shared.is_taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
        hint::spin_loop();
    }
    shared.count.with_mut(|count| unsafe { *count += 1 });
    shared.is_taken.store(false, unlock);
}
fn two_add(unlock: Ordering) {
    let shared = Arc::new(Locked { is_taken: AtomicBool::new(false), count: UnsafeCell::new(0) });
    let theirs = shared.clone();
    let other = thread::spawn(move || add_one(&theirs, unlock));
    add_one(&shared, unlock);
    other.join().unwrap();
    shared.count.with(|count| assert_eq!(unsafe { *count }, 2));
}
