//! Hosts around hosts. Each is a few lines an access, and they compose: `Trace<Weaken<Tso<Shuttle>>>`.

/// In an `impl Host` for a host around `H`: what the wrapper leaves as it is.
#[macro_export]
#[doc(hidden)]
macro_rules! host_as_beneath {
    () => {
        fn relax() {
            H::relax();
        }
        #[track_caller]
        fn choose(n: usize) -> usize {
            H::choose(n)
        }
        #[track_caller]
        fn now() -> Nanos {
            H::now()
        }
    };
}

/// The same, with the start of threads.
#[macro_export]
#[doc(hidden)]
macro_rules! host_and_spawn_as_beneath {
    () => {
        $crate::host_as_beneath!();
        #[track_caller]
        fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
            H::spawn(name, body)
        }
    };
}

/// In an `impl ModelHost` for a host around `H`: the same threads.
#[macro_export]
#[doc(hidden)]
macro_rules! threads_as_beneath {
    () => {
        type Thread<T: Send + 'static> = H::Thread<T>;

        #[track_caller]
        fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> Self::Thread<T> {
            H::fork(name, body)
        }
        #[track_caller]
        fn join<T: Send + 'static>(thread: Self::Thread<T>) -> T {
            H::join(thread)
        }
        fn me() -> usize {
            H::me()
        }
        fn refuse_spawns(n: usize) {
            H::refuse_spawns(n);
        }
        fn leave_sleeping() -> bool {
            H::leave_sleeping()
        }
        #[track_caller]
        fn pass(nanos: Nanos) {
            H::pass(nanos);
        }
    };
}

pub(crate) use {host_and_spawn_as_beneath, threads_as_beneath};

pub mod apart;
pub mod count;
pub mod jitter;
pub mod signals;
pub mod trace;
pub mod tso;
