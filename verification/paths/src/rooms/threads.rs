//! `protocol/threads.rs`, with the words of `types/m.rs`.

use super::straight;
use crate::host::{Domain, Havoc, Telling, ask, tell};
use crate::path::{Operation, Room};
use kernel::host::SpawnError;
use kernel::protocol::threads::{Available, Neighbours, startm, stopm};
use kernel::types::m::{M, MId, NextP, SpinningToken};
use kernel::types::p::{OwnedP, PId};

/// `nextp` names this P, for an M that is not counted.
fn some_p() -> u64 {
    NextP::into_word(Some(NextP::Run { p: OwnedP::forge(PId(0)), token: None }))
}

fn show(word: u64) -> String {
    match word {
        0 => "none".to_owned(),
        1 => "exit".to_owned(),
        _ => "the P".to_owned(),
    }
}

pub(super) static ROOM: Room = Room {
    name: "threads",
    words: &[Domain {
        name: "nextp",
        // What is set is set once for each sleep: a waker finds none. An M that takes finds whatever was set.
        answers: |_| match USER.get() {
            User::Waker => vec![0],
            User::Sleeper => vec![0, 1, some_p()],
            User::GivesUp => vec![0, some_p()],
        },
        telling: Telling::Values(show),
    }],
    operations: &[
        straight("startm", || {
            let ms = [m()];
            startm(NextP::from_word(some_p()).expect("a P"), &ms, &Others);
            "".to_owned()
        }),
        Operation { name: "stopm", heads: &[TAKES], run: || wakes(|ms| stopm(MId(0), ms, &Others)) },
        // An M that sleeps already.
        Operation { name: "wait_nextp", heads: &[TAKES], run: || wakes(|ms| ms[0].wait_nextp()) },
    ],
};

/// With which step the loop of an M that sleeps begins.
const TAKES: &str = "nextp.swap none";

fn wakes(sleep: impl Fn(&[M<Havoc>]) -> NextP) -> String {
    let ms = [m()];
    USER.set(User::Sleeper);
    match sleep(&ms) {
        NextP::Exit => "an end".to_owned(),
        NextP::Run { p, token } => {
            p.discard();
            token.into_iter().for_each(SpinningToken::discard);
            "a P".to_owned()
        }
    }
}

/// Which half of the pair `nextp` the operation is.
#[derive(Clone, Copy)]
enum User {
    Waker,
    Sleeper,
    /// A waker whose M got no thread takes back what it has set.
    GivesUp,
}

thread_local!(static USER: std::cell::Cell<User> = const { std::cell::Cell::new(User::Waker) });

fn m() -> M<Havoc> {
    USER.set(User::Waker);
    M::new()
}

struct Others;

/// Which M is available.
pub(super) fn mget() -> Available {
    match ask("mget", &["one that sleeps", "a new one", "none"]) {
        0 => Available::Sleeping(MId(0)),
        1 => Available::New(MId(0)),
        _ => Available::None,
    }
}

/// Is there a thread for a new one?
pub(super) fn newm() -> Result<(), SpawnError> {
    if ask("newm", &["done", "refused"]) == 0 { Ok(()) } else { Err(SpawnError { os_error: None }) }
}

impl Neighbours<Havoc> for Others {
    fn mget(&self) -> Available {
        mget()
    }
    fn mput(&self, _: MId) -> Option<NextP> {
        match ask("mput", &["it sleeps", "a P", "an end"]) {
            0 => None,
            1 => NextP::from_word(some_p()),
            _ => Some(NextP::Exit),
        }
    }
    fn newm(&self, _: MId) -> Result<(), SpawnError> {
        newm().inspect_err(|_| USER.set(User::GivesUp))
    }
    fn refused(&self, nextp: NextP, m: Option<MId>) -> Option<(MId, NextP)> {
        USER.set(User::Waker);
        tell(if m.is_some() { "gives the number back" } else { "has no number to give back" });
        if ask("refused", &["the P is idled, and a spinning M asked for", "one fell asleep meanwhile"]) == 1 {
            return Some((MId(0), nextp));
        }
        if let NextP::Run { p, token } = nextp {
            p.discard();
            token.into_iter().for_each(SpinningToken::discard);
        }
        None
    }
}
