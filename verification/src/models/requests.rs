//! Models of requests to one thread: two ask beside each other, beside the end, and beside a server that ends over one.

use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, rc11_spurious, sc, sc_cut};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::requests::{self as steps, Answer, Asked};
use spinpark_kernel::waits::requests::{Next, Request, Requests, Unanswered};
use std::sync::Arc;

/// A server, and two threads to be.
struct Tiny<H: ModelHost> {
    asked: Asked<H>,
    /// What each is to do: the asker writes it.
    body: [H::Cell<usize>; 2],
    /// How often each was started.
    starts: [H::Cell<u64>; 2],
    /// The system refuses this one.
    refused: usize,
}

impl<H: ModelHost> Tiny<H> {
    fn new(refused: usize) -> Arc<Self> {
        let (body, starts) = ([(); 2].map(|()| Cell::new(0)), [(); 2].map(|()| Cell::new(0)));
        Arc::new(Tiny { asked: Requests::new(), body, starts, refused })
    }

    /// The server starts a thread.
    fn start(&self, n: usize) -> Result<usize, ()> {
        assert!(self.body[n].get() == n + 1, "request {n} is served, and what was written before it is not seen");
        self.starts[n].set(self.starts[n].get() + 1);
        if n == self.refused { Err(()) } else { Ok(n) }
    }

    fn serve(&self) {
        steps::serve(&self.asked, |n| self.start(n));
    }

    /// Asks for thread `n`. What became of that.
    fn ask(&self, n: usize) -> &'static str {
        self.body[n].set(n + 1);
        let answer: Answer = steps::ask(&self.asked, n);
        let (starts, told) = match answer {
            Ok(Ok(started)) => {
                assert!(started == n && n != self.refused, "{n} was asked for, and {started} is started");
                (1, "started")
            }
            Ok(Err(())) => {
                assert!(n == self.refused, "{n} was not refused");
                (1, "refused")
            }
            Err(Unanswered::Ended(back)) => {
                assert!(back == n, "{n} was asked for, and {back} comes back");
                (0, "back")
            }
            Err(Unanswered::Lost) => (0, "lost"),
        };
        assert!(self.starts[n].get() == starts, "{told}, and {n} was started {} times", self.starts[n].get());
        told
    }
}

fn server<H: ModelHost>(tiny: &Arc<Tiny<H>>) -> H::Thread<()> {
    let tiny = Arc::clone(tiny);
    H::fork("server", move || tiny.serve())
}

fn asker<H: ModelHost>(tiny: &Arc<Tiny<H>>) -> H::Thread<&'static str> {
    let tiny = Arc::clone(tiny);
    H::fork("other", move || tiny.ask(1))
}

/// Two ask, and one of them is refused, or none.
fn two_ask<H: ModelHost>() -> String {
    main_plays("one");
    let tiny = Tiny::<H>::new(H::choose(3));
    let (server, other) = (server(&tiny), asker(&tiny));
    let one = tiny.ask(0);
    let other = H::join(other);
    steps::end(&tiny.asked);
    H::join(server);
    format!("{one}, {other}")
}

/// One asks as it is over.
fn an_end_beside_it<H: ModelHost>() -> String {
    main_plays("ender");
    let tiny = Tiny::<H>::new(usize::MAX);
    let (server, other) = (server(&tiny), asker(&tiny));
    steps::end(&tiny.asked);
    let other = H::join(other);
    H::join(server);
    other.to_owned()
}

/// Two ask; the server begins with one, and ends.
fn the_server_ends_over_one<H: ModelHost>() -> String {
    main_plays("one");
    let tiny = Tiny::<H>::new(usize::MAX);
    let server = {
        let tiny = Arc::clone(&tiny);
        H::fork("server", move || steps::lose_one(&tiny.asked))
    };
    let other = asker(&tiny);
    let one = tiny.ask(0);
    let other = H::join(other);
    H::join(server);
    assert!([one, other].iter().filter(|&&told| told == "lost").count() == 1, "the server took one: {one}, {other}");
    format!("{one}, {other}")
}

/// One thread alone: in which order they are served, and what the end leaves.
fn one_after_the_other<H: ModelHost>() -> String {
    let asked = Asked::<H>::new();
    let requests: Vec<_> = (0..3).map(Request::<H, usize, _>::new).collect();
    let takes = H::choose(4);
    for request in &requests {
        assert!(asked.with(|waiting| waiting.put(request)), "it is not over");
    }
    for (n, request) in requests.iter().enumerate().take(takes) {
        let Next::Request(found, taken) = asked.next() else { panic!("request {n} is lost") };
        assert!(found == n, "{found} is served before {n}");
        taken.answer(Ok(n));
        assert!(request.wait() == Ok(Ok(n)), "{n} has another answer");
    }
    if takes == 3 {
        assert!(matches!(asked.next(), Next::Nothing), "all were taken");
    }
    asked.end();
    for (n, request) in requests.iter().enumerate().skip(takes) {
        assert!(request.wait() == Err(Unanswered::Ended(n)), "{n} does not come back");
    }
    assert!(matches!(asked.next(), Next::Over), "it is over");
    assert!(!asked.with(|waiting| waiting.put(&Request::new(3))), "one is taken after the end");
    assert!(asked.ask(4) == Err(Unanswered::Ended(4)), "one that comes after the end comes back");
    format!("{takes} were served")
}

const TWO: &str = "requests::each_is_answered_once::two_ask";
const LOST: &str = "requests::none_is_left::the_server_ends_over_one";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("requests::each_is_answered_once::two_ask", two_ask,
        claim: "of two that ask at once each gets its own answer, also that it was refused, and its request is served once, after \
            what was done before it",
        size: "3 threads, 2 requests, 1 refused at most",
        invariants: [124],
        must_reach: ["started, started", "refused, started", "started, refused"],
        runs: [rc11(), rc11_spurious(1), sc_cut()]),
    crate::model!("requests::none_is_left::an_end_beside_it", an_end_beside_it,
        claim: "an asker, as it is over, gets an answer, or the request back",
        size: "3 threads, 1 request",
        invariants: [124],
        must_reach: ["started", "back"],
        runs: [rc11(), rc11_spurious(1), sc()]),
    crate::model!("requests::none_is_left::the_server_ends_over_one", the_server_ends_over_one,
        claim: "a server that ends over one request tells its asker; the other comes back",
        size: "3 threads, 2 requests",
        invariants: [124],
        must_reach: ["lost, back", "back, lost"],
        runs: [rc11(), sc_cut()]),
    crate::model!("requests::each_is_answered_once::one_after_the_other", one_after_the_other,
        claim: "requests are served in the order of asking, and come back at the end, step by step",
        size: "1 thread, 3 requests, of which 0 to 3 are served",
        invariants: [124],
        must_reach: ["0 were served", "3 were served"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "requests";
    "requests-unparks-before-it-puts": "an asker unparks the server, and then puts the request there",
        variant("requests-unparks-before-it-puts"), by TWO => [Rc11, Sc];
    "requests-unparks-before-it-answers": "the server unparks the asker, and then answers",
        variant("requests-unparks-before-it-answers"), by TWO => [Rc11, Sc];
    "requests-takes-what-waits-and-then-ends": "a server that ends takes what waits, and says that it is over, under another lock",
        variant("requests-takes-what-waits-and-then-ends"), by LOST => [Rc11];
    "requests-forgets-what-it-has-taken": "a server that ends over a request does not tell its asker",
        variant("requests-forgets-what-it-has-taken"), by LOST => [Rc11, Sc];
};
