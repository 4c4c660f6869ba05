//! What one thread does for others, which wait until it is done: threads are started by a clean one. Go: `newm`, `newmHandoff`,
//! `templateThread`.
//!
//! **A requester gets an answer, once: what the server made of the request; or, if that has ended, the request itself.** No request is left
//! when the server ends.
//!
//! | the requester, in [`ask`](Requests::ask)                         | the server, in [`serve`](Requests::serve)                   |
//! |----------------------------------------------------------------|--------------------------------------------------------------|
//! | 1. under the lock: over? keeps its request. Else puts it at the end | 1. under the lock: takes the oldest                     |
//! | 2. unparks the server                                          | 2. does what it asks                                         |
//! | 3. under the request's lock: answered? done                    | 3. under the request's lock: answers; unparks the requester  |
//! | 4. parks; from 3 again                                         | 4. there was none: parks; from 1 again                       |
//!
//! Each looks, and then parks, and is unparked after there is something to see. The end, which is the server's own or its panic's,
//! sets that it is over and takes what is left under one hold of the lock: a thread that comes to that later keeps its request.
//!
//! Checked by: verification/rooms/src/rooms/requests.rs

use crate::host::{Host, Lock, Parker};
use alloc::collections::VecDeque;
use alloc::sync::Arc;

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered<R> {
    /// The server has ended. Here is the request.
    Ended(R),
    /// The server has taken it, and ended over it.
    Lost,
}

/// A request, under its lock.
enum Slot<R, A> {
    /// It was not begun.
    Asked(R),
    /// The server has it, or the requester has its answer.
    Taken,
    Answered(Result<A, Unanswered<R>>),
}

/// A request, as both sides have it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::requests::{Request, Unanswered};
/// let request = Request::<Os, &str, u8>::new("start a thread");
/// let server = Arc::clone(&request);
/// thread::spawn(move || { server.set(Ok(1)); server.unpark(); });
/// assert_eq!(request.wait(), Ok(1));
///
/// let request = Request::<Os, &str, u8>::new("start a thread");
/// request.give_back(); // the server has ended
/// assert_eq!(request.wait(), Err(Unanswered::Ended("start a thread")));
/// # }
/// ```
pub struct Request<H: Host, R: Send + 'static, A: Send + 'static> {
    slot: H::Lock<Slot<R, A>>,
    asker: H::Parker,
}

/// A request that the server has taken. Dropped, it is lost; but for one whose answer is another's to give.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::requests::{Next, Request, Requests, Unanswered};
/// let requests = Requests::<Os, u8, u8>::new();
/// for is_answered in [true, false] {
///     let request = Request::new(1);
///     assert!(requests.with(|waiting| waiting.put(&request)));
///     let Next::Request(asked, taken) = requests.next() else { panic!("there is one") };
///     if is_answered { taken.answer(asked + 1) } else { drop(taken) }
///     assert_eq!(request.wait(), if is_answered { Ok(2) } else { Err(Unanswered::Lost) });
/// }
/// # }
/// ```
pub struct Taken<H: Host, R: Send + 'static, A: Send + 'static>(pub Option<Arc<Request<H, R, A>>>);

/// The requests that wait, under their lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::requests::{Request, Requests};
/// let (requests, request) = (Requests::<Os, u8, u8>::new(), Request::new(1));
/// assert!(requests.with(|waiting| waiting.put(&request)));
/// let left = requests.with(|waiting| { waiting.close(); waiting.take_all() });
/// assert_eq!(left.len(), 1);
/// assert!(!requests.with(|waiting| waiting.put(&request))); // it is over
/// # }
/// ```
pub struct Waiting<H: Host, R: Send + 'static, A: Send + 'static> {
    queue: VecDeque<Arc<Request<H, R, A>>>,
    is_over: bool,
}

/// What is asked of one server.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::requests::{Next, Request, Requests, Unanswered};
/// let requests = Arc::new(Requests::<Os, u8, u8>::new());
/// let server = Arc::clone(&requests);
/// let thread = thread::spawn(move || server.serve(|n| n + 1));
/// assert_eq!(requests.ask(1), Ok(2));
/// requests.end();
/// thread.join().expect("no panic");
/// assert_eq!(requests.ask(1), Err(Unanswered::Ended(1)));
///
/// let requests = Requests::<Os, u8, u8>::new(); // a server of one's own
/// requests.with(|waiting| waiting.put(&Request::new(1)));
/// requests.unpark();
/// requests.park(); // there may be a request
/// assert!(matches!(requests.next(), Next::Request(1, _)));
/// drop(requests.ends_with()); // it is over, as after a panic
/// assert!(matches!(requests.next(), Next::Over));
/// # }
/// ```
pub struct Requests<H: Host, R: Send + 'static, A: Send + 'static> {
    waiting: H::Lock<Waiting<H, R, A>>,
    server: H::Parker,
}

/// What the server finds.
pub enum Next<H: Host, R: Send + 'static, A: Send + 'static> {
    /// The oldest request, to be answered.
    Request(R, Taken<H, R, A>),
    /// None.
    Nothing,
    /// It is over.
    Over,
}

impl<H: Host, R: Send + 'static, A: Send + 'static> Request<H, R, A> {
    /// It is not known yet.
    pub fn new(request: R) -> Arc<Self> {
        Arc::new(Request { slot: H::Lock::new(Slot::Asked(request)), asker: H::Parker::new() })
    }

    /// The server begins with it.
    fn take(&self) -> R {
        match self.slot.with(|slot| core::mem::replace(slot, Slot::Taken)) {
            Slot::Asked(request) => request,
            Slot::Taken | Slot::Answered(_) => unreachable!("requests: one that waits was begun with"),
        }
    }

    /// What the server says. The requester is to be [unparked](Request::unpark) then.
    pub fn set(&self, answer: Result<A, Unanswered<R>>) {
        self.slot.with(|slot| *slot = Slot::Answered(answer));
    }

    /// The requester looks again.
    pub fn unpark(&self) {
        self.asker.unpark();
    }

    /// It comes back: the server has ended before it began with it.
    pub fn give_back(&self) {
        let request = self.take();
        self.set(Err(Unanswered::Ended(request)));
        self.unpark();
    }

    /// The answer, if it is there. Once.
    fn answer(&self) -> Option<Result<A, Unanswered<R>>> {
        self.slot.with(|slot| match core::mem::replace(slot, Slot::Taken) {
            Slot::Answered(answer) => Some(answer),
            other => {
                *slot = other;
                None
            }
        })
    }

    /// Sleeps until it is answered.
    ///
    /// # Errors
    /// The server has ended.
    pub fn wait(&self) -> Result<A, Unanswered<R>> {
        loop {
            if let Some(answer) = self.answer() {
                return answer;
            }
            self.asker.park();
        }
    }
}

impl<H: Host, R: Send + 'static, A: Send + 'static> Taken<H, R, A> {
    /// The server has done it.
    pub fn answer(mut self, answer: A) {
        self.end(Ok(answer));
    }

    fn end(&mut self, answer: Result<A, Unanswered<R>>) {
        if let Some(request) = self.0.take() {
            request.set(answer);
            request.unpark();
        }
    }
}

impl<H: Host, R: Send + 'static, A: Send + 'static> Drop for Taken<H, R, A> {
    fn drop(&mut self) {
        self.end(Err(Unanswered::Lost));
    }
}

impl<H: Host, R: Send + 'static, A: Send + 'static> Waiting<H, R, A> {
    /// One more. `false`: it is over.
    pub fn put(&mut self, request: &Arc<Request<H, R, A>>) -> bool {
        if !self.is_over {
            self.queue.push_back(Arc::clone(request));
        }
        !self.is_over
    }

    /// None is taken any more.
    pub fn close(&mut self) {
        self.is_over = true;
    }

    /// All that wait.
    pub fn take_all(&mut self) -> VecDeque<Arc<Request<H, R, A>>> {
        core::mem::take(&mut self.queue)
    }
}

impl<H: Host, R: Send + 'static, A: Send + 'static> Requests<H, R, A> {
    /// None yet; and a server that is to come, or a thread that ends this in its stead.
    pub fn new() -> Self {
        let waiting = Waiting { queue: VecDeque::new(), is_over: false };
        Requests { waiting: H::Lock::new(waiting), server: H::Parker::new() }
    }

    /// Under the lock.
    pub fn with<R2>(&self, f: impl FnOnce(&mut Waiting<H, R, A>) -> R2) -> R2 {
        self.waiting.with(f)
    }

    /// The server looks again.
    pub fn unpark(&self) {
        self.server.unpark();
    }

    /// Sleeps until there may be a request, or it may be over. For the server.
    pub fn park(&self) {
        self.server.park();
    }

    /// Has the server do this, and waits until it is done. From any thread but the server's.
    ///
    /// # Errors
    /// The server has ended.
    pub fn ask(&self, request: R) -> Result<A, Unanswered<R>> {
        let request = Request::new(request);
        match self.with(|waiting| waiting.put(&request)) {
            true => self.unpark(),
            false => request.give_back(),
        }
        request.wait()
    }

    /// The oldest that waits. For the server.
    pub fn next(&self) -> Next<H, R, A> {
        let (oldest, is_over) = self.with(|waiting| (waiting.queue.pop_front(), waiting.is_over));
        match oldest {
            Some(oldest) => Next::Request(oldest.take(), Taken(Some(oldest))),
            None if is_over => Next::Over,
            None => Next::Nothing,
        }
    }

    /// The server's life: does what is asked, until it is [ended](Requests::end), or `does` panics.
    pub fn serve(&self, mut does: impl FnMut(R) -> A) {
        let _end = self.ends_with();
        loop {
            match self.next() {
                Next::Request(request, taken) => taken.answer(does(request)),
                Next::Nothing => self.park(),
                Next::Over => return,
            }
        }
    }

    /// It is over when this is dropped, by a panic perhaps. For the server.
    pub fn ends_with(&self) -> EndsWith<'_, H, R, A> {
        EndsWith(self)
    }

    /// It is over. Requests that wait come back, and so do those that come.
    pub fn end(&self) {
        let left = self.with(|waiting| {
            waiting.close();
            waiting.take_all()
        });
        left.into_iter().for_each(|request| request.give_back());
        self.unpark();
    }
}

impl<H: Host, R: Send + 'static, A: Send + 'static> Default for Requests<H, R, A> {
    fn default() -> Self {
        Self::new()
    }
}

/// Dropped, the server has ended.
pub struct EndsWith<'a, H: Host, R: Send + 'static, A: Send + 'static>(&'a Requests<H, R, A>);

impl<H: Host, R: Send + 'static, A: Send + 'static> Drop for EndsWith<'_, H, R, A> {
    fn drop(&mut self) {
        self.0.end();
    }
}
