//! Futures of one task, side by side. Public for the macros [`join!`](crate::join) and [`try_join!`](crate::try_join);
//! not for others.

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

/// Awaits several futures side by side, in the task that awaits it, and is ready with all that they give, in a tuple,
/// when the last of them is. They run in turn, on one thread: to run at once they have to be [spawned](crate::spawn).
/// Each poll begins with another of them, so none is always the last.
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// let (one, two) = runtime.block_on(async { spinpark::join!(async { 1 }, async { "two" }) })?;
/// assert_eq!((one, two), (1, "two"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! join {
    (@each [$(($future:ident $expression:expr))*]) => {{
        $(let mut $future = ::core::pin::pin!($crate::runtime::structured::together::Side::new($expression));)*
        let mut turn = $crate::runtime::structured::together::Turn::default();
        ::core::future::poll_fn(|cx| turn.all(&mut [$($future.as_mut()),*], cx)).await;
        ($($future.as_mut().take(),)*)
    }};
    (@each [$($done:tt)*] $next:expr $(, $($rest:expr),*)?) => {
        $crate::join!(@each [$($done)* (future $next)] $($($rest),*)?)
    };
    (@$($wrong:tt)*) => { ::core::compile_error!("join!: futures, with commas between them") };
    ($($future:expr),* $(,)?) => { $crate::join!(@each [] $($future),*) };
}

/// Awaits several futures side by side, each of which gives a `Result`; see [`join!`](crate::join). It is ready with all
/// values, or with the first error: then the other futures are dropped.
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// let sum = runtime.block_on(async {
///     let (one, two) = spinpark::try_join!(async { "1".parse::<u32>() }, async { "2".parse::<u32>() })?;
///     Ok::<_, std::num::ParseIntError>(one + two)
/// })??;
/// assert_eq!(sum, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! try_join {
    (@each [$(($future:ident $expression:expr))*]) => {{
        $(let mut $future = ::core::pin::pin!($crate::runtime::structured::together::TrySide::new($expression));)*
        let mut turn = $crate::runtime::structured::together::Turn::default();
        match ::core::future::poll_fn(|cx| turn.try_all(&mut [$($future.as_mut()),*], cx)).await {
            ::core::result::Result::Ok(()) => ::core::result::Result::Ok(($($future.as_mut().take(),)*)),
            ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
        }
    }};
    (@each [$($done:tt)*] $next:expr $(, $($rest:expr),*)?) => {
        $crate::try_join!(@each [$($done)* (future $next)] $($($rest),*)?)
    };
    (@$($wrong:tt)*) => { ::core::compile_error!("try_join!: futures, with commas between them") };
    ($($future:expr),* $(,)?) => { $crate::try_join!(@each [] $($future),*) };
}

pin_project! {
    /// A future, and what it gave.
    pub struct Side<F: Future> {
        #[pin]
        future: Option<F>,
        output: Option<F::Output>,
    }
}

impl<F: Future> Side<F> {
    #[doc(hidden)]
    pub fn new(future: impl IntoFuture<IntoFuture = F>) -> Self {
        Side { future: Some(future.into_future()), output: None }
    }

    #[doc(hidden)]
    pub fn take(self: Pin<&mut Self>) -> F::Output {
        self.project().output.take().expect("join!: it is ready, and one side is not")
    }
}

/// A side, whatever it gives.
pub trait Polled<R> {
    /// Is it ready?
    fn poll_side(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R>;
}

impl<F: Future> Polled<()> for Side<F> {
    fn poll_side(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if let Some(future) = this.future.as_mut().as_pin_mut() {
            let Poll::Ready(output) = future.poll(cx) else { return Poll::Pending };
            *this.output = Some(output);
            this.future.set(None);
        }
        Poll::Ready(())
    }
}

pin_project! {
    /// A future that gives a `Result`, and the value that it gave.
    pub struct TrySide<F, T> {
        #[pin]
        future: Option<F>,
        value: Option<T>,
    }
}

impl<F, T> TrySide<F, T> {
    #[doc(hidden)]
    pub fn new<E>(future: impl IntoFuture<IntoFuture = F, Output = Result<T, E>>) -> Self {
        TrySide { future: Some(future.into_future()), value: None }
    }

    #[doc(hidden)]
    pub fn take(self: Pin<&mut Self>) -> T {
        self.project().value.take().expect("try_join!: it is ready, and one side is not")
    }
}

impl<F: Future<Output = Result<T, E>>, T, E> Polled<Result<(), E>> for TrySide<F, T> {
    fn poll_side(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), E>> {
        let mut this = self.project();
        if let Some(future) = this.future.as_mut().as_pin_mut() {
            let Poll::Ready(result) = future.poll(cx) else { return Poll::Pending };
            this.future.set(None);
            match result {
                Ok(value) => *this.value = Some(value),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Which side is polled first.
#[derive(Debug, Default)]
pub struct Turn(usize);

impl Turn {
    /// The sides in turn, each once, from another one each time.
    fn order(&mut self, sides: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.0;
        self.0 = (first + 1) % sides.max(1);
        (0..sides).map(move |n| (first + n) % sides)
    }

    #[doc(hidden)]
    pub fn all(&mut self, sides: &mut [Pin<&mut dyn Polled<()>>], cx: &mut Context<'_>) -> Poll<()> {
        let mut all = Poll::Ready(());
        for side in self.order(sides.len()) {
            if sides[side].as_mut().poll_side(cx).is_pending() {
                all = Poll::Pending;
            }
        }
        all
    }

    #[doc(hidden)]
    pub fn try_all<E>(
        &mut self,
        sides: &mut [Pin<&mut dyn Polled<Result<(), E>>>],
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), E>> {
        let mut all = Poll::Ready(Ok(()));
        for side in self.order(sides.len()) {
            match sides[side].as_mut().poll_side(cx) {
                Poll::Ready(Ok(())) => (),
                Poll::Ready(error) => return Poll::Ready(error),
                Poll::Pending => all = Poll::Pending,
            }
        }
        all
    }
}
