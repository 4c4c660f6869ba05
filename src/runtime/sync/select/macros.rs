//! `select!`.

/// Waits for several things, and takes one of them. Go: `select`.
///
/// ```
/// use core::time::Duration;
/// use spinpark::{chan, select, spawn};
///
/// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// runtime.block_on(async {
///     let (give, get) = chan::rendezvous();
///     let (stop, stopped) = chan::rendezvous::<()>();
///     let numbers = spawn(async move {
///         let (mut a, mut b) = (0, 1);
///         loop {
///             select! {
///                 sent = give.send(a) => {
///                     sent.expect("it is open");
///                     (a, b) = (b, a + b);
///                 }
///                 _ = stopped.recv() => return a, // a body may leave the function, or the loop
///                 timeout(Duration::from_secs(5)) => panic!("nobody wants numbers"),
///             }
///         }
///     });
///     for expected in [0, 1, 1, 2, 3, 5, 8] {
///         assert_eq!(get.recv().await, Ok(expected));
///     }
///     drop(stop);
///     assert_eq!(numbers.await.expect("no panic"), 13);
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | a case | ready when |
/// |--------|------------|
/// | `value = receiver.recv() => body` | something is received, or the channel is closed |
/// | `result = sender.send(value) => body` | it is sent, or the channel is closed |
/// | `output = future => body` | the future is ready: a task's handle, a lock, a socket, what you like |
/// | `timeout(duration) => body` | no other is, after this time. The time counts from the first poll |
/// | `default => body` | no other is, now: the select does not wait |
///
/// The pattern must fit everything that can come. Bodies run after the choice, outside of the future, where `break`,
/// `return`, `?` and `.await` mean what they mean there; what was not chosen has been dropped by then. One `default` or one
/// `timeout` at most; 32 other cases. Without any it waits for ever, as in Go.
///
/// `select! { … }` and `select!(await { … })` are awaited: they stand in async code. `select!(wait { … })` calls `.wait()`
/// instead, for code that waits without being async.
///
/// **Exactly one case takes effect.** If several are ready, each is as likely as any other. A send that was not chosen has
/// not sent, and its value is dropped with it; to keep the value, make the future before, and give the select a reference:
///
/// ```
/// # use spinpark::{chan, select};
/// # let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// # runtime.block_on(async {
/// let (sender, _receiver) = chan::rendezvous();
/// let mut sending = sender.send("precious");
/// select! {
///     _ = &mut sending => unreachable!("nobody receives"),
///     default => assert_eq!(sending.into_inner(), Some("precious")),
/// }
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A case may be an `Option` of a send or a receive; `None` is never ready (Go: a nil channel). A future that was not
/// chosen is dropped; so use references to those that must go on, too.
///
/// A channel's case whose partner came takes effect even if a future is ready by the time the task runs: futures are not
/// polled then. While it waits, a select is in the queues of all its channels; polled for another reason than
/// one of them, it goes to their ends.
///
/// The future that it makes can be dropped at any time, as those of the cases can.
///
/// # Panics
/// When polled, if a case is a reference to a send or a receive that has ended; or, with `timeout`, outside of a runtime.
#[macro_export]
macro_rules! select {
    (await { $($cases:tt)* }) => { $crate::__select!(@parse [await] [] [] $($cases)*) };
    (wait { $($cases:tt)* }) => { $crate::__select!(@parse [wait()] [] [] $($cases)*) };
    ($($cases:tt)*) => { $crate::__select!(@parse [await] [] [] $($cases)*) };
}

/// The inside of [`select!`]: first the list of cases is made, one after the other; then the future, and the `match`.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // What others' macros of this name have, and this one has not.
    (@parse $how:tt $cases:tt $besides:tt biased; $($rest:tt)*) => {
        compile_error!("select!: there is no `biased`: of several cases that are ready, each is as likely as any other")
    };
    (@parse $how:tt $cases:tt $besides:tt else => $($rest:tt)*) => {
        compile_error!("select!: there is no `else`: write `default => body`, which is chosen if no case is ready now")
    };
    (@parse $how:tt $cases:tt $besides:tt complete => $($rest:tt)*) => {
        compile_error!("select!: there is no `complete`: a case that is never ready again is an `Option` that is `None`")
    };

    // It is no pattern: said here, before the compiler tries to read it as one.
    (@parse $how:tt $cases:tt $besides:tt async $($rest:tt)*) => {
        compile_error!(
            "select!: a case is `pattern = future => body`, `default => body` or `timeout(duration) => body`"
        )
    };

    // The head of a case. What there is besides the cases is not one of the list.
    (@parse $how:tt $cases:tt [] default => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases [] {besides $crate::runtime::sync::select::AtOnce} $($rest)+)
    };
    (@parse $how:tt $cases:tt [] timeout($time:expr) => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases [] {besides $crate::time::sleep($time)} $($rest)+)
    };
    (@parse $how:tt $cases:tt $besides:tt default => $($rest:tt)+) => {
        compile_error!("select!: one `default` or one `timeout`, not both, nor two")
    };
    (@parse $how:tt $cases:tt $besides:tt timeout($time:expr) => $($rest:tt)+) => {
        compile_error!("select!: one `default` or one `timeout`, not both, nor two")
    };
    (@parse $how:tt $cases:tt $besides:tt $value:pat = $case:expr => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases $besides {case $value, $case} $($rest)+)
    };
    (@parse $how:tt $cases:tt $besides:tt $value:pat = $case:expr, if $($rest:tt)*) => {
        compile_error!("select!: a case has no `if`: make it an `Option` of a send or a receive; `None` is never ready")
    };
    (@parse $how:tt $cases:tt $besides:tt $value:pat = $case:expr, $($rest:tt)*) => {
        compile_error!("select!: a case has no body: write `pattern = future => body`")
    };
    (@parse $how:tt $cases:tt $besides:tt $value:pat = $case:expr) => {
        compile_error!("select!: a case has no body: write `pattern = future => body`")
    };

    // Its body: as in a match, a block needs no comma.
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:block , $($rest:tt)*) => {
        $crate::__select!(@add $how $cases $besides $head {$body} $($rest)*)
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:block $($rest:tt)*) => {
        $crate::__select!(@add $how $cases $besides $head {$body} $($rest)*)
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:expr , $($rest:tt)*) => {
        $crate::__select!(@add $how $cases $besides $head {$body} $($rest)*)
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:expr) => {
        $crate::__select!(@add $how $cases $besides $head {$body})
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $body:expr; $($rest:tt)*) => {
        compile_error!("select!: a comma, not a semicolon, stands between a case's body and the next case")
    };
    (@body $how:tt $cases:tt $besides:tt $head:tt $($rest:tt)*) => {
        compile_error!("select!: a comma is missing behind the body of a case")
    };
    (@add $how:tt [$($cases:tt)*] $besides:tt {case $value:pat, $case:expr} $body:tt $($rest:tt)*) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, $body}] $besides $($rest)*)
    };
    (@add $how:tt $cases:tt [] {besides $besides:expr} $body:tt $($rest:tt)*) => {
        $crate::__select!(@parse $how $cases [$besides, $body] $($rest)*)
    };

    // All are known. What was chosen is kept first: so what was not is gone when the body runs.
    (@parse [$($how:tt)+] [$($cases:tt)*] []) => {{
        let selected = $crate::runtime::sync::select::Select::new(
            $crate::__select!(@cases $($cases)*),
            $crate::runtime::sync::select::Never,
        )
        .$($how)+;
        match selected {
            $crate::runtime::sync::select::Selected::Case(one) => $crate::__select!(@match one $($cases)*),
        }
    }};
    (@parse [$($how:tt)+] [$($cases:tt)*] [$besides:expr, $body:tt]) => {{
        let selected =
            $crate::runtime::sync::select::Select::new($crate::__select!(@cases $($cases)*), $besides).$($how)+;
        match selected {
            $crate::runtime::sync::select::Selected::Case(one) => $crate::__select!(@match one $($cases)*),
            $crate::runtime::sync::select::Selected::Otherwise(()) => $body,
        }
    }};

    // Anything else.
    (@parse $how:tt $cases:tt $besides:tt timeout => $($rest:tt)*) => {
        compile_error!("select!: how long? Write `timeout(duration) => body`")
    };
    (@parse $how:tt $cases:tt $besides:tt $($rest:tt)+) => {
        compile_error!(
            "select!: a case is `pattern = future => body`, `default => body` or `timeout(duration) => body`"
        )
    };

    (@cases) => { $crate::runtime::sync::select::End };
    (@cases {$value:pat, $case:expr, $body:tt} $($rest:tt)*) => {
        $crate::runtime::sync::select::More::new(
            match $case {
                case => {
                    #[allow(unused_imports)]
                    use $crate::runtime::sync::select::{OfFuture as _, OfNeither as _};
                    let kind = (&$crate::runtime::sync::select::Probe::new(&case)).kind();
                    kind.case(case)
                }
            },
            $crate::__select!(@cases $($rest)*),
        )
    };

    (@match $one:ident) => { match $one {} };
    (@match $one:ident {$value:pat, $case:expr, $body:tt}) => {
        match $one {
            $crate::runtime::sync::select::One::First(came) => {
                // By `let`: what does not fit the pattern is then told in the caller's words, not in ours.
                let $value = came;
                $body
            }
        }
    };
    (@match $one:ident {$value:pat, $case:expr, $body:tt} $($rest:tt)+) => {
        match $one {
            $crate::runtime::sync::select::One::First(came) => {
                // By `let`: what does not fit the pattern is then told in the caller's words, not in ours.
                let $value = came;
                $body
            }
            $crate::runtime::sync::select::One::Later(later) => $crate::__select!(@match later $($rest)+),
        }
    };
}
