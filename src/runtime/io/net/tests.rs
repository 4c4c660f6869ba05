#[cfg(unix)]
use crate::runtime::io::async_fd::Interest;
use crate::runtime::io::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket, lookup_host};
use crate::runtime::testing::{run, spawn};
use crate::runtime::time::sleep;
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll, Waker};
use futures_io::{AsyncRead, AsyncWrite};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Two ends of a connection.
async fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    let one = TcpStream::connect(address).await.expect("connected");
    let (other, peer) = listener.accept().await.expect("accepted");
    assert_eq!(one.local_addr().expect("an address"), peer);
    assert_eq!(other.peer_addr().expect("an address"), peer);
    assert_eq!(one.peer_addr().expect("an address"), address);
    (one, other)
}

/// Polls once.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// All that comes until the end.
async fn read_all(stream: &TcpStream) -> io::Result<Vec<u8>> {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(all),
            n => all.extend_from_slice(&buffer[..n]),
        }
    }
}

/// An address at which no socket listens.
fn unused() -> SocketAddr {
    net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("an address")
}

/// Bytes that are not the same for long.
fn noise(len: usize, mut seed: u32) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

mod a_listener {
    use super::*;

    #[test]
    fn accepts_many() {
        run(async {
            const MANY: u32 = 100;
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
            let address = listener.local_addr().expect("an address");
            let server = spawn(async move {
                let mut echoes = Vec::new();
                let mut incoming = listener.incoming();
                for _ in 0..MANY {
                    let stream = incoming.next().await.expect("accepted");
                    echoes.push(spawn(async move {
                        let mut number = [0; 4];
                        stream.read_exact(&mut number).await.expect("read");
                        stream.write_all(&number).await.expect("written");
                    }));
                }
                for echo in echoes {
                    echo.await;
                }
            });
            let clients: Vec<_> = (0..MANY)
                .map(|n| {
                    spawn(async move {
                        let stream = TcpStream::connect(address).await.expect("connected");
                        stream.write_all(&n.to_be_bytes()).await.expect("written");
                        let mut number = [0; 4];
                        stream.read_exact(&mut number).await.expect("read");
                        assert_eq!(u32::from_be_bytes(number), n);
                        assert_eq!(stream.read(&mut [0]).await.expect("the end"), 0);
                    })
                })
                .collect();
            for client in clients {
                client.await;
            }
            server.await;
        });
    }

    #[test]
    fn is_shared_by_tasks_that_accept() {
        run(async {
            const EACH: usize = 20;
            let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.expect("a listener"));
            let address = listener.local_addr().expect("an address");
            let acceptors: Vec<_> = (0..3)
                .map(|_| {
                    let listener = Arc::clone(&listener);
                    spawn(async move {
                        for _ in 0..EACH {
                            poll_fn(|cx| listener.poll_accept(cx)).await.expect("accepted");
                        }
                    })
                })
                .collect();
            for _ in 0..3 * EACH {
                drop(TcpStream::connect(address).await.expect("connected"));
            }
            for acceptor in acceptors {
                acceptor.await;
            }
        });
    }

    #[test]
    fn keeps_more_waiting_than_std_asks_for() {
        // The system may allow no more than that; then there is nothing to see.
        run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
            let address = listener.local_addr().expect("an address");
            let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn");
            let allowed = allowed.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(128);
            let mut streams = Vec::new();
            for _ in 0..200.min(allowed) {
                streams.push(TcpStream::connect(address).await.expect("connected"));
            }
            for _ in 0..streams.len() {
                listener.accept().await.expect("accepted");
            }
        });
    }

    #[test]
    fn cannot_have_an_address_that_is_taken() {
        run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
            let address = listener.local_addr().expect("an address");
            let error = TcpListener::bind(address).await.expect_err("it is taken");
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
            drop(listener);
            TcpListener::bind(address).await.expect("it is free again");
        });
    }

    #[test]
    fn is_not_made_outside_of_a_task() {
        let error = crate::runtime::io::netpoll::driver::block_on(TcpListener::bind("127.0.0.1:0"))
            .expect_err("there is no runtime");
        assert!(error.get_ref().is_some_and(|error| error.is::<crate::NotInRuntime>()), "{error:?}");
    }

    /// In a process of its own: it lowers the number of files that may be open.
    #[cfg(target_os = "linux")]
    #[test]
    fn goes_on_when_there_are_too_many_open_files() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        const CHILD: &str = "SPINPARK_TEST_FEW_FILES";
        if std::env::var_os(CHILD).is_none() {
            let path = module_path!().split_once("::").expect("a crate and a module").1;
            let name = format!("{path}::goes_on_when_there_are_too_many_open_files");
            let test = std::env::current_exe().expect("this program");
            let child = std::process::Command::new(test).args(["--exact", &name]).env(CHILD, "1").output();
            let output = child.expect("a process");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
            let address = listener.local_addr().expect("an address");
            let limit = Rlimit { current: Some(40), maximum: getrlimit(Resource::Nofile).maximum };
            setrlimit(Resource::Nofile, limit).expect("set");
            let mut clients = [(); 2].map(|()| net::TcpStream::connect(address).expect("connected"));
            let mut files = Vec::new();
            let error = loop {
                match std::fs::File::open("/dev/null") {
                    Ok(file) => files.push(file),
                    Err(error) => break error,
                }
            };
            for _ in 0..3 {
                let refused = listener.accept().await.expect_err("there is no file to be had");
                assert_eq!(refused.raw_os_error(), error.raw_os_error());
            }
            // Nor does the connecting side get one.
            let refused = TcpStream::connect(address).await.expect_err("there is no file to be had");
            assert_eq!(refused.raw_os_error(), error.raw_os_error());
            files.truncate(files.len() - 2);
            for client in &mut clients {
                let (stream, _) = listener.accept().await.expect("accepted after all");
                stream.write_all(b"x").await.expect("written");
                client.read_exact(&mut [0]).expect("read");
            }
        });
    }
}

mod a_connection {
    use super::*;

    #[test]
    fn is_refused_where_nobody_listens() {
        run(async {
            for _ in 0..20 {
                let error = TcpStream::connect(unused()).await.expect_err("no peer is there");
                assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
                assert!(error.raw_os_error().is_some(), "it is not the system's: {error:?}");
            }
        });
    }

    /// A socket that connects from the very port that it wants to reach has connected, for TCP.
    #[cfg(unix)]
    #[test]
    fn is_never_one_to_itself() {
        use crate::runtime::io::net::tcp::new_socket;
        use rustix::net::{AddressFamily, sockopt};
        run(async {
            // So often the system chooses that port.
            for often in [1, 2, 3] {
                let (address, tries) = (unused(), Cell::new(0));
                let socket = || {
                    let socket = new_socket(AddressFamily::INET)?;
                    if tries.replace(tries.get() + 1) < often {
                        sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?; // it is free at once
                        rustix::net::bind(&socket, &address)?;
                    }
                    Ok(socket)
                };
                let error = TcpStream::connect_unbound(socket, address).await.expect_err("nothing listens");
                assert_eq!((tries.get(), error.kind()), (3.min(often + 1), ErrorKind::ConnectionRefused));
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn is_one_to_itself_if_its_socket_was_bound_there() {
        run(async {
            let socket = crate::runtime::io::net::TcpSocket::new_v4().expect("a socket");
            socket.bind(unused()).expect("bound");
            let address = socket.local_addr().expect("an address");
            let stream = socket.connect(address).await.expect("connected");
            assert_eq!(stream.local_addr().expect("an address"), stream.peer_addr().expect("an address"));
            stream.write_all(b"x").await.expect("written");
            stream.read_exact(&mut [0]).await.expect("it came back");
        });
    }

    #[test]
    fn is_tried_at_each_address_in_order() {
        run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
            let address = listener.local_addr().expect("an address");
            let stream = TcpStream::connect(&[unused(), address, unused()][..]).await.expect("the second is there");
            assert_eq!(stream.peer_addr().expect("an address"), address);
            let error = TcpStream::connect(&[unused(), unused()][..]).await.expect_err("no peer is there");
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
            let error = TcpStream::connect(&[][..]).await.expect_err("there is no address");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        });
    }

    #[test]
    fn is_made_to_a_name() {
        run(async {
            let listener = TcpListener::bind("localhost:0").await.expect("a listener");
            let port = listener.local_addr().expect("an address").port();
            TcpStream::connect(("localhost", port)).await.expect("connected");
            assert!(lookup_host("localhost:80").await.expect("it has addresses").all(|address| address.port() == 80));
            TcpStream::connect("no port at all").await.expect_err("it is no address");
        });
    }

    /// Linux drops what comes to a queue that is full, and the client tries again after a second.
    #[cfg(target_os = "linux")]
    #[test]
    fn is_waited_for_and_can_be_given_up() {
        run(async {
            let listener = net::TcpListener::bind("127.0.0.1:0").expect("a listener");
            rustix::net::listen(&listener, 0).expect("set");
            let address = listener.local_addr().expect("an address");
            let _first = TcpStream::connect(address).await.expect("there is room for one");
            let mut given_up = Box::pin(TcpStream::connect(address));
            assert!(poll_once(given_up.as_mut()).is_pending());
            let second = spawn(TcpStream::connect(address));
            drop(given_up);
            // So that it has knocked before there is room: but that cannot be seen.
            thread::sleep(Duration::from_millis(100));
            listener.accept().expect("the first");
            let second = second.await.expect("it comes in the end");
            let (mut theirs, _) = listener.accept().expect("the second");
            second.write_all(b"x").await.expect("written");
            theirs.read_exact(&mut [0]).expect("read");
        });
    }

    #[test]
    fn echoes() {
        run(async {
            let (ours, theirs) = connection().await;
            let echo = spawn(async move {
                let mut buffer = [0; 16];
                loop {
                    match theirs.read(&mut buffer).await.expect("read") {
                        0 => return,
                        n => theirs.write_all(&buffer[..n]).await.expect("written"),
                    }
                }
            });
            for text in ["one", "two", "and more than fits into its buffer"] {
                ours.write_all(text.as_bytes()).await.expect("written");
                let mut back = vec![0; text.len()];
                ours.read_exact(&mut back).await.expect("read");
                assert_eq!(back, text.as_bytes());
            }
            drop(ours);
            echo.await;
        });
    }

    #[test]
    fn can_be_ended_in_one_direction() {
        run(async {
            let (ours, theirs) = connection().await;
            let server = spawn(async move {
                let question = read_all(&theirs).await.expect("read");
                theirs.write_all(&question.repeat(2)).await.expect("written");
            });
            ours.write_all(b"question").await.expect("written");
            ours.shutdown(Shutdown::Write).expect("shut down");
            assert_eq!(read_all(&ours).await.expect("read"), b"questionquestion");
            assert_eq!(ours.write(b"more").await.expect_err("it was ended").kind(), ErrorKind::BrokenPipe);
            server.await;
        });
    }

    #[test]
    fn takes_much_both_ways_at_once() {
        run(async {
            const MUCH: usize = 8 << 20;
            let (ours, theirs) = connection().await;
            let mut tasks = Vec::new();
            for (seed, stream) in [Arc::new(ours), Arc::new(theirs)].into_iter().enumerate() {
                let (reader, writer) = (Arc::clone(&stream), stream);
                tasks.push(spawn(async move {
                    writer.write_all(&noise(MUCH, seed as u32)).await.expect("written");
                    writer.shutdown(Shutdown::Write).expect("shut down");
                }));
                tasks.push(spawn(async move {
                    let all = read_all(&reader).await.expect("read");
                    assert!(all == noise(MUCH, 1 - seed as u32), "{} bytes came, not those that were sent", all.len());
                }));
            }
            for task in tasks {
                task.await;
            }
        });
    }

    #[test]
    fn has_any_number_of_readers() {
        run(async {
            const BYTES: usize = 2_000;
            let (ours, theirs) = connection().await;
            let ours = Arc::new(ours);
            let readers: Vec<_> = (0..3)
                .map(|n| {
                    let ours = Arc::clone(&ours);
                    spawn(async move {
                        let mut sum = 0;
                        loop {
                            // By its own method, and by the trait's.
                            let mut byte = [0];
                            let read = if n == 0 {
                                ours.read(&mut byte).await
                            } else {
                                poll_fn(|cx| Pin::new(&mut &*ours).poll_read(cx, &mut byte)).await
                            };
                            match read.expect("read") {
                                0 => return sum,
                                n => sum += n,
                            }
                        }
                    })
                })
                .collect();
            for _ in 0..BYTES {
                theirs.write_all(b"x").await.expect("written");
                thread::yield_now();
            }
            drop(theirs);
            let mut sum = 0;
            for reader in readers {
                sum += reader.await;
            }
            assert_eq!(sum, BYTES);
        });
    }

    /// So many tasks that read by the trait, and how often they are polled.
    fn readers_by_the_trait(
        ours: TcpStream,
        many: usize,
    ) -> (Vec<impl Future<Output = io::Result<usize>>>, Arc<AtomicUsize>) {
        let (ours, polls) = (Arc::new(ours), Arc::new(AtomicUsize::new(0)));
        let reader = |_| {
            let (ours, polls) = (Arc::clone(&ours), Arc::clone(&polls));
            spawn(poll_fn(move |cx| {
                polls.fetch_add(1, Relaxed);
                Pin::new(&mut &*ours).poll_read(cx, &mut [0])
            }))
        };
        ((0..many).map(reader).collect(), polls)
    }

    #[test]
    fn has_readers_by_the_trait_that_do_not_wake_each_other() {
        run(async {
            let (ours, theirs) = connection().await;
            let (readers, polls) = readers_by_the_trait(ours, crate::waits::readiness::SLOTS);
            sleep(Duration::from_millis(50)).await;
            let polls = polls.load(Relaxed);
            assert!(polls <= 2 * readers.len(), "nothing has come, and they were polled {polls} times");
            drop(theirs);
            for reader in readers {
                assert_eq!(reader.await.expect("the end"), 0);
            }
        });
    }

    #[test]
    fn forgets_the_oldest_of_too_many_readers_by_the_trait() {
        run(async {
            let (ours, _theirs) = connection().await;
            let many = 3 * crate::waits::readiness::SLOTS;
            let (_readers, polls) = readers_by_the_trait(ours, many);
            sleep(Duration::from_millis(50)).await;
            assert!(polls.load(Relaxed) <= 2 * many, "nothing has come, and they were polled {polls:?} times");
        });
    }

    #[test]
    fn loses_nothing_when_a_read_is_dropped() {
        run(async {
            let (ours, theirs) = connection().await;
            let mut buffer = [0; 8];
            for round in 0..100_u8 {
                {
                    let mut read = pin!(ours.read(&mut buffer));
                    assert!(poll_once(read.as_mut()).is_pending());
                    if round % 2 == 0 {
                        theirs.write_all(&[round]).await.expect("written");
                        thread::yield_now();
                    }
                }
                if round % 2 == 1 {
                    theirs.write_all(&[round]).await.expect("written");
                }
                assert_eq!(ours.read(&mut buffer).await.expect("read"), 1);
                assert_eq!(buffer[0], round);
            }
        });
    }

    #[test]
    fn shows_what_will_be_read() {
        run(async {
            let (ours, theirs) = connection().await;
            let mut buffer = [0; 8];
            assert!(poll_once(pin!(ours.peek(&mut buffer))).is_pending());
            theirs.write_all(b"text").await.expect("written");
            ours.readable().await.expect("open");
            ours.writable().await.expect("open");
            for _ in 0..2 {
                assert_eq!(ours.peek(&mut buffer).await.expect("peeked"), 4);
            }
            ours.read_exact(&mut buffer[..4]).await.expect("read");
            assert_eq!(&buffer[..4], b"text");
            let error = {
                drop(theirs);
                ours.read_exact(&mut buffer).await.expect_err("it is the end")
            };
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        });
    }

    #[test]
    fn has_numbers_that_can_be_set() {
        run(async {
            let (ours, _theirs) = connection().await;
            for nodelay in [true, false] {
                ours.set_nodelay(nodelay).expect("set");
                assert_eq!(ours.nodelay().expect("got"), nodelay);
            }
            ours.set_ttl(42).expect("set");
            assert_eq!(ours.ttl().expect("got"), 42);
            assert!(ours.take_error().expect("asked").is_none());
        });
    }

    #[test]
    fn goes_to_std_and_back() {
        run(async {
            let (ours, theirs) = connection().await;
            let mut ours = ours.into_std().expect("std's");
            let writer = spawn(async move {
                thread::sleep(Duration::from_millis(20));
                theirs.write_all(b"x").await.expect("written");
                theirs
            });
            // It blocks again.
            ours.read_exact(&mut [0]).expect("read");
            let theirs = writer.await;
            let ours = TcpStream::try_from(ours).expect("registered");
            assert!(poll_once(pin!(ours.read(&mut [0]))).is_pending());
            theirs.write_all(b"x").await.expect("written");
            assert_eq!(ours.read(&mut [0]).await.expect("read"), 1);
        });
    }

    #[test]
    fn is_read_from_and_written_to_without_waiting() {
        run(async {
            let (one, other) = connection().await;
            let mut buffer = [0; 8];
            assert_eq!(other.try_read(&mut buffer).expect_err("nothing came").kind(), ErrorKind::WouldBlock);
            assert_eq!(one.try_write_vectored(&[IoSlice::new(b"so"), IoSlice::new(b"me")]).expect("there is room"), 4);
            other.readable().await.expect("open");
            let (mut so, mut me) = ([0; 2], [0; 2]);
            let read = other.try_read_vectored(&mut [IoSliceMut::new(&mut so), IoSliceMut::new(&mut me)]);
            assert_eq!((read.expect("it came"), &so, &me), (4, b"so", b"me"));
            let mut sent = 0;
            while let Ok(n) = one.try_write(&[7; 1 << 16]) {
                sent += n;
            }
            let counts = async {
                let mut came = 0;
                while came < sent {
                    came += other.read(&mut [0; 1 << 16]).await.expect("read");
                }
                came
            };
            assert_eq!(counts.await, sent);
            one.writable().await.expect("open");
            drop(one);
            other.readable().await.expect("the end");
            assert_eq!(other.try_read(&mut buffer).expect("the end"), 0);
        });
    }

    #[cfg(unix)]
    #[test]
    fn is_waited_for_in_either_direction() {
        run(async {
            let (one, other) = connection().await;
            let both = Interest::READABLE | Interest::WRITABLE;
            let ready = one.ready(both).await.expect("open");
            assert!(ready.is_writable() && !ready.is_readable());
            other.write_all(b"text").await.expect("written");
            poll_fn(|cx| one.poll_read_ready(cx)).await.expect("open");
            poll_fn(|cx| one.poll_write_ready(cx)).await.expect("open");
            let mut buffer = [0; 4];
            let read = one.async_io(Interest::READABLE, || one.try_read(&mut buffer)).await;
            assert_eq!((read.expect("it came"), &buffer), (4, b"text"));
            assert!(poll_once(pin!(one.ready(Interest::READABLE))).is_pending());
        });
    }

    #[test]
    fn has_two_halves_and_is_put_together_again() {
        run(async {
            let ((one, other), (third, _fourth)) = (connection().await, connection().await);
            let (reads, mut writes) = one.into_split();
            let (other_reads, _) = third.into_split();
            writes = other_reads.reunite(writes).expect_err("of another stream").1;
            writes.write_all(b"one").await.expect("written");
            let one = writes.reunite(reads).expect("of one stream");
            one.write_all(b"two").await.expect("written");
            let (reads, mut writes) = one.into_split();
            poll_fn(|cx| Pin::new(&mut writes).poll_write(cx, b"six")).await.expect("written");
            drop(writes);
            assert_eq!(read_all(&other).await.expect("read to the end"), b"onetwosix");
            other.write_all(b"ten").await.expect("it is open in this direction");
            let mut buffer = [0; 3];
            reads.read_exact(&mut buffer).await.expect("read");
            assert_eq!((&buffer, reads.as_ref().peer_addr().ok()), (b"ten", other.local_addr().ok()));
        });
    }

    #[test]
    fn goes_on_though_the_half_that_writes_is_forgotten() {
        run(async {
            let (one, other) = connection().await;
            let (reads, writes) = one.into_split();
            writes.forget();
            assert!(poll_once(pin!(other.read(&mut [0]))).is_pending(), "it was ended");
            drop(reads);
            assert_eq!(other.read(&mut [0]).await.expect("the end"), 0);
        });
    }

    #[cfg(unix)]
    #[test]
    fn is_reset_at_its_end_if_it_does_not_linger() {
        run(async {
            let (one, other) = connection().await;
            assert_eq!(one.linger().expect("got"), None);
            one.set_zero_linger().expect("set");
            assert_eq!(one.linger().expect("got"), Some(Duration::ZERO));
            drop(one);
            assert_eq!(other.read(&mut [0]).await.expect_err("no end").kind(), ErrorKind::ConnectionReset);
        });
    }

    #[test]
    fn is_a_stream_of_futures_io() {
        run(async {
            let (mut ours, theirs) = connection().await;
            let slices = [IoSlice::new(b"some"), IoSlice::new(b""), IoSlice::new(b"text")];
            assert_eq!(poll_fn(|cx| Pin::new(&mut ours).poll_write_vectored(cx, &slices)).await.expect("written"), 8);
            poll_fn(|cx| Pin::new(&mut ours).poll_flush(cx)).await.expect("flushed");
            poll_fn(|cx| Pin::new(&mut ours).poll_close(cx)).await.expect("closed");
            let (mut a, mut b) = ([0; 3], [0; 8]);
            theirs.readable().await.expect("open");
            let read = poll_fn(|cx| {
                let mut slices = [IoSliceMut::new(&mut a), IoSliceMut::new(&mut b)];
                Pin::new(&mut &theirs).poll_read_vectored(cx, &mut slices)
            });
            assert_eq!(read.await.expect("read"), 8);
            assert_eq!((&a, &b[..5]), (b"som", &b"etext"[..]));
            assert_eq!(poll_fn(|cx| Pin::new(&mut &theirs).poll_read(cx, &mut b)).await.expect("the end"), 0);
            drop(ours);
            // Twice, and when the other end is gone: it is closed all the same.
            for _ in 0..2 {
                poll_fn(|cx| Pin::new(&mut &theirs).poll_close(cx)).await.expect("closed");
            }
        });
    }
}

mod a_datagram {
    use super::*;

    async fn socket() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        let address = socket.local_addr().expect("an address");
        (socket, address)
    }

    #[test]
    fn is_echoed() {
        run(async {
            let (server, address) = socket().await;
            let echo = spawn(async move {
                let mut buffer = [0; 64];
                for _ in 0..10 {
                    let (n, peer) = server.recv_from(&mut buffer).await.expect("received");
                    assert_eq!(server.send_to(&buffer[..n], peer).await.expect("sent"), n);
                }
            });
            let (client, _) = socket().await;
            let mut buffer = [0; 64];
            for n in 0..10 {
                assert_eq!(client.send_to(&[n; 5], address).await.expect("sent"), 5);
                assert_eq!(client.peek_from(&mut buffer).await.expect("peeked"), (5, address));
                assert_eq!(client.recv_from(&mut buffer).await.expect("received"), (5, address));
                assert_eq!(buffer[..5], [n; 5]);
            }
            echo.await;
        });
    }

    #[cfg(unix)]
    #[test]
    fn is_tried_without_waiting() {
        run(async {
            let ((one, a), (other, b)) = (socket().await, socket().await);
            let mut buffer = [0; 8];
            assert_eq!(other.try_recv(&mut buffer).expect_err("nothing came").kind(), ErrorKind::WouldBlock);
            assert_eq!(one.try_send_to(b"one", b).expect("there is room"), 3);
            poll_fn(|cx| other.poll_recv_ready(cx)).await.expect("open");
            assert_eq!(other.try_recv_from(&mut buffer).expect("it came"), (3, a));
            one.connect(b).await.expect("connected");
            poll_fn(|cx| one.poll_send_ready(cx)).await.expect("open");
            assert_eq!(one.try_send(b"two").expect("there is room"), 3);
            assert!(other.ready(Interest::READABLE).await.expect("open").is_readable());
            assert_eq!(other.try_io(Interest::READABLE, || other.try_recv(&mut buffer)).expect("it came"), 3);
            assert!(other.try_io(Interest::READABLE, || Ok(())).is_err(), "nothing is left");
        });
    }

    #[test]
    fn has_options() {
        run(async {
            let (socket, _) = socket().await;
            socket.set_multicast_loop_v4(false).expect("set");
            socket.set_multicast_ttl_v4(7).expect("set");
            assert_eq!((socket.multicast_loop_v4().ok(), socket.multicast_ttl_v4().ok()), (Some(false), Some(7)));
            #[cfg(target_os = "linux")]
            {
                socket.set_tos_v4(16).expect("set");
                assert_eq!(socket.tos_v4().expect("got"), 16);
                assert_eq!(socket.set_tos_v4(256).expect_err("too much").kind(), ErrorKind::InvalidInput);
            }
            let six = UdpSocket::bind("[::1]:0").await.expect("a socket");
            six.set_multicast_loop_v6(false).expect("set");
            assert!(!six.multicast_loop_v6().expect("got"));
        });
    }

    #[test]
    fn goes_to_where_its_socket_is_connected() {
        run(async {
            let ((one, a), (other, b)) = (socket().await, socket().await);
            one.send(b"x").await.expect_err("it is not connected");
            one.connect(b).await.expect("connected");
            other.connect(&[a][..]).await.expect("connected");
            assert_eq!(one.peer_addr().expect("an address"), b);
            one.send(b"text").await.expect("sent");
            let mut buffer = [0; 2];
            other.readable().await.expect("open");
            assert_eq!(other.peek(&mut buffer).await.expect("peeked"), 2);
            assert_eq!(other.recv(&mut buffer).await.expect("received"), 2);
            assert_eq!(&buffer, b"te");
            assert!(poll_once(pin!(other.recv(&mut buffer))).is_pending(), "the rest was not lost");
        });
    }

    #[test]
    fn is_refused_where_nobody_listens() {
        run(async {
            let ((one, _), (gone, address)) = (socket().await, socket().await);
            drop(gone);
            one.connect(address).await.expect("connected");
            one.send(b"x").await.expect("sent");
            let error = one.recv(&mut [0]).await.expect_err("no peer is there");
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        });
    }

    #[test]
    fn may_be_for_all() {
        run(async {
            let (socket, _) = socket().await;
            assert!(!socket.broadcast().expect("got"));
            socket.set_broadcast(true).expect("set");
            assert!(socket.broadcast().expect("got"));
            socket.set_ttl(3).expect("set");
            assert_eq!(socket.ttl().expect("got"), 3);
        });
    }
}

#[cfg(unix)]
mod on_unix {
    use super::*;
    use crate::runtime::io::net::unix::{UnixDatagram, UnixListener, UnixStream};
    use std::path::PathBuf;

    /// A path for a socket, which is removed in the end.
    struct Socket(PathBuf);

    impl Socket {
        fn new(name: &str) -> Socket {
            Socket(std::env::temp_dir().join(format!("spinpark-{name}-{}", std::process::id())))
        }
    }

    impl Drop for Socket {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn streams_echo() {
        run(async {
            let path = Socket::new("stream");
            let listener = UnixListener::bind(&path.0).expect("a listener");
            assert_eq!(listener.local_addr().expect("an address").as_pathname(), Some(&*path.0));
            let server = spawn(async move {
                let (stream, peer) = listener.accept().await.expect("accepted");
                assert!(peer.is_unnamed());
                let mut buffer = [0; 4];
                stream.read_exact(&mut buffer).await.expect("read");
                stream.write_all(&buffer).await.expect("written");
                drop(stream);
                poll_fn(|cx| listener.poll_accept(cx)).await.expect("accepted");
            });
            let client = UnixStream::connect(&path.0).await.expect("connected");
            assert_eq!(client.peer_addr().expect("an address").as_pathname(), Some(&*path.0));
            client.write_all(b"text").await.expect("written");
            client.shutdown(Shutdown::Write).expect("shut down");
            let mut buffer = [0; 4];
            poll_fn(|cx| Pin::new(&mut &client).poll_read(cx, &mut buffer)).await.expect("read");
            assert_eq!(&buffer, b"text");
            assert_eq!(client.read(&mut buffer).await.expect("the end"), 0);
            UnixStream::connect(&path.0).await.expect("connected");
            server.await;
            let error = UnixStream::connect(&path.0).await.expect_err("no socket listens any more");
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn streams_know_who_is_at_the_other_end() {
        run(async {
            let (one, _other) = UnixStream::pair().expect("a pair");
            let peer = one.peer_cred().expect("got");
            let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
            assert_eq!((peer.uid(), peer.gid(), peer.pid()), (user, group, Some(std::process::id() as i32)));
        });
    }

    #[test]
    fn two_streams_are_a_pair() {
        run(async {
            let (ours, theirs) = UnixStream::pair().expect("a pair");
            let much = noise(1 << 20, 1);
            let writer = spawn({
                let much = much.clone();
                async move { theirs.write_all(&much).await.expect("written") }
            });
            let mut all = vec![0; much.len()];
            ours.read_exact(&mut all).await.expect("read");
            assert!(all == much);
            writer.await;
            let mut ours = ours.into_std().expect("std's");
            assert_eq!(ours.read(&mut [0]).expect("the end"), 0);
            ours.write_all(b"x").expect_err("no peer is there");
        });
    }

    #[test]
    fn datagrams_have_paths() {
        run(async {
            let (path, back) = (Socket::new("datagram"), Socket::new("datagram-back"));
            let server = UnixDatagram::bind(&path.0).expect("a socket");
            let client = UnixDatagram::bind(&back.0).expect("a socket");
            let mut buffer = [0; 8];
            assert!(poll_once(pin!(server.recv(&mut buffer))).is_pending());
            client.send_to(b"one", &path.0).await.expect("sent");
            let (n, peer) = server.recv_from(&mut buffer).await.expect("received");
            assert_eq!((n, peer.as_pathname()), (3, Some(&*back.0)));
            let nameless = UnixDatagram::unbound().expect("a socket");
            nameless.connect(&path.0).expect("connected");
            nameless.send(b"four").await.expect("sent");
            let (n, peer) = server.recv_from(&mut buffer).await.expect("received");
            assert_eq!((n, peer.as_pathname()), (4, None));
        });
    }

    #[test]
    fn datagrams_are_tried_without_waiting() {
        run(async {
            let path = Socket::new("tried");
            let server = UnixDatagram::bind(&path.0).expect("a socket");
            let client = UnixDatagram::unbound().expect("a socket");
            let mut buffer = [0; 8];
            assert_eq!(server.try_recv(&mut buffer).expect_err("nothing came").kind(), ErrorKind::WouldBlock);
            assert_eq!(client.try_send_to(b"one", &path.0).expect("there is room"), 3);
            assert!(server.try_recv_from(&mut buffer).expect("it came").1.is_unnamed());
            client.connect(&path.0).expect("connected");
            assert_eq!(client.try_send(b"four").expect("there is room"), 4);
            assert_eq!((server.try_recv(&mut buffer).expect("it came"), &buffer[..4]), (4, &b"four"[..]));
        });
    }

    #[test]
    fn datagrams_wait_for_room() {
        run(async {
            let (ours, theirs) = UnixDatagram::pair().expect("a pair");
            const MANY: usize = 3_000;
            let receiver = spawn(async move {
                let mut buffer = [0; 2_000];
                for _ in 0..MANY {
                    assert_eq!(theirs.recv(&mut buffer).await.expect("received"), 1_000);
                }
            });
            for _ in 0..MANY {
                ours.send(&[7; 1_000]).await.expect("sent");
            }
            receiver.await;
        });
    }
}
