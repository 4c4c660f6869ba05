//! What goes wrong, and what then still holds. A module names the property, a function the situation.

use spinpark::{JoinError, JoinHandle, Runtime, go, spawn, syscall, time, yield_now};
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

mod shutdown {
    use super::*;

    #[test]
    fn drops_a_hundred_thousand_tasks_that_wait() {
        const TASKS: usize = 100_000;
        let (runtime, dropped, waiting) = (with_procs(2), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        for n in 0..TASKS {
            let (counted, waiting, wakers) = (Counted(Arc::clone(&dropped)), Arc::clone(&waiting), Arc::clone(&wakers));
            drop(runtime.spawn(async move {
                let _counted = counted;
                waiting.fetch_add(1, SeqCst);
                match n % 3 {
                    0 => time::sleep(Duration::from_secs(3600)).await,
                    1 => pending::<()>().await,
                    _ => {
                        let wait = poll_fn(|cx| {
                            wakers.lock().expect("no panic").push(cx.waker().clone());
                            Poll::<()>::Pending
                        });
                        wait.await;
                    }
                }
            }));
        }
        while waiting.load(SeqCst) < TASKS {
            thread::sleep(MS);
        }
        drop(runtime);
        assert_eq!(dropped.load(SeqCst), TASKS);
        // And their wakers are gone.
        std::mem::take(&mut *wakers.lock().expect("no panic")).into_iter().for_each(Waker::wake);
    }

    #[test]
    fn does_not_wait_for_a_thread_that_is_blocked_but_for_its_task() {
        let runtime = with_procs(1);
        let (release, released) = mpsc::channel::<()>();
        let (started, starts) = mpsc::channel();
        let blocked = runtime.go(move || {
            started.send(()).expect("the test waits");
            syscall(|| released.recv().is_err())
        });
        starts.recv().expect("it runs");
        let (closed, is_closed) = mpsc::channel();
        let closer = thread::spawn(move || {
            drop(runtime);
            closed.send(()).expect("the test waits");
        });
        assert!(is_closed.recv_timeout(50 * MS).is_err(), "its task still runs");
        drop(release);
        is_closed.recv().expect("it is closed");
        closer.join().expect("no panic");
        assert!(blocked.join().expect("a task that runs is waited for"));
    }

    #[test]
    fn from_inside_of_a_task_is_refused_and_a_drop_there_works() {
        let slot: Arc<Mutex<Option<Runtime>>> = Arc::new(Mutex::new(Some(with_procs(2))));
        let (told, tells) = mpsc::channel();
        let runtime = slot.lock().expect("no panic");
        let task = runtime.as_ref().expect("there").spawn({
            let slot = Arc::clone(&slot);
            async move {
                let runtime = slot.lock().expect("no panic").take().expect("there");
                let refused = runtime.shutdown().expect_err("a task cannot wait for itself");
                drop(refused.0);
                told.send(()).expect("the test waits");
            }
        });
        drop(runtime);
        tells.recv().expect("the task goes on");
        // The task that dropped it ends as if nothing had happened, or is told that it was shut down.
        let _ = task.join();
    }

    #[test]
    fn twice_is_the_same_as_once() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        drop(runtime);
        assert!(matches!(handle.spawn(async {}).join(), Err(JoinError::ShutDown)));
        // What still waits for it is told at once.
        let outcome = handle.block_on(async { spawn(async { 1 }).await });
        assert!(matches!(outcome, Ok(Err(JoinError::ShutDown))));
    }

    #[test]
    fn while_others_spawn_wake_and_sleep() {
        for round in 0..30_u64 {
            let runtime = with_procs(2);
            let handle = runtime.handle();
            let stop = Arc::new(AtomicBool::new(false));
            let spawner = thread::spawn({
                let stop = Arc::clone(&stop);
                move || {
                    let mut n = 0_u64;
                    while !stop.load(SeqCst) {
                        n += 1;
                        drop(handle.spawn(async move {
                            time::sleep(Duration::from_micros(n % 300)).await;
                            let inner = spawn(yield_now());
                            time::sleep(Duration::from_micros(n % 70)).await;
                            let _ = inner.await;
                        }));
                    }
                }
            });
            thread::sleep(Duration::from_micros(500 * round));
            drop(runtime);
            stop.store(true, SeqCst);
            spawner.join().expect("no panic");
        }
    }

    #[test]
    fn from_a_destructor_of_a_task_that_is_shut_down() {
        // The destructor spawns, and wakes, and sleeps: too late, and no harm.
        struct Busy(spinpark::Handle);
        impl Drop for Busy {
            fn drop(&mut self) {
                drop(self.0.spawn(async {}));
                drop(self.0.go(|| ()));
            }
        }
        let runtime = with_procs(1);
        let busy = Busy(runtime.handle());
        drop(runtime.spawn(async move {
            let _busy = busy;
            pending::<()>().await;
        }));
        thread::sleep(5 * MS);
        drop(runtime);
    }
}

mod memory {
    use super::*;

    #[test]
    fn of_a_million_tasks_that_exist_at_once_is_enough() {
        let runtime = with_procs(2);
        let ended = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(AtomicBool::new(false));
        for _ in 0..1_000_000 {
            let (ended, gate) = (Arc::clone(&ended), Arc::clone(&gate));
            drop(runtime.spawn(async move {
                while !gate.load(SeqCst) {
                    yield_now().await;
                }
                ended.fetch_add(1, SeqCst);
            }));
        }
        gate.store(true, SeqCst);
        while ended.load(SeqCst) < 1_000_000 {
            thread::sleep(MS);
        }
    }
}

mod a_deadlock {
    use super::*;

    /// A test binary has threads of its own, so nothing is certain in it.
    #[test]
    fn is_not_reported_where_it_is_not_certain() {
        let runtime = with_procs(1);
        let place: Arc<Mutex<Option<Waker>>> = Arc::default();
        let waker = thread::spawn({
            let place = Arc::clone(&place);
            move || {
                thread::sleep(50 * MS);
                place.lock().expect("no panic").take().expect("it waits").wake();
            }
        });
        let mut polls = 0;
        let outcome = runtime.block_on(poll_fn(|cx| {
            polls += 1;
            *place.lock().expect("no panic") = Some(cx.waker().clone());
            if polls > 1 { Poll::Ready(polls) } else { Poll::Pending }
        }));
        assert_eq!(outcome.expect("a foreigner wakes it"), 2);
        waker.join().expect("no panic");
    }

    #[test]
    fn is_not_told_to_a_closure_that_waits_for_a_future_that_a_stranger_wakes() {
        let runtime = with_procs(1);
        let place: Arc<Mutex<Option<Waker>>> = Arc::default();
        let task = runtime.go({
            let place = Arc::clone(&place);
            move || {
                let mut polls = 0;
                let waits = spawn(poll_fn(move |cx| {
                    polls += 1;
                    *place.lock().expect("no panic") = Some(cx.waker().clone());
                    if polls > 1 { Poll::Ready(7) } else { Poll::Pending }
                }));
                waits.join().expect("it is woken")
            }
        });
        thread::sleep(30 * MS);
        place.lock().expect("no panic").take().expect("it waits").wake();
        assert_eq!(task.join().expect("a value"), 7);
    }
}

mod work_is_shared {
    use super::*;

    #[test]
    fn by_all_ps_under_a_random_load() {
        fn load(depth: u32, seed: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
            Box::pin(async move {
                let mut sum = 1;
                if depth == 0 {
                    return sum;
                }
                for n in 0..3 {
                    let seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n);
                    sum += match seed >> 60 {
                        0..4 => spawn(load(depth - 1, seed)).await.expect("a value"),
                        4..6 => {
                            time::sleep(Duration::from_micros(seed % 100)).await;
                            load(depth - 1, seed).await
                        }
                        6..8 => {
                            yield_now().await;
                            load(depth - 1, seed).await
                        }
                        8..10 => syscall(|| 0) + load(depth - 1, seed).await,
                        10..12 => go(|| 0).await.expect("a value") + load(depth - 1, seed).await,
                        _ => {
                            let task: JoinHandle<u64> = spawn(load(depth - 1, seed));
                            yield_now().await;
                            task.await.expect("a value")
                        }
                    };
                }
                sum
            })
        }
        let start = Instant::now();
        for (round, procs) in (1..=4).cycle().take(12).enumerate() {
            let runtime = with_procs(procs);
            assert_eq!(runtime.spawn(load(7, round as u64)).join().expect("a value"), (3_u64.pow(8) - 1) / 2);
        }
        println!("{:?}", start.elapsed());
    }
}

mod a_task_whose_socket_is_always_ready {
    use super::*;
    use spinpark::net::UdpSocket;

    #[test]
    fn makes_way_for_others() {
        let runtime = with_procs(1);
        let late = runtime.block_on(async {
            let stop = Arc::new(AtomicBool::new(false));
            let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
            let to = socket.local_addr().expect("an address");
            let hog = spawn({
                let stop = Arc::clone(&stop);
                async move {
                    while !stop.load(SeqCst) {
                        socket.send_to(b"x", to).await.expect("sent");
                        socket.recv_from(&mut [0; 8]).await.expect("received");
                    }
                }
            });
            let start = Instant::now();
            let other = spawn(async move {
                yield_now().await;
                start.elapsed()
            });
            let late = other.await.expect("a value");
            stop.store(true, SeqCst);
            hog.await.expect("a value");
            late
        });
        assert!(late.expect("no deadlock") < Duration::from_secs(2));
    }
}
