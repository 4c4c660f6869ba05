//! Pipes, eventfds and timers as descriptors that are waited for.

use super::{AsyncFd, Interest, TryIoError};
use crate::runtime::testing::spawn;
use core::time::Duration;
use rustix::event::{EventfdFlags, eventfd};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

/// Runs a test's future, which does not hang.
fn run<F: Future>(future: F) -> F::Output {
    crate::runtime::testing::run(async {
        crate::time::timeout(Duration::from_secs(60), future).await.expect("it hangs")
    })
}

fn pipe() -> (AsyncFd<PipeReader>, AsyncFd<PipeWriter>) {
    let (reader, writer) = io::pipe().expect("a pipe");
    (AsyncFd::nonblocking(reader).expect("known"), AsyncFd::nonblocking(writer).expect("known"))
}

mod a_pipe {
    use super::*;

    #[test]
    fn is_not_readable_before_something_was_written() {
        run(async {
            let (reader, writer) = pipe();
            let early = reader.try_io(Interest::READABLE, |mut fd| fd.read(&mut [0; 4]));
            assert_eq!(early.expect_err("nothing is there").kind(), io::ErrorKind::WouldBlock);
            let from = Instant::now();
            let writes = spawn(async move {
                crate::time::sleep(Duration::from_millis(30)).await;
                writer.get_ref().write_all(b"text").expect("written");
                writer
            });
            let guard = reader.readable().await.expect("readable");
            assert!(from.elapsed() >= Duration::from_millis(25), "it did not wait");
            assert!(guard.ready().is_readable() && !guard.ready().is_writable() && !guard.ready().is_read_closed());
            let mut buffer = [0; 8];
            let n = guard.try_io(|fd| fd.get_ref().read(&mut buffer)).expect("it does not block").expect("read");
            assert_eq!(&buffer[..n], b"text");
            let again: Result<_, TryIoError> = guard.try_io(|fd| fd.get_ref().read(&mut [0; 4]));
            assert_eq!(again.expect_err("nothing is there").to_string(), "operation would block");
            drop(writes.await);
            let guard = reader.readable().await.expect("readable");
            assert!(guard.ready().is_read_closed(), "{guard:?}");
        });
    }

    #[test]
    fn that_is_full_is_writable_when_it_was_read() {
        run(async {
            let (reader, writer) = pipe();
            let mut sent = 0;
            while writer.writable().await.is_ok_and(|guard| guard.ready().is_writable()) {
                match writer.try_io(Interest::WRITABLE, |mut fd| fd.write(&[7; 4096])) {
                    Ok(n) => sent += n,
                    Err(error) => panic!("{error}"),
                }
                if writer.try_io(Interest::WRITABLE, |_| Ok(())).is_err() {
                    break;
                }
            }
            let writer = Arc::new(writer);
            let waits = spawn({
                let writer = Arc::clone(&writer);
                async move { writer.async_io(Interest::WRITABLE, |mut fd| fd.write(&[7; 4096])).await }
            });
            let mut all = vec![0; sent];
            reader.get_ref().read_exact(&mut all).expect("it is all there");
            assert_eq!(waits.await.expect("written"), 4096);
        });
    }

    #[test]
    fn wakes_all_that_wait_for_it() {
        run(async {
            let (reader, writer) = pipe();
            let reader = Arc::new(reader);
            let waits: Vec<_> = (0..5)
                .map(|_| {
                    let reader = Arc::clone(&reader);
                    spawn(async move { reader.readable().await.map(|guard| guard.ready().is_readable()) })
                })
                .collect();
            writer.get_ref().write_all(b"x").expect("written");
            for one in waits {
                assert!(one.await.expect("readable"));
            }
        });
    }

    #[test]
    fn whose_reader_is_gone_is_write_closed() {
        run(async {
            let (reader, writer) = pipe();
            drop(reader);
            let guard = writer.writable().await.expect("ready");
            assert!(guard.ready().is_write_closed() && guard.ready().is_error(), "{guard:?}");
        });
    }
}

mod one_descriptor {
    use super::*;

    #[test]
    fn is_waited_for_in_both_directions() {
        run(async {
            let (one, other) = std::os::unix::net::UnixStream::pair().expect("a pair");
            let one = AsyncFd::nonblocking(one).expect("known");
            let both = Interest::READABLE | Interest::WRITABLE;
            let guard = one.ready(both).await.expect("ready");
            assert!(guard.ready().is_writable() && !guard.ready().is_readable());
            (&other).write_all(b"x").expect("written");
            let mut tries = 0;
            let came = one.async_io(both, |mut fd| {
                tries += 1;
                fd.read(&mut [0; 4])
            });
            assert_eq!(came.await.expect("read"), 1);
            assert!(tries < 100, "{tries} tries");
        });
    }

    #[test]
    fn that_is_full_is_waited_for_in_both_directions_until_one_is_ready() {
        run(async {
            let (one, other) = std::os::unix::net::UnixStream::pair().expect("a pair");
            let one = AsyncFd::nonblocking(one).expect("known");
            let both = Interest::READABLE | Interest::WRITABLE;
            let fill = || {
                let mut sent = 0;
                while let Ok(n) = one.try_io(Interest::WRITABLE, |mut fd| fd.write(&[7; 4096])) {
                    sent += n;
                }
                sent
            };
            let sent = fill();
            let other = spawn(async move {
                crate::time::sleep(Duration::from_millis(20)).await;
                (&other).read_exact(&mut vec![0; sent]).expect("it is all there");
                other
            });
            let guard = one.ready(both).await.expect("ready");
            assert!(guard.ready().is_writable() && !guard.ready().is_readable(), "{guard:?}");
            let other = other.await;
            fill();
            let writes = spawn(async move {
                crate::time::sleep(Duration::from_millis(20)).await;
                (&other).write_all(b"x").expect("written");
                other
            });
            let guard = one.ready(both).await.expect("ready");
            assert!(guard.ready().is_readable() && !guard.ready().is_writable(), "{guard:?}");
            drop(writes.await);
        });
    }

    #[test]
    fn is_waited_for_in_two_places_and_outlives_its_owner() {
        run(async {
            let count = eventfd(0, EventfdFlags::NONBLOCK).expect("an eventfd");
            let [one, other] = [(); 2].map(|()| AsyncFd::new(count.try_clone().expect("a copy")).expect("known"));
            let borrowed = AsyncFd::new(count.as_fd()).expect("known");
            rustix::io::write(&count, &1_u64.to_ne_bytes()).expect("written");
            for fd in [one, other] {
                assert!(fd.readable().await.expect("ready").ready().is_readable());
            }
            assert!(borrowed.readable().await.expect("ready").ready().is_readable());
            drop(borrowed);
            rustix::io::read(&count, &mut [0; 8]).expect("still open");
        });
    }

    #[test]
    fn that_ready_was_waited_for_in_vain_is_given_back() {
        run(async {
            let (reader, writer) = pipe();
            let waited = crate::time::timeout(Duration::from_millis(20), reader.readable()).await;
            assert!(waited.is_err());
            writer.get_ref().write_all(b"x").expect("written");
            let mut reader = reader.into_inner();
            assert_eq!(reader.read(&mut [0; 4]).expect("read"), 1);
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_timer_of_the_systems_ticks() {
    use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
    run(async {
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK).expect("a timer");
        let each = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let times = Itimerspec { it_interval: each, it_value: each };
        rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &times).expect("set");
        let timer = AsyncFd::new(timer).expect("known");
        let (from, mut ticks) = (Instant::now(), 0);
        while ticks < 3 {
            let mut count = [0; 8];
            timer.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut count)?)).await.expect("read");
            ticks += u64::from_ne_bytes(count);
        }
        assert!(from.elapsed() >= Duration::from_millis(25), "three ticks came too soon");
    });
}

mod what_cannot_be_waited_for {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn is_an_error_that_says_what_to_do() {
        run(async {
            let file = std::fs::File::open("Cargo.toml").expect("a file");
            let error = AsyncFd::new(file).expect_err("it is always ready");
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
            assert!(error.to_string().contains("spinpark::fs::File"), "{error}");
        });
    }

    #[test]
    fn is_all_outside_of_a_runtime() {
        let (reader, _writer) = io::pipe().expect("a pipe");
        let error = AsyncFd::new(reader).expect_err("there is no runtime");
        assert!(error.get_ref().is_some_and(|inner| inner.is::<crate::NotInRuntime>()), "{error}");
    }

    #[test]
    fn is_all_when_the_runtime_is_gone() {
        let reader = run(async { pipe().0 });
        let error = crate::runtime::io::netpoll::driver::block_on(
            reader.async_io(Interest::READABLE, |_| Err::<(), _>(io::ErrorKind::WouldBlock.into())),
        )
        .expect_err("no poller is left");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
