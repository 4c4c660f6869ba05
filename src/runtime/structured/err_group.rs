//! Tasks of one piece of work: the first error ends it. Go: `errgroup`.

use crate::runtime::exec::join::JoinError;
use crate::runtime::guarded::Theirs;
use crate::runtime::structured::cancellation::CancellationToken;
use crate::runtime::structured::join_set::JoinSet;
use crate::runtime::sync::Semaphore;
use core::fmt;
use core::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

/// Tasks of one piece of work. The first that returns an error cancels the group's token, which the others may heed; [`wait`](ErrGroup::wait)
/// waits for all, and returns that error. Dropped, it aborts those that have not ended. Go: `errgroup.Group`.
///
/// ```
/// use spinpark::ErrGroup;
///
/// let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// let error = runtime.block_on(async {
///     let mut pages = ErrGroup::with_limit(2); // at most two at once
///     let token = pages.token();
///     pages.spawn(async move { Ok(token.cancelled().await) }); // ends because the other fails
///     pages.spawn(async { Err("no such page") });
///     pages.wait().await.expect_err("one fails")
/// })?;
/// assert_eq!(error, "no such page");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | in Go | here |
/// |-------|------|
/// | `g, ctx := errgroup.WithContext(ctx)` | `ErrGroup::with_token(token.child_token())`, [`token`](ErrGroup::token) |
/// | `g.SetLimit(n)` | [`with_limit`](ErrGroup::with_limit): what is over it waits in the group, not its caller |
/// | `g.Go(f)` | [`spawn`](ErrGroup::spawn), [`go`](ErrGroup::go) |
/// | `g.Wait()` | [`wait`](ErrGroup::wait); a panic goes on there, as from Go 1.25 on |
pub struct ErrGroup<E> {
    tasks: JoinSet<()>,
    failed: Failed<E>,
    limit: Option<Arc<Semaphore>>,
}

/// The first error, and the token that it cancels.
struct Failed<E> {
    first: Arc<Mutex<Option<E>>>,
    token: CancellationToken,
}

impl<E> Clone for Failed<E> {
    fn clone(&self) -> Self {
        Failed { first: Arc::clone(&self.first), token: self.token.clone() }
    }
}

impl<E> Failed<E> {
    /// A task has ended. Its error is kept before the token is cancelled: so it is before those of tasks that heed the token.
    fn ends(&self, result: Result<(), E>) {
        if let Err(error) = result {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            let later = match *first {
                None => first.replace(error),
                Some(_) => Some(error),
            };
            drop(first);
            self.token.cancel();
            drop(Theirs::new(later)); // not under the lock: it is the user's
        }
    }
}

impl<E: Send + 'static> ErrGroup<E> {
    /// Without a task, with a token of its own.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut group = spinpark::ErrGroup::<()>::new();
    /// group.spawn(async { Ok(()) });
    /// assert_eq!(group.wait().await, Ok(()));
    /// # });
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::with_token(CancellationToken::new())
    }

    /// At most `limit` of its tasks run at once; the others wait for their turn in the order in which they were spawned.
    ///
    /// # Panics
    /// If `limit` is 0: no task would ever run.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut group = spinpark::ErrGroup::<()>::with_limit(2);
    /// (0..10).for_each(|_| group.spawn(async { Ok(()) })); // two at once
    /// assert_eq!(group.wait().await, Ok(()));
    /// # });
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_limit(limit: usize) -> Self {
        assert!(limit > 0, "an ErrGroup with the limit 0 would run nothing: give 1 or more");
        ErrGroup { limit: Some(Arc::new(Semaphore::new(limit))), ..Self::new() }
    }

    /// Cancels this token at the first error: a child of another, for instance, which ends the group too if its tasks heed it.
    ///
    /// ```
    /// use spinpark::{ErrGroup, sync::CancellationToken};
    ///
    /// # spinpark::run(async {
    /// let server = CancellationToken::new();
    /// let mut group = ErrGroup::with_token(server.child_token());
    /// group.go(|| Err("no such file"));
    /// assert_eq!(group.wait().await, Err("no such file"));
    /// assert!(!server.is_cancelled(), "its child was");
    /// # });
    /// ```
    #[must_use]
    pub fn with_token(token: CancellationToken) -> Self {
        ErrGroup { tasks: JoinSet::new(), failed: Failed { first: Arc::default(), token }, limit: None }
    }

    /// Is cancelled by the first error, and when [`wait`](ErrGroup::wait) has returned.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.failed.token.clone()
    }

    /// Spawns a task, from inside of one.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut group = spinpark::ErrGroup::new();
    /// group.spawn(async { Err("no such host") });
    /// assert_eq!(group.wait().await, Err("no such host"));
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let (failed, limit) = (self.failed.clone(), self.limit.clone());
        self.tasks.spawn(async move {
            // `Err` only of a semaphore that is closed, which this one never is.
            let _permit = match limit {
                Some(limit) => limit.acquire_owned().await.ok(),
                None => None,
            };
            failed.ends(future.await);
        });
    }

    /// Runs a goroutine, from inside of a task. With a limit it begins as a task that waits for its turn.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut group = spinpark::ErrGroup::<()>::new();
    /// group.go(|| Ok(()));
    /// assert_eq!(group.wait().await, Ok(()));
    /// # });
    /// ```
    #[track_caller]
    pub fn go(&mut self, f: impl FnOnce() -> Result<(), E> + Send + 'static) {
        let (failed, limit) = (self.failed.clone(), self.limit.clone());
        self.tasks.go(move || {
            use crate::runtime::exec::goroutine::Wait as _;
            let _permit = limit.and_then(|limit| limit.acquire_owned().wait().ok());
            failed.ends(f());
        });
    }

    /// Waits until all have ended. Go: `Wait`.
    ///
    /// # Errors
    /// With the first error, in time.
    ///
    /// # Panics
    /// With what a task has panicked with, when the others have ended; or if one was aborted or lost with its runtime.
    ///
    /// # Cancel safety
    /// Dropped before, those that have not ended are aborted.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut group = spinpark::ErrGroup::<&str>::new();
    /// group.spawn(async { Ok(()) });
    /// assert_eq!(group.wait().await, Ok(()));
    /// # });
    /// ```
    pub async fn wait(mut self) -> Result<(), E> {
        let Failed { first, token } = self.failed.clone();
        let mut lost = None;
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                token.cancel();
                match lost {
                    None => lost = Some(error),
                    Some(_) => drop(Theirs::new(error)),
                }
            }
        }
        token.cancel();
        match lost {
            None => first.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err),
            Some(JoinError::Panicked(panic)) => panic.resume_unwind(),
            Some(error) => panic!("ErrGroup::wait: {error}"),
        }
    }
}

impl<E: Send + 'static> Default for ErrGroup<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for ErrGroup<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrGroup").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}
