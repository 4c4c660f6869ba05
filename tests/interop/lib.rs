//! What others' published tests run on: one runtime of spinpark's for the process.

#![forbid(unsafe_code)]

use spinpark::{Handle, Runtime, Wait};
use std::sync::LazyLock;

/// So many tasks run at once: more than the machine may have cores, so that they interrupt each other.
const PROCS: usize = 4;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::builder().procs(PROCS).tokio_context().build().expect("numbers that are allowed, and a thread"));

/// The runtime.
pub fn runtime() -> &'static Runtime {
    &RUNTIME
}

/// What `block_on` of another executor does: in a task of ours it waits as a goroutine does, elsewhere as a thread in our `block_on`.
pub fn block_on<F: Future>(future: F) -> F::Output {
    match Handle::try_current() {
        Ok(_) => future.wait(),
        Err(_) => RUNTIME.run(future),
    }
}
