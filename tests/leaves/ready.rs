//! A loop over what is always ready lets others run, whatever it is, and wherever it is polled.

use futures_core::Stream;
use futures_io::{AsyncRead, AsyncSeek, AsyncWrite};
use futures_sink::Sink;
use spinpark::net::unix::{UnixDatagram, UnixListener, UnixStream};
use spinpark::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use spinpark::sync::{
    Barrier, CancellationToken, Mutex, Notify, OnceCell, RwLock, Semaphore, WaitGroup, broadcast, oneshot, watch,
};
use spinpark::time::{DelayQueue, interval, sleep};
use spinpark::{JoinSet, Runtime, TaskTracker, Wait, chan, fs, io, process, select, spawn, yield_now};
use std::future::{Future, poll_fn, ready};
use std::io::{IoSlice, IoSliceMut, SeekFrom};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;

/// So many operations a task may do in one poll.
const OPERATIONS: u32 = 128;
/// So many turns, and a loop ends: some polls.
const ENOUGH: u32 = 3 * OPERATIONS;

/// The turns of a loop: in this poll, and in all.
#[derive(Default)]
pub(crate) struct Turns {
    in_this_poll: AtomicU32,
    all: AtomicU32,
}

impl Turns {
    /// One more. Are there enough?
    fn is_enough(&self) -> bool {
        let in_this_poll = self.in_this_poll.fetch_add(1, Relaxed) + 1;
        assert!(in_this_poll <= OPERATIONS + 1, "it lets no others run");
        self.all.fetch_add(1, Relaxed) + 1 >= ENOUGH
    }
}

type Loop = fn(Arc<Turns>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// What is before the loop, and what is in it.
macro_rules! leaves {
    ($($name:literal: { $($before:tt)* } $turn:expr;)*) => {
        pub(crate) const LEAVES: &[(&str, Loop)] = &[$(($name, |turns| {
            Box::pin(async move {
                $($before)*
                loop {
                    let _ = $turn;
                    if turns.is_enough() {
                        return;
                    }
                }
            })
        })),*];
    };
}

/// It waits at its first poll, whatever is so.
pub(crate) const NEVER_READY_AT_ONCE: &[&str] = &["sync/cond Future for CondWait"];

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("spinpark-leaves-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

/// A path that no other has.
fn path() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    FOLDER.join(NEXT.fetch_add(1, Relaxed).to_string())
}

/// A path where a file is.
fn file_path() -> PathBuf {
    let path = path();
    std::fs::write(&path, "text").expect("written");
    path
}

async fn open_file() -> fs::File {
    fs::File::options().read(true).write(true).open(file_path()).await.expect("open")
}

/// An end of a connection whose other end sends no more.
fn ended() -> UnixStream {
    UnixStream::pair().expect("a pair").0
}

fn datagrams() -> UnixDatagram {
    let socket = UnixDatagram::bind(path()).expect("bound");
    let at = socket.local_addr().expect("an address");
    socket.connect(at.as_pathname().expect("a path")).expect("connected");
    socket
}

async fn udp() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("bound");
    socket.connect(socket.local_addr().expect("an address")).await.expect("connected");
    socket
}

async fn tcp() -> (TcpStream, std::net::TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let theirs = std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
    (listener.accept().await.expect("accepted").0, theirs)
}

fn next_unix(listener: &UnixListener) -> std::os::unix::net::UnixStream {
    let at = listener.local_addr().expect("an address");
    std::os::unix::net::UnixStream::connect(at.as_pathname().expect("a path")).expect("connected")
}

fn next_tcp(listener: &TcpListener) -> std::net::TcpStream {
    std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("connected")
}

async fn ended_tasks() -> Vec<spinpark::JoinHandle<()>> {
    let tasks: Vec<_> = (0..ENOUGH).map(|_| spawn(ready(()))).collect();
    while !tasks.iter().all(|task| task.is_finished()) {
        yield_now().await;
    }
    tasks
}

async fn ended_set() -> JoinSet<()> {
    let ended = Arc::new(AtomicU32::new(0));
    let mut set = JoinSet::new();
    for _ in 0..ENOUGH {
        let ended = Arc::clone(&ended);
        set.spawn(async move { _ = ended.fetch_add(1, Relaxed) });
    }
    while ended.load(Relaxed) < ENOUGH {
        yield_now().await;
    }
    set
}

async fn ended_child() -> process::Child {
    let mut child = process::Command::new("true").spawn().expect("started");
    child.wait().await.expect("it ends");
    child
}

leaves! {
    "compat/stream/channels Sink<T> for SenderSink": { let (sends, _receives) = chan::unbounded(); let mut sink = sends.into_sink(); } {
        poll_fn(|cx| Pin::new(&mut sink).poll_ready(cx)).await.expect("open");
        Pin::new(&mut sink).start_send(1)
    };
    "compat/stream/channels Stream for ReceiverStream": { let (_, receives) = chan::unbounded::<u8>(); let mut stream = receives.into_stream(); }
        poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await;
    "compat/stream/endless Stream for DelayQueue": { let mut queue = DelayQueue::new(); } { queue.insert(1, Duration::ZERO); poll_fn(|cx| Pin::new(&mut queue).poll_next(cx)).await };
    "compat/stream/endless Stream for Incoming": { let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound"); } {
        let _theirs = next_tcp(&listener);
        poll_fn(|cx| Pin::new(&mut listener.incoming()).poll_next(cx)).await
    };
    "compat/stream/endless Stream for Interval": { let mut ticks = interval(Duration::from_nanos(1)); }
        poll_fn(|cx| Pin::new(&mut ticks).poll_next(cx)).await;
    "exec/join Future for JoinHandle": { let mut tasks = ended_tasks().await; } tasks.pop().expect("one is left").await;
    "io/async_fd/fd async_io": { let fd = io::AsyncFd::new(ended()).expect("known"); } fd.async_io(io::Interest::READABLE, |_| Ok(())).await;
    "io/async_fd/fd poll_read_ready": { let fd = io::AsyncFd::new(ended()).expect("known"); } poll_fn(|cx| fd.poll_read_ready(cx).map(drop)).await;
    "io/async_fd/fd poll_write_ready": { let fd = io::AsyncFd::new(ended()).expect("known"); } poll_fn(|cx| fd.poll_write_ready(cx).map(drop)).await;
    "io/async_fd/fd readable": { let fd = io::AsyncFd::new(ended()).expect("known"); } fd.readable().await;
    "io/async_fd/fd ready": { let fd = io::AsyncFd::new(ended()).expect("known"); } fd.ready(io::Interest::READABLE | io::Interest::WRITABLE).await;
    "io/async_fd/fd writable": { let fd = io::AsyncFd::new(ended()).expect("known"); } fd.writable().await;
    "io/duplex AsyncRead for DuplexStream": { let (mut reads, writes) = io::duplex(1); drop(writes); } poll_fn(|cx| Pin::new(&mut reads).poll_read(cx, &mut [0])).await;
    "io/duplex AsyncWrite for DuplexStream": { let (mut writes, reads) = io::duplex(1); drop(reads); let mut turn = 0; } {
        turn += 1;
        poll_fn(|cx| match turn % 3 {
            0 => Pin::new(&mut writes).poll_write(cx, b"x").map(drop),
            1 => Pin::new(&mut writes).poll_flush(cx).map(drop),
            _ => Pin::new(&mut writes).poll_close(cx).map(drop),
        }).await
    };
    "io/fs canonicalize": {} fs::canonicalize(".").await;
    "io/fs copy": { let from = file_path(); } fs::copy(&from, path()).await;
    "io/fs create_dir": {} fs::create_dir(path()).await;
    "io/fs create_dir_all": {} fs::create_dir_all(path()).await;
    "io/fs hard_link": { let from = file_path(); } fs::hard_link(&from, path()).await;
    "io/fs metadata": {} fs::metadata(".").await;
    "io/fs read": { let path = file_path(); } fs::read(&path).await;
    "io/fs read_dir": {} fs::read_dir("/proc/self/fdinfo").await;
    "io/fs read_link": {} fs::read_link("/proc/self/exe").await;
    "io/fs read_to_string": { let path = file_path(); } fs::read_to_string(&path).await;
    "io/fs remove_dir": {} fs::remove_dir(path()).await;
    "io/fs remove_dir_all": {} fs::remove_dir_all(path()).await;
    "io/fs remove_file": {} fs::remove_file(path()).await;
    "io/fs rename": {} fs::rename(path(), path()).await;
    "io/fs set_permissions": { let path = file_path(); let as_before = fs::metadata(&path).await.expect("there").permissions(); }
        fs::set_permissions(&path, as_before.clone()).await;
    "io/fs symlink": {} fs::symlink(".", path()).await;
    "io/fs symlink_metadata": {} fs::symlink_metadata(".").await;
    "io/fs try_exists": {} fs::try_exists(".").await;
    "io/fs write": { let path = file_path(); } fs::write(&path, "text").await;
    "io/fs/file AsyncRead for $name": { let mut file = open_file().await; let mut is_vectored = false; } {
        is_vectored = !is_vectored;
        poll_fn(|cx| match is_vectored {
            true => Pin::new(&mut file).poll_read_vectored(cx, &mut [IoSliceMut::new(&mut [0])]),
            false => Pin::new(&mut file).poll_read(cx, &mut [0]),
        }).await
    };
    "io/fs/file AsyncSeek for $name": { let mut file = open_file().await; } poll_fn(|cx| Pin::new(&mut file).poll_seek(cx, SeekFrom::Start(0))).await;
    "io/fs/file AsyncWrite for $name": { let mut file = open_file().await; let mut turn = 0; } {
        turn += 1;
        poll_fn(|cx| match turn % 4 {
            0 => Pin::new(&mut file).poll_write_vectored(cx, &[IoSlice::new(b"x")]).map(drop),
            1 => Pin::new(&mut file).poll_write(cx, b"x").map(drop),
            2 => Pin::new(&mut file).poll_flush(cx).map(drop),
            _ => Pin::new(&mut file).poll_close(cx).map(drop),
        }).await
    };
    "io/fs/file create": { let path = path(); } fs::File::create(&path).await;
    "io/fs/file create_new": {} fs::File::create_new(path()).await;
    "io/fs/file metadata": { let file = open_file().await; } file.metadata().await;
    "io/fs/file open": { let path = file_path(); } fs::File::open(&path).await;
    "io/fs/file read": { let file = open_file().await; } file.read(&mut [0]).await;
    "io/fs/file read_exact": { let file = open_file().await; } file.read_exact(&mut []).await;
    "io/fs/file read_to_end": { let file = open_file().await; } file.read_to_end(&mut Vec::new()).await;
    "io/fs/file read_to_string": { let file = open_file().await; } file.read_to_string(&mut String::new()).await;
    "io/fs/file seek": { let file = open_file().await; } file.seek(SeekFrom::Start(0)).await;
    "io/fs/file set_len": { let file = open_file().await; } file.set_len(1).await;
    "io/fs/file set_permissions": { let file = open_file().await; let as_before = file.metadata().await.expect("there").permissions(); }
        file.set_permissions(as_before.clone()).await;
    "io/fs/file sync_all": { let file = fs::File::open("/proc/self/stat").await.expect("open"); } file.sync_all().await;
    "io/fs/file sync_data": { let file = fs::File::open("/proc/self/stat").await.expect("open"); } file.sync_data().await;
    "io/fs/file try_clone": { let file = open_file().await; } file.try_clone().await;
    "io/fs/file write": { let file = open_file().await; } file.write(b"x").await;
    "io/fs/file write_all": { let file = open_file().await; } file.write_all(b"").await;
    "io/halves AsyncRead for OwnedReadHalf": { let (mut reads, _) = ended().into_split(); } poll_fn(|cx| Pin::new(&mut reads).poll_read(cx, &mut [0])).await;
    "io/halves AsyncWrite for OwnedWriteHalf": { let (_, mut writes) = ended().into_split(); } {
        poll_fn(|cx| Pin::new(&mut writes).poll_flush(cx)).await.expect("nothing to do");
        poll_fn(|cx| Pin::new(&mut writes).poll_write(cx, b"x")).await
    };
    "io/halves read": { let (reads, _) = ended().into_split(); } reads.read(&mut [0]).await;
    "io/halves read_exact": { let (reads, _) = ended().into_split(); } reads.read_exact(&mut []).await;
    "io/halves write": { let (_, writes) = ended().into_split(); } writes.write(b"x").await;
    "io/halves write_all": { let (_, writes) = ended().into_split(); } writes.write_all(b"").await;
    "io/macros $reads": { let stream = ended(); } poll_fn(|cx| stream.poll_read_ready(cx)).await;
    "io/macros $writes": { let stream = ended(); } poll_fn(|cx| stream.poll_write_ready(cx)).await;
    "io/futures_traits AsyncRead for $name": { let mut stream = ended(); let mut is_vectored = false; } {
        is_vectored = !is_vectored;
        poll_fn(|cx| match is_vectored {
            true => Pin::new(&mut stream).poll_read_vectored(cx, &mut [IoSliceMut::new(&mut [0])]),
            false => Pin::new(&mut stream).poll_read(cx, &mut [0]),
        }).await
    };
    "io/futures_traits AsyncWrite for $name": { let mut stream = ended(); let mut turn = 0; } {
        turn += 1;
        poll_fn(|cx| match turn % 4 {
            0 => Pin::new(&mut stream).poll_write_vectored(cx, &[IoSlice::new(b"x")]).map(drop),
            1 => Pin::new(&mut stream).poll_write(cx, b"x").map(drop),
            2 => Pin::new(&mut stream).poll_flush(cx).map(drop),
            _ => Pin::new(&mut stream).poll_close(cx).map(drop),
        }).await
    };
    "io/macros async_io": { let stream = ended(); } stream.async_io(io::Interest::READABLE, || Ok(())).await;
    "io/macros read": { let stream = ended(); } stream.read(&mut [0]).await;
    "io/macros read_exact": { let stream = ended(); } stream.read_exact(&mut []).await;
    "io/macros read_vectored": { let stream = ended(); } stream.read_vectored(&mut [IoSliceMut::new(&mut [0])]).await;
    "io/macros readable": { let stream = ended(); } stream.readable().await;
    "io/macros ready": { let stream = ended(); } stream.ready(io::Interest::READABLE | io::Interest::WRITABLE).await;
    "io/macros writable": { let stream = ended(); } stream.writable().await;
    "io/macros write": { let stream = ended(); } stream.write(b"x").await;
    "io/macros write_all": { let stream = ended(); } stream.write_all(b"").await;
    "io/macros write_vectored": { let stream = ended(); } stream.write_vectored(&[IoSlice::new(b"x")]).await;
    "io/net/lookup lookup_host": {} spinpark::net::lookup_host("127.0.0.1:1").await;
    "io/net/reuseport bind_many": {} TcpListener::bind_many("127.0.0.1:0", 1).await;
    "io/net/tcp/listener accept": { let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound"); } { let _theirs = next_tcp(&listener); listener.accept().await };
    "io/net/tcp/listener bind": {} TcpListener::bind("127.0.0.1:0").await;
    "io/net/tcp/stream connect": {} TcpStream::connect("127.0.0.1:1").await;
    "io/net/tcp/listener next": { let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound"); } { let _theirs = next_tcp(&listener); listener.incoming().next().await };
    "io/net/tcp/stream peek": { let (stream, _) = tcp().await; } stream.peek(&mut [0]).await;
    "io/net/tcp/listener poll_accept": { let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound"); } {
        let _theirs = next_tcp(&listener);
        poll_fn(|cx| listener.poll_accept(cx)).await
    };
    "io/net/tcp_socket connect": {} TcpSocket::new_v4().expect("a socket").connect(([127, 0, 0, 1], 1).into()).await;
    "io/net/udp bind": {} UdpSocket::bind("127.0.0.1:0").await;
    "io/net/udp connect": { let socket = udp().await; } socket.connect("127.0.0.1:1").await;
    "io/net/udp peek": { let socket = udp().await; socket.send(b"x").await.expect("sent"); } socket.peek(&mut [0]).await;
    "io/net/udp peek_from": { let socket = udp().await; socket.send(b"x").await.expect("sent"); } socket.peek_from(&mut [0]).await;
    "io/net/udp recv": { let socket = udp().await; } { socket.try_send(b"x").expect("sent"); socket.recv(&mut [0]).await };
    "io/net/udp recv_from": { let socket = udp().await; } { socket.try_send(b"x").expect("sent"); socket.recv_from(&mut [0]).await };
    "io/net/udp send": { let socket = udp().await; } socket.send(b"x").await;
    "io/net/udp send_to": { let socket = UdpSocket::bind("127.0.0.1:0").await.expect("bound"); } socket.send_to(b"x", "127.0.0.1:1").await;
    "io/net/unix accept": { let listener = UnixListener::bind(path()).expect("bound"); } { let _theirs = next_unix(&listener); listener.accept().await };
    "io/net/unix connect": {} UnixStream::connect(path()).await;
    "io/net/unix connect_addr": { let at = std::os::unix::net::SocketAddr::from_pathname(path()).expect("an address"); } UnixStream::connect_addr(&at).await;
    "io/net/unix poll_accept": { let listener = UnixListener::bind(path()).expect("bound"); } {
        let _theirs = next_unix(&listener);
        poll_fn(|cx| listener.poll_accept(cx)).await
    };
    "io/net/unix recv": { let socket = datagrams(); } { socket.try_send(b"x").expect("sent"); socket.recv(&mut [0]).await };
    "io/net/unix recv_from": { let socket = datagrams(); } { socket.try_send(b"x").expect("sent"); socket.recv_from(&mut [0]).await };
    "io/net/unix send": { let socket = datagrams(); } { let _ = socket.try_recv(&mut [0]); socket.send(b"x").await };
    "io/net/unix send_to": { let socket = UnixDatagram::unbound().expect("a socket"); } socket.send_to(b"x", path()).await;
    "io/process/child kill": { let mut child = ended_child().await; } child.kill().await;
    "io/process/child wait": { let mut child = ended_child().await; } child.wait().await;
    "io/process/child wait_with_output": { let mut children = Vec::new(); for _ in 0..ENOUGH { children.push(()); } let mut child = Some(ended_child().await); } {
        children.pop();
        match child.take() {
            Some(child) => drop(child.wait_with_output().await),
            None => yield_now().await,
        }
    };
    "io/process/command output": {} process::Command::new("/nonexistent").output().await;
    "io/process/command status": {} process::Command::new("/nonexistent").status().await;
    "io/signal/unix poll_recv": { let mut signals = spinpark::signal::unix::signal(spinpark::signal::unix::SignalKind::user_defined1()).expect("heard"); } {
        signal_hook::low_level::raise(libc::SIGUSR1).expect("raised");
        poll_fn(|cx| signals.poll_recv(cx)).await
    };
    "io/signal/unix recv": { let mut signals = spinpark::signal::unix::signal(spinpark::signal::unix::SignalKind::user_defined1()).expect("heard"); } {
        signal_hook::low_level::raise(libc::SIGUSR1).expect("raised");
        signals.recv().await
    };
    "io/standard AsyncRead for Stdin": { let mut input = io::stdin().expect("in a task"); } poll_fn(|cx| Pin::new(&mut input).poll_read(cx, &mut [0])).await;
    "io/standard AsyncWrite for $name": { let mut output = io::stdout(); let mut turn = 0; } {
        turn += 1;
        poll_fn(|cx| match turn % 4 {
            0 => Pin::new(&mut output).poll_write_vectored(cx, &[]).map(drop),
            1 => Pin::new(&mut output).poll_write(cx, b"").map(drop),
            2 => Pin::new(&mut output).poll_flush(cx).map(drop),
            _ => Pin::new(&mut output).poll_close(cx).map(drop),
        }).await
    };
    "io/standard read": { let mut input = io::stdin().expect("in a task"); } input.read(&mut [0]).await;
    "io/standard read_to_end": { let mut input = io::stdin().expect("in a task"); } input.read_to_end(&mut Vec::new()).await;
    "io/standard write_all": {} io::stdout().write_all(b"").await;
    "io/zero_copy sendfile": { let file = open_file().await; let stream = ended(); } stream.sendfile(&file, 1 << 20, 1).await;
    "io/zero_copy splice": { let (reader, writer) = io::pipe().expect("a pipe"); drop(writer); let stream = ended(); } io::splice(&reader, &stream, 1).await;
    "structured/cancellation Future for WaitForCancellationFuture": { let token = CancellationToken::new(); token.cancel(); } token.cancelled().await;
    "structured/cancellation Future for WaitForCancellationFutureOwned": { let token = CancellationToken::new(); token.cancel(); } token.clone().cancelled_owned().await;
    "structured/cancellation run_until_cancelled": { let token = CancellationToken::new(); token.cancel(); } token.run_until_cancelled(ready(())).await;
    "structured/cancellation run_until_cancelled": { let token = CancellationToken::new(); } token.run_until_cancelled(ready(())).await;
    "structured/cancellation run_until_cancelled_owned": { let token = CancellationToken::new(); token.cancel(); } token.clone().run_until_cancelled_owned(ready(())).await;
    "structured/join_set join_all": {} JoinSet::<()>::new().join_all().await;
    "structured/join_set join_next": { let mut set = ended_set().await; } set.join_next().await;
    "structured/join_set join_next_with_id": { let mut set = ended_set().await; } set.join_next_with_id().await;
    "structured/join_set poll_join_next": { let mut set = ended_set().await; } poll_fn(|cx| set.poll_join_next(cx)).await;
    "structured/join_set poll_join_next_with_id": { let mut set = ended_set().await; } poll_fn(|cx| set.poll_join_next_with_id(cx)).await;
    "structured/join_set shutdown": { let mut set = JoinSet::<()>::new(); } set.shutdown().await;
    "structured/tracker Future for TaskTrackerWait": { let tracker = TaskTracker::new(); tracker.close(); } tracker.wait().await;
    "sync/barrier Future for BarrierWait": { let barrier = Barrier::new(1); } barrier.wait().await;
    "sync/broadcast Future for Receiving": { let (sends, mut receives) = broadcast::channel(2); } { sends.send(1).expect("open"); receives.recv().await };
    "sync/broadcast Future for SenderClosed": { let (sends, receives) = broadcast::channel::<u8>(2); drop(receives); } sends.closed().await;
    "sync/chan/closed Future for SenderClosed": { let (sends, receives) = chan::bounded::<u8>(1); drop(receives); } sends.closed().await;
    "sync/chan/futures Future for Receiving": { let (_, receives) = chan::bounded::<u8>(1); } receives.recv().await;
    "sync/chan/futures Future for Sending": { let (sends, _receives) = chan::unbounded(); } sends.send(1).await;
    "sync/chan/many recv_many": { let (_, receives) = chan::bounded::<u8>(1); let mut limit = 0; } { limit = 1 - limit; receives.recv_many(&mut Vec::new(), limit).await };
    "sync/chan/permits Future for Reserving": { let (sends, _receives) = chan::bounded::<u8>(1); } drop(sends.reserve().await);
    "sync/chan/permits reserve_many": { let (sends, _receives) = chan::bounded::<u8>(1); } drop(sends.reserve_many(1).await);
    "sync/chan/permits reserve_owned": { let (sends, _receives) = chan::bounded::<u8>(1); } drop(sends.clone().reserve_owned().await);
    "sync/chan/timed send_timeout": { let (sends, _receives) = chan::unbounded(); } sends.send_timeout(1, Duration::ZERO).await;
    "sync/coop Future for Turn": { let lock = Mutex::new(1); } *lock.lock().await;
    "sync/locks get_or_init": { let cell = OnceCell::new(); } *cell.get_or_init(|| ready(1)).await;
    "sync/locks get_or_try_init": { let cell = OnceCell::new(); } cell.get_or_try_init(|| ready(Err::<u8, ()>(()))).await;
    "sync/locks wait": { let cell = OnceCell::new(); cell.get_or_init(|| ready(1)).await; } *cell.wait().await;
    "sync/notify Future for Notified": { let notify = Notify::new(); } { notify.notify_one(); notify.notified().await };
    "sync/oneshot Future for Receiver": {} { let (sends, receives) = oneshot::channel(); sends.send(1).expect("open"); receives.await };
    "sync/oneshot Future for SenderClosed": { let (mut sends, receives) = oneshot::channel::<u8>(); drop(receives); } sends.closed().await;
    "sync/oneshot poll_closed": { let (mut sends, receives) = oneshot::channel::<u8>(); drop(receives); } poll_fn(|cx| sends.poll_closed(cx)).await;
    "sync/rw_lock Future for Read": { let lock = RwLock::new(1); } *lock.read().await;
    "sync/rw_lock Future for Write": { let lock = RwLock::new(1); } *lock.write().await;
    "sync/rw_lock read_owned": { let lock = Arc::new(RwLock::new(1)); } *lock.clone().read_owned().await;
    "sync/rw_lock write_owned": { let lock = Arc::new(RwLock::new(1)); } *lock.clone().write_owned().await;
    "sync/select/future Future for Select": { let (_, receives) = chan::bounded::<u8>(1); } select! { _ = receives.recv() => (), default => () };
    "sync/semaphore Future for Acquire": { let semaphore = Semaphore::new(1); } drop(semaphore.acquire().await);
    "sync/semaphore acquire_many_owned": { let semaphore = Arc::new(Semaphore::new(2)); } drop(semaphore.clone().acquire_many_owned(2).await);
    "sync/semaphore acquire_owned": { let semaphore = Arc::new(Semaphore::new(1)); } drop(semaphore.clone().acquire_owned().await);
    "sync/wait_group Future for Waiting": { let group = WaitGroup::new(); } group.wait().await;
    "sync/notify Future for OwnedNotified": { let notify = Arc::new(Notify::new()); } { notify.notify_one(); notify.clone().notified_owned().await };
    "sync/set_once wait": { let set = spinpark::sync::SetOnce::from(1); } set.wait().await;
    "sync/watch Future for Changed": { let (_sends, mut receives) = watch::channel(1); } { receives.mark_changed(); receives.changed().await };
    "sync/watch Future for SenderClosed": { let (sends, receives) = watch::channel(1); drop(receives); } sends.closed().await;
    "sync/watch wait_for": { let (_sends, mut receives) = watch::channel(1); } drop(receives.wait_for(|_| true).await);
    "time/delay_queue next": { let mut queue = DelayQueue::new(); let mut turn = 0; } {
        turn += 1;
        if turn % 2 == 0 {
            queue.insert(1, Duration::ZERO);
        }
        queue.next().await
    };
    "time/delay_queue poll_expired": { let mut queue = DelayQueue::new(); } { queue.insert(1, Duration::ZERO); poll_fn(|cx| queue.poll_expired(cx)).await };
    "time/sleep Future for Sleep": {} sleep(Duration::ZERO).await;
    "time/interval poll_tick": { let mut ticks = interval(Duration::from_nanos(1)); } poll_fn(|cx| ticks.poll_tick(cx)).await;
    "time/interval tick": { let mut ticks = interval(Duration::from_nanos(1)); } ticks.tick().await;
}

/// What the process reads as its standard input has ended: so a read is always ready.
fn end_standard_input() {
    let nothing = std::fs::File::open("/dev/null").expect("open");
    rustix::stdio::dup2_stdin(nothing).expect("in its place");
}

/// Runs each loop by `run`. It ends, and lets others run each time that it has done as much as a task may.
fn lets_others_run(run: impl Fn(&Runtime, Pin<Box<dyn Future<Output = ()> + Send>>) -> bool) {
    let _alone = crate::alone();
    end_standard_input();
    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    let failed = LEAVES.iter().filter(|&&(_, of_loop)| {
        let turns = Arc::new(Turns::default());
        let mut of_loop = of_loop(Arc::clone(&turns));
        let polled = poll_fn(move |cx| {
            turns.in_this_poll.store(0, Relaxed);
            match of_loop.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => Poll::Pending,
            }
        });
        !run(&runtime, Box::pin(polled))
    });
    let failed: Vec<_> = failed.map(|&(name, _)| name).collect();
    assert!(failed.is_empty(), "they let no others run: {failed:#?}");
}

mod a_loop_over_what_is_always_ready {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn lets_others_run_in_a_task() {
        lets_others_run(|runtime, future| runtime.spawn(future).join().is_ok());
    }

    #[test]
    fn lets_others_run_in_block_on() {
        lets_others_run(|runtime, future| catch_unwind(AssertUnwindSafe(|| runtime.block_on(future))).is_ok());
    }

    #[test]
    fn lets_others_run_where_a_goroutine_waits_for_it() {
        lets_others_run(|runtime, future| runtime.go(|| future.wait()).join().is_ok());
    }
}

mod what_is_polled_behind_a_loop_that_never_ends {
    use super::*;
    use futures_lite::future::or;
    use spinpark::time::timeout;

    /// Always ready, and not for ever: a test that fails shall end.
    async fn hot() {
        let end = std::time::Instant::now() + Duration::from_secs(20);
        while std::time::Instant::now() < end {
            sleep(Duration::ZERO).await;
        }
        panic!("nothing else had its turn");
    }

    fn behind() -> Vec<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let (sends, receives) = chan::bounded(1);
        sends.try_send(1).expect("there is room");
        vec![
            Box::pin(sleep(Duration::ZERO)),
            Box::pin(sleep(Duration::from_millis(1))),
            Box::pin(async move { assert_eq!(receives.recv().await, Ok(1)) }),
            Box::pin(async { _ = timeout(Duration::ZERO, hot()).await.expect_err("it never ends") }),
        ]
    }

    #[test]
    fn has_its_turn() {
        let _alone = crate::alone();
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        for n in 0..behind().len() {
            runtime.spawn(or(hot(), behind().swap_remove(n))).join().expect("it has its turn in a task");
            runtime.block_on(or(hot(), behind().swap_remove(n))).expect("no deadlock");
            runtime
                .go(move || or(hot(), behind().swap_remove(n)).wait())
                .join()
                .expect("it has its turn where it is waited for");
        }
    }
}
