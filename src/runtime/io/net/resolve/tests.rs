use super::*;
use crate::runtime::io::net::{TcpListener, TcpStream, UdpSocket, lookup_host};
use crate::runtime::testing::run;
use crate::{Runtime, time};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long the look-up of [`SLOW`] takes.
const LONG: Duration = Duration::from_secs(1);
/// A name whose server takes its time. (No network has it: RFC 6761.)
const SLOW: &str = "slow.invalid";
/// One that must not be looked up.
const COUNTED: &str = "counted.invalid";
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// What the system would say, in tests.
pub(super) fn pretend(host: &str, port: u16) -> Option<io::Result<Vec<SocketAddr>>> {
    match host {
        SLOW => thread::sleep(LONG),
        COUNTED => _ = COUNT.fetch_add(1, Relaxed),
        "panics.invalid" => panic!("for a test"),
        _ => return None,
    }
    Some(Ok(vec![([127, 0, 0, 1], port).into()]))
}

fn runtime(procs: usize) -> Runtime {
    Runtime::builder().procs(procs).build().expect("a runtime")
}

/// The error's text.
fn error<T>(result: io::Result<T>) -> String {
    result.err().expect("an error").to_string()
}

mod a_slow_name {
    use super::*;

    /// It is not waited for.
    async fn is_given_up<T>(of: impl Future<Output = io::Result<T>>) {
        let from = Instant::now();
        assert!(time::timeout(Duration::from_millis(50), of).await.is_err(), "it was found");
        assert!(from.elapsed() < LONG / 2, "it took {:?}", from.elapsed());
    }

    async fn all_are_given_up() {
        is_given_up(TcpStream::connect((SLOW, 1))).await;
        is_given_up(TcpListener::bind("slow.invalid:0")).await;
        is_given_up(UdpSocket::bind("slow.invalid:0".to_owned())).await;
        is_given_up(lookup_host((SLOW.to_owned(), 1))).await;
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a socket");
        is_given_up(socket.connect(&"slow.invalid:1")).await;
        is_given_up(socket.send_to(b"one", (SLOW, 1))).await;
        #[cfg(unix)]
        is_given_up(TcpListener::bind_many((SLOW, 0), 2)).await;
    }

    #[test]
    fn does_not_hold_up_a_timeout_of_block_on() {
        run(all_are_given_up());
    }

    #[test]
    fn does_not_hold_up_a_timeout_of_a_task() {
        let runtime = runtime(1);
        runtime.spawn(all_are_given_up()).join().expect("it was given up");
    }

    #[test]
    fn does_not_hold_up_what_runs_beside_it_in_the_same_task() {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let from = Instant::now();
            let sibling = async {
                time::sleep(Duration::from_millis(10)).await;
                from.elapsed()
            };
            crate::join!(TcpStream::connect((SLOW, 1)), sibling).1
        });
        let slept = task.join().expect("no panic");
        assert!(slept < LONG / 2, "it slept for {slept:?}");
    }

    #[test]
    fn is_found_in_the_end() {
        let found = run(lookup_host((SLOW, 80))).expect("it is there");
        assert_eq!(found.as_slice(), [([127, 0, 0, 1], 80).into()]);
    }

    #[test]
    fn whose_runtime_is_shut_down_is_an_error() {
        let runtime = runtime(2);
        let handle = runtime.handle();
        let (begins, begun) = mpsc::channel();
        let outside = thread::spawn(move || {
            handle.block_on(async {
                begins.send(()).expect("it is awaited");
                lookup_host((SLOW, 1)).await.map(drop)
            })
        });
        begun.recv().expect("it begins");
        drop(runtime);
        // Begun before the end it is found, or its task was never run; or no caller waits any more.
        match outside.join().expect("no panic") {
            Ok(Ok(())) | Err(_) => (),
            Ok(Err(error)) => assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{error}"),
        }
    }
}

mod a_look_up {
    use super::*;

    #[test]
    fn after_the_end_of_its_runtime_is_an_error() {
        let runtime = runtime(1);
        let handle = runtime.handle();
        let guard = handle.enter();
        drop(runtime);
        let found = Box::pin(look_up(SLOW.to_owned(), 1))
            .as_mut()
            .poll(&mut core::task::Context::from_waker(core::task::Waker::noop()));
        let core::task::Poll::Ready(Err(error)) = found else { panic!("it is {found:?}") };
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        drop(guard);
    }

    #[test]
    fn that_panics_is_an_error() {
        assert!(error(run(lookup_host(("panics.invalid", 1)))).contains("for a test"));
    }

    #[test]
    fn that_is_given_up_before_it_begins_does_not() {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let mut asks = Box::pin(lookup_host((COUNTED, 1)));
            let cx = &mut core::task::Context::from_waker(core::task::Waker::noop());
            assert!(asks.as_mut().poll(cx).is_pending());
        });
        task.join().expect("no panic");
        drop(runtime);
        assert_eq!(COUNT.load(Relaxed), 0);
    }

    #[test]
    fn works_outside_of_a_runtime() {
        let mut asks = core::pin::pin!(lookup_host(("localhost", 80)));
        let found = asks.as_mut().poll(&mut core::task::Context::from_waker(core::task::Waker::noop()));
        let core::task::Poll::Ready(Ok(mut found)) = found else { panic!("it waits") };
        assert!(found.all(|address| address.port() == 80));
    }
}

mod an_address {
    use super::*;

    /// What it says is what std says, and it says it at once.
    fn is_known<A: ToSocketAddrs + net::ToSocketAddrs>(address: A) {
        let Target::Known(known) = address.target().expect("an address") else { panic!("it is looked up") };
        let std: Vec<_> = net::ToSocketAddrs::to_socket_addrs(&address).expect("an address").collect();
        assert_eq!(known.as_slice(), std);
        assert_eq!(known.into_vec(), std);
    }

    #[test]
    fn needs_no_look_up() {
        let (four, six) = (SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1), SocketAddrV6::new(Ipv6Addr::LOCALHOST, 2, 3, 4));
        is_known(four);
        is_known(six);
        is_known(SocketAddr::from(four));
        is_known((IpAddr::from(Ipv4Addr::LOCALHOST), 1));
        is_known((Ipv4Addr::LOCALHOST, 1));
        is_known((Ipv6Addr::LOCALHOST, 1));
        is_known(&[four.into(), SocketAddr::from(six)][..]);
        is_known(&[][..]);
        is_known("127.0.0.1:80");
        is_known("[::1]:80".to_owned());
        is_known::<&&str>(&"[::1%2]:80");
        is_known(("127.0.0.1", 80));
        is_known(("::1".to_owned(), 80));
    }

    #[test]
    fn starts_no_task() {
        let runtime = runtime(1);
        let before = runtime.metrics();
        let found = runtime.block_on(lookup_host("127.0.0.1:80")).expect("no deadlock").expect("an address");
        assert_eq!((found.len(), runtime.metrics().dispatches()), (1, before.dispatches()));
    }
}

mod an_error {
    use super::*;

    /// It is std's.
    fn is_the_same<A: ToSocketAddrs + net::ToSocketAddrs>(address: A) {
        let std = net::ToSocketAddrs::to_socket_addrs(&address).err().expect("an error");
        let ours = run(lookup_host(address)).expect_err("an error");
        assert_eq!((ours.kind(), ours.to_string()), (std.kind(), std.to_string()));
    }

    #[test]
    fn has_the_text_that_it_has_in_std() {
        is_the_same("no port at all");
        is_the_same("localhost:no port");
        is_the_same("localhost:65536");
        is_the_same(("a\0b", 80));
        is_the_same("");
        is_the_same(":80");
    }

    #[test]
    fn of_a_socket_without_an_address_is_stds() {
        let none = &[][..];
        run(async {
            assert_eq!(error(TcpListener::bind(none).await), error(net::TcpListener::bind(none)));
            assert_eq!(error(UdpSocket::bind(none).await), error(net::UdpSocket::bind(none)));
        });
    }
}
