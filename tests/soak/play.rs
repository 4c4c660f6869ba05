//! Plays a program.

use crate::program::{Destructor, End, How, Kind, Op, Outcome, Program, Setup, TaskSpec, Then, ThreadOp};
use crate::world::{Bomb, Counted, Slot, Ticket, World};
use spinpark::chan::{self, Receiver, Sender};
use spinpark::net::unix::UnixStream;
use spinpark::net::{TcpListener, TcpStream, UdpSocket};
use spinpark::sync::{Cond, Mutex, WaitGroup};
use spinpark::{
    Handle, JoinError, JoinHandle, LocalSet, Runtime, StopError, Wait, blocking, checkpoint, lock_thread, select,
    syscall, time, yield_now,
};
use std::future::{Future, IntoFuture};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

type Doing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

fn micros(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// Whose operations are done, and how they wait.
#[derive(Clone)]
struct Doer {
    world: Arc<World>,
    slot: Arc<Slot>,
    /// `.wait()`, not `.await`.
    waits: bool,
    /// Locks that others hold may be waited for.
    shares: bool,
    /// It runs not in the runtime of the world, but in an inner one, for which one of the world's tasks waits: is that about
    /// to be shut down?
    inner: Option<Arc<AtomicBool>>,
    depth: usize,
}

/// What a task has on its stack, until it ends.
struct Held {
    world: Arc<World>,
    destructor: Destructor,
    /// It is dropped inside of the runtime, whatever happens.
    is_strict: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        let world = &self.world;
        world.counts.destructors.fetch_add(1, SeqCst);
        world.step();
        let is_strict = self.is_strict;
        match self.destructor {
            Destructor::Counts => (),
            Destructor::HandleCurrent if is_strict => drop(Handle::current()),
            Destructor::HandleCurrent => drop(Handle::try_current()),
            Destructor::Spawns if is_strict => drop(spinpark::spawn(async {})),
            Destructor::Spawns => drop(spinpark::try_spawn(async {})),
            Destructor::MakesSleep => drop(time::sleep(micros(50))),
            // It may panic if there is no runtime any more. It must end.
            Destructor::Waits => drop(catch_unwind(|| time::sleep(micros(50)).wait())),
            Destructor::Panics if thread::panicking() => (),
            Destructor::Panics => panic!("a destructor panics"),
        }
    }
}

/// Dropped, it says so.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// What it gives without waiting, which it does on its thread.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("soak: a future that was to `wait` has awaited"),
    }
}

fn compute(time: Duration, checkpoints: bool) {
    let start = Instant::now();
    while start.elapsed() < time {
        for n in 0..100_u64 {
            std::hint::black_box(n * n);
        }
        if checkpoints {
            checkpoint();
        }
    }
}

/// Spawns what both kinds of task can do; `f` is given how it waits.
fn spawn_partner<F, Fut, T>(doer: &Doer, kind: Kind, f: F) -> JoinHandle<T>
where
    F: FnOnce(bool) -> Fut + Send + 'static,
    Fut: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let ticket = doer.world.ticket(format!("{}, its partner ({kind:?})", doer.slot.name()));
    match kind {
        Kind::Future => spinpark::spawn(async move {
            ticket.starts();
            let value = f(false).await;
            drop(ticket);
            value
        }),
        Kind::Goroutine => spinpark::go(move || {
            ticket.starts();
            let value = at_once(f(true));
            drop(ticket);
            value
        }),
    }
}

/// Waits as its caller does.
async fn wait<F: IntoFuture>(waits: bool, what: F) -> F::Output {
    if waits { what.wait() } else { what.into_future().await }
}

/// Spawns a task through `handle`, or from inside of one.
fn spawn_task(
    world: &Arc<World>,
    handle: Option<&Handle>,
    inner: Option<&Arc<AtomicBool>>,
    name: String,
    task: &TaskSpec,
) -> JoinHandle<u64> {
    let inner = inner.cloned();
    let ticket = world.ticket(format!("{name} ({:?})", task.kind));
    let (world, task) = (Arc::clone(world), task.clone());
    let kind = task.kind;
    let body = move |waits: bool| task_body(world, ticket, task, inner, waits);
    match (kind, handle) {
        (Kind::Future, Some(handle)) => handle.spawn(body(false)),
        (Kind::Future, None) => spinpark::spawn(body(false)),
        (Kind::Goroutine, Some(handle)) => handle.go(move || at_once(body(true))),
        (Kind::Goroutine, None) => spinpark::go(move || at_once(body(true))),
    }
}

async fn task_body(
    world: Arc<World>,
    ticket: Ticket,
    task: TaskSpec,
    inner: Option<Arc<AtomicBool>>,
    waits: bool,
) -> u64 {
    ticket.starts();
    let doer = Doer { world, slot: ticket.slot(), waits, shares: true, inner, depth: 0 };
    doer.all(&task.ops).await;
    doer.world.step();
    match task.outcome {
        Outcome::Value => (),
        Outcome::Panic => panic!("a task panics"),
        Outcome::PanicWithBomb => std::panic::panic_any(Bomb),
    }
    task.ops.len() as u64
}

/// What a task has come to must be what it should come to.
fn judge(world: &World, name: &str, task: &TaskSpec, is_aborted: bool, outcome: Result<u64, JoinError>) {
    world.step();
    let expected = match &outcome {
        Ok(value) => task.outcome == Outcome::Value && *value == task.ops.len() as u64,
        Err(JoinError::Panicked(panic)) => {
            // Of a task that drops what panics; and of one whose partners the shutdown took away.
            task.outcome != Outcome::Value
                || task.ops.iter().any(Op::panics)
                || (world.may_be_closing() && panic.message().is_none_or(|text| !text.starts_with("soak:")))
        }
        Err(JoinError::Aborted) => is_aborted,
        Err(JoinError::ShutDown | JoinError::Closed) => world.may_be_closing(),
        Err(_) => false,
    };
    if !expected {
        world.wrong(format!("{name} should end with {:?}, and ended with {outcome:?}", task.outcome));
    }
    // The payload of its panic may be a bomb.
    drop(catch_unwind(AssertUnwindSafe(|| drop(outcome))));
}

impl Doer {
    /// Those whose operations are inside of one of this one's.
    fn inside(&self, waits: bool) -> Doer {
        Doer { waits, depth: self.depth + 1, ..self.clone() }
    }

    fn alone(self) -> Doer {
        Doer { shares: false, ..self }
    }

    /// Something was not as it should be; unless the runtime is being shut down.
    fn expect(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && !self.world.may_be_closing() {
            self.world.wrong(format!("{}: {}", self.slot.name(), what()));
        }
    }

    fn all<'a>(&'a self, ops: &'a [Op]) -> Doing<'a> {
        Box::pin(async move {
            let mut held = Vec::new();
            for (n, op) in ops.iter().enumerate() {
                self.slot.begins(self.depth, n, op.name());
                self.world.step();
                match op {
                    Op::Hold(destructor) => {
                        let is_strict = self.shares && self.world.drops_inside;
                        held.push(Held { world: Arc::clone(&self.world), destructor: *destructor, is_strict });
                    }
                    op => self.one(op).await,
                }
            }
        })
    }

    /// On this thread, to the end.
    fn here(&self, ops: &[Op]) {
        at_once(self.inside(true).all(ops));
    }

    fn one<'a>(&'a self, op: &'a Op) -> Doing<'a> {
        match *op {
            Op::Yield => Box::pin(self.wait(yield_now())),
            Op::Sleep { us } => Box::pin(self.wait(time::sleep(micros(us)))),
            Op::Timeout { us } => Box::pin(async move {
                let late = time::timeout(micros(us), time::sleep(Duration::from_secs(3600)));
                let elapsed = self.wait(late).await.is_err();
                self.expect(elapsed, || "an hour's sleep ended before its deadline".to_owned());
            }),
            Op::Interval { us, ticks } => Box::pin(async move {
                let mut interval = time::interval(micros(us));
                for _ in 0..ticks {
                    self.wait(interval.tick()).await;
                }
            }),
            Op::Channel { capacity, senders, messages, partner, select } => {
                Box::pin(self.channel(capacity, senders, messages, partner, select))
            }
            Op::PingPong { rounds, partner, compute_us } => Box::pin(self.ping_pong(rounds, partner, compute_us)),
            Op::Lock { lock, sleeps } => Box::pin(self.lock(lock, sleeps)),
            Op::Hogs { hogs, partner } => Box::pin(self.hogs(hogs, partner)),
            Op::RwLock { writes } => Box::pin(self.rw_lock(writes)),
            Op::WaitGroup { workers, partner } => Box::pin(self.wait_group(workers, partner)),
            Op::Cond { partner } => Box::pin(self.cond(partner)),
            Op::Tcp { bytes, partner } => Box::pin(self.tcp(bytes, partner)),
            Op::Unix { bytes, partner } => Box::pin(self.unix(bytes, partner)),
            Op::Udp { partner } => Box::pin(self.udp(partner)),
            Op::Spawn { ref task, then } => Box::pin(self.spawn(task, then)),
            ref op => {
                self.at_once(op);
                Box::pin(async {})
            }
        }
    }

    async fn wait<F: IntoFuture>(&self, what: F) -> F::Output {
        wait(self.waits, what).await
    }

    /// What needs no `.await`.
    fn at_once(&self, op: &Op) {
        let world = &self.world;
        match op {
            Op::Checkpoint => checkpoint(),
            Op::Compute { us, checkpoints } => compute(micros(*us), *checkpoints),
            Op::Syscall { us } => syscall(|| thread::sleep(micros(*us))),
            Op::Blocking { us } => blocking(|| thread::sleep(micros(*us))),
            Op::Sync(ops) => self.here(ops),
            Op::SyscallWith(ops) => syscall(|| self.here(ops)),
            Op::LockThread { ops, keeps } => {
                let lock = lock_thread();
                self.expect(lock.is_ok(), || "lock_thread: no task".to_owned());
                let before = thread::current().id();
                self.here(ops);
                self.expect(thread::current().id() == before, || "a locked task changed threads".to_owned());
                if let (true, Ok(lock)) = (keeps, lock) {
                    lock.keep();
                }
            }
            Op::Catch { ops, times } => {
                for _ in 0..*times {
                    // Its payload may be a bomb.
                    catch_unwind(AssertUnwindSafe(|| self.here(ops))).unwrap_or_else(std::mem::forget);
                }
            }
            Op::BlockOn(ops) => {
                let inside = self.inside(false);
                let done = Handle::current().block_on(inside.all(ops));
                self.expect(done.is_ok(), || format!("block_on: {done:?}"));
            }
            Op::Local(ops) => {
                let (one, two) = (self.inside(false).alone(), self.inside(false).alone());
                let (first, second) = (ops.clone(), ops.clone());
                let local = LocalSet::new();
                let both = async {
                    let one = local.spawn_local(async move { one.all(&first).await });
                    let two = local.spawn_local(async move { two.all(&second).await });
                    (one.await.is_ok(), two.await.is_ok())
                };
                let done = Handle::current().block_on(local.run_until(both));
                let panics = ops.iter().any(Op::panics);
                self.expect(panics || matches!(done, Ok((true, true))), || format!("LocalSet: {done:?}"));
            }
            Op::Inner(ops) => self.inner(ops),
            Op::StopTheWorld { us } => {
                let done = world.handle.stop_the_world(|| thread::sleep(micros(*us)));
                self.expect(done.is_ok(), || format!("stop_the_world: {done:?}"));
            }
            Op::SetProcs { n } => {
                let done = world.handle.set_procs(*n);
                self.expect(done.is_ok(), || format!("set_procs: {done:?}"));
            }
            Op::ForEachP(closure) => {
                let f = world.closure(*closure, true);
                let done = world.handle.for_each_p(move |_| f());
                self.expect(done.is_ok(), || format!("for_each_p: {done:?}"));
            }
            Op::WhenIdle(closure) => world.handle.when_idle(world.closure(*closure, false)),
            // An inner task's runtime would wait for the task that waits for it.
            Op::DropRuntime if self.inner.is_some() => (),
            Op::DropRuntime => drop(world.take_runtime()),
            other => unreachable!("soak: {} awaits", other.name()),
        }
    }

    fn inner(&self, ops: &[Op]) {
        let setup = Setup { procs: 2, ..self.world.setup.clone() };
        let runtime = crate::api::build(&setup, 200, 200);
        let ends = Arc::new(AtomicBool::new(false));
        let (doer, ops) = (Doer { inner: Some(Arc::clone(&ends)), ..self.inside(false).alone() }, ops.to_vec());
        let done = runtime.spawn(async move { doer.all(&ops).await }).join();
        let panics = matches!(done, Err(JoinError::Panicked(_)));
        self.expect(done.is_ok() || panics, || format!("a task of an inner runtime: {done:?}"));
        ends.store(true, SeqCst);
        drop(runtime);
    }

    async fn channel(&self, capacity: Option<usize>, senders: usize, messages: u64, partner: Kind, select: bool) {
        let (sender, receiver) = channel::<Counted>(capacity);
        let tasks: Vec<_> = (0..senders)
            .map(|_| {
                let (world, sender) = (Arc::clone(&self.world), sender.clone());
                spawn_partner(self, partner, move |waits| async move {
                    for n in 1..=messages {
                        if wait(waits, sender.send(Counted::message(&world, n))).await.is_err() {
                            return;
                        }
                        world.step();
                    }
                })
            })
            .collect();
        drop(sender);
        let (_never, nothing) = chan::rendezvous::<u64>();
        let mut sum = 0;
        loop {
            let received = match (select, self.waits) {
                (false, _) => self.wait(receiver.recv()).await,
                (true, true) => loop {
                    select!(wait {
                        message = receiver.recv() => break message,
                        _ = nothing.recv() => (),
                        timeout(micros(300)) => (),
                    });
                },
                (true, false) => loop {
                    select! {
                        message = receiver.recv() => break message,
                        _ = nothing.recv() => (),
                        timeout(micros(300)) => (),
                    }
                },
            };
            let Ok(message) = received else { break };
            sum += message.value;
            self.slot.counts();
            self.world.step();
        }
        drop(receiver);
        for task in tasks {
            drop(self.wait(task).await);
        }
        let all = senders as u64 * messages * (messages + 1) / 2;
        self.expect(sum == all, || format!("{sum} came out of a channel, and {all} went in"));
    }

    async fn ping_pong(&self, rounds: u64, partner: Kind, compute_us: u64) {
        let (ping, pinged) = chan::rendezvous::<u64>();
        let (pong, ponged) = chan::bounded::<u64>(1);
        let task = spawn_partner(self, partner, move |waits| async move {
            while let Ok(n) = wait(waits, pinged.recv()).await {
                compute(micros(compute_us), false);
                if wait(waits, pong.send(n + 1)).await.is_err() {
                    return;
                }
            }
        });
        let mut sum = 0;
        for n in 0..rounds {
            if self.wait(ping.send(n)).await.is_err() {
                break;
            }
            let Ok(answer) = self.wait(ponged.recv()).await else { break };
            sum += answer - n;
            self.slot.counts();
            self.world.step();
        }
        drop(ping);
        drop(self.wait(task).await);
        self.expect(sum == rounds, || format!("{sum} of {rounds} rounds of ping-pong"));
    }

    async fn hogs(&self, hogs: usize, partner: Kind) {
        let has_run = Arc::new(AtomicBool::new(false));
        // An aborted task takes the last one along, if that had not begun; so does an inner runtime's end.
        let _aborted = Ends(Arc::clone(&has_run));
        let tasks: Vec<_> = (0..hogs)
            .map(|_| {
                let (world, has_run, inner) = (Arc::clone(&self.world), Arc::clone(&has_run), self.inner.clone());
                spawn_partner(self, partner, move |_| async move {
                    let ends = || world.may_be_closing() || inner.as_ref().is_some_and(|ends| ends.load(SeqCst));
                    while !has_run.load(SeqCst) && !ends() {
                        compute(micros(10), !world.may_hog);
                    }
                })
            })
            .collect();
        let last = spawn_partner(self, partner, move |waits| async move {
            wait(waits, time::sleep(micros(100))).await;
            has_run.store(true, SeqCst);
        });
        drop(self.wait(last).await);
        for task in tasks {
            drop(self.wait(task).await);
        }
    }

    async fn lock(&self, lock: usize, sleeps: bool) {
        let own = Mutex::new(0);
        let mutex = if self.shares { &self.world.locks[lock] } else { &own };
        let mut guard = self.wait(mutex.lock()).await;
        let before = *guard;
        match sleeps {
            true => self.wait(time::sleep(micros(20))).await,
            false => self.wait(yield_now()).await,
        }
        if self.shares {
            self.world.locked[lock].fetch_add(1, SeqCst);
        }
        *guard = before + 1;
    }

    async fn rw_lock(&self, writes: bool) {
        let own = spinpark::sync::RwLock::new(0);
        let lock = if self.shares { &self.world.rw_lock } else { &own };
        if writes {
            let mut guard = self.wait(lock.write()).await;
            let before = *guard;
            self.wait(yield_now()).await;
            if self.shares {
                self.world.rw_locked.fetch_add(1, SeqCst);
            }
            *guard = before + 1;
        } else {
            let guard = self.wait(lock.read()).await;
            let before = *guard;
            self.wait(yield_now()).await;
            self.expect(*guard == before, || "there was a write under a read lock".to_owned());
        }
    }

    async fn wait_group(&self, workers: usize, partner: Kind) {
        struct Done(Arc<WaitGroup>);
        impl Drop for Done {
            fn drop(&mut self) {
                self.0.done();
            }
        }
        let group = Arc::new(WaitGroup::new());
        for n in 0..workers {
            group.add(1);
            let done = Done(Arc::clone(&group));
            drop(spawn_partner(self, partner, move |waits| async move {
                wait(waits, yield_now()).await;
                drop(done);
                assert!(n % 2 == 0, "a worker panics");
            }));
        }
        self.wait(group.wait()).await;
        self.expect(group.count() == 0, || format!("a WaitGroup of {} was waited for", group.count()));
    }

    async fn cond(&self, partner: Kind) {
        let stock = Arc::new((Mutex::new(0_u64), Cond::new()));
        let seller = Arc::clone(&stock);
        /// What is dropped on the way is told too.
        struct Tells(Arc<(Mutex<u64>, Cond)>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.1.notify_all();
            }
        }
        let task = spawn_partner(self, partner, move |waits| async move {
            let tells = Tells(seller);
            for _ in 0..10 {
                *wait(waits, tells.0.0.lock()).await += 1;
                tells.0.1.notify_one();
                wait(waits, yield_now()).await;
            }
        });
        let mut apples = self.wait(stock.0.lock()).await;
        while *apples < 10 && !self.world.may_be_closing() {
            // A runtime that is shut down drops the seller, perhaps before it has begun.
            let waiting = time::timeout(Duration::from_millis(50), stock.1.wait(apples));
            apples = match self.wait(waiting).await {
                Ok(apples) => apples,
                Err(_) => self.wait(stock.0.lock()).await,
            };
            self.slot.counts();
        }
        drop(apples);
        drop(self.wait(task).await);
    }

    async fn tcp(&self, bytes: usize, partner: Kind) {
        // Too many files open is no failure of the runtime's.
        let Ok(listener) = self.wait(TcpListener::bind("127.0.0.1:0")).await else { return };
        let Ok(address) = listener.local_addr() else { return };
        let task = spawn_partner(self, partner, move |waits| async move {
            let Ok(stream) = wait(waits, TcpStream::connect(address)).await else { return false };
            let written = wait(waits, stream.write_all(&vec![7; bytes])).await;
            let closed = stream.shutdown(std::net::Shutdown::Write);
            written.is_ok() && closed.is_ok()
        });
        let accepted = time::timeout(Duration::from_secs(2), listener.accept());
        let Ok(Ok((stream, _))) = self.wait(accepted).await else {
            let written = self.wait(task).await;
            return self.expect(!matches!(written, Ok(true)), || "a connection was not accepted".to_owned());
        };
        let (mut buffer, mut sum) = (vec![0; 10_000], 0);
        while let Ok(n @ 1..) = self.wait(stream.read(&mut buffer)).await {
            sum += n;
            self.slot.counts();
            self.world.step();
        }
        let written = self.wait(task).await;
        self.expect(sum == bytes && matches!(written, Ok(true)), || format!("{sum} of {bytes} bytes came by TCP"));
    }

    async fn unix(&self, bytes: usize, partner: Kind) {
        let Ok((mine, theirs)) = UnixStream::pair() else { return };
        let task = spawn_partner(self, partner, move |waits| async move {
            let written = wait(waits, theirs.write_all(&vec![7; bytes])).await;
            drop(theirs);
            written.is_ok()
        });
        let (mut buffer, mut sum) = (vec![0; 10_000], 0);
        while let Ok(n @ 1..) = self.wait(mine.read(&mut buffer)).await {
            sum += n;
            self.slot.counts();
            self.world.step();
        }
        drop(self.wait(task).await);
        self.expect(sum == bytes, || format!("{sum} of {bytes} bytes came by a Unix stream"));
    }

    async fn udp(&self, partner: Kind) {
        let Ok(mine) = self.wait(UdpSocket::bind("127.0.0.1:0")).await else { return };
        let Ok(address) = mine.local_addr() else { return };
        let task = spawn_partner(self, partner, move |waits| async move {
            let Ok(theirs) = wait(waits, UdpSocket::bind("127.0.0.1:0")).await else { return };
            for n in 0..4_u8 {
                drop(wait(waits, theirs.send_to(&[n], address)).await);
                wait(waits, yield_now()).await;
            }
        });
        let mut buffer = [0; 8];
        // What is lost is lost.
        let mut got = 0;
        while got < 4 {
            match self.wait(time::timeout(Duration::from_millis(20), mine.recv(&mut buffer))).await {
                Ok(Ok(_)) => got += 1,
                _ => break,
            }
        }
        drop(self.wait(task).await);
    }

    async fn spawn(&self, task: &TaskSpec, then: Then) {
        let name = format!("{}, its task", self.slot.name());
        let handle = spawn_task(&self.world, None, self.inner.as_ref(), name.clone(), task);
        let outcome = match then {
            Then::Detach => return,
            Then::Await => self.wait(handle).await,
            Then::Join => handle.join(),
            Then::Abort(us) => {
                self.wait(time::sleep(micros(us))).await;
                handle.abort();
                self.wait(handle).await
            }
        };
        judge(&self.world, &name, task, matches!(then, Then::Abort(_)), outcome);
    }
}

fn channel<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    match capacity {
        Some(0) => chan::rendezvous(),
        Some(n) => chan::bounded(n),
        None => chan::unbounded(),
    }
}

type Spawned = (String, TaskSpec, JoinHandle<u64>);

/// One operation of an ordinary thread.
fn outside(world: &Arc<World>, n: usize, at: usize, op: &ThreadOp) -> Option<Spawned> {
    let name = format!("thread {n}, operation {at}");
    let check = |what: &str, done: Result<(), StopError>| {
        if done.is_err() {
            world.wrong(format!("{name}: {what}: {done:?}"));
        }
    };
    match op {
        ThreadOp::Nap { us } => thread::sleep(micros(*us)),
        ThreadOp::Metrics => drop((world.handle.metrics(), world.handle.schedtrace())),
        ThreadOp::BlockOn(ops) => {
            let ticket = world.ticket(format!("{name}, block_on"));
            ticket.starts();
            let slot = ticket.slot();
            let doer = Doer { world: Arc::clone(world), slot, waits: false, shares: false, inner: None, depth: 0 };
            // On a runtime that is shut down it may say so in any way; it must end.
            let done = catch_unwind(AssertUnwindSafe(|| world.handle.block_on(doer.all(ops))));
            let panics = ops.iter().any(Op::panics);
            if !matches!(done, Ok(Ok(()))) && !panics && !world.may_be_closing() {
                let text = done.as_ref().map_err(|_| "a panic");
                world.wrong(format!("{name}: block_on: {text:?}"));
            }
            drop(done.map_err(std::mem::forget));
        }
        ThreadOp::Spawn(task) => {
            return Some((name.clone(), task.clone(), spawn_task(world, Some(&world.handle), None, name, task)));
        }
        ThreadOp::EnterAndSpawn(task) => {
            let _inside = world.handle.enter();
            return Some((name.clone(), task.clone(), spawn_task(world, None, None, name, task)));
        }
        ThreadOp::StopTheWorld { us } => {
            check("stop_the_world", world.handle.stop_the_world(|| thread::sleep(micros(*us))));
        }
        ThreadOp::SetProcs { n } => drop(world.handle.set_procs(*n)),
        ThreadOp::ForEachP(closure) => {
            let f = world.closure(*closure, true);
            check("for_each_p", world.handle.for_each_p(move |_| f()));
        }
        ThreadOp::WhenIdle(closure) => world.handle.when_idle(world.closure(*closure, false)),
    }
    world.step();
    None
}

/// Ends the runtime, unless it has ended.
fn close(world: &Arc<World>, how: How) {
    let Some(runtime) = world.take_runtime() else { return };
    match how {
        How::Drop => drop(runtime),
        How::Shutdown => drop(runtime.shutdown()),
        How::ShutdownAndRun => {
            for task in runtime.shutdown().into_iter().flatten() {
                // Outside of a runtime most operations panic, which is the handle's.
                drop(catch_unwind(AssertUnwindSafe(|| task.run())));
            }
        }
        How::DropInTask => {
            let handle = runtime.handle();
            drop(handle.spawn(async move { drop::<Runtime>(runtime) }));
        }
    }
    world.step();
}

fn settle(world: &Arc<World>, spawned: Vec<Spawned>) {
    for (name, task, handle) in spawned {
        judge(world, &name, &task, false, handle.join());
    }
}

/// Plays it. The world is over when this returns, unless something is left of it.
pub(crate) fn play(program: &Program, world: &Arc<World>) {
    let End { after_us, how } = program.end;
    let tasks: Vec<Spawned> = (program.tasks.iter().enumerate())
        .map(|(n, task)| {
            let name = format!("task {n}");
            (name.clone(), task.clone(), spawn_task(world, Some(&world.handle), None, name, task))
        })
        .collect();
    let threads: Vec<_> = (program.threads.iter().cloned().enumerate())
        .map(|(n, ops)| {
            let world = Arc::clone(world);
            thread::spawn(move || {
                let spawned = ops.iter().enumerate().filter_map(|(at, op)| outside(&world, n, at, op));
                settle(&world, spawned.collect());
            })
        })
        .collect();
    if let Some(us) = after_us {
        thread::sleep(micros(us));
        close(world, how);
    }
    settle(world, tasks);
    for thread in threads {
        if let Err(panic) = thread.join() {
            world.wrong("an ordinary thread panicked".to_owned());
            std::mem::forget(panic);
        }
    }
    if after_us.is_none() {
        close(world, how);
    }
    check_locks(world);
}

fn check_locks(world: &World) {
    for (n, (lock, locked)) in world.locks.iter().zip(&world.locked).enumerate() {
        let Ok(count) = lock.try_lock() else { continue };
        let locked = locked.load(SeqCst);
        if *count != locked {
            world.wrong(format!("lock {n} counts {}, and was held {locked} times", *count));
        }
    }
    let Ok(count) = world.rw_lock.try_read() else { return };
    let locked = world.rw_locked.load(SeqCst);
    if *count != locked {
        world.wrong(format!("the RwLock counts {}, and was written {locked} times", *count));
    }
}
