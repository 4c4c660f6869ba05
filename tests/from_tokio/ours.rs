//! What docs/guide/from-tokio.md says is here: the compiler looks for each of these.

#![allow(unreachable_pub, unused_imports)]

pub mod chan {
    pub use spinpark::chan::{
        OwnedPermit, Permit, PermitIterator, Receiver, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError,
        WeakSender, bounded, unbounded,
    };
}

pub mod deterministic {
    pub use spinpark::deterministic::now;
}

pub mod fs {
    pub use spinpark::fs::{
        DirEntry, File, OpenOptions, canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read,
        read_dir, read_link, read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions, symlink,
        symlink_metadata, try_exists, write,
    };
}

pub mod io {
    pub use spinpark::io::{
        AsyncFd, AsyncFdReadyGuard, DuplexStream, Interest, PipeReader, PipeWriter, Ready, Stderr, Stdin, Stdout,
        TryIoError, copy, copy_bidirectional, duplex, pipe, stderr, stdin, stdout,
    };
}

pub mod net {
    pub use spinpark::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, lookup_host};
    pub mod tcp {
        pub use spinpark::net::tcp::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
    }
    pub mod unix {
        pub use spinpark::net::unix::{
            OwnedReadHalf, OwnedWriteHalf, ReuniteError, SocketAddr, UCred, UnixDatagram, UnixListener, UnixStream,
        };
    }
}

pub mod process {
    pub use spinpark::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
}

pub mod runtime {
    pub use spinpark::runtime::{Builder, Dump, EnterGuard, Handle, Histogram, Metrics, NotInRuntime, Runtime};
}

pub mod signal {
    pub use spinpark::signal::ctrl_c;
    pub mod unix {
        pub use spinpark::signal::unix::{Signal, SignalKind, signal};
    }
}

pub mod sync {
    pub use spinpark::sync::{
        AcquireError, Barrier, BarrierWaitResult, MappedMutexGuard, Mutex, MutexGuard, Notified, Notify, OnceCell,
        OwnedMutexGuard, OwnedNotified, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock,
        RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit, SetOnce, SetOnceError,
        TryAcquireError, TryLockError,
    };
    pub mod broadcast {
        pub use spinpark::sync::broadcast::{Receiver, Sender, WeakSender, channel};
        pub mod error {
            pub use spinpark::sync::broadcast::error::{RecvError, SendError, TryRecvError};
        }
    }
    pub mod oneshot {
        pub use spinpark::sync::oneshot::{Receiver, Sender, channel};
        pub mod error {
            pub use spinpark::sync::oneshot::error::{RecvError, TryRecvError};
        }
    }
    pub mod watch {
        pub use spinpark::sync::watch::{Receiver, Ref, Sender, channel};
        pub mod error {
            pub use spinpark::sync::watch::error::{RecvError, SendError};
        }
    }
}

pub mod task {
    pub use spinpark::task::{
        AbortHandle, JoinError, JoinHandle, JoinSet, LocalKey, LocalSet, TaskBuilder, TaskId, TaskLocalFuture,
        blocking, spawn, syscall, yield_now,
    };
}

pub mod time {
    pub use spinpark::time::{
        Elapsed, Interval, MissedTickBehavior, Sleep, Timeout, advance, interval, interval_at, pause, resume, sleep,
        sleep_until, timeout, timeout_at,
    };
}
