//! Time that stands still, and jumps, on real threads and with real sockets. A module names the property, a function the situation.

use spinpark::deterministic::now;
use spinpark::time::{advance, interval, pause, resume, sleep, sleep_until, timeout};
use spinpark::{JoinSet, Runtime, Wait, blocking, chan, go, io, net, spawn, syscall};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

fn paused(procs: usize) -> Runtime {
    Runtime::builder().procs(procs).start_paused(true).build().expect("a runtime")
}

/// Runs `future` where time stands still; returns its value, and how much time has gone by there.
fn run<T>(procs: usize, future: impl Future<Output = T>) -> (T, Duration) {
    let really = Instant::now();
    let (runtime, timed) = (paused(procs), async {
        let from = now();
        let value = future.await;
        (value, now() - from)
    });
    let done = runtime.block_on(timed).expect("no deadlock");
    assert!(really.elapsed() < 60 * SECOND, "time did not jump");
    done
}

/// Computes for so long in real time.
fn compute(time: Duration) {
    let from = Instant::now();
    while from.elapsed() < time {
        std::hint::spin_loop();
    }
}

mod time_jumps {
    use super::*;

    #[test]
    fn to_the_next_timer_of_a_future_in_block_on() {
        for procs in [1, 2] {
            let ((), passed) = run(procs, async {
                for _ in 0..50 {
                    sleep(HOUR).await;
                }
            });
            assert_eq!(passed, 50 * HOUR);
        }
    }

    #[test]
    fn from_timer_to_timer_of_many_tasks_in_their_order() {
        let (order, passed) = run(2, async {
            let (ended, order) = chan::unbounded();
            for n in [5, 3, 1, 4, 2] {
                let ended = ended.clone();
                spawn(async move {
                    let from = now();
                    sleep(n * HOUR).await;
                    assert_eq!(now() - from, n * HOUR);
                    ended.send(n).await.expect("it is open");
                });
            }
            drop(ended);
            let mut all = Vec::new();
            while let Ok(n) = order.recv().await {
                all.push(n);
            }
            all
        });
        assert_eq!((order, passed), (vec![1, 2, 3, 4, 5], 5 * HOUR));
    }

    #[test]
    fn for_goroutines_and_for_a_thread_that_joins() {
        let runtime = paused(2);
        let task = runtime.go(|| {
            let from = now();
            let other = go(move || {
                sleep(HOUR).wait();
                now() - from
            });
            sleep(HOUR / 2).wait();
            (now() - from, other.join().expect("no panic"))
        });
        assert_eq!(task.join().expect("no panic"), (HOUR / 2, HOUR));
    }

    #[test]
    fn by_the_period_of_an_interval_without_a_missed_tick() {
        let (moments, _) = run(2, async {
            let (from, mut ticks) = (now(), interval(SECOND));
            let mut moments = Vec::new();
            for _ in 0..4 {
                ticks.tick().await;
                moments.push((now() - from).as_secs());
            }
            moments
        });
        assert_eq!(moments, [0, 1, 2, 3]);
    }

    #[test]
    fn once_it_is_paused_in_the_middle() {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        let sleeps = runtime.spawn(sleep(HOUR)); // an M waits for it in the poller
        thread::sleep(5 * MS);
        let passed = runtime.block_on(async {
            let from = now();
            pause();
            sleeps.await.expect("no panic");
            now() - from
        });
        assert!(passed.expect("no deadlock") <= HOUR);
    }
}

mod time_stands_still {
    use super::*;

    #[test]
    fn while_a_task_computes() {
        let (seen, _) = run(2, async {
            let sleeps = spawn(sleep(MS));
            let computes = spawn(async {
                let from = now();
                compute(20 * MS);
                now() - from
            });
            let seen = computes.await.expect("no panic");
            sleeps.await.expect("no panic");
            seen
        });
        assert_eq!(seen, Duration::ZERO);
    }

    #[test]
    fn while_the_future_in_block_on_computes() {
        let (seen, passed) = run(2, async {
            let sleeps = spawn(sleep(MS));
            thread::sleep(20 * MS);
            let seen = sleeps.is_finished();
            sleeps.await.expect("no panic");
            seen
        });
        assert_eq!((seen, passed), (false, MS));
    }

    #[test]
    fn while_a_task_is_in_a_call_that_blocks() {
        for is_long in [false, true] {
            let (seen, passed) = run(2, async move {
                let call = spawn(async move {
                    let from = now();
                    match is_long {
                        true => blocking(|| thread::sleep(20 * MS)),
                        false => syscall(|| thread::sleep(20 * MS)),
                    }
                    now() - from
                });
                (timeout(HOUR, call).await.map(|ended| ended.expect("no panic")), sleep(MS).await).0
            });
            assert_eq!((seen, passed), (Ok(Duration::ZERO), MS));
        }
    }

    #[test]
    fn while_no_thread_waits_for_the_runtime() {
        let runtime = paused(2);
        let task = runtime.spawn(async {
            sleep(MS).await;
            now()
        });
        thread::sleep(20 * MS);
        assert!(!task.is_finished());
        assert!(task.join().is_ok());
    }

    #[test]
    fn while_bytes_go_from_task_to_task() {
        let (_, passed) = run(2, async {
            let listener = net::TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            let echo = spawn(async move {
                let (stream, _peer) = listener.accept().await?;
                io::copy(&mut &stream, &mut &stream).await
            });
            let stream = net::TcpStream::connect(address).await?;
            for n in 0..300_u32 {
                let mut back = [0; 4];
                stream.write_all(&n.to_le_bytes()).await?;
                timeout(SECOND, stream.read_exact(&mut back)).await.expect("it was under way")?;
                assert_eq!(u32::from_le_bytes(back), n);
            }
            drop(stream);
            echo.await.expect("no panic")
        });
        assert_eq!(passed, Duration::ZERO);
    }

    #[test]
    fn in_a_poller_that_reports_at_once_what_is_sent() {
        let builder = Runtime::builder().procs(1).poller(spinpark::Poller::IoUring);
        let runtime = builder.start_paused(true).build().expect("a runtime");
        assert_ne!(runtime.metrics().poller, "io_uring");
    }

    #[test]
    fn while_a_thread_looks_up_what_a_socket_connects_to() {
        let (connected, passed) = run(2, async {
            let listener = net::TcpListener::bind("127.0.0.1:0").await.expect("a socket");
            let port = listener.local_addr().expect("it is bound").port();
            timeout(SECOND, net::TcpStream::connect(("localhost", port))).await.map(|stream| stream.is_ok())
        });
        assert_eq!((connected, passed), (Ok(true), Duration::ZERO));
    }
}

mod a_timeout {
    use super::*;

    #[test]
    fn is_over_for_a_peer_that_is_too_slow_and_not_for_one_in_time() {
        let (seen, passed) = run(2, async {
            let listener = net::TcpListener::bind("127.0.0.1:0").await.expect("a socket");
            let address = listener.local_addr().expect("it is bound");
            let answers = spawn(async move {
                let (stream, _peer) = listener.accept().await.expect("a peer");
                for _ in 0..2 {
                    sleep(HOUR).await;
                    stream.write_all(b"x").await.expect("it is read");
                }
            });
            let stream = net::TcpStream::connect(address).await.expect("it is accepted");
            let mut seen = Vec::new();
            for limit in [HOUR / 2, HOUR, HOUR / 2, HOUR] {
                seen.push(timeout(limit, stream.read_exact(&mut [0])).await.is_ok());
            }
            answers.await.expect("no panic");
            seen
        });
        assert_eq!((seen, passed), (vec![false, true, false, true], 2 * HOUR));
    }
}

mod advance_jumps {
    use super::*;

    #[test]
    fn though_a_task_runs_and_all_timers_until_then_are_due() {
        let (seen, passed) = run(2, async {
            let mut tasks: JoinSet<Duration> = JoinSet::new();
            for n in 1..=3 {
                let from = now();
                tasks.spawn(async move {
                    sleep_until(from + n * SECOND).await;
                    now() - from
                });
            }
            let mut own = Box::pin(sleep(2 * SECOND));
            assert!(timeout(Duration::ZERO, &mut own).await.is_err());
            advance(2 * SECOND).await;
            own.await;
            let mut seen = Vec::new();
            while let Some(ended) = tasks.join_next().await {
                seen.push(ended.expect("no panic"));
            }
            seen
        });
        assert!(seen.iter().all(|time| *time >= SECOND && *time <= 3 * SECOND), "{seen:?}");
        assert_eq!(passed, 3 * SECOND);
    }

    #[test]
    fn to_a_moment_that_a_sleep_waits_for() {
        let ((), passed) = run(1, async {
            let moment = now() + HOUR;
            advance(HOUR).await;
            sleep_until(moment).await;
        });
        assert_eq!(passed, HOUR);
    }
}

mod resume_lets_time_go_on {
    use super::*;

    #[test]
    fn from_where_it_stands() {
        let ((ahead, real), _) = run(2, async {
            let from = now();
            advance(HOUR).await;
            resume();
            let really = Instant::now();
            sleep(10 * MS).await;
            let real = really.elapsed();
            pause();
            (now() - from, real)
        });
        assert!(real >= 10 * MS && ahead >= HOUR + 10 * MS && ahead < 2 * HOUR, "{real:?} {ahead:?}");
    }

    #[test]
    fn for_one_runtime_and_another_has_a_time_of_its_own() {
        let (one, other) = (paused(1), Runtime::builder().procs(1).build().expect("a runtime"));
        let here = one.block_on(async {
            advance(HOUR).await;
            now()
        });
        let there = other.block_on(async {
            let really = Instant::now();
            sleep(2 * MS).await;
            assert!(really.elapsed() >= 2 * MS);
            now()
        });
        assert!(here.expect("no deadlock") > there.expect("no deadlock") + HOUR / 2);
    }
}

mod it_is_refused {
    use super::*;

    fn message(f: impl FnOnce()) -> String {
        let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it is refused");
        payload.downcast_ref::<String>().cloned().unwrap_or_default()
    }

    #[test]
    fn to_pause_twice_to_resume_what_runs_and_to_advance_it() {
        let plain = || Runtime::builder().procs(1).build().expect("a runtime");
        let said = message(|| paused(1).run(async { pause() }));
        assert_eq!(said, "time::pause was called, and time stands still already");
        let said = message(|| plain().run(async { resume() }));
        assert_eq!(said, "time::resume was called, and time does not stand still");
        let said = message(|| plain().run(advance(SECOND)));
        assert_eq!(said, "time::advance was called, and time does not stand still");
    }

    #[test]
    fn outside_of_a_runtime_and_in_a_deterministic_one() {
        assert!(message(pause).starts_with("time::pause was called"));
        let simulated = || Runtime::builder().start_paused(true).deterministic(1).build().expect("a runtime");
        let said = message(|| simulated().run(async { pause() }));
        assert_eq!(said, "time::pause was called in a deterministic runtime, whose time jumps by itself");
    }
}
