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
///                 timeout(Duration::from_secs(5)) => panic!("no receiver in time"),
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
/// | `pattern = future, if condition => body` | the future is, and the condition was true when the select began |
/// | `timeout(duration) => body` | no other is, after this time. The time counts from the first poll |
/// | `default => body` | no other is, now: the select does not wait |
/// | `else => body` | no case is left that could be chosen |
///
/// **A pattern need not fit everything that can come.** If it does not fit what came, that is dropped, and the select goes on without
/// this case; so does one whose `if` is false, whose future is made, and never polled. If no case is left `else` is chosen; without `else` (and
/// without `default` and `timeout`) the select panics. Conditions are evaluated first, then the futures, in the order in which they are written.
///
/// ```
/// # use spinpark::{chan, select};
/// # let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// # runtime.block_on(async {
/// let (one, ones) = chan::bounded(3);
/// let (two, twos) = chan::bounded(3);
/// for n in 0..3 {
///     one.try_send(n)?;
///     two.try_send(10 * n)?;
/// }
/// drop((one, two));
/// let (mut sum, wants_tens) = (0, true);
/// loop {
///     select! {
///         biased; // the first that is ready, in this order
///         Ok(n) = ones.recv() => sum += n,
///         Ok(n) = twos.recv(), if wants_tens => sum += n,
///         else => break, // both are closed
///     }
/// }
/// assert_eq!(sum, 33);
/// # Ok::<(), spinpark::chan::TrySendError<i32>>(())
/// # })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Bodies run after the choice, outside of the future, where `break`, `return`, `?` and `.await` mean what they mean there; what was
/// not chosen has been dropped by then. One `default` or one `timeout`, and one `else`, at most; 64 other cases. Without any it waits for
/// ever, as in Go. With `biased;` before them cases are tried in the order in which they are written; a send or a receive whose partner
/// comes while the select waits takes effect all the same.
///
/// `select! { … }` and `select!(await { … })` are awaited: they stand in async code. `select!(wait { … })` calls `.wait()`
/// instead, for code that waits without being async.
///
/// **Exactly one case takes effect**, but for those whose pattern did not fit: their value is lost. If several are ready, each is as likely
/// as any other. A send that was not chosen has
/// not sent, and its value is dropped with it; to keep the value, make the future before, and give the select a reference:
///
/// ```
/// # use spinpark::{chan, select};
/// # let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// # runtime.block_on(async {
/// let (sender, _receiver) = chan::rendezvous();
/// let mut sending = sender.send("precious");
/// select! {
///     _ = &mut sending => unreachable!("there is no receiver"),
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
/// # Cancel safety
/// The future that it makes can be dropped at any time, as those of the cases can. Those that are not chosen are dropped.
///
/// # Panics
/// If no case is left, without `else`. When polled, if a case is a reference to a send or a receive that has ended; or, with `timeout`, outside of a runtime.
#[macro_export]
macro_rules! select {
    (await { biased; $($cases:tt)* }) => { $crate::__select!(@parse [[await] true] [] [] [] $($cases)*) };
    (wait { biased; $($cases:tt)* }) => { $crate::__select!(@parse [[wait()] true] [] [] [] $($cases)*) };
    (await { $($cases:tt)* }) => { $crate::__select!(@parse [[await] false] [] [] [] $($cases)*) };
    (wait { $($cases:tt)* }) => { $crate::__select!(@parse [[wait()] false] [] [] [] $($cases)*) };
    (biased; $($cases:tt)*) => { $crate::__select!(@parse [[await] true] [] [] [] $($cases)*) };
    ($($cases:tt)*) => { $crate::__select!(@parse [[await] false] [] [] [] $($cases)*) };
}

/// The inside of [`select!`]: first the list of cases is made, one after the other; then the future, and the `match`. One level of recursion a
/// case there, and one for four cases after: 64 cases are 100 of the 128 levels that there are.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // What stands elsewhere, or in others' macros of this name.
    (@parse $how:tt $cases:tt $besides:tt $else:tt biased; $($rest:tt)*) => {
        compile_error!("select!: `biased;` stands before the first case")
    };
    (@parse $how:tt $cases:tt $besides:tt $else:tt complete => $($rest:tt)*) => {
        compile_error!("select!: there is no `complete`: write `else => body`, which is chosen if no case is left")
    };
    // It is no pattern: said here, before the compiler tries to read it as one.
    (@parse $how:tt $cases:tt $besides:tt $else:tt async $($rest:tt)*) => {
        compile_error!(
            "select!: a case is `pattern = future => body`, `default => body`, `else => body` or `timeout(duration) => body`"
        )
    };

    // What there is besides the cases is not one of the list.
    (@parse $how:tt $cases:tt [] $else:tt default => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases [] $else {besides $crate::runtime::sync::select::AtOnce} $($rest)+)
    };
    (@parse $how:tt $cases:tt [] $else:tt timeout($time:expr) => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases [] $else {besides $crate::time::sleep($time)} $($rest)+)
    };
    (@parse $how:tt $cases:tt $besides:tt [] else => $($rest:tt)+) => {
        $crate::__select!(@body $how $cases $besides [] {else} $($rest)+)
    };
    (@parse $how:tt $cases:tt $besides:tt $else:tt default => $($rest:tt)+) => {
        compile_error!("select!: one `default` or one `timeout`, not both, nor two")
    };
    (@parse $how:tt $cases:tt $besides:tt $else:tt timeout($time:expr) => $($rest:tt)+) => {
        compile_error!("select!: one `default` or one `timeout`, not both, nor two")
    };
    (@parse $how:tt $cases:tt $besides:tt $else:tt else => $($rest:tt)+) => {
        compile_error!("select!: one `else`, not two")
    };
    // Its body: as in a match, a block needs no comma.
    (@body $how:tt $cases:tt $besides:tt $else:tt $head:tt $body:block $(, $($rest:tt)*)?) => {
        $crate::__select!(@add $how $cases $besides $else $head {$body} $($($rest)*)?)
    };
    (@body $how:tt $cases:tt $besides:tt $else:tt $head:tt $body:block $($rest:tt)*) => {
        $crate::__select!(@add $how $cases $besides $else $head {$body} $($rest)*)
    };
    (@body $how:tt $cases:tt $besides:tt $else:tt $head:tt $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@add $how $cases $besides $else $head {$body} $($($rest)*)?)
    };
    (@body $how:tt $cases:tt $besides:tt $else:tt $head:tt $body:expr; $($rest:tt)*) => {
        compile_error!("select!: a comma, not a semicolon, stands between a case's body and the next case")
    };
    (@body $how:tt $cases:tt $besides:tt $else:tt $head:tt $($rest:tt)*) => {
        compile_error!("select!: a comma is missing behind the body of a case")
    };
    (@add $how:tt $cases:tt [] $else:tt {besides $besides:expr} $body:tt $($rest:tt)*) => {
        $crate::__select!(@parse $how $cases [$besides, $body] $else $($rest)*)
    };
    (@add $how:tt $cases:tt $besides:tt [] {else} $body:tt $($rest:tt)*) => {
        $crate::__select!(@parse $how $cases $besides [$body] $($rest)*)
    };

    // A case.
    (@parse $how:tt [$($cases:tt)*] $besides:tt $else:tt $value:pat = $case:expr => $body:block $(, $($rest:tt)*)?) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, true, {$body}}] $besides $else $($($rest)*)?)
    };
    (@parse $how:tt [$($cases:tt)*] $besides:tt $else:tt $value:pat = $case:expr, if $if:expr => $body:block $(, $($rest:tt)*)?) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, $if, {$body}}] $besides $else $($($rest)*)?)
    };
    (@parse $how:tt [$($cases:tt)*] $besides:tt $else:tt $value:pat = $case:expr => $body:block $($rest:tt)*) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, true, {$body}}] $besides $else $($rest)*)
    };
    (@parse $how:tt [$($cases:tt)*] $besides:tt $else:tt $value:pat = $case:expr, if $if:expr => $body:block $($rest:tt)*) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, $if, {$body}}] $besides $else $($rest)*)
    };
    (@parse $how:tt [$($cases:tt)*] $besides:tt $else:tt $value:pat = $case:expr => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, true, {$body}}] $besides $else $($($rest)*)?)
    };
    (@parse $how:tt [$($cases:tt)*] $besides:tt $else:tt $value:pat = $case:expr, if $if:expr => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@parse $how [$($cases)* {$value, $case, $if, {$body}}] $besides $else $($($rest)*)?)
    };

    // One that is written wrongly.
    (@parse $how:tt $cases:tt $besides:tt $else:tt $value:pat = $case:expr $(, if $if:expr)? => $body:expr; $($rest:tt)*) => {
        compile_error!(concat!(
            "select!: a comma, not a semicolon, stands between the body of `", stringify!($value), " = ", stringify!($case),
            "` and the next case"
        ))
    };
    (@parse $how:tt $cases:tt $besides:tt $else:tt $value:pat = $case:expr $(, if $if:expr)? => $($rest:tt)+) => {
        compile_error!(concat!(
            "select!: a comma is missing behind the body of `", stringify!($value), " = ", stringify!($case), "`"
        ))
    };
    (@parse $how:tt $cases:tt $besides:tt $else:tt $value:pat = $case:expr $(, $($rest:tt)*)?) => {
        compile_error!(concat!(
            "select!: `", stringify!($value), " = ", stringify!($case), "` has no body: write `pattern = future => body`"
        ))
    };

    // All are known. What was chosen is kept first: so what was not is gone when the body runs.
    (@parse [[$($how:tt)+] $biased:literal] [$({$value:pat, $case:expr, $if:expr, $body:tt})*] [] [$($else:tt)?]) => {
        match $crate::__select!(@future [$($how)+] $biased, $crate::runtime::sync::select::Never, [$($else)?], $({$value, $case, $if})*) {
            $crate::runtime::sync::select::Selected::Case(one) => $crate::__select!(@match one $({$value, $body})*),
            $crate::runtime::sync::select::Selected::Else => $crate::__select!(@else $($else)?),
        }
    };
    (@parse [[$($how:tt)+] $biased:literal] [$({$value:pat, $case:expr, $if:expr, $body:tt})*] [$besides:expr, $otherwise:tt] [$($else:tt)?]) => {
        match $crate::__select!(@future [$($how)+] $biased, $besides, [$($else)?], $({$value, $case, $if})*) {
            $crate::runtime::sync::select::Selected::Case(one) => $crate::__select!(@match one $({$value, $body})*),
            $crate::runtime::sync::select::Selected::Otherwise(()) => $otherwise,
            $crate::runtime::sync::select::Selected::Else => $crate::__select!(@else $($else)?),
        }
    };

    // Anything else.
    (@parse $how:tt $cases:tt $besides:tt $else:tt timeout => $($rest:tt)*) => {
        compile_error!("select!: how long? Write `timeout(duration) => body`")
    };
    (@parse $how:tt $cases:tt $besides:tt $else:tt $($rest:tt)+) => {
        compile_error!(
            "select!: a case is `pattern = future => body`, `default => body`, `else => body` or `timeout(duration) => body`"
        )
    };

    (@future [$($how:tt)+] $biased:literal, $besides:expr, [$($else:tt)?], $({$value:pat, $case:expr, $if:expr})*) => {{
        #[allow(unused_mut)]
        let mut choice = $crate::runtime::sync::select::Choice::new($biased, $crate::__select!(@has $($else)?));
        $(choice.add($if);)*
        let selected = $crate::runtime::sync::select::Select::new(
            $crate::__select!(@cases $({$value, $case})*),
            $besides,
            choice,
        )
        .$($how)+;
        selected
    }};
    (@has) => { false };
    (@has $else:tt) => { true };
    (@else) => { $crate::runtime::sync::select::nothing_left() };
    (@else $else:tt) => { $else };

    (@cases) => { $crate::runtime::sync::select::End };
    (@cases {$value1:pat, $case1:expr} {$value2:pat, $case2:expr} {$value3:pat, $case3:expr} {$value4:pat, $case4:expr} $($rest:tt)*) => {
        $crate::runtime::sync::select::More::new(
            $crate::__select!(@case $case1),
            $crate::__select!(@fits $value1),
            $crate::runtime::sync::select::More::new(
                $crate::__select!(@case $case2),
                $crate::__select!(@fits $value2),
                $crate::runtime::sync::select::More::new(
                    $crate::__select!(@case $case3),
                    $crate::__select!(@fits $value3),
                    $crate::runtime::sync::select::More::new(
                        $crate::__select!(@case $case4),
                        $crate::__select!(@fits $value4),
                        $crate::__select!(@cases $($rest)*),
                    ),
                ),
            ),
        )
    };
    (@cases {$value1:pat, $case1:expr} $($rest:tt)*) => {
        $crate::runtime::sync::select::More::new(
            $crate::__select!(@case $case1),
            $crate::__select!(@fits $value1),
            $crate::__select!(@cases $($rest)*),
        )
    };
    (@case $case:expr) => {
        match $crate::runtime::sync::select::awaitable($case) {
            case => {
                #[allow(unused_imports)]
                use $crate::runtime::sync::select::{OfFuture as _, OfNeither as _};
                let kind = (&$crate::runtime::sync::select::Probe::new(&case)).kind();
                kind.case(case)
            }
        }
    };
    (@fits $value:pat) => {
        |came| {
            #[allow(unused_mut)]
            let (mut came, mut fits) = (came, false);
            // The guard sees whether the pattern fits, and lets nothing be moved.
            #[allow(unused, clippy::all)]
            match came {
                $value if { fits = true; false } => ::core::unreachable!(),
                _ => {}
            }
            if fits { ::core::option::Option::Some(came) } else { ::core::option::Option::None }
        }
    };

    (@match $one:ident) => { match $one {} };
    (@match $one:ident {$value1:pat, $body1:tt}) => {
        match $one {
            $crate::runtime::sync::select::One::First(came) => $crate::__select!(@bind came $value1, $body1),
        }
    };
    (@match $one:ident {$value1:pat, $body1:tt} {$value2:pat, $body2:tt} {$value3:pat, $body3:tt} {$value4:pat, $body4:tt} $($rest:tt)+) => {
        match $one {
            $crate::runtime::sync::select::One::First(came) => $crate::__select!(@bind came $value1, $body1),
            $crate::runtime::sync::select::One::Later(later) => match later {
                $crate::runtime::sync::select::One::First(came) => $crate::__select!(@bind came $value2, $body2),
                $crate::runtime::sync::select::One::Later(later) => match later {
                    $crate::runtime::sync::select::One::First(came) => $crate::__select!(@bind came $value3, $body3),
                    $crate::runtime::sync::select::One::Later(later) => match later {
                        $crate::runtime::sync::select::One::First(came) => $crate::__select!(@bind came $value4, $body4),
                        $crate::runtime::sync::select::One::Later(later) => $crate::__select!(@match later $($rest)+),
                    },
                },
            },
        }
    };
    (@match $one:ident {$value1:pat, $body1:tt} $($rest:tt)+) => {
        match $one {
            $crate::runtime::sync::select::One::First(came) => $crate::__select!(@bind came $value1, $body1),
            $crate::runtime::sync::select::One::Later(later) => $crate::__select!(@match later $($rest)+),
        }
    };
    (@bind $came:ident $value:pat, $body:tt) => {{
        #[allow(unused_mut)]
        let mut came = $came;
        match came {
            $value => $body,
            #[allow(unreachable_patterns)]
            _ => ::core::unreachable!("select!: a case was chosen whose pattern does not fit"),
        }
    }};
}
