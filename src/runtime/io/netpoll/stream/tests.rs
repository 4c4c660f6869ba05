//! System calls are counted where they are made: in the closure that makes one.

use crate::runtime::io::netpoll::choice::Poller;
use crate::runtime::io::netpoll::driver::{Driver, block_on, chosen};
use crate::runtime::io::netpoll::socket::Stream;
use crate::runtime::io::netpoll::{Direction, Netpoll, Registered, at_once};
use core::cell::Cell;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A socket that the poller knows, and how often it was read or written.
struct Counted<S> {
    socket: Registered<S>,
    tries: Cell<usize>,
}

impl<S: Stream> Counted<S>
where
    for<'a> &'a S: Read + Write,
{
    fn new(netpoll: &Arc<Netpoll>, socket: S) -> Self {
        Counted { socket: Registered::new(Arc::clone(netpoll), socket).expect("registered"), tries: Cell::new(0) }
    }

    /// What is read into a buffer of so many bytes.
    async fn read(&self, len: usize) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; len];
        let tries = &self.tries;
        let read = |mut socket: &S| {
            tries.set(tries.get() + 1);
            socket.read(&mut buffer)
        };
        let n = self.socket.stream(Direction::Read, len, read).await?;
        buffer.truncate(n);
        Ok(buffer)
    }

    /// The same by a `poll` method: how many bytes.
    fn poll_read(&self, len: usize) -> Poll<io::Result<usize>> {
        let mut buffer = vec![0; len];
        let mut context = Context::from_waker(Waker::noop());
        self.socket.poll_stream(Direction::Read, &mut context, len, |mut socket| {
            self.tries.set(self.tries.get() + 1);
            socket.read(&mut buffer)
        })
    }

    /// All that comes until the end.
    async fn read_all(&self, len: usize) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            match self.read(len).await? {
                bytes if bytes.is_empty() => return Ok(all),
                bytes => all.extend(bytes),
            }
        }
    }

    /// How many tries were made since this was last asked.
    fn tries(&self) -> usize {
        self.tries.replace(0)
    }
}

/// Two ends of a connection: one that the poller knows, and the other, which blocks.
fn connection(netpoll: &Arc<Netpoll>) -> (Counted<TcpStream>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let theirs = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
    let ours = listener.accept().expect("a connection").0;
    ours.set_nonblocking(true).expect("set");
    (Counted::new(netpoll, ours), theirs)
}

/// Armed for each report, or in a ring, nothing is remembered: the tests that count are for the other kind.
fn remembers_nothing(socket: &Counted<TcpStream>) -> bool {
    socket.socket.registration.entry.is_armed_each_time() || chosen() == Poller::IoUring
}

/// Polls until nothing is reported any more.
fn settle(netpoll: &Netpoll) {
    for _ in 0..3 {
        netpoll.poll(Some(Duration::from_millis(20)));
    }
}

mod a_read {
    use super::*;

    #[test]
    fn after_a_short_one_waits_without_a_system_call() {
        let netpoll = Arc::new(Netpoll::new(chosen()).expect("a poller"));
        let (ours, mut theirs) = connection(&netpoll);
        if remembers_nothing(&ours) {
            return;
        }
        theirs.write_all(b"request").expect("written");
        settle(&netpoll);
        for _ in 0..5 {
            assert!(matches!(ours.poll_read(64), Poll::Ready(Ok(7))));
            assert_eq!(ours.tries(), 1);
            // As a server's does that has answered, and waits for the next request; twice, for it was polled for another reason.
            assert!(ours.poll_read(64).is_pending() && ours.poll_read(64).is_pending());
            assert_eq!(ours.tries(), 0, "it was known that there is no more");
            theirs.write_all(b"another").expect("written");
            settle(&netpoll);
        }
    }

    #[test]
    fn that_would_block_is_not_tried_again_before_a_report() {
        let netpoll = Arc::new(Netpoll::new(chosen()).expect("a poller"));
        let (ours, _theirs) = connection(&netpoll);
        if remembers_nothing(&ours) {
            return;
        }
        settle(&netpoll);
        for _ in 0..5 {
            assert!(ours.poll_read(64).is_pending());
        }
        assert_eq!(ours.tries(), 1);
    }

    #[test]
    fn that_is_exactly_the_buffer_is_followed_by_a_try() {
        let driver = Driver::new();
        let (ours, mut theirs) = connection(&driver.netpoll);
        theirs.write_all(b"four").expect("written");
        theirs.write_all(b"more").expect("written");
        // All that was sent is there, as one report.
        thread::sleep(Duration::from_millis(50));
        assert_eq!(block_on(ours.read(4)).expect("read"), b"four");
        assert_eq!(block_on(ours.read(4)).expect("read"), b"more");
        theirs.shutdown(Shutdown::Write).expect("ended");
        assert_eq!(block_on(ours.read(4)).expect("read"), b"");
    }

    #[test]
    fn in_a_runtime_that_has_ended_still_gets_what_is_there() {
        let netpoll = Arc::new(Netpoll::new(chosen()).expect("a poller"));
        let (ours, mut theirs) = connection(&netpoll);
        theirs.write_all(b"some").expect("written");
        settle(&netpoll);
        assert!(matches!(ours.poll_read(64), Poll::Ready(Ok(4))));
        theirs.write_all(b"late").expect("written");
        thread::sleep(Duration::from_millis(20));
        netpoll.close();
        assert!(matches!(ours.poll_read(64), Poll::Ready(Ok(4))), "it does not block");
        assert!(matches!(ours.poll_read(64), Poll::Ready(Err(_))), "it would block for ever");
    }
}

mod the_end {
    use super::*;

    #[test]
    fn in_one_segment_with_the_bytes_is_read() {
        let driver = Driver::new();
        for round in 0..200 {
            let (ours, mut theirs) = connection(&driver.netpoll);
            // It waits until both are there, or comes while they do.
            let reads = thread::spawn(move || {
                if round % 2 == 0 {
                    thread::sleep(Duration::from_millis(5));
                }
                block_on(ours.read_all(64))
            });
            theirs.write_all(b"the last").expect("written");
            theirs.shutdown(Shutdown::Write).expect("ended");
            assert_eq!(reads.join().expect("no panic").expect("read"), b"the last");
        }
    }

    #[test]
    fn after_the_bytes_is_read() {
        let driver = Driver::new();
        for round in 0..100 {
            let (ours, mut theirs) = connection(&driver.netpoll);
            let reads = thread::spawn(move || block_on(ours.read_all(64)));
            theirs.write_all(b"the last").expect("written");
            thread::sleep(Duration::from_micros(10 * round));
            drop(theirs);
            assert_eq!(reads.join().expect("no panic").expect("read"), b"the last");
        }
    }

    #[test]
    fn of_one_direction_leaves_the_other() {
        let driver = Driver::new();
        let (ours, mut theirs) = connection(&driver.netpoll);
        theirs.write_all(b"question").expect("written");
        theirs.shutdown(Shutdown::Write).expect("ended");
        assert_eq!(block_on(ours.read_all(64)).expect("read"), b"question");
        // Much: it is written in more than one piece.
        let answer = vec![7; 8 << 20];
        let reads = thread::spawn(move || {
            let mut came = Vec::new();
            theirs.read_to_end(&mut came).map(|_| came.len())
        });
        block_on(async {
            let mut rest = &answer[..];
            while !rest.is_empty() {
                let n = ours.socket.stream(Direction::Write, rest.len(), |mut socket| socket.write(rest)).await;
                rest = &rest[n.expect("written")..];
            }
        });
        ours.socket.get().shutdown(Shutdown::Write).expect("ended");
        assert_eq!(reads.join().expect("no panic").expect("read"), answer.len());
    }

    #[test]
    fn of_our_own_making_ends_a_read() {
        let driver = Driver::new();
        let (ours, mut theirs) = connection(&driver.netpoll);
        theirs.write_all(b"some").expect("written");
        assert_eq!(block_on(ours.read(64)).expect("read"), b"some");
        ours.socket.get().shutdown(Shutdown::Read).expect("ended");
        assert_eq!(block_on(ours.read(64)).expect("read"), b"");
    }

    #[test]
    fn by_a_reset_is_an_error() {
        let driver = Driver::new();
        for _ in 0..50 {
            let (ours, mut theirs) = connection(&driver.netpoll);
            ours.socket.get().try_clone().expect("a duplicate").write_all(b"unread").expect("written");
            theirs.write_all(b"some").expect("written");
            assert_eq!(block_on(ours.read(64)).expect("read"), b"some");
            // What was not read when it is closed makes it a reset.
            drop(theirs);
            let error = block_on(ours.read(64)).expect_err("a reset");
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        }
    }
}

mod a_write {
    use super::*;

    #[test]
    fn that_was_short_waits_without_a_system_call_until_there_is_room() {
        let netpoll = Arc::new(Netpoll::new(chosen()).expect("a poller"));
        let (ours, mut theirs) = connection(&netpoll);
        if remembers_nothing(&ours) {
            return;
        }
        settle(&netpoll);
        let bytes = vec![1; 64 << 20];
        let tries = Cell::new(0);
        let mut context = Context::from_waker(Waker::noop());
        let mut write = || {
            ours.socket.poll_stream(Direction::Write, &mut context, bytes.len(), |mut socket| {
                tries.set(tries.get() + 1);
                socket.write(&bytes)
            })
        };
        let Poll::Ready(Ok(written)) = write() else { panic!("there is room for some") };
        assert!(written < bytes.len(), "it all fits");
        assert!(write().is_pending() && write().is_pending());
        assert_eq!(tries.get(), 1);
        theirs.read_exact(&mut vec![0; written]).expect("read");
        settle(&netpoll);
        assert!(matches!(write(), Poll::Ready(Ok(1..))));
    }

    #[test]
    fn of_more_slices_than_the_system_takes_at_once_goes_on() {
        let driver = Driver::new();
        let (ours, mut theirs) = connection(&driver.netpoll);
        let slices: Vec<IoSlice<'_>> = (0..5000).map(|_| IoSlice::new(b"x")).collect();
        let mut left = &slices[..];
        block_on(async {
            while !left.is_empty() {
                let wanted = at_once(left.iter().map(|slice| slice.len()));
                let write = |mut socket: &TcpStream| socket.write_vectored(left);
                let n = ours.socket.stream(Direction::Write, wanted, write).await.expect("written");
                left = &left[n..];
            }
        });
        theirs.read_exact(&mut [0; 5000]).expect("read");
    }
}

#[cfg(target_os = "linux")]
mod bytes_at_which_a_read_stops {
    use super::*;
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, send, sendmsg};
    use std::mem::MaybeUninit;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn that_are_urgent_have_more_behind_them() {
        let driver = Driver::new();
        for _ in 0..50 {
            let (ours, mut theirs) = connection(&driver.netpoll);
            theirs.write_all(b"before").expect("written");
            send(&theirs, b"!", SendFlags::OOB).expect("sent");
            theirs.write_all(b"behind").expect("written");
            thread::sleep(Duration::from_millis(2));
            let mut came = Vec::new();
            while came.len() < 12 {
                came.extend(block_on(ours.read(64)).expect("read"));
            }
            assert_eq!(came, b"beforebehind", "the urgent one is not among them");
        }
    }

    #[test]
    fn that_bring_a_descriptor_have_more_behind_them() {
        let driver = Driver::new();
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        ours.set_nonblocking(true).expect("set");
        let ours = Counted::new(&driver.netpoll, ours);
        let null = std::fs::File::open("/dev/null").expect("it is there");
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut with = SendAncillaryBuffer::new(&mut space);
        let descriptors = [null.as_fd()];
        assert!(with.push(SendAncillaryMessage::ScmRights(&descriptors)));
        sendmsg(&theirs, &[IoSlice::new(b"with it")], &mut with, SendFlags::empty()).expect("sent");
        theirs.write_all(b", behind").expect("written");
        thread::sleep(Duration::from_millis(20));
        let mut came = Vec::new();
        while came.len() < 15 {
            came.extend(block_on(ours.read(64)).expect("read"));
        }
        assert_eq!(came, b"with it, behind");
    }
}
