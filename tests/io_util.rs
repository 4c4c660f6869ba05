//! Streams in memory, and bytes from one stream to another.

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use spinpark::io::{DuplexStream, copy, copy_bidirectional, duplex};
use spinpark::net::{TcpListener, TcpStream};
use spinpark::time::{sleep, timeout};
use spinpark::{Runtime, deterministic, join, spawn, yield_now};
use std::future::Future;
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

fn run<T>(future: impl Future<Output = T>) -> T {
    Runtime::builder().procs(2).build().expect("a runtime").run(future)
}

fn simulated<T>(seed: u64, future: impl Future<Output = T>) -> T {
    Runtime::builder().procs(2).deterministic(seed).build().expect("a runtime").run(future)
}

fn numbers(n: usize) -> Vec<u8> {
    (0..n).map(|n| (n * 7 + n / 251) as u8).collect()
}

async fn read_all(stream: &mut DuplexStream) -> Vec<u8> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.expect("read");
    all
}

mod a_duplex {
    use super::*;

    #[test]
    fn brings_every_byte_in_order_whatever_its_size() {
        for seed in 0..20 {
            for size in [1, 2, 7, 64, 10_000] {
                let (there, back) = simulated(seed, async move {
                    let (mut one, mut other) = duplex(size);
                    let echo = spawn(async move {
                        let all = read_all(&mut other).await;
                        other.write_all(&all).await.expect("it is read");
                        all
                    });
                    let sent = numbers(500);
                    for part in sent.chunks(1 + deterministic::choose(100)) {
                        one.write_all(part).await.expect("it is read");
                        if deterministic::choose(3) == 0 {
                            yield_now().await;
                        }
                    }
                    one.close().await.expect("closed");
                    (read_all(&mut one).await, echo.await.expect("no panic"))
                });
                assert!(there == numbers(500) && back == there, "size {size}, seed {seed}");
            }
        }
    }

    #[test]
    fn holds_no_more_bytes_than_its_size() {
        let (mut one, mut other) = duplex(4);
        let mut cx = Context::from_waker(Waker::noop());
        let mut write = |one: &mut DuplexStream, bytes: &[u8]| match pin!(one.write(bytes)).poll(&mut cx) {
            Poll::Ready(written) => Some(written.expect("it is read")),
            Poll::Pending => None,
        };
        assert_eq!(write(&mut one, b"abc"), Some(3));
        assert_eq!(write(&mut one, b"def"), Some(1));
        assert_eq!(write(&mut one, b"ef"), None);
        assert_eq!(write(&mut one, b""), Some(0));
        let mut two = [0; 2];
        futures_lite::future::block_on(other.read_exact(&mut two)).expect("read");
        assert_eq!((&two, write(&mut one, b"efg")), (b"ab", Some(2)));
    }

    #[test]
    fn whose_other_end_is_dropped_gives_what_is_left_and_takes_nothing() {
        run(async {
            let (mut one, mut other) = duplex(8);
            other.write_all(b"left").await.expect("there is room");
            drop(other);
            let error = one.write(b"x").await.expect_err("it is not read");
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            assert_eq!(read_all(&mut one).await, b"left");
            assert_eq!(one.read(&mut [0; 4]).await.expect("the end"), 0);
        });
    }

    #[test]
    fn wakes_a_reader_and_a_writer_when_the_other_end_is_dropped() {
        for seed in 0..20 {
            simulated(seed, async {
                let ((mut reads, other), (mut writes, full)) = (duplex(1), duplex(1));
                let reader = spawn(async move { reads.read(&mut [0]).await.expect("the end") });
                let writer = spawn(async move { writes.write_all(b"two bytes at least").await });
                sleep(Duration::from_secs(1)).await;
                drop((other, full));
                assert_eq!(reader.await.expect("no panic"), 0);
                let error = writer.await.expect("no panic").expect_err("it is not read");
                assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            });
        }
    }

    #[test]
    fn loses_no_byte_when_a_read_or_a_write_is_given_up() {
        for seed in 0..20 {
            simulated(seed, async {
                let (mut one, mut other) = duplex(3);
                let writes = spawn(async move {
                    let (sent, mut at) = (numbers(200), 0);
                    while at < sent.len() {
                        if let Ok(n) = timeout(Duration::from_micros(50), one.write(&sent[at..])).await {
                            at += n.expect("it is read");
                        }
                    }
                });
                let (mut got, mut buffer) = (Vec::<u8>::new(), [0; 5]);
                loop {
                    match timeout(Duration::from_micros(70), other.read(&mut buffer)).await {
                        Ok(read) => match read.expect("read") {
                            0 => break,
                            n => got.extend(&buffer[..n]),
                        },
                        Err(_) => sleep(Duration::from_micros(deterministic::choose(200) as u64)).await,
                    }
                }
                assert_eq!(got, numbers(200));
                writes.await.expect("no panic");
            });
        }
    }

    #[test]
    #[should_panic(expected = "give 1 or more")]
    fn of_no_bytes_is_refused() {
        drop(duplex(0));
    }

    #[test]
    fn makes_a_protocol_with_time_outs_a_program_of_simulated_time() {
        let from = std::time::Instant::now();
        simulated(11, async {
            let begun = deterministic::now();
            let (mut client, mut server) = duplex(64);
            spawn(async move {
                let mut question = [0; 4];
                while server.read_exact(&mut question).await.is_ok() {
                    sleep(Duration::from_secs(3600)).await; // it is slow
                    server.write_all(&question).await.expect("the client waits");
                }
            });
            client.write_all(b"ping").await.expect("there is room");
            let mut answer = [0; 4];
            let late = timeout(Duration::from_secs(60), client.read_exact(&mut answer)).await;
            assert!(late.is_err());
            client.read_exact(&mut answer).await.expect("it comes");
            assert!(&answer == b"ping" && deterministic::now() - begun >= Duration::from_secs(3600));
        });
        assert!(from.elapsed() < Duration::from_secs(60));
    }
}

mod a_copy {
    use super::*;

    #[test]
    fn of_all_bytes_ends_with_the_reader() {
        for seed in 0..10 {
            let (copied, all) = simulated(seed, async {
                let ((mut source, mut from), (mut to, mut sink)) = (duplex(100), duplex(10));
                let writes = async move { source.write_all(&numbers(3_000)).await.expect("it is read") };
                let copies = async move { copy(&mut from, &mut to).await.expect("copied") };
                let (copied, all, ()) = join!(copies, read_all(&mut sink), writes);
                (copied, all)
            });
            assert!(copied == 3_000 && all == numbers(3_000));
        }
    }

    #[test]
    fn ends_with_the_error_of_either_side() {
        run(async {
            let (mut source, mut from) = duplex(10);
            source.write_all(b"some").await.expect("there is room");
            let (mut to, sink) = duplex(10);
            drop(sink);
            assert_eq!(copy(&mut from, &mut to).await.expect_err("no reader").kind(), ErrorKind::BrokenPipe);
            let mut small: &mut [u8] = &mut [0; 2];
            let mut four: &[u8] = b"four";
            assert_eq!(
                copy(&mut four, &mut Cursor(&mut small)).await.expect_err("no room").kind(),
                ErrorKind::WriteZero
            );
        });
    }

    /// Takes so many bytes, and then none.
    struct Cursor<'a, 'b>(&'a mut &'b mut [u8]);

    impl futures_io::AsyncWrite for Cursor<'_, '_> {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
            Poll::Ready(std::io::Write::write(&mut *self.0, bytes))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn shows_its_peer_what_is_in_a_buffer_before_it_waits_for_more() {
        simulated(2, async {
            let ((mut source, mut from), (to, mut sink)) = (duplex(100), duplex(100));
            let task = spawn(async move { copy(&mut from, &mut futures_lite::io::BufWriter::new(to)).await });
            source.write_all(b"question").await.expect("there is room");
            let mut question = [0; 8];
            let in_time = timeout(Duration::from_secs(60), sink.read_exact(&mut question)).await;
            in_time.expect("it is flushed").expect("read");
            drop(source);
            assert_eq!(task.await.expect("no panic").expect("copied"), 8);
        });
    }

    #[test]
    fn in_both_directions_ends_when_both_have_ended() {
        for seed in 0..10 {
            simulated(seed, async {
                let ((mut client, mut a), (mut b, mut server)) = (duplex(64), duplex(64));
                let proxy = spawn(async move { copy_bidirectional(&mut a, &mut b).await });
                let asks = async {
                    client.write_all(&numbers(1_000)).await.expect("it is read");
                    client.close().await.expect("closed");
                    read_all(&mut client).await
                };
                let answers = async {
                    let question = read_all(&mut server).await; // to the end, which goes through
                    server.write_all(&numbers(2_000)).await.expect("it is read");
                    server.close().await.expect("closed");
                    question
                };
                let (answer, question) = join!(asks, answers);
                assert!(question == numbers(1_000) && answer == numbers(2_000));
                assert_eq!(proxy.await.expect("no panic").expect("copied"), (1_000, 2_000));
            });
        }
    }

    #[test]
    fn in_both_directions_ends_with_the_first_error() {
        run(async {
            let ((mut client, mut a), (mut b, server)) = (duplex(64), duplex(64));
            let proxy = spawn(async move { copy_bidirectional(&mut a, &mut b).await });
            drop(server);
            client.write_all(b"question").await.expect("there is room");
            let error = proxy.await.expect("no panic").expect_err("the server has gone");
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        });
    }

    #[test]
    fn makes_a_proxy_of_two_sockets() {
        run(async {
            let (server, proxy) = (listener().await, listener().await);
            let (server_at, proxy_at) = (server.local_addr().expect("bound"), proxy.local_addr().expect("bound"));
            spawn(async move {
                let (mut reader, mut writer) = server.accept().await.expect("a client").0.into_split();
                copy(&mut reader, &mut writer).await.expect("an echo")
            });
            let proxied = spawn(async move {
                let (mut a, _) = proxy.accept().await.expect("a client");
                let mut b = TcpStream::connect(server_at).await.expect("connected");
                copy_bidirectional(&mut a, &mut b).await.expect("copied")
            });
            let client = TcpStream::connect(proxy_at).await.expect("connected");
            let (reader, writer) = client.into_split();
            let sends = spawn(async move {
                writer.write_all(&numbers(200_000)).await.expect("sent");
            }); // the half is dropped: the end goes through
            let mut all: Vec<u8> = Vec::new();
            let (mut reader, mut buffer) = (reader, [0; 4096]);
            while let n @ 1.. = AsyncReadExt::read(&mut reader, &mut buffer).await.expect("read") {
                all.extend(&buffer[..n]);
            }
            sends.await.expect("no panic");
            assert!(all == numbers(200_000));
            assert_eq!(proxied.await.expect("no panic"), (200_000, 200_000));
        });
    }

    async fn listener() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").await.expect("bound")
    }
}
