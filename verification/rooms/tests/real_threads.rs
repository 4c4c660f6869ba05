//! Programs of two and three threads on threads of the machine, judged by the same oracle: of the rooms, and of what others have
//! built of the same kind. So the specification is held against both.

#![allow(clippy::unit_arg)] // As in the library.

use spinpark_rooms::cores::{self, Cores};
use spinpark_rooms::explore::programs;
use spinpark_rooms::room::{Begun, Real, Room, Wait};
use spinpark_rooms::rooms::{ROOMS, chan, notify, semaphore};
use spinpark_rooms::values::{Maker, Value};
use spinpark_rooms::wakers::Lends;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How many programs of each shape.
const PROGRAMS: usize = 300;

fn run<R: Room, I: Real<R, Cores>>(is_tried: impl Fn(&R::Op) -> bool) {
    cores::run_some::<R, I>(PROGRAMS, is_tried).unwrap_or_else(|why| panic!("{why}"));
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
            (room.run_on_cores)(PROGRAMS).unwrap_or_else(|why| panic!("{}: {why}", room.name));
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
        run::<semaphore::Semaphores, TokioSemaphore>(|op| matches!(op, Acquire(1) | Release(1)));
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
            let all = programs::<chan::Chans>(shape);
            let is_tried = |op: &chan::Op| matches!(op, chan::Op::TrySend | chan::Op::TryRecv | chan::Op::Close);
            let all =
                all.iter().filter(|p| p.setup > 0 && p.threads.iter().all(|t| t.steps.iter().all(|s| is_tried(&s.op))));
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
    let all = programs::<chan::Chans>(2);
    let failed = |program: &&Arc<_>| cores::run::<chan::Chans, TooLong>(program, 1).is_err();
    assert!(all.iter().take(2_000).any(|program| failed(&program)));
}
