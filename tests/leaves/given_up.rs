//! Whatever is polled and given up, again and again, leaves nothing behind: no waker, and no memory.

use futures_core::Stream;
use futures_io::{AsyncRead, AsyncWrite};
use futures_sink::Sink;
use spinpark::kernel::waits::readiness::SLOTS;
use spinpark::net::unix::{UnixDatagram, UnixListener, UnixStream};
use spinpark::net::{TcpListener, TcpStream, UdpSocket};
use spinpark::sync::{
    Barrier, CancellationToken, Cond, Mutex, Notify, OnceCell, RwLock, Semaphore, WaitGroup, broadcast, oneshot, watch,
};
use spinpark::time::{DelayQueue, interval, sleep};
use spinpark::{JoinSet, Runtime, TaskTracker, Wait, chan, io, process, select, spawn};
use std::alloc::{GlobalAlloc, Layout, System};
use std::future::{Future, pending, poll_fn};
use std::io::{IoSlice, IoSliceMut};
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicIsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Counts the bytes that are in use.
struct Counting;

static IN_USE: AtomicIsize = AtomicIsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator does it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size() as isize, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }
}

/// A task that is no more when nothing has its waker.
struct Task;

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

/// So often each is polled and given up. A waker that stays is seen after ten.
const TURNS: usize = 2_000;

/// Polls anew each time, by a task of its own, and gives up.
fn poll_and_give_up(mut poll: impl FnMut(&mut Context<'_>) -> bool) {
    let mut tasks: Vec<Weak<Task>> = Vec::with_capacity(TURNS);
    let mut turn = || {
        let task = Arc::new(Task);
        tasks.push(Arc::downgrade(&task));
        assert!(poll(&mut Context::from_waker(&Waker::from(task))), "it is ready, and shall wait");
    };
    (0..TURNS / 4).for_each(|_| turn());
    // The tests beside this one use memory too: what is left behind is left behind each time.
    let more = (0..3).map(|_| {
        let before = IN_USE.load(Relaxed);
        (0..TURNS / 4).for_each(|_| turn());
        IN_USE.load(Relaxed) - before
    });
    let more = more.min().expect("three");
    let alive = tasks.iter().filter(|task| task.strong_count() > 0).count();
    // What is dropped gives its waker back; of polls by a function the last few are kept.
    assert!(alive <= SLOTS, "{alive} wakers are left");
    // A `Weak` keeps its task's memory: two counters.
    let weak = TURNS / 4 * size_of::<[usize; 2]>();
    assert!(more < weak as isize + 4096, "{more} bytes more, of which {weak} are the test's own");
}

/// What is before, and what is polled.
macro_rules! leaves {
    ($($name:literal: { $($before:tt)* } $future:expr;)*) => {
        pub(crate) const LEAVES: &[(&str, fn())] = &[$(($name, || {
            $($before)*
            poll_and_give_up(|cx| pin!($future).poll(cx).is_pending());
        })),*];
    };
}

/// What has no waker to leave: it owns what it waits for, and takes that with it; or it waits for its thread alone.
pub(crate) const LEAVES_NOTHING: &[&str] = &[
    "io/fs canonicalize",
    "io/fs copy",
    "io/fs create_dir",
    "io/fs create_dir_all",
    "io/fs hard_link",
    "io/fs metadata",
    "io/fs read",
    "io/fs read_dir",
    "io/fs read_link",
    "io/fs read_to_string",
    "io/fs remove_dir",
    "io/fs remove_dir_all",
    "io/fs remove_file",
    "io/fs rename",
    "io/fs set_permissions",
    "io/fs symlink",
    "io/fs symlink_metadata",
    "io/fs try_exists",
    "io/fs write",
    "io/fs/file AsyncRead for $name",
    "io/fs/file AsyncSeek for $name",
    "io/fs/file AsyncWrite for $name",
    "io/fs/file create",
    "io/fs/file create_new",
    "io/fs/file metadata",
    "io/fs/file open",
    "io/fs/file read",
    "io/fs/file read_exact",
    "io/fs/file read_to_end",
    "io/fs/file read_to_string",
    "io/fs/file seek",
    "io/fs/file set_len",
    "io/fs/file set_permissions",
    "io/fs/file sync_all",
    "io/fs/file sync_data",
    "io/fs/file try_clone",
    "io/fs/file write",
    "io/fs/file write_all",
    "io/net/lookup lookup_host",
    "io/net/reuseport bind_many",
    "io/net/tcp/listener bind",
    "io/net/tcp/stream connect",
    "io/net/tcp_socket connect",
    "io/net/udp bind",
    "io/net/udp connect",
    "io/net/unix connect",
    "io/net/unix connect_addr",
    "io/process/child wait_with_output",
    "io/standard AsyncRead for Stdin",
    "io/standard AsyncWrite for $name",
    "io/standard read",
    "io/standard read_to_end",
    "io/standard write_all",
    "structured/cancellation run_until_cancelled_owned",
    "structured/join_set join_all",
];

fn pair() -> (UnixStream, UnixStream) {
    UnixStream::pair().expect("a pair")
}

/// An end of a connection that is full, and the other.
fn full() -> (UnixStream, UnixStream) {
    let (one, other) = pair();
    while one.try_write(&[0; 1 << 16]).is_ok() {}
    (one, other)
}

fn udp() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").wait().expect("bound")
}

fn tcp() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").wait().expect("bound")
}

fn unix() -> UnixListener {
    let path = std::env::temp_dir().join(format!("spinpark-given-up-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    UnixListener::bind(path).expect("bound")
}

fn full_datagrams() -> (UnixDatagram, UnixDatagram) {
    let (one, other) = UnixDatagram::pair().expect("a pair");
    while one.try_send(&[0; 1024]).is_ok() {}
    (one, other)
}

fn child() -> process::Child {
    let mut command = process::Command::new("sleep");
    command.arg("60").kill_on_drop(true);
    command.spawn().expect("started")
}

fn set() -> JoinSet<()> {
    let mut set = JoinSet::new();
    set.spawn(pending());
    set
}

fn signals() -> spinpark::signal::unix::Signal {
    spinpark::signal::unix::signal(spinpark::signal::unix::SignalKind::window_change()).expect("heard")
}

const HOUR: Duration = Duration::from_secs(3600);

leaves! {
    "compat/stream/channels Sink<T> for SenderSink": { let (sends, _receives) = chan::bounded(1); let mut sink = sends.into_sink(); sink_full(&mut sink); }
        poll_fn(|cx| Pin::new(&mut sink).poll_ready(cx));
    "compat/stream/channels Stream for ReceiverStream": { let (_sends, receives) = chan::bounded::<u8>(1); let mut stream = receives.into_stream(); }
        poll_fn(|cx| Pin::new(&mut stream).poll_next(cx));
    "compat/stream/endless Stream for DelayQueue": { let mut queue = DelayQueue::new(); queue.insert(1, HOUR); } poll_fn(|cx| Pin::new(&mut queue).poll_next(cx));
    "compat/stream/endless Stream for Incoming": { let listener = tcp(); } poll_fn(|cx| Pin::new(&mut listener.incoming()).poll_next(cx));
    "compat/stream/endless Stream for Interval": { let mut ticks = interval(HOUR); ticks.tick().wait(); } poll_fn(|cx| Pin::new(&mut ticks).poll_next(cx));
    "exec/join Future for JoinHandle": { let mut task = spawn(pending::<()>()); } &mut task;
    "io/async_fd/fd async_io": { let (one, _other) = pair(); let fd = io::AsyncFd::new(one).expect("known"); }
        fd.async_io(io::Interest::READABLE, |_| Err::<(), _>(std::io::ErrorKind::WouldBlock.into()));
    "io/async_fd/fd poll_read_ready": { let (one, _other) = pair(); let fd = io::AsyncFd::new(one).expect("known"); } poll_fn(|cx| fd.poll_read_ready(cx));
    "io/async_fd/fd poll_write_ready": { let (one, _other) = full(); let fd = io::AsyncFd::new(one).expect("known"); } poll_fn(|cx| fd.poll_write_ready(cx));
    "io/async_fd/fd readable": { let (one, _other) = pair(); let fd = io::AsyncFd::new(one).expect("known"); } fd.readable();
    "io/async_fd/fd ready": { let (one, _other) = full(); let fd = io::AsyncFd::new(one).expect("known"); } fd.ready(io::Interest::READABLE | io::Interest::WRITABLE);
    "io/async_fd/fd writable": { let (one, _other) = full(); let fd = io::AsyncFd::new(one).expect("known"); } fd.writable();
    "io/duplex AsyncRead for DuplexStream": { let (mut reads, _writes) = io::duplex(1); } poll_fn(|cx| Pin::new(&mut reads).poll_read(cx, &mut [0]));
    "io/duplex AsyncWrite for DuplexStream": { let (mut writes, _reads) = io::duplex(1); fill(&mut writes); } poll_fn(|cx| Pin::new(&mut writes).poll_write(cx, b"x"));
    "io/halves AsyncRead for OwnedReadHalf": { let (one, _other) = pair(); let (mut reads, _writes) = one.into_split(); } poll_fn(|cx| Pin::new(&mut reads).poll_read(cx, &mut [0]));
    "io/halves AsyncWrite for OwnedWriteHalf": { let (one, _other) = full(); let (_reads, mut writes) = one.into_split(); } poll_fn(|cx| Pin::new(&mut writes).poll_write(cx, b"x"));
    "io/halves read": { let (one, _other) = pair(); let (reads, _writes) = one.into_split(); } async { reads.read(&mut [0]).await };
    "io/halves read_exact": { let (one, _other) = pair(); let (reads, _writes) = one.into_split(); } async { reads.read_exact(&mut [0]).await };
    "io/halves write": { let (one, _other) = full(); let (_reads, writes) = one.into_split(); } writes.write(b"x");
    "io/halves write_all": { let (one, _other) = full(); let (_reads, writes) = one.into_split(); } writes.write_all(b"x");
    "io/macros $reads": { let (one, _other) = pair(); } poll_fn(|cx| one.poll_read_ready(cx));
    "io/macros $writes": { let (one, _other) = full(); } poll_fn(|cx| one.poll_write_ready(cx));
    "io/futures_traits AsyncRead for $name": { let (mut one, _other) = pair(); let mut is_vectored = false; } {
        is_vectored = !is_vectored;
        poll_fn(|cx| match is_vectored {
            true => Pin::new(&mut one).poll_read_vectored(cx, &mut [IoSliceMut::new(&mut [0])]),
            false => Pin::new(&mut one).poll_read(cx, &mut [0]),
        })
    };
    "io/futures_traits AsyncWrite for $name": { let (mut one, _other) = full(); let mut is_vectored = false; } {
        is_vectored = !is_vectored;
        poll_fn(|cx| match is_vectored {
            true => Pin::new(&mut one).poll_write_vectored(cx, &[IoSlice::new(b"x")]),
            false => Pin::new(&mut one).poll_write(cx, b"x"),
        })
    };
    "io/macros async_io": { let (one, _other) = pair(); } one.async_io(io::Interest::READABLE, || Err::<(), _>(std::io::ErrorKind::WouldBlock.into()));
    "io/macros read": { let (reader, _writer) = io::pipe().expect("a pipe"); } async { reader.read(&mut [0]).await };
    "io/macros read_exact": { let (one, _other) = pair(); } async { one.read_exact(&mut [0]).await };
    "io/macros read_vectored": { let (one, _other) = pair(); } async { one.read_vectored(&mut [IoSliceMut::new(&mut [0])]).await };
    "io/macros readable": { let (one, _other) = pair(); } one.readable();
    "io/macros ready": { let (one, _other) = full(); } one.ready(io::Interest::READABLE | io::Interest::WRITABLE);
    "io/macros writable": { let (one, _other) = full(); } one.writable();
    "io/macros write": { let (_reader, writer) = io::pipe().expect("a pipe"); while writer.try_write(&[0; 4096]).is_ok() {} } writer.write(b"x");
    "io/macros write_all": { let (one, _other) = full(); } one.write_all(b"x");
    "io/macros write_vectored": { let (one, _other) = full(); } async { one.write_vectored(&[IoSlice::new(b"x")]).await };
    "io/net/tcp/listener accept": { let listener = tcp(); } listener.accept();
    "io/net/tcp/listener next": { let listener = tcp(); } async { listener.incoming().next().await };
    "io/net/tcp/stream peek": { let (one, _other) = tcp_pair(); } async { one.peek(&mut [0]).await };
    "io/net/tcp/listener poll_accept": { let listener = tcp(); } poll_fn(|cx| listener.poll_accept(cx));
    "io/net/udp peek": { let socket = udp(); } async { socket.peek(&mut [0]).await };
    "io/net/udp peek_from": { let socket = udp(); } async { socket.peek_from(&mut [0]).await };
    "io/net/udp recv": { let socket = udp(); } async { socket.recv(&mut [0]).await };
    "io/net/udp recv_from": { let socket = udp(); } async { socket.recv_from(&mut [0]).await };
    "io/net/udp send": { let socket = udp(); } socket.async_io(io::Interest::WRITABLE, || Err::<(), _>(std::io::ErrorKind::WouldBlock.into()));
    "io/net/udp send_to": { let socket = udp(); } socket.async_io(io::Interest::WRITABLE, || Err::<(), _>(std::io::ErrorKind::WouldBlock.into()));
    "io/net/unix accept": { let listener = unix(); } listener.accept();
    "io/net/unix poll_accept": { let listener = unix(); } poll_fn(|cx| listener.poll_accept(cx));
    "io/net/unix recv": { let (one, _other) = UnixDatagram::pair().expect("a pair"); } async { one.recv(&mut [0]).await };
    "io/net/unix recv_from": { let (one, _other) = UnixDatagram::pair().expect("a pair"); } async { one.recv_from(&mut [0]).await };
    "io/net/unix send": { let (one, _other) = full_datagrams(); } one.send(b"x");
    "io/net/unix send_to": { let (one, _other) = full_datagrams(); } one.async_io(io::Interest::WRITABLE, || one.try_send(b"x"));
    "io/process/child kill": { let mut stopped = child(); } stopped.wait();
    "io/process/child wait": { let mut child = child(); } child.wait();
    "io/signal/unix poll_recv": { let mut signals = signals(); } poll_fn(|cx| signals.poll_recv(cx));
    "io/signal/unix recv": { let mut signals = signals(); } signals.recv();
    "io/zero_copy sendfile": { let file = a_file(); let (one, _other) = full(); } one.sendfile(&file, 0, 1);
    "io/zero_copy splice": { let (reader, _writer) = io::pipe().expect("a pipe"); let (one, _other) = pair(); } io::splice(&reader, &one, 1);
    "structured/cancellation Future for WaitForCancellationFuture": { let token = CancellationToken::new(); } token.cancelled();
    "structured/cancellation Future for WaitForCancellationFutureOwned": { let token = CancellationToken::new(); } token.clone().cancelled_owned();
    "structured/cancellation run_until_cancelled": { let token = CancellationToken::new(); } token.run_until_cancelled(pending::<()>());
    "structured/join_set join_next": { let mut set = set(); } set.join_next();
    "structured/join_set join_next_with_id": { let mut set = set(); } set.join_next_with_id();
    "structured/join_set poll_join_next": { let mut set = set(); } poll_fn(|cx| set.poll_join_next(cx));
    "structured/join_set poll_join_next_with_id": { let mut set = set(); } poll_fn(|cx| set.poll_join_next_with_id(cx));
    "structured/join_set shutdown": { let (_until, mut set) = hogs(); } set.shutdown();
    "structured/tracker Future for TaskTrackerWait": { let tracker = TaskTracker::new(); } tracker.wait();
    "sync/barrier Future for BarrierWait": { let barrier = Barrier::new(2 * TURNS); } barrier.wait();
    "sync/broadcast Future for Receiving": { let (_sends, mut receives) = broadcast::channel::<u8>(2); } receives.recv();
    "sync/broadcast Future for SenderClosed": { let (sends, _receives) = broadcast::channel::<u8>(2); } sends.closed();
    "sync/chan/closed Future for SenderClosed": { let (sends, _receives) = chan::bounded::<u8>(1); } sends.closed();
    "sync/chan/futures Future for Receiving": { let (_sends, receives) = chan::bounded::<u8>(1); } receives.recv();
    "sync/chan/futures Future for Sending": { let (sends, _receives) = chan::rendezvous::<u8>(); } sends.send(1);
    "sync/cond Future for CondWait": { let (cond, lock) = (Cond::new(), Mutex::new(())); } cond.wait(lock.try_lock().expect("free"));
    "sync/chan/many recv_many": { let (_sends, receives) = chan::bounded::<u8>(1); let mut some = Vec::new(); } receives.recv_many(&mut some, 2);
    "sync/chan/permits Future for Reserving": { let (sends, _receives) = chan::bounded::<u8>(1); sends.try_send(1).expect("room"); } sends.reserve();
    "sync/chan/permits reserve_many": { let (sends, _receives) = chan::bounded::<u8>(1); sends.try_send(1).expect("room"); } async { sends.reserve_many(1).await.map(drop) };
    "sync/chan/permits reserve_owned": { let (sends, _receives) = chan::bounded::<u8>(1); sends.try_send(1).expect("room"); } sends.clone().reserve_owned();
    "sync/chan/timed send_timeout": { let (sends, _receives) = chan::rendezvous::<u8>(); } sends.send_timeout(1, HOUR);
    "sync/coop Future for Turn": { let lock = Mutex::new(()); let _guard = lock.try_lock().expect("free"); } lock.lock();
    "sync/locks get_or_init": { let cell = OnceCell::<u8>::new(); } cell.get_or_init(pending);
    "sync/locks get_or_try_init": { let cell = OnceCell::<u8>::new(); } cell.get_or_try_init(pending::<Result<u8, ()>>);
    "sync/locks wait": { let cell = OnceCell::<u8>::new(); } cell.wait();
    "sync/notify Future for Notified": { let notify = Notify::new(); } notify.notified();
    "sync/oneshot Future for Receiver": { let (_sends, mut receives) = oneshot::channel::<u8>(); } &mut receives;
    "sync/oneshot Future for SenderClosed": { let (mut sends, _receives) = oneshot::channel::<u8>(); } sends.closed();
    "sync/oneshot poll_closed": { let (mut sends, _receives) = oneshot::channel::<u8>(); } poll_fn(|cx| sends.poll_closed(cx));
    "sync/rw_lock Future for Read": { let lock = RwLock::new(()); let _guard = lock.try_write().expect("free"); } lock.read();
    "sync/rw_lock Future for Write": { let lock = RwLock::new(()); let _guard = lock.try_read().expect("free"); } lock.write();
    "sync/rw_lock read_owned": { let lock = Arc::new(RwLock::new(())); let _guard = lock.try_write().expect("free"); } lock.clone().read_owned();
    "sync/rw_lock write_owned": { let lock = Arc::new(RwLock::new(())); let _guard = lock.try_read().expect("free"); } lock.clone().write_owned();
    "sync/select/future Future for Select": { let ((sends, _receives), (_open, receives)) = (chan::rendezvous::<u8>(), chan::bounded::<u8>(1)); }
        async { select! { _ = receives.recv() => (), _ = sends.send(1) => (), _ = sleep(HOUR) => () } };
    "sync/semaphore Future for Acquire": { let semaphore = Semaphore::new(0); } semaphore.acquire();
    "sync/semaphore acquire_many_owned": { let semaphore = Arc::new(Semaphore::new(0)); } semaphore.clone().acquire_many_owned(2);
    "sync/semaphore acquire_owned": { let semaphore = Arc::new(Semaphore::new(0)); } semaphore.clone().acquire_owned();
    "sync/wait_group Future for Waiting": { let group = WaitGroup::new(); group.add(1); } group.wait();
    "sync/notify Future for OwnedNotified": { let notify = Arc::new(Notify::new()); } notify.clone().notified_owned();
    "sync/set_once wait": { let set = spinpark::sync::SetOnce::<u8>::new(); } set.wait();
    "sync/watch Future for Changed": { let (_sends, mut receives) = watch::channel(1); } receives.changed();
    "sync/watch Future for SenderClosed": { let (sends, _receives) = watch::channel(1); } sends.closed();
    "sync/watch wait_for": { let (_sends, mut receives) = watch::channel(1); } async { receives.wait_for(|_| false).await.map(drop) };
    "time/delay_queue next": { let mut queue = DelayQueue::new(); queue.insert(1, HOUR); } queue.next();
    "time/delay_queue poll_expired": { let mut queue = DelayQueue::new(); queue.insert(1, HOUR); } poll_fn(|cx| queue.poll_expired(cx));
    "time/sleep Future for Sleep": {} sleep(HOUR);
    "time/interval poll_tick": { let mut ticks = interval(HOUR); ticks.tick().wait(); } poll_fn(|cx| ticks.poll_tick(cx));
    "time/interval tick": { let mut ticks = interval(HOUR); ticks.tick().wait(); } ticks.tick();
}

/// Has a value that waits for room.
fn sink_full(sink: &mut spinpark::stream::SenderSink<u8>) {
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(ready) = Pin::new(&mut *sink).poll_ready(&mut cx) {
        ready.expect("open");
        Pin::new(&mut *sink).start_send(1).expect("open");
    }
}

fn fill(stream: &mut io::DuplexStream) {
    while Pin::new(&mut *stream).poll_write(&mut Context::from_waker(Waker::noop()), b"x").is_ready() {}
}

fn tcp_pair() -> (TcpStream, std::net::TcpStream) {
    let listener = tcp();
    let theirs = std::net::TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
    (listener.accept().wait().expect("accepted").0, theirs)
}

fn a_file() -> spinpark::fs::File {
    spinpark::fs::File::open(std::env::current_exe().expect("this one")).wait().expect("open")
}

/// A task that does not end though it is aborted, until the sender is dropped: its thread waits.
fn hogs() -> (std::sync::mpsc::Sender<()>, JoinSet<()>) {
    let ((until, ended), (begins, begun)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
    let mut set = JoinSet::new();
    set.go(move || {
        // An abort would end a task that has not begun.
        begins.send(()).expect("the test waits");
        spinpark::blocking(|| assert!(ended.recv().is_err(), "nothing is sent"));
    });
    spinpark::blocking(|| begun.recv().expect("it begins"));
    (until, set)
}

#[test]
fn what_is_polled_and_given_up_leaves_nothing_behind() {
    let _alone = crate::alone();
    // A goroutine polls as often as it likes.
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    let failed = LEAVES.iter().filter(|&&(_, gives_up)| runtime.go(gives_up).join().is_err());
    let failed: Vec<_> = failed.map(|&(name, _)| name).collect();
    assert!(failed.is_empty(), "they leave something behind: {failed:#?}");
}
