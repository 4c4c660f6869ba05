//! The steps of a request, the right ones unless a variant says otherwise.

use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::requests::{Next, Request, Requests, Unanswered};

/// What is asked, by number, and whether it was done.
pub type Asked<H> = Requests<H, usize, Result<usize, ()>>;
/// What becomes of a request.
pub type Answer = Result<Result<usize, ()>, Unanswered<usize>>;

/// Has the server do this. See [`Requests::ask`].
pub fn ask<H: ModelHost>(asked: &Asked<H>, n: usize) -> Answer {
    match variant() {
        Some("requests-unparks-before-it-puts") => {
            let request = Request::new(n);
            asked.unpark();
            match asked.with(|waiting| waiting.put(&request)) {
                true => request.wait(),
                false => Err(Unanswered::Ended(n)),
            }
        }
        _ => asked.ask(n),
    }
}

/// The server's life. See [`Requests::serve`].
pub fn serve<H: ModelHost>(asked: &Asked<H>, mut does: impl FnMut(usize) -> Result<usize, ()>) {
    if !is_variant("requests-unparks-before-it-answers") {
        return asked.serve(does);
    }
    loop {
        match asked.next() {
            Next::Request(n, mut taken) => {
                let request = taken.0.take().expect("it was taken");
                let answer = does(n);
                request.unpark();
                request.set(Ok(answer));
            }
            Next::Nothing => asked.park(),
            Next::Over => return,
        }
    }
}

/// The server ends over a request that it has taken. See [`Taken`](spinpark_kernel::waits::requests::Taken).
pub fn lose_one<H: ModelHost>(asked: &Asked<H>) {
    if is_variant("requests-takes-what-waits-and-then-ends") {
        take_and_drop(asked);
        return end(asked);
    }
    let _end = asked.ends_with();
    take_and_drop(asked);
}

fn take_and_drop<H: ModelHost>(asked: &Asked<H>) {
    loop {
        match asked.next() {
            Next::Request(_, taken) if is_variant("requests-forgets-what-it-has-taken") => {
                return std::mem::forget(taken);
            }
            Next::Request(_, taken) => return drop(taken),
            Next::Nothing => asked.park(),
            Next::Over => unreachable!("no other thread ends it"),
        }
    }
}

/// It is over. See [`Requests::end`].
pub fn end<H: ModelHost>(asked: &Asked<H>) {
    if !is_variant("requests-takes-what-waits-and-then-ends") {
        return asked.end();
    }
    let left = asked.with(|waiting| waiting.take_all());
    asked.with(|waiting| waiting.close());
    left.iter().for_each(|request| request.give_back());
    asked.unpark();
}
