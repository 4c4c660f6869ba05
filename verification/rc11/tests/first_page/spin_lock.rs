use rc11::{Config, PlainCell, Word};
use std::sync::{Arc, atomic::Ordering::{self, Acquire, Relaxed, Release}};

fn locked(lock: &Word, unlock: Ordering, f: impl FnOnce()) {
    while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
        rc11::spin();
    }
    f();
    lock.store(0, unlock);
}
fn two_add(unlock: Ordering) -> String {
    let shared = Arc::new((Word::new(0), PlainCell::new(0)));
    let [one, two] = ["one", "two"].map(|name| {
        let shared = Arc::clone(&shared);
        rc11::fork(name, move || locked(&shared.0, unlock, || shared.1.set(shared.1.get() + 1)))
    });
    one.join();
    two.join();
    shared.1.get().to_string()
}
