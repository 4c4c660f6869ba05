use crate::runtime::io::netpoll::driver::{Driver, block_on, chosen};
use crate::runtime::io::netpoll::poller::Hook;
use crate::runtime::io::netpoll::*;
use crate::waits::readiness::SLOTS;
use core::fmt;
use core::pin::pin;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::SeqCst;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::task::Wake;
use std::thread;
use std::time::Instant;

const LONG: Option<Duration> = Some(Duration::from_secs(20));
const NOT_AT_ALL: Option<Duration> = Some(Duration::ZERO);

/// Two ends of a connection: one that the poller knows, and the other, which blocks.
fn connection(netpoll: &Arc<Netpoll>) -> (Registered<TcpStream>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let theirs = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
    let ours = listener.accept().expect("a connection").0;
    ours.set_nonblocking(true).expect("set");
    (Registered::new(Arc::clone(netpoll), ours).expect("registered"), theirs)
}

fn netpoll() -> Arc<Netpoll> {
    Arc::new(Netpoll::new(chosen()).expect("a poller"))
}

/// Calls its function when it is woken, and counts how often.
struct Bell {
    rings: AtomicUsize,
    f: Hook,
}

impl Bell {
    fn new(f: impl Fn() + Send + Sync + 'static) -> (Arc<Bell>, Waker) {
        let bell = Arc::new(Bell { rings: AtomicUsize::new(0), f: Box::new(f) });
        (Arc::clone(&bell), Waker::from(bell))
    }

    fn silent() -> (Arc<Bell>, Waker) {
        Self::new(|| ())
    }

    fn rings(&self) -> usize {
        self.rings.load(SeqCst)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rings.fetch_add(1, SeqCst);
        (self.f)();
    }
}

/// Reads by a `poll` method.
fn read(socket: &Registered<TcpStream>, waker: &Waker) -> Poll<io::Result<usize>> {
    socket.poll_io(Direction::Read, &mut Context::from_waker(waker), |mut socket| socket.read(&mut [0; 64]))
}

/// Writes by a `poll` method, as much as the system takes.
fn fill(socket: &Registered<TcpStream>, waker: &Waker) {
    let mut write = |mut socket: &TcpStream| socket.write(&[0; 64 * 1024]);
    while socket.poll_io(Direction::Write, &mut Context::from_waker(waker), &mut write).is_ready() {}
}

fn waiting(netpoll: &Netpoll) -> usize {
    netpoll.sockets.waiting().count() as usize
}

/// The poller counts down a moment after it has woken the last.
fn nobody_is_left(netpoll: &Netpoll) {
    let start = Instant::now();
    while netpoll.is_awaited() {
        assert!(start.elapsed() < Duration::from_secs(20), "{} are counted that do not wait", waiting(netpoll));
        thread::yield_now();
    }
}

mod a_poll {
    use super::*;

    #[test]
    fn ends_when_its_time_is_over() {
        let netpoll = netpoll();
        let start = Instant::now();
        assert_eq!(netpoll.poll(Some(Duration::from_millis(20))), 0);
        assert!(start.elapsed() >= Duration::from_millis(20), "it did not wait");
        assert_eq!(netpoll.poll(NOT_AT_ALL), 0);
        assert!(start.elapsed() < Duration::from_secs(10), "it waited for long");
    }

    #[test]
    fn is_ended_by_an_interruption_that_came_before_but_only_one() {
        let netpoll = netpoll();
        netpoll.interrupt();
        netpoll.interrupt();
        let start = Instant::now();
        netpoll.poll(LONG);
        assert!(start.elapsed() < Duration::from_secs(10), "it was not interrupted");
        let start = Instant::now();
        netpoll.poll(Some(Duration::from_millis(20)));
        assert!(start.elapsed() >= Duration::from_millis(20), "it was interrupted twice");
    }

    #[test]
    fn is_ended_by_an_interruption_that_comes_meanwhile() {
        let netpoll = netpoll();
        for round in 0..50 {
            let start = Instant::now();
            thread::scope(|scope| {
                scope.spawn(|| netpoll.poll(LONG));
                thread::sleep(Duration::from_micros(50 * round));
                netpoll.interrupt();
            });
            assert!(start.elapsed() < Duration::from_secs(10), "round {round} was not interrupted");
        }
    }

    #[test]
    fn wakes_who_waits_for_what_is_ready_and_nobody_else() {
        let netpoll = netpoll();
        let [(ready, mut theirs), (other, _open)] = [connection(&netpoll), connection(&netpoll)];
        let [(first, waker), (second, other_waker)] = [Bell::silent(), Bell::silent()];
        assert!(read(&ready, &waker).is_pending());
        assert!(read(&other, &other_waker).is_pending());
        assert_eq!(netpoll.poll(NOT_AT_ALL), 0);
        theirs.write_all(b"x").expect("written");
        assert_eq!(netpoll.poll(LONG), 1);
        assert_eq!((first.rings(), second.rings()), (1, 0));
        assert!(matches!(read(&ready, &waker), Poll::Ready(Ok(1))));
        assert_eq!(waiting(&netpoll), 1);
        assert!(netpoll.last_error().is_none());
    }

    #[test]
    fn by_a_second_thread_is_sent_back() {
        let (netpoll, is_over) = (&netpoll(), &core::sync::atomic::AtomicBool::new(false));
        thread::scope(|scope| {
            // Again if it is sent back itself, because it came while the lock was tried below.
            scope.spawn(move || {
                while !is_over.load(SeqCst) {
                    netpoll.poll(None);
                }
            });
            while netpoll.batch.try_lock().is_ok() {
                thread::yield_now();
            }
            assert_eq!(netpoll.poll(None), 0);
            is_over.store(true, SeqCst);
            netpoll.interrupt();
        });
    }

    #[test]
    fn survives_wakers_that_panic() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let (bad, bad_waker) = Bell::new(|| panic!("on purpose"));
        let [(first, first_waker), (second, second_waker)] = [Bell::silent(), Bell::silent()];
        let wait = || Box::pin(socket.io(Direction::Read, |mut socket| socket.read(&mut [0; 64])));
        let mut waits = [wait(), wait(), wait()];
        for (wait, waker) in waits.iter_mut().zip([&first_waker, &bad_waker, &second_waker]) {
            assert!(wait.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        }
        theirs.write_all(b"x").expect("written");
        assert_eq!(netpoll.poll(LONG), 3);
        assert_eq!([first.rings(), bad.rings(), second.rings()], [1, 1, 1]);
        assert!(!netpoll.is_awaited());
        // And again.
        assert!(read(&socket, &bad_waker).is_ready());
        assert!(read(&socket, &first_waker).is_pending());
        theirs.write_all(b"x").expect("written");
        assert_eq!(netpoll.poll(LONG), 1);
        assert_eq!(first.rings(), 2);
    }

    #[test]
    fn counts_down_only_after_it_has_woken() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let is_awaited = Arc::new(AtomicUsize::new(0));
        let (bell, waker) = Bell::new({
            let (netpoll, is_awaited) = (Arc::clone(&netpoll), Arc::clone(&is_awaited));
            move || is_awaited.store(usize::from(netpoll.is_awaited()), SeqCst)
        });
        assert!(read(&socket, &waker).is_pending());
        theirs.write_all(b"x").expect("written");
        netpoll.poll(LONG);
        assert_eq!(bell.rings(), 1);
        assert_eq!(is_awaited.load(SeqCst), 1, "no task seemed to be woken, though one was about to be");
        assert!(!netpoll.is_awaited());
    }

    #[test]
    fn for_one_direction_leaves_the_other_armed() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let [(reader, reads), (writer, writes)] = [Bell::silent(), Bell::silent()];
        // A ring has reported already that it can be written, and would report it later.
        netpoll.poll(NOT_AT_ALL);
        fill(&socket, &writes);
        assert!(read(&socket, &reads).is_pending());
        theirs.write_all(b"x").expect("written");
        assert_eq!(netpoll.poll(LONG), 1);
        assert_eq!((reader.rings(), writer.rings()), (1, 0));
        // No task tries again, so only the poller itself can have armed it.
        theirs.set_nonblocking(true).expect("set");
        let start = Instant::now();
        while writer.rings() == 0 {
            while theirs.read(&mut [0; 64 * 1024]).is_ok() {}
            netpoll.poll(Some(Duration::from_millis(10)));
            assert!(start.elapsed() < Duration::from_secs(20), "the writer was forgotten");
        }
        assert_eq!((reader.rings(), writer.rings()), (1, 1));
    }

    #[test]
    fn wakes_both_directions_when_the_connection_breaks() {
        let netpoll = netpoll();
        let (socket, theirs) = connection(&netpoll);
        let [(reader, reads), (writer, writes)] = [Bell::silent(), Bell::silent()];
        fill(&socket, &writes);
        assert!(read(&socket, &reads).is_pending());
        // What is left unread makes it a reset.
        drop(theirs);
        let start = Instant::now();
        while waiting(&netpoll) > 0 {
            netpoll.poll(Some(Duration::from_millis(10)));
            assert!(start.elapsed() < Duration::from_secs(20), "a task was forgotten");
        }
        assert_eq!((reader.rings(), writer.rings()), (1, 1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn does_not_spin_because_of_urgent_data() {
        use rustix::net::{SendFlags, send};
        let driver = Driver::new();
        let (socket, theirs) = connection(&driver.netpoll);
        let (bell, waker) = Bell::silent();
        let mut tries = 0;
        let start = Instant::now();
        send(&theirs, b"!", SendFlags::OOB).expect("sent");
        let mut rings = usize::MAX;
        while start.elapsed() < Duration::from_millis(100) {
            if rings != bell.rings() {
                rings = bell.rings();
                tries += 1;
                assert!(read(&socket, &waker).is_pending(), "urgent data are not read with the others");
            }
        }
        assert!(tries < 10, "it was woken {tries} times for what it cannot read");
    }
}

mod who_waits {
    use super::*;

    #[test]
    fn is_one_however_often_its_task_asks() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let (bell, waker) = Bell::silent();
        for _ in 0..10 {
            assert!(read(&socket, &waker).is_pending());
        }
        assert_eq!(waiting(&netpoll), 1);
        let mut future = pin!(socket.io(Direction::Read, |mut socket| socket.read(&mut [0; 64])));
        for _ in 0..10 {
            assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(waiting(&netpoll), 2, "one by a method, one by a future");
        theirs.write_all(b"x").expect("written");
        netpoll.poll(LONG);
        assert_eq!(bell.rings(), 2);
    }

    #[test]
    fn by_a_poll_method_has_a_place_as_long_as_there_are_not_too_many_after_it() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let mut bells: Vec<_> = (0..=SLOTS).map(|_| Bell::silent()).collect();
        bells.iter().for_each(|(_, waker)| assert!(read(&socket, waker).is_pending()));
        assert_eq!(waiting(&netpoll), SLOTS);
        let (oldest, waker) = bells.remove(0);
        drop(waker);
        assert_eq!(Arc::strong_count(&oldest), 1, "its waker is still there");
        theirs.write_all(b"x").expect("written");
        netpoll.poll(LONG);
        assert_eq!((oldest.rings(), bells.iter().map(|(bell, _)| bell.rings()).collect()), (0, vec![1; SLOTS]));
    }

    #[test]
    fn is_woken_by_its_last_waker_when_its_future_has_moved_on() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let [(old, old_waker), (new, new_waker)] = [Bell::silent(), Bell::silent()];
        let mut future = pin!(socket.io(Direction::Read, |mut socket| socket.read(&mut [0; 64])));
        assert!(future.as_mut().poll(&mut Context::from_waker(&old_waker)).is_pending());
        assert!(future.as_mut().poll(&mut Context::from_waker(&new_waker)).is_pending());
        theirs.write_all(b"x").expect("written");
        netpoll.poll(LONG);
        assert_eq!((old.rings(), new.rings()), (0, 1));
    }

    #[test]
    fn is_gone_when_its_future_is_dropped_and_others_wait_on() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let [(dropped, dropped_waker), (other, other_waker)] = [Bell::silent(), Bell::silent()];
        let read = || Box::pin(socket.io(Direction::Read, |mut socket| socket.read(&mut [0; 64])));
        let [mut first, mut second] = [read(), read()];
        assert!(first.as_mut().poll(&mut Context::from_waker(&dropped_waker)).is_pending());
        assert!(second.as_mut().poll(&mut Context::from_waker(&other_waker)).is_pending());
        drop(first);
        assert_eq!(waiting(&netpoll), 1);
        assert_eq!(Arc::strong_count(&dropped), 2, "its waker is still there");
        theirs.write_all(b"x").expect("written");
        assert_eq!(netpoll.poll(LONG), 1);
        assert_eq!((dropped.rings(), other.rings()), (0, 1));
    }

    #[test]
    fn is_told_when_it_asks_after_the_data_came() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let (bell, waker) = Bell::silent();
        theirs.write_all(b"x").expect("written");
        let mut ready = pin!(socket.ready(Direction::Read));
        // epoll is asked at once; the other poller tells what is so already.
        let mut polled = ready.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            netpoll.poll(LONG);
            assert_eq!(bell.rings(), 1);
            polled = ready.as_mut().poll(&mut Context::from_waker(&waker));
        }
        assert!(matches!(polled, Poll::Ready(Ok(()))));
    }

    #[test]
    fn is_not_ready_because_it_is_polled_again() {
        let netpoll = netpoll();
        let (socket, _theirs) = connection(&netpoll);
        let (_bell, waker) = Bell::silent();
        let mut ready = pin!(socket.ready(Direction::Read));
        for _ in 0..3 {
            assert!(ready.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(waiting(&netpoll), 1);
    }

    #[test]
    fn is_found_by_an_event_whatever_the_moment() {
        // The poller polls all the time, so that each step of a waiter meets each step of it.
        let driver = Driver::new();
        let [(ours, theirs), (back, forth)] = [connection(&driver.netpoll), connection(&driver.netpoll)];
        let theirs = {
            theirs.set_nonblocking(true).expect("set");
            Registered::new(Arc::clone(&driver.netpoll), theirs).expect("registered")
        };
        let forth = {
            forth.set_nonblocking(true).expect("set");
            Registered::new(Arc::clone(&driver.netpoll), forth).expect("registered")
        };
        const ROUNDS: usize = 5_000;
        thread::scope(|scope| {
            scope.spawn(|| {
                block_on(async {
                    for _ in 0..ROUNDS {
                        theirs.io(Direction::Write, |mut socket| socket.write(b"x")).await.expect("written");
                        back.io(Direction::Read, |mut socket| socket.read(&mut [0])).await.expect("read");
                    }
                });
            });
            block_on(async {
                for _ in 0..ROUNDS {
                    ours.io(Direction::Read, |mut socket| socket.read(&mut [0])).await.expect("read");
                    forth.io(Direction::Write, |mut socket| socket.write(b"x")).await.expect("written");
                }
            });
        });
        nobody_is_left(&driver.netpoll);
        assert!(driver.netpoll.last_error().is_none());
    }
}

mod a_hook {
    use super::*;

    /// How often the first came, and how often none was left.
    fn counters(netpoll: &Netpoll) -> impl Fn() -> (usize, usize) + use<> {
        let [first, none] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let count = |counter: &Arc<AtomicUsize>| -> Hook {
            let counter = Arc::clone(counter);
            Box::new(move || {
                counter.fetch_add(1, SeqCst);
            })
        };
        netpoll.set_on_first(count(&first));
        netpoll.set_on_none(count(&none));
        move || (first.load(SeqCst), none.load(SeqCst))
    }

    #[test]
    fn tells_of_the_first_and_of_the_last_that_gives_up() {
        let netpoll = netpoll();
        let counts = counters(&netpoll);
        let [(one, _one), (other, _other)] = [connection(&netpoll), connection(&netpoll)];
        let (_bell, waker) = Bell::silent();
        let mut cx = Context::from_waker(&waker);
        let mut future = Box::pin(one.ready(Direction::Read));
        assert!(future.as_mut().poll(&mut cx).is_pending());
        assert_eq!(counts(), (1, 0));
        assert!(read(&other, &waker).is_pending());
        assert_eq!(counts(), (1, 0));
        drop(future);
        assert_eq!(counts(), (1, 0));
        drop(other);
        assert_eq!(counts(), (1, 1));
        let mut future = Box::pin(one.ready(Direction::Read));
        assert!(future.as_mut().poll(&mut cx).is_pending());
        assert_eq!(counts(), (2, 1));
        netpoll.close();
        assert_eq!(counts(), (2, 2));
        drop(future);
        assert_eq!(counts(), (2, 2));
    }

    #[test]
    fn tells_of_a_last_future_that_is_dropped() {
        let netpoll = netpoll();
        let counts = counters(&netpoll);
        let (socket, _theirs) = connection(&netpoll);
        let (_bell, waker) = Bell::silent();
        let mut future = Box::pin(socket.ready(Direction::Read));
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(counts(), (1, 0));
        drop(future);
        assert_eq!(counts(), (1, 1));
    }

    #[test]
    fn is_not_called_when_the_last_is_woken() {
        let netpoll = netpoll();
        let counts = counters(&netpoll);
        let (socket, mut theirs) = connection(&netpoll);
        let (_bell, waker) = Bell::silent();
        for round in 1..=3 {
            assert!(read(&socket, &waker).is_pending());
            theirs.write_all(b"x").expect("written");
            netpoll.poll(LONG);
            assert!(read(&socket, &waker).is_ready());
            assert_eq!(counts(), (round, 0));
        }
    }

    #[test]
    fn may_use_the_poller() {
        let netpoll = netpoll();
        let weak = Arc::downgrade(&netpoll);
        netpoll.set_on_first(Box::new(move || weak.upgrade().expect("it is there").interrupt()));
        let (socket, _theirs) = connection(&netpoll);
        let (_bell, waker) = Bell::silent();
        thread::scope(|scope| {
            let poll = scope.spawn(|| netpoll.poll(LONG));
            let start = Instant::now();
            assert!(read(&socket, &waker).is_pending());
            assert_eq!(poll.join().expect("no panic"), 0);
            assert!(start.elapsed() < Duration::from_secs(10), "it was not interrupted");
        });
    }
}

mod a_socket {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn takes_its_wakers_along_outside_of_the_lock() {
        let netpoll = netpoll();
        let [(socket, _one), (inner, _other)] = [connection(&netpoll), connection(&netpoll)];
        let (_bell, silent) = Bell::silent();
        assert!(read(&inner, &silent).is_pending());
        // Dropped with the waker that owns it, and panics in the end.
        struct Noisy(Option<Registered<TcpStream>>);
        impl Drop for Noisy {
            fn drop(&mut self) {
                drop(self.0.take());
                panic!("on purpose");
            }
        }
        let inner = Mutex::new(Some(Noisy(Some(inner))));
        let (bell, waker) = Bell::new(move || drop(inner.lock()));
        assert!(read(&socket, &waker).is_pending());
        drop((bell, waker));
        assert_eq!(waiting(&netpoll), 2);
        drop(socket);
        assert_eq!(waiting(&netpoll), 0);
        assert!(netpoll.sockets.is_empty());
    }

    #[test]
    fn is_closed_when_it_is_dropped_though_another_waited_for_it() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let (bell, waker) = Bell::silent();
        assert!(read(&socket, &waker).is_pending());
        drop(socket);
        assert_eq!(theirs.read(&mut [0]).expect("the end"), 0);
        assert_eq!(netpoll.poll(NOT_AT_ALL), 0);
        assert_eq!(bell.rings(), 0);
    }

    #[test]
    fn is_given_back_whole() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let (_bell, waker) = Bell::silent();
        assert!(read(&socket, &waker).is_pending());
        let mut socket = socket.into_inner();
        assert!(!netpoll.is_awaited());
        socket.write_all(b"x").expect("written");
        assert_eq!(theirs.read(&mut [0; 2]).expect("read"), 1);
        // It can be registered again, and the old event, if there is one, does no harm.
        theirs.write_all(b"x").expect("written");
        let socket = Registered::new(Arc::clone(&netpoll), socket).expect("registered");
        netpoll.poll(NOT_AT_ALL);
        assert!(matches!(read(&socket, &waker), Poll::Ready(Ok(1))));
    }

    #[test]
    fn may_come_and_go_while_others_are_polled() {
        let driver = Driver::new();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..300 {
                        let (socket, mut theirs) = connection(&driver.netpoll);
                        let mut read = Box::pin(socket.io(Direction::Read, |mut socket| socket.read(&mut [0; 8])));
                        let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                        theirs.write_all(b"x").expect("written");
                        // Goes before, while or after the event is looked at.
                        match round % 3 {
                            0 => drop(read),
                            1 => assert_eq!(block_on(read).expect("read"), 1),
                            _ => {
                                drop(read);
                                let again = socket.io(Direction::Read, |mut socket| socket.read(&mut [0; 8]));
                                assert_eq!(block_on(again).expect("read"), 1);
                            }
                        }
                    }
                });
            }
        });
        nobody_is_left(&driver.netpoll);
        assert!(driver.netpoll.sockets.is_empty());
        assert!(driver.netpoll.last_error().is_none());
    }
}

mod a_closed_poller {
    use super::*;

    fn is_shut_down<T: fmt::Debug>(result: Poll<io::Result<T>>) -> bool {
        match result {
            Poll::Ready(Err(error)) => {
                assert!(error.to_string().contains("runtime"), "it does not say why: {error}");
                error.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }

    #[test]
    fn lets_nobody_wait_but_does_what_does_not_block() {
        let netpoll = netpoll();
        let (socket, mut theirs) = connection(&netpoll);
        let [(by_method, waker), (by_future, future_waker)] = [Bell::silent(), Bell::new(|| panic!("on purpose"))];
        assert!(read(&socket, &waker).is_pending());
        let mut io = pin!(socket.io(Direction::Read, |mut socket| socket.read(&mut [0; 64])));
        let mut ready = pin!(socket.ready(Direction::Read));
        let mut cx = Context::from_waker(&future_waker);
        assert!(io.as_mut().poll(&mut cx).is_pending());
        assert!(ready.as_mut().poll(&mut cx).is_pending());
        netpoll.close();
        assert_eq!((by_method.rings(), by_future.rings()), (1, 2));
        assert!(!netpoll.is_awaited());
        assert!(is_shut_down(read(&socket, &waker)));
        assert!(is_shut_down(io.as_mut().poll(&mut cx)));
        assert!(is_shut_down(ready.as_mut().poll(&mut cx)));
        assert!(!netpoll.is_awaited());
        theirs.write_all(b"x").expect("written");
        while read(&socket, &waker).map(|result| result.ok()) != Poll::Ready(Some(1)) {
            thread::yield_now();
        }
        assert!(is_shut_down(read(&socket, &waker)));
    }

    #[test]
    fn ends_a_poll_and_takes_no_sockets() {
        let netpoll = netpoll();
        let (socket, _theirs) = connection(&netpoll);
        thread::scope(|scope| {
            let poll = scope.spawn(|| netpoll.poll(None));
            netpoll.close();
            poll.join().expect("no panic");
        });
        let error = Registered::new(Arc::clone(&netpoll), socket.into_inner()).expect_err("it is closed");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod a_ring {
    use super::*;
    use crate::runtime::io::netpoll::system::System;
    use crate::runtime::io::netpoll::uring::Uring;

    /// With room for so many entries and completions. `None`: this system has none.
    fn ring(room: (u32, u32)) -> Option<Arc<Netpoll>> {
        let ring = Uring::with_room(room).ok()?;
        Some(Arc::new(Netpoll::over(System::Uring(Box::new(ring)))))
    }

    #[test]
    fn that_is_too_small_for_its_completions_loses_none() {
        let Some(netpoll) = ring((2, 4)) else { return };
        for _ in 0..20 {
            let mut connections: Vec<_> = (0..64).map(|_| connection(&netpoll)).collect();
            let (bell, waker) = Bell::silent();
            for (socket, _) in &connections {
                assert!(read(socket, &waker).is_pending());
            }
            connections.iter_mut().for_each(|(_, theirs)| theirs.write_all(b"x").expect("written"));
            let start = Instant::now();
            while waiting(&netpoll) > 0 {
                netpoll.poll(Some(Duration::from_secs(1)));
                assert!(start.elapsed() < Duration::from_secs(20), "{} of 64 are not woken", waiting(&netpoll));
            }
            assert_eq!(bell.rings(), 64);
        }
        assert!(netpoll.last_error().is_none());
    }

    #[test]
    fn that_is_small_is_submitted_to_by_many_threads() {
        let Some(netpoll) = ring((1, 2)) else { return };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        drop(connection(&netpoll));
                        netpoll.interrupt();
                    }
                });
            }
            for _ in 0..200 {
                netpoll.poll(Some(Duration::from_millis(1)));
            }
        });
        netpoll.interrupt();
        assert!(netpoll.sockets.is_empty() && netpoll.last_error().is_none());
    }

    #[test]
    fn that_the_system_does_not_give_is_an_error() {
        assert!(Uring::with_room((u32::MAX, u32::MAX)).is_err());
    }
}
