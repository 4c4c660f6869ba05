//! Channels, ticks and connections as streams and sinks. A module names the property, a function the situation.

use futures_core::{FusedStream, Stream};
use futures_lite::{StreamExt, pin};
use futures_sink::Sink;
use spinpark::chan::{bounded, rendezvous};
use spinpark::net::{TcpListener, TcpStream};
use spinpark::{Runtime, spawn, time};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

fn cx() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

async fn feed<T, S: Sink<T> + Unpin>(sink: &mut S, value: T) -> Result<(), S::Error> {
    poll_fn(|cx| Pin::new(&mut *sink).poll_ready(cx)).await?;
    Pin::new(sink).start_send(value)
}

async fn close<T, S: Sink<T> + Unpin>(sink: &mut S) -> Result<(), S::Error> {
    poll_fn(|cx| Pin::new(&mut *sink).poll_close(cx)).await
}

mod a_receiver {
    use super::*;

    #[test]
    fn streams_all_values_and_ends() {
        for capacity in [0, 1, 100] {
            let runtime = with_procs(2);
            let (sender, receiver) = bounded(capacity);
            let task = runtime.spawn(async move {
                for n in 0..1000 {
                    sender.send(n).await.expect("it is open");
                }
            });
            let mut stream = receiver.into_stream();
            let got: Vec<u32> = runtime.run((&mut stream).collect());
            assert!(got.into_iter().eq(0..1000) && stream.is_terminated());
            task.join().expect("no panic");
        }
    }

    #[test]
    fn keeps_its_place_and_gives_it_up_when_it_is_dropped() {
        let (sender, receiver) = rendezvous::<u8>();
        let other = receiver.clone();
        let mut stream = receiver.into_stream();
        assert!(Pin::new(&mut stream).poll_next(&mut cx()).is_pending());
        // It waits, so that there is a receiver to hand it to.
        sender.try_send(1).expect("a receive waits");
        assert!(other.try_recv().is_err(), "it was given to the stream");
        drop(stream);
        assert_eq!(other.try_recv(), Ok(1));
    }

    #[test]
    fn comes_back() {
        let (sender, receiver) = bounded(1);
        let mut stream = receiver.into_stream();
        assert!(Pin::new(&mut stream).poll_next(&mut cx()).is_pending());
        let receiver = stream.into_inner();
        sender.try_send(7).expect("there is room");
        assert_eq!(receiver.try_recv(), Ok(7));
        drop(receiver);
        assert!(sender.is_closed());
    }
}

mod a_sender {
    use super::*;

    #[test]
    fn sinks_all_values_and_closes() {
        for capacity in [0, 1, 100] {
            let runtime = with_procs(2);
            let (sender, receiver) = bounded(capacity);
            let task = runtime.spawn(async move {
                let mut sink = sender.into_sink();
                for n in 0..1000 {
                    feed(&mut sink, n).await.expect("it is open");
                }
                close(&mut sink).await.expect("it is open");
            });
            let got: Vec<u32> = runtime.run(receiver.into_stream().collect());
            assert!(got.into_iter().eq(0..1000));
            task.join().expect("no panic");
        }
    }

    #[test]
    fn gives_a_value_back_that_nobody_can_receive() {
        let runtime = with_procs(1);
        let (sender, receiver) = bounded(1);
        let mut sink = sender.into_sink();
        runtime.run(async {
            feed(&mut sink, "a").await.expect("it is open");
            feed(&mut sink, "b").await.expect("a is in the channel");
            drop(receiver);
            let flushed = poll_fn(|cx| Sink::<&str>::poll_flush(Pin::new(&mut sink), cx)).await;
            assert_eq!(flushed.expect_err("it is closed").into_inner(), "b");
            assert_eq!(feed(&mut sink, "c").await.expect_err("it is closed").into_inner(), "c");
        });
    }

    #[test]
    fn that_is_dropped_leaves_no_value_behind() {
        let (sender, receiver) = bounded(1);
        let mut sink = sender.clone().into_sink();
        for n in [1, 2] {
            assert!(matches!(Pin::new(&mut sink).poll_ready(&mut cx()), Poll::Ready(Ok(()))));
            Pin::new(&mut sink).start_send(n).expect("it is open");
        }
        assert!(Pin::new(&mut sink).poll_flush(&mut cx()).is_pending());
        drop(sink);
        assert_eq!(receiver.try_recv(), Ok(1));
        assert!(receiver.try_recv().is_err(), "the second was dropped with the sink");
    }
}

mod the_others {
    use super::*;

    #[test]
    fn are_ticks() {
        let begun = Instant::now();
        let ticks = with_procs(1).run(async { time::interval(Duration::from_millis(2)).take(4).count().await });
        assert!(ticks == 4 && begun.elapsed() >= Duration::from_millis(6));
    }

    #[test]
    fn are_connections() {
        let came = with_procs(1).run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let connects = spawn(async move {
                for _ in 0..3 {
                    TcpStream::connect(address).await.expect("it listens");
                }
            });
            let incoming = listener.incoming();
            pin!(incoming);
            let came = StreamExt::take(incoming, 3).filter(Result::is_ok).count().await;
            connects.await.expect("no panic");
            came
        });
        assert_eq!(came, 3);
    }
}
