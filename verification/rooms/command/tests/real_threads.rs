//! Programs of two and three threads on threads of the machine, judged by the same oracle: of the rooms, and of what others have
//! built of the same kind. So the specification is held against both.

#![allow(clippy::unit_arg)] // As in the library.

use spinpark_rooms::cores::{self, Cores};
use spinpark_rooms::program::{Program, Step, Thread};
use spinpark_rooms::room::{Begun, Real, Room, Wait, Waiting};
use spinpark_rooms::rooms::{Common, chan, notify, oneshot, semaphore};
use spinpark_rooms::values::{Maker, Value};
use spinpark_rooms::wakers::Lends;
use spinpark_rooms_command::ROOMS;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// How many programs of each shape.
const PROGRAMS: usize = 300;

/// Those that are tried. How many that were.
fn run<R: Room, I: Real<R, Cores>>(is_tried: impl Fn(&Program<R>) -> bool) -> usize {
    cores::run_some::<R, I>(PROGRAMS, is_tried).unwrap_or_else(|why| panic!("{why}"))
}

/// Of a program, all steps.
fn steps<R: Room>(program: &Program<R>) -> impl Iterator<Item = &Step<R::Op>> {
    program.threads.iter().flat_map(|thread| &thread.steps)
}

/// A future as a wait.
struct Awaited<'a, T, A> {
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
    answer: fn(T) -> A,
}

impl<T, A> Wait<Cores, A> for Awaited<'_, T, A> {
    fn poll(&mut self, lender: &mut Lends<Cores>) -> Poll<A> {
        self.future.as_mut().poll(&mut Context::from_waker(&lender.std_waker())).map(self.answer)
    }
}

fn awaits<'a, T: 'a, A: 'a>(future: impl Future<Output = T> + 'a, answer: fn(T) -> A) -> Begun<'a, Cores, A> {
    Begun::Waits(Box::new(Awaited { future: Box::pin(future), answer }))
}

mod the_rooms_of_the_kernel_are_explained {
    use super::*;

    #[test]
    fn each_of_them() {
        for room in ROOMS {
            room.run_on_cores(PROGRAMS).unwrap_or_else(|why| panic!("{}: {why}", room.name));
        }
    }
}

mod the_specification_explains_what_others_have_built {
    use super::*;

    struct TokioNotify(tokio::sync::Notify);

    struct Notified<'a>(Pin<Box<tokio::sync::futures::Notified<'a>>>);

    impl Wait<Cores, ()> for Notified<'_> {
        fn poll(&mut self, lender: &mut Lends<Cores>) -> Poll<()> {
            self.0.as_mut().poll(&mut Context::from_waker(&lender.std_waker()))
        }
        fn enable(&mut self) -> Option<()> {
            self.0.as_mut().enable().then_some(())
        }
    }

    impl Real<notify::Notifies, Cores> for TokioNotify {
        type Hand = ();
        const WAKES_ONCE: bool = false;
        fn new((): (), _: &[()]) -> Self {
            TokioNotify(tokio::sync::Notify::new())
        }
        fn hand(&self, (): ()) {}
        fn begin<'a>(&'a self, (): &'a mut (), op: notify::Op, _: &Maker<Cores>) -> Begun<'a, Cores, ()> {
            match op {
                notify::Op::One => Begun::Over(self.0.notify_one()),
                notify::Op::All => Begun::Over(self.0.notify_waiters()),
                notify::Op::Notified => Begun::Waits(Box::new(Notified(Box::pin(self.0.notified())))),
            }
        }
    }

    #[test]
    fn tokios_notify() {
        run::<notify::Notifies, TokioNotify>(|_| true);
    }

    struct TokioSemaphore(tokio::sync::Semaphore);

    fn tried(tried: Result<tokio::sync::SemaphorePermit<'_>, tokio::sync::TryAcquireError>) -> semaphore::Answer {
        match tried {
            Ok(permit) => {
                permit.forget();
                semaphore::Answer::Done
            }
            Err(tokio::sync::TryAcquireError::NoPermits) => semaphore::Answer::NoPermits,
            Err(tokio::sync::TryAcquireError::Closed) => semaphore::Answer::Closed,
        }
    }

    impl Real<semaphore::Semaphores, Cores> for TokioSemaphore {
        type Hand = ();
        const WAKES_ONCE: bool = false;
        fn new(permits: usize, _: &[()]) -> Self {
            TokioSemaphore(tokio::sync::Semaphore::new(permits))
        }
        fn hand(&self, (): ()) {}
        fn begin<'a>(
            &'a self,
            (): &'a mut (),
            op: semaphore::Op,
            _: &Maker<Cores>,
        ) -> Begun<'a, Cores, semaphore::Answer> {
            match op {
                semaphore::Op::Try(n) => Begun::Over(tried(self.0.try_acquire_many(n as u32))),
                semaphore::Op::Acquire(n) => awaits(self.0.acquire_many(n as u32), |got| {
                    tried(got.map_err(|_| tokio::sync::TryAcquireError::Closed))
                }),
                semaphore::Op::Release(n) => {
                    self.0.add_permits(n);
                    Begun::Over(semaphore::Answer::Done)
                }
                semaphore::Op::Forget(n) => Begun::Over(semaphore::Answer::Gone(self.0.forget_permits(n))),
                semaphore::Op::Close => {
                    self.0.close();
                    Begun::Over(semaphore::Answer::Done)
                }
                semaphore::Op::ReleaseAll => unreachable!("it panics, and is not tried"),
            }
        }
    }

    /// Two differences, which are not compared. A waiter for two permits is given them one by one, so a later try finds fewer. And
    /// a waiter that has its permit when the semaphore is closed learns that it was closed; ours has its permit.
    #[test]
    fn tokios_semaphore() {
        use semaphore::Op::{Acquire, Release};
        run::<semaphore::Semaphores, TokioSemaphore>(|program| {
            steps(program).all(|step| matches!(step.op, Acquire(1) | Release(1)))
        });
    }

    /// tokio's, of which one thread receives; a capacity of 0 does not exist.
    struct TokioMpsc {
        senders: Mutex<Vec<TokioSender>>,
        receiver: Mutex<mpsc::Receiver<Value<Cores>>>,
    }

    /// A thread's. It is not dropped at the end of the thread: that is no call.
    type TokioSender = ManuallyDrop<mpsc::Sender<Value<Cores>>>;

    struct TokioReceive<'a>(&'a TokioMpsc);

    impl Wait<Cores, chan::Answer> for TokioReceive<'_> {
        fn poll(&mut self, lender: &mut Lends<Cores>) -> Poll<chan::Answer> {
            let mut receiver = self.0.receiver.lock().expect("no panic");
            let received = receiver.poll_recv(&mut Context::from_waker(&lender.std_waker()));
            received.map(|value| value.map_or(chan::Answer::Over, |value| chan::Answer::Received(value.take())))
        }
    }

    impl Real<chan::Chans, Cores> for TokioMpsc {
        type Hand = Option<TokioSender>;
        const WAKES_ONCE: bool = false;
        fn new(capacity: usize, roles: &[()]) -> Self {
            let (sender, receiver) = mpsc::channel(capacity);
            let senders = roles.iter().map(|()| ManuallyDrop::new(sender.clone())).collect();
            TokioMpsc { senders: Mutex::new(senders), receiver: Mutex::new(receiver) }
        }
        fn hand(&self, (): ()) -> Option<TokioSender> {
            self.senders.lock().expect("no panic").pop()
        }
        fn begin<'a>(
            &'a self,
            sender: &'a mut Option<TokioSender>,
            op: chan::Op,
            values: &Maker<Cores>,
        ) -> Begun<'a, Cores, chan::Answer> {
            use mpsc::error::{TryRecvError, TrySendError};
            Begun::Over(match op {
                chan::Op::Recv => return Begun::Waits(Box::new(TokioReceive(self))),
                chan::Op::TrySend => match sender.as_ref().expect("it has one").try_send(values.value()) {
                    Ok(()) => chan::Answer::Sent,
                    Err(TrySendError::Full(value)) => chan::Answer::Full(value.take()),
                    Err(TrySendError::Closed(value)) => chan::Answer::Refused(value.take()),
                },
                chan::Op::TryRecv => match self.receiver.lock().expect("no panic").try_recv() {
                    Ok(value) => chan::Answer::Received(value.take()),
                    Err(TryRecvError::Empty) => chan::Answer::Empty,
                    Err(TryRecvError::Disconnected) => chan::Answer::Over,
                },
                chan::Op::DropSender => {
                    drop(sender.take().map(ManuallyDrop::into_inner));
                    chan::Answer::Gone
                }
                _ => unreachable!("it is not tried"),
            })
        }
    }

    /// Differences, which are not compared. The other side does not serve a task that waits; it is served when it is polled again. So a
    /// receive right behind the one that made room for a send finds nothing, and a channel of one is full though a receiver waits for its
    /// value. And `close` is the receiver's, and says nothing.
    #[test]
    fn tokios_mpsc() {
        use chan::Op::{DropSender, Recv, TryRecv, TrySend};
        let receives =
            |thread: &&Thread<chan::Chans>| thread.steps.iter().any(|step| matches!(step.op, Recv | TryRecv));
        let played = run::<chan::Chans, TokioMpsc>(|program| {
            let count = |op| steps(program).filter(|step| step.op == op).count();
            program.setup > 0
                && steps(program).all(|step| matches!(step.op, Recv | TrySend | TryRecv | DropSender))
                && program.threads.iter().filter(receives).count() <= 1
                && (count(Recv) == 0 || count(TrySend) <= program.setup)
        });
        assert!(played > PROGRAMS, "{played} programs");
    }

    /// tokio's, each end under a lock that only its thread takes.
    struct TokioOneshot(Mutex<Option<Sender>>, Mutex<Option<Receiver>>);

    type Sender = tokio::sync::oneshot::Sender<Value<Cores>>;
    type Receiver = tokio::sync::oneshot::Receiver<Value<Cores>>;

    impl Real<oneshot::Oneshots, Cores> for TokioOneshot {
        type Hand = ();
        const WAKES_ONCE: bool = false;
        fn new((): (), _: &[oneshot::End]) -> Self {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            TokioOneshot(Mutex::new(Some(sender)), Mutex::new(Some(receiver)))
        }
        fn hand(&self, _: oneshot::End) {}
        fn begin<'a>(
            &'a self,
            (): &'a mut (),
            op: oneshot::Op,
            values: &Maker<Cores>,
        ) -> Begun<'a, Cores, oneshot::Answer> {
            use oneshot::{Answer, Op};
            use tokio::sync::oneshot::error::TryRecvError;
            let (sender, receiver) = (|| self.0.lock().expect("no panic"), || self.1.lock().expect("no panic"));
            Begun::Over(match op {
                Op::Send => match sender().take().expect("it has one").send(values.value()) {
                    Ok(()) => Answer::Done,
                    Err(value) => Answer::Refused(value.take()),
                },
                Op::DropSender => {
                    drop(sender().take());
                    Answer::Done
                }
                Op::Closed => {
                    return Begun::Waits(Box::new(move |lender: &mut Lends<Cores>| {
                        let waker = lender.std_waker();
                        let closed =
                            sender().as_mut().expect("it has one").poll_closed(&mut Context::from_waker(&waker));
                        closed.map(|()| Answer::Done)
                    }));
                }
                Op::Recv => {
                    return Begun::Waits(Box::new(move |lender: &mut Lends<Cores>| {
                        let waker = lender.std_waker();
                        let mut receiver = receiver();
                        let receives = Pin::new(receiver.as_mut().expect("it has one"));
                        let received = receives.poll(&mut Context::from_waker(&waker));
                        received.map(|value| value.map_or(Answer::Over, |value| Answer::Received(value.take())))
                    }));
                }
                Op::TryRecv => match receiver().as_mut().expect("it has one").try_recv() {
                    Ok(value) => Answer::Received(value.take()),
                    Err(TryRecvError::Empty) => Answer::Empty,
                    Err(TryRecvError::Closed) => Answer::Over,
                },
                Op::Close => {
                    receiver().as_mut().expect("it has one").close();
                    Answer::Done
                }
                Op::DropReceiver => {
                    drop(receiver().take());
                    Answer::Done
                }
            })
        }
    }

    /// A receiver of tokio's that has received panics when it is awaited, and one whose wait is given up is still there. That is not
    /// compared.
    #[test]
    fn tokios_oneshot() {
        use oneshot::Op::{Recv, TryRecv};
        let differs = |thread: &Thread<oneshot::Oneshots>| {
            let is = |step: &Step<oneshot::Op>| matches!(step.op, Recv | TryRecv);
            let first = thread.steps.iter().position(is);
            let receives_again =
                first.is_some_and(|first| thread.steps[first + 1..].iter().any(|step| step.op == Recv));
            receives_again || thread.steps.iter().any(|step| step.op == Recv && step.waiting != Some(Waiting::ToTheEnd))
        };
        let played = run::<oneshot::Oneshots, TokioOneshot>(|program| !program.threads.iter().any(differs));
        assert!(played > 0);
    }

    /// async-channel's, of which a capacity of 0 does not exist.
    struct AsyncChannel(async_channel::Sender<Value<Cores>>, async_channel::Receiver<Value<Cores>>);

    impl Real<chan::Chans, Cores> for AsyncChannel {
        type Hand = ();
        const WAKES_ONCE: bool = false;
        fn new(capacity: usize, _: &[()]) -> Self {
            let (sender, receiver) = async_channel::bounded(capacity.max(1));
            AsyncChannel(sender, receiver)
        }
        fn hand(&self, (): ()) {}
        fn begin<'a>(&'a self, (): &'a mut (), op: chan::Op, values: &Maker<Cores>) -> Begun<'a, Cores, chan::Answer> {
            use async_channel::{TryRecvError, TrySendError};
            Begun::Over(match op {
                chan::Op::TrySend => match self.0.try_send(values.value()) {
                    Ok(()) => chan::Answer::Sent,
                    Err(TrySendError::Full(value)) => chan::Answer::Full(value.take()),
                    Err(TrySendError::Closed(value)) => chan::Answer::Refused(value.take()),
                },
                chan::Op::TryRecv => match self.1.try_recv() {
                    Ok(value) => chan::Answer::Received(value.take()),
                    Err(TryRecvError::Empty) => chan::Answer::Empty,
                    Err(TryRecvError::Closed) => chan::Answer::Over,
                },
                chan::Op::Close => chan::Answer::Closed(self.0.close()),
                _ => unreachable!("it is not tried"),
            })
        }
    }

    /// Its waits take no turns, so those are not compared.
    #[test]
    fn async_channels_list() {
        for shape in [2, 5, 6] {
            let all = Common::<chan::Chans>::of().programs(shape);
            let is_tried = |op: &chan::Op| matches!(op, chan::Op::TrySend | chan::Op::TryRecv | chan::Op::Close);
            let all = all.iter().filter(|program| program.setup > 0 && steps(program).all(|step| is_tried(&step.op)));
            for (n, program) in all.enumerate() {
                cores::run::<chan::Chans, AsyncChannel>(program, n as u64).unwrap_or_else(|why| panic!("{why}"));
            }
        }
    }
}

/// A specification that is wrong is not believed: a channel with room for one more.
#[test]
fn a_list_that_is_too_long_is_seen() {
    struct TooLong(<chan::Chans as Room>::Real<Cores>);
    impl Real<chan::Chans, Cores> for TooLong {
        type Hand = usize;
        fn new(capacity: usize, roles: &[()]) -> Self {
            TooLong(<<chan::Chans as Room>::Real<Cores> as Real<chan::Chans, Cores>>::new(capacity + 1, roles))
        }
        fn hand(&self, (): ()) -> usize {
            0
        }
        fn begin<'a>(
            &'a self,
            hand: &'a mut usize,
            op: chan::Op,
            values: &Maker<Cores>,
        ) -> Begun<'a, Cores, chan::Answer> {
            self.0.begin(hand, op, values)
        }
    }
    let all = Common::<chan::Chans>::of().programs(2);
    let failed = |program: &&Arc<_>| cores::run::<chan::Chans, TooLong>(program, 1).is_err();
    assert!(all.iter().take(2_000).any(|program| failed(&program)));
}
