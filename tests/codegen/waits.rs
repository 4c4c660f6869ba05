//! What a goroutine does between two waits: everything of the product that looks at a thread local. Compiled only, by
//! `thread_locals_and_stacks.rs`, which reads the machine code.

use core::time::Duration;
use spinpark::sync::{CancellationToken, Mutex, Notify, Semaphore, broadcast, oneshot, watch};
use spinpark::{AbortHandle, Handle, JoinHandle, JoinSet, LocalSet, Runtime, Wait, chan, fs, net, time};
use std::io;
use std::sync::Arc;

spinpark::task_local!(static USER: u32);

const MS: Duration = Duration::from_millis(1);

/// One exported function for each: what is done twice, with a wait between.
macro_rules! twice {
    ($($name:ident($($argument:ident: $of:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub fn $name($($argument: $of),*) {
            #[inline(always)]
            fn once($($argument: $of),*) $body
            once($($argument),*);
            time::sleep(MS).wait();
            once($($argument),*);
        }
    )*};
}

twice! {
    twice_sleep() { time::sleep(MS).wait() }
    twice_timeout(all: &Notify) { _ = time::timeout(MS, all.notified()).wait() }
    twice_interval() { _ = time::interval(MS).tick().wait() }
    twice_syscall(call: fn()) { spinpark::syscall(call) }
    twice_syscall_that_waits() { spinpark::syscall(|| time::sleep(MS).wait()) }
    twice_blocking(call: fn()) { spinpark::blocking(call) }
    twice_checkpoint() { spinpark::checkpoint() }
    twice_yield() { spinpark::yield_now().wait() }
    twice_spawn(task: fn()) { drop(spinpark::spawn(async move { task() })) }
    twice_go(task: fn()) { drop(spinpark::go(task)) }
    twice_join(task: fn()) { _ = spinpark::go(task).join() }
    twice_lock_thread() { drop(spinpark::lock_thread()) }
    twice_send(sender: &chan::Sender<u32>) { _ = sender.send(1).wait() }
    twice_receive(receiver: &chan::Receiver<u32>) { _ = receiver.recv().wait() }
    twice_try(sender: &chan::Sender<u32>, receiver: &chan::Receiver<u32>) {
        _ = sender.try_send(1);
        _ = receiver.try_recv();
    }
    twice_lock(mutex: &Mutex<u32>) { *mutex.lock().wait() += 1 }
    twice_acquire(semaphore: &Semaphore) { drop(semaphore.acquire().wait()) }
    twice_notify(notify: &Notify) { notify.notify_one(); notify.notified().wait() }
    twice_oneshot() {
        let (sender, receiver) = oneshot::channel();
        _ = sender.send(1);
        _ = receiver.wait();
    }
    twice_watch(watched: &watch::Sender<u32>) { _ = watched.send(1); _ = watched.subscribe().changed().wait() }
    twice_broadcast(all: &broadcast::Sender<u32>) { _ = all.send(1); _ = all.subscribe().recv().wait() }
    twice_cancel(token: &CancellationToken) { token.cancel(); token.cancelled().wait() }
    twice_select(receiver: &chan::Receiver<u32>) {
        async { spinpark::select! { _ = receiver.recv() => (), _ = time::sleep(MS) => () } }.wait()
    }
    twice_joined_set(task: fn()) { let mut set = JoinSet::new(); set.go(task); _ = set.join_next().wait() }
    twice_scope(task: fn()) { spinpark::scope(|all| _ = all.go(task)) }
    twice_task_local() { USER.sync_scope(1, || _ = USER.get()) }
    twice_abort(abort: &AbortHandle) { abort.abort() }
    twice_handle(task: fn()) { _ = Handle::try_current().map(|handle| handle.go(task)) }
    twice_runtime(runtime: &Runtime) {
        let entered = runtime.enter();
        _ = runtime.block_on(spinpark::yield_now());
        drop((entered, runtime.metrics()));
    }
    twice_stop(task: fn()) { _ = spinpark::stop_the_world(task) }
    twice_local(task: fn()) { let local = LocalSet::new(); local.spawn_local(async move { task() }); local.run_until(spinpark::yield_now()).wait() }
    twice_read(path: &str) { _ = fs::read(path).wait() }
    twice_accept(listener: &net::TcpListener) { _ = listener.accept().wait() }
    twice_echo(stream: &net::TcpStream) { _ = echo(stream) }
    twice_drop(handles: &mut Vec<JoinHandle<()>>) { drop(handles.pop()) }
}

#[inline(always)]
fn echo(stream: &net::TcpStream) -> io::Result<usize> {
    let mut bytes = [0; 8];
    let n = stream.read(&mut bytes).wait()?;
    stream.write(&bytes[..n]).wait()
}

/// One that waits between two accesses to a thread local of its own breaks its promise: the check has to see it.
#[unsafe(no_mangle)]
pub fn breaks_its_promise() -> u32 {
    thread_local!(static OWN: core::cell::Cell<u32> = const { core::cell::Cell::new(0) });
    OWN.set(OWN.get() + 1);
    time::sleep(MS).wait();
    OWN.set(OWN.get() + 1);
    OWN.get()
}

/// What the functions above borrow.
#[unsafe(no_mangle)]
pub fn shared() -> Arc<(Mutex<u32>, Notify)> {
    Arc::default()
}
