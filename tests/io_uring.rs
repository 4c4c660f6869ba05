//! A runtime that waits in a ring: sockets, files, threads that end, the system that says no.

#![cfg(target_os = "linux")]

use spinpark::net::{TcpListener, TcpStream};
use spinpark::{Poller, Runtime, fs, spawn, time};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{hint, thread};

/// `None`: this system has no ring, and the runtime says so.
fn runtime(procs: usize) -> Option<Runtime> {
    let runtime = Runtime::builder().procs(procs).poller(Poller::IoUring).build().expect("a runtime");
    let has_ring = runtime.metrics().poller == "io_uring";
    if !has_ring {
        eprintln!("skipped: this system gives no io_uring");
    }
    has_ring.then_some(runtime)
}

/// A named pipe: a reader of it waits, as of a slow disk.
struct Fifo(PathBuf);

impl Fifo {
    fn new(name: &str) -> Fifo {
        let path = std::env::temp_dir().join(format!("spinpark-uring-{name}-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        Fifo(path)
    }

    /// Open for reading and writing, so no open waits for the other end.
    fn open(&self) -> std::fs::File {
        std::fs::File::options().read(true).write(true).open(&self.0).expect("open")
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// So many echo connections, so many rounds each, one byte that differs.
async fn echoes(connections: usize, rounds: u8) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    let server = spawn(async move {
        for _ in 0..connections {
            let (stream, _) = listener.accept().await.expect("accepted");
            drop(spawn(async move {
                let mut byte = [0];
                while stream.read(&mut byte).await.expect("read") == 1 {
                    stream.write_all(&byte).await.expect("written");
                }
            }));
        }
    });
    let clients: Vec<_> = (0..connections)
        .map(|n| {
            spawn(async move {
                let stream = TcpStream::connect(address).await.expect("connected");
                for round in 0..rounds {
                    let sent = round.wrapping_add(n as u8);
                    stream.write_all(&[sent]).await.expect("written");
                    let mut got = [0];
                    stream.read_exact(&mut got).await.expect("read");
                    assert_eq!(got, [sent]);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("no panic");
    }
    server.await.expect("no panic");
}

mod sockets {
    use super::*;

    #[test]
    fn echo_with_more_ps_than_cores() {
        let Some(runtime) = runtime(8) else { return };
        runtime.block_on(echoes(100, 50)).expect("no deadlock");
        assert_eq!(runtime.metrics().poller_error, None);
    }

    #[test]
    fn echo_on_one_p() {
        let Some(runtime) = runtime(1) else { return };
        runtime.block_on(echoes(64, 50)).expect("no deadlock");
    }

    #[test]
    fn wait_no_longer_than_they_may_and_can_be_read_after() {
        let Some(runtime) = runtime(2) else { return };
        runtime
            .block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
                let ours = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
                let (theirs, _) = listener.accept().await.expect("accepted");
                for _ in 0..20 {
                    time::timeout(Duration::from_millis(2), ours.read(&mut [0])).await.expect_err("nothing was sent");
                }
                theirs.write_all(b"x").await.expect("written");
                assert_eq!(ours.read(&mut [0]).await.expect("read"), 1);
            })
            .expect("no deadlock");
    }

    #[test]
    fn get_what_is_theirs_when_a_descriptor_is_used_again() {
        let Some(runtime) = runtime(2) else { return };
        runtime
            .block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
                let address = listener.local_addr().expect("an address");
                for round in 0..500_u32 {
                    let ours = TcpStream::connect(address).await.expect("connected");
                    let (theirs, _) = listener.accept().await.expect("accepted");
                    theirs.write_all(&round.to_le_bytes()).await.expect("written");
                    let mut got = [0; 4];
                    ours.read_exact(&mut got).await.expect("read");
                    assert_eq!(u32::from_le_bytes(got), round);
                    drop(theirs);
                    assert_eq!(ours.read(&mut got).await.expect("the end"), 0, "it was not closed");
                }
            })
            .expect("no deadlock");
    }

    #[test]
    fn are_heard_after_the_thread_that_made_them_has_ended() {
        // The kernel cancels what a thread has submitted when that ends.
        let Some(runtime) = runtime(2) else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let mut theirs = std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (ours, _) = listener.accept().expect("accepted");
        let handle = runtime.handle();
        let ours = thread::spawn(move || {
            let _inside = handle.enter();
            TcpStream::try_from(ours).expect("registered")
        })
        .join()
        .expect("no panic");
        let reader = runtime.spawn(async move { ours.read(&mut [0]).await });
        thread::sleep(Duration::from_millis(50));
        theirs.write_all(b"x").expect("written");
        assert_eq!(reader.join().expect("no panic").expect("read"), 1);
    }

    #[test]
    fn are_heard_while_the_thread_that_made_them_computes() {
        // The kernel completes a poll in the thread that had submitted it, and does not interrupt that.
        let Some(runtime) = runtime(2) else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let mut theirs = std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (ours, _) = listener.accept().expect("accepted");
        let (begins, begun) = mpsc::channel();
        let reader = runtime.spawn(async move {
            let ours = TcpStream::try_from(ours).expect("registered");
            let reader = spawn(async move {
                ours.read(&mut [0]).await.expect("read");
                Instant::now()
            });
            let start = Instant::now();
            begins.send(()).expect("it listens");
            while start.elapsed() < Duration::from_secs(2) {
                hint::spin_loop(); // asks for the time without a system call
            }
            (reader, Instant::now())
        });
        begun.recv().expect("it says so");
        thread::sleep(Duration::from_millis(100));
        let written = Instant::now();
        theirs.write_all(b"x").expect("written");
        let (reader, ended) = reader.join().expect("no panic");
        let read = reader.join().expect("no panic");
        assert!(read < ended, "it was heard when the other had ended, {:?} later", read - written);
    }

    #[test]
    fn free_their_address_when_a_listener_is_dropped() {
        let Some(runtime) = runtime(2) else { return };
        runtime
            .block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
                let address = listener.local_addr().expect("an address");
                drop(listener);
                let start = Instant::now();
                // The kernel closes it as soon as the thread that polled it has run on for a moment.
                while let Err(error) = TcpListener::bind(address).await {
                    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
                    assert!(start.elapsed() < Duration::from_secs(10), "it is never closed");
                    time::sleep(Duration::from_millis(1)).await;
                }
            })
            .expect("no deadlock");
    }
}

mod files {
    use super::*;

    #[test]
    fn are_written_synced_and_read() {
        let Some(runtime) = runtime(2) else { return };
        let path = std::env::temp_dir().join(format!("spinpark-uring-file-{}", std::process::id()));
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let read = runtime.block_on(async {
            let file = fs::File::create(&path).await?;
            file.write_all(&text).await?;
            file.sync_data().await?;
            file.sync_all().await?;
            let file = fs::File::open(&path).await?;
            let mut read = Vec::new();
            file.read_to_end(&mut read).await?;
            fs::remove_file(&path).await?;
            io::Result::Ok(read)
        });
        assert!(read.expect("no deadlock").expect("no error") == text);
    }

    #[test]
    fn that_wait_hold_no_thread() {
        let Some(runtime) = runtime(1) else { return };
        let fifo = Fifo::new("thread");
        let mut writer = fifo.open();
        let readers: Vec<_> = (0..100)
            .map(|_| {
                let file = fs::File::from_std(fifo.open());
                runtime.spawn(async move {
                    let mut byte = [0];
                    file.read(&mut byte).await.map(|n| (n, byte[0]))
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(100));
        let threads = runtime.metrics().threads;
        assert!(threads < 10, "{threads} threads for 100 reads");
        for _ in 0..100 {
            writer.write_all(b"x").expect("written");
        }
        for reader in readers {
            assert_eq!(reader.join().expect("no panic").expect("read"), (1, b'x'));
        }
    }

    #[test]
    fn that_nobody_waits_for_any_more_are_cancelled() {
        let Some(runtime) = runtime(2) else { return };
        let fifo = Fifo::new("cancel");
        let mut writer = fifo.open();
        let file = fs::File::from_std(fifo.open());
        runtime
            .block_on(async {
                for _ in 0..100 {
                    let mut buffer = [0; 64];
                    let read = time::timeout(Duration::from_millis(1), file.read(&mut buffer)).await;
                    assert!(read.is_err(), "nothing was written");
                }
                // A cancellation is on its way for some microseconds.
                time::sleep(Duration::from_millis(50)).await;
                writer.write_all(b"x").expect("written");
                let read = time::timeout(Duration::from_secs(10), file.read(&mut [0])).await;
                assert_eq!(read.expect("one that was cancelled took the byte").expect("read"), 1);
            })
            .expect("no deadlock");
    }

    #[test]
    fn report_the_errors_of_the_system() {
        let Some(runtime) = runtime(1) else { return };
        let fifo = Fifo::new("error");
        let reads = std::fs::File::options().read(true).write(true).open(&fifo.0).expect("open");
        let file = fs::File::from_std(reads);
        let synced = runtime.block_on(async move { file.sync_all().await }).expect("no deadlock");
        assert_eq!(synced.expect_err("a pipe is on no disk").kind(), io::ErrorKind::InvalidInput);
    }
}

mod a_runtime {
    use super::*;

    #[test]
    fn ends_at_any_moment_of_operations_and_waits() {
        for round in 0..40 {
            let Some(runtime) = runtime(2) else { return };
            let fifo = Fifo::new(&format!("end-{round}"));
            let _writer = fifo.open();
            for _ in 0..8 {
                let file = fs::File::from_std(fifo.open());
                drop(runtime.spawn(async move {
                    let _ = file.read(&mut [0; 4096]).await;
                }));
            }
            drop(runtime.spawn(echoes(8, 200)));
            thread::sleep(Duration::from_micros(100 * round));
            let start = Instant::now();
            drop(runtime);
            assert!(start.elapsed() < Duration::from_secs(20), "round {round}");
        }
    }

    #[test]
    fn completes_what_another_thread_still_waits_for_when_it_ends() {
        let Some(runtime) = runtime(1) else { return };
        let fifo = Fifo::new("outlives");
        let _writer = fifo.open();
        let file = fs::File::from_std(fifo.open());
        let polls = Arc::new(AtomicUsize::new(0));
        // Polled inside, then moved outside.
        let mut read = Box::pin(async move { file.read(&mut [0]).await });
        let polled = {
            let handle = runtime.handle();
            let _inside = handle.enter();
            polls.fetch_add(1, SeqCst);
            read.as_mut().poll(&mut core::task::Context::from_waker(core::task::Waker::noop())).is_pending()
        };
        assert!(polled, "there is nothing to read");
        drop(runtime);
        let start = Instant::now();
        drop(read);
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn without_work_sees_each_wake_from_outside() {
        let Some(runtime) = runtime(2) else { return };
        for _ in 0..2_000 {
            assert_eq!(runtime.spawn(async { 1 }).join().expect("no panic"), 1);
        }
    }

    #[test]
    fn that_is_not_asked_to_has_no_ring() {
        let runtime = Runtime::builder().poller(Poller::Epoll).build().expect("a runtime");
        assert_eq!(runtime.metrics().poller, "epoll");
        runtime.block_on(echoes(4, 4)).expect("no deadlock");
    }

    #[test]
    fn falls_back_where_the_system_forbids_a_ring() {
        let poller = thread::spawn(|| {
            forbidden::io_uring();
            let runtime = Runtime::builder().procs(2).poller(Poller::IoUring).build().expect("a runtime");
            runtime.block_on(echoes(8, 8)).expect("no deadlock");
            let path = std::env::temp_dir().join(format!("spinpark-uring-none-{}", std::process::id()));
            let synced = runtime.block_on(async {
                let file = fs::File::create(&path).await?;
                file.write_all(b"some text").await?;
                file.sync_all().await?;
                fs::remove_file(&path).await
            });
            synced.expect("no deadlock").expect("by a system call");
            runtime.metrics().poller
        });
        assert_eq!(poller.join().expect("no panic"), "epoll");
    }
}

/// A thread, and those that it starts, for which the system refuses a call, as in a container.
mod forbidden {
    /// `io_uring_setup` fails with `EPERM`.
    pub(super) fn io_uring() {
        let filter = [
            // The number of the call; is it that one? refused, or allowed.
            libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
            libc::sock_filter { code: 0x15, jt: 0, jf: 1, k: libc::SYS_io_uring_setup as u32 },
            libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | libc::EPERM as u32 },
            libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
        ];
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: the program is well-formed and lives until the call ends; the kernel copies it. Both concern this thread only.
        let is_set = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        };
        assert!(is_set, "{}", std::io::Error::last_os_error());
    }
}

#[test]
fn a_read_of_std_and_ours_are_the_same() {
    let Some(runtime) = runtime(1) else { return };
    let mut theirs = Vec::new();
    std::fs::File::open("Cargo.toml").expect("open").read_to_end(&mut theirs).expect("read");
    let ours = runtime.block_on(async {
        let file = fs::File::open("Cargo.toml").await?;
        let (mut all, mut some) = (Vec::new(), [0; 1000]);
        loop {
            match file.read(&mut some).await? {
                0 => return io::Result::Ok(all),
                n => all.extend_from_slice(&some[..n]),
            }
        }
    });
    assert!(ours.expect("no deadlock").expect("read") == theirs);
}
