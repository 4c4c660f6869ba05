//! Work conservation: Ms that look for work, run it, idle their Ps and sleep; and others that submit, or come back from
//! system calls. At the end all parties have come to rest: a G waits and a P is idle, but does an M look?

use crate::room::{Program, Room, reached, reached_if};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::types::m::SpinningToken;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::queues::{Queues, Rings};
use spinpark_verification::harness::spinning::{Did, End, Idled, Tiny};
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::wrap::trace::main_plays;
use spinpark_verification::mutation::variants::spinning::{Scenario, SpinProtocol, play};
use std::sync::Arc;

/// Each plays one party.
const PARTIES: usize = 4;
const NAMES: [&str; PARTIES] = ["party 0", "party 1", "party 2", "party 3"];

/// What a party is at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Begins {
    /// An M that has a P and looks for work.
    SpinningToken,
    /// An M that has a P and does not.
    Running,
    /// No M, or one in a system call: it has no P.
    Outside,
}

/// How it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Each party.
    pub parties: Vec<Begins>,
    /// How many Ps are idle.
    pub idle_ps: u32,
    /// Is the global queue looked into before other rings, as Go does? Then an M takes a share of it that does not spin.
    #[serde(default)]
    pub global_first: bool,
}

/// What a party does. An M that sleeps does it once it was started, if ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Its G readies another, into its ring; from outside: into the global queue. One that spins runs no G: it looks.
    Ready,
    /// Its G calls `wakep` for nothing.
    Wakep,
    /// Its G ends: it looks for the next, and if there is none, idles its P, looks again if it sought, and sleeps.
    FindRunnable,
    /// Comes back from a system call: takes an idle P, or is queued, which wakes no M. The next one then is another M.
    Exitsyscall,
    /// Two others come back, one after the other.
    TwoComeBack,
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Spinning;

impl Room for Spinning {
    const NAME: &'static str = "spinning";
    const CLAIM: &'static str = "no G waits beside an idle P unless an M looks, and each M that looks is counted";
    const THREADS: usize = PARTIES;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::TsoRandom, Engine::TsoPct];
    // Without `spinning-no-spinning-m-fence`: the exchange before it drains the buffer.
    const FALLS: &'static [&'static str] = &[
        "spinning-no-submitter-fence",
        "spinning-looks-before-it-leaves",
        "spinning-drops-the-baton",
        "spinning-only-the-last-looks",
        "spinning-lowers-its-count-late",
        "spinning-wakep-does-not-ask",
        "spinning-retire-does-not-ask",
        "spinning-ignores-the-call",
        "spinning-trusts-any-request",
    ];
    const PATHS: &'static [&'static str] = &[
        "a submitter trusted a count",
        "wakep found no idle P",
        "the second look found work",
        "the second look found work, and no idle P",
        "an M about to idle its P was asked to search",
        "the last spinning M found work and passed the baton",
        "a spinning M found more than it runs, and was not the last",
        "an M that was started looked",
        "an M that came back found no P, and woke no M",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        let begins =
            prop_oneof![3 => Just(Begins::SpinningToken), 2 => Just(Begins::Running), 3 => Just(Begins::Outside)];
        let idle_ps = prop_oneof![6 => Just(0u32), 1 => Just(1)];
        // Few meet more often.
        let parties = prop_oneof![2 => Just(2usize), 1 => Just(3), 2 => Just(PARTIES)];
        (parties.prop_flat_map(move |n| vec(begins.clone(), n)), idle_ps, any::<bool>())
            .prop_map(|(parties, idle_ps, global_first)| Setup { parties, idle_ps, global_first })
            .boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![
            4 => Just(Op::Ready),
            1 => Just(Op::Wakep),
            10 => Just(Op::FindRunnable),
            5 => Just(Op::Exitsyscall),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let fewer_ps = setup.idle_ps.checked_sub(1).map(|idle_ps| Setup { idle_ps, ..setup.clone() });
        let outside = (0..setup.parties.len()).filter(|&i| setup.parties[i] != Begins::Outside).map(|i| {
            let mut simpler = setup.clone();
            simpler.parties[i] = Begins::Outside;
            simpler
        });
        outside.chain(fewer_ps).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        play::<H, _>(program)
    }
}

/// Two parties and a few operations under every interleaving: what needs many switches at the right moments, no lot
/// draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Duel;

impl Room for Duel {
    const NAME: &'static str = "duel";
    const CLAIM: &'static str = "the same of two parties, under every interleaving";
    const THREADS: usize = 2;
    const LONGEST: usize = 6;
    const ENGINES: &'static [Engine] = &[Engine::Sc];
    const FALLS: &'static [&'static str] = &["spinning-asks-before-it-lowers"];
    const PATHS: &'static [&'static str] = &[
        "a submitter trusted a count",
        "wakep found no idle P",
        "the second look found work, and no idle P",
        "an M about to idle its P was asked to search",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        let begins = prop_oneof![1 => Just(Begins::SpinningToken), 1 => Just(Begins::Running)];
        let first = prop_oneof![3 => Just(Begins::SpinningToken), 1 => begins.clone()];
        let second = prop_oneof![3 => Just(Begins::Running), 1 => begins];
        (first, second)
            .prop_map(|(first, second)| Setup { parties: vec![first, second], idle_ps: 0, global_first: false })
            .boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        let [ready, find] = if thread == 0 { [1, 4] } else { [3, 1] };
        prop_oneof![ready => Just(Op::Ready), find => Just(Op::FindRunnable)].boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        play::<H, _>(&Program::<Spinning> { setup: program.setup.clone(), ops: program.ops.clone() })
    }
}

/// One looks, and another leaves that to it, while Gs come that no M is woken for.
#[derive(Debug, Clone, PartialEq)]
pub struct Idlers;

impl Room for Idlers {
    const NAME: &'static str = "idlers";
    const CLAIM: &'static str = "the same of one that looks and one that leaves it to that, while others come back";
    const THREADS: usize = 2;
    const LONGEST: usize = 8;
    const ENGINES: &'static [Engine] = &[Engine::Pct];
    const FALLS: &'static [&'static str] = &["spinning-leaves-it-to-nobody"];
    const PATHS: &'static [&'static str] =
        &["an M about to idle its P was asked to search", "the second look found work"];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        let parties = vec![Begins::SpinningToken, Begins::Running];
        Just(Setup { parties, idle_ps: 0, global_first: true }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        let find = Just(Op::FindRunnable);
        match thread {
            0 => prop_oneof![2 => find, 1 => Just(Op::Exitsyscall), 1 => Just(Op::TwoComeBack)].boxed(),
            _ => prop_oneof![4 => find, 1 => Just(Op::Ready)].boxed(),
        }
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        play::<H, _>(&Program::<Spinning> { setup: program.setup.clone(), ops: program.ops.clone() })
    }
}

impl<H: ModelHost> Scenario<H> for &Program<Spinning> {
    fn play<D: SpinProtocol>(self) -> String {
        let setup = &self.setup;
        let tiny = Tiny::<H, D, Rings<H>>::new(setup.idle_ps, Rings::new(PARTIES));
        let have_one = setup.parties.iter().filter(|party| **party != Begins::Outside).count();
        let procs = have_one + setup.idle_ps as usize;
        let mut parties: Vec<Party<H, D>> = (0..setup.parties.len())
            .map(|me| {
                let tiny = Arc::clone(&tiny);
                if setup.parties[me] == Begins::SpinningToken {
                    tiny.room.become_spinning().discard();
                }
                Party { tiny, procs, me, is: setup.parties[me].into(), global_first: setup.global_first }
            })
            .collect();
        // The threads that are there do the operations of those that are not.
        let is_of = |thread: usize, me: usize| thread % setup.parties.len() == me;
        let ops_of = |me: usize| -> Vec<Op> {
            self.ops.iter().filter(|(thread, _)| is_of(*thread, me)).map(|(_, op)| *op).collect()
        };
        main_plays(NAMES[0]);
        let others = parties.split_off(1);
        let forked: Vec<_> = others
            .into_iter()
            .map(|party| {
                let ops = ops_of(party.me);
                if ops.is_empty() { Err(party.end()) } else { Ok(H::fork(NAMES[party.me], move || party.plays(ops))) }
            })
            .collect();
        let first = parties.remove(0).plays(ops_of(0));
        let others = forked.into_iter().map(|thread| thread.map_or_else(|end| end, |thread| H::join(thread)));
        let ends: Vec<End> = std::iter::once(first).chain(others).collect();
        tiny.check_at_rest(&ends)
    }
}

/// What a party is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    SpinningToken,
    Running,
    Outside,
    Asleep,
}

impl From<Begins> for Is {
    fn from(begins: Begins) -> Is {
        match begins {
            Begins::SpinningToken => Is::SpinningToken,
            Begins::Running => Is::Running,
            Begins::Outside => Is::Outside,
        }
    }
}

struct Party<H: ModelHost, D: SpinProtocol> {
    tiny: Arc<Tiny<H, D, Rings<H>>>,
    procs: usize,
    me: usize,
    is: Is,
    global_first: bool,
}

impl<H: ModelHost, D: SpinProtocol> Party<H, D> {
    fn plays(mut self, ops: Vec<Op>) -> End {
        ops.into_iter().for_each(|op| self.does(op));
        self.end()
    }

    fn end(&self) -> End {
        match self.is {
            Is::SpinningToken => End::Looking,
            Is::Running => End::Busy,
            Is::Outside | Is::Asleep => End::Asleep,
        }
    }

    fn does(&mut self, op: Op) {
        if self.is == Is::Asleep {
            if !self.tiny.begin() {
                return;
            }
            self.is = Is::SpinningToken;
            reached("an M that was started looked");
        }
        match (self.is, op) {
            (Is::SpinningToken, Op::Ready) => drop(self.searches()),
            (Is::Running, Op::Ready) => self.saw(self.tiny.ready(self.me)),
            (Is::Outside, Op::Ready) => self.saw(self.tiny.submit()),
            (Is::Running | Is::Outside, Op::Wakep) => {
                reached_if(self.tiny.wakep() == Did::Asked, "wakep found no idle P");
            }
            (Is::SpinningToken | Is::Running, Op::FindRunnable) => self.finds_runnable(),
            (Is::Outside, Op::Exitsyscall) => {
                if self.tiny.exitsyscall() {
                    self.is = Is::Running;
                } else {
                    reached("an M that came back found no P, and woke no M");
                }
            }
            // Others, while an M runs, or looks. An M that gets a P is busy from then on.
            (_, Op::Exitsyscall) => _ = self.tiny.exitsyscall(),
            (_, Op::TwoComeBack) => (0..2).for_each(|_| _ = self.tiny.exitsyscall()),
            _ => (),
        }
    }

    fn saw(&self, did: Did) {
        reached_if(did == Did::Nothing, "a submitter trusted a count");
        reached_if(did == Did::Asked, "wakep found no idle P");
    }

    /// The loop of src/kernel/src/protocol/find.rs, once.
    fn finds_runnable(&mut self) {
        if self.searches() {
            return;
        }
        let was_spinning = self.is == Is::SpinningToken;
        self.is = match self.tiny.idle(was_spinning.then(SpinningToken::forge)) {
            Idled::Work => {
                self.found(0);
                Is::Running
            }
            Idled::NeedSpinning => {
                reached("an M about to idle its P was asked to search");
                Is::SpinningToken
            }
            Idled::Idle(end, did) => {
                reached_if(end == End::Looking, "the second look found work");
                reached_if(did == Did::Asked, "the second look found work, and no idle P");
                if end == End::Looking { Is::SpinningToken } else { Is::Asleep }
            }
        };
    }

    /// Its own ring, the others' if it may spin, the global queue; or that first.
    fn searches(&mut self) -> bool {
        let queues = &self.tiny.queues;
        if queues.take_one(self.me) {
            self.found(0);
            return true;
        }
        // One that does not spin takes all of it, and wakes no M.
        if self.global_first && self.is == Is::Running && self.tiny.take_batch(self.me) {
            self.found(0);
            return true;
        }
        if self.is == Is::Running && self.tiny.room.may_spin(self.procs, queues.npidle() as usize, 2) {
            self.tiny.room.become_spinning().discard();
            self.is = Is::SpinningToken;
        }
        if self.is == Is::SpinningToken {
            let victims = (1..PARTIES).map(|i| (self.me + i) % PARTIES);
            let stolen = victims.map(|victim| queues.take_half(victim)).find(|n| *n > 0);
            if let Some(stolen) = stolen {
                self.found(stolen - 1);
                return true;
            }
        }
        let is_global = self.tiny.take_global();
        if is_global {
            self.found(0);
        }
        is_global
    }

    /// Found a G to run, and so many for its ring.
    fn found(&mut self, more: u64) {
        if more > 0 {
            self.tiny.queues.put(self.me, more);
        }
        if self.is == Is::SpinningToken {
            let did = self.tiny.found_work(SpinningToken::forge());
            reached_if(did == Did::TookP, "the last spinning M found work and passed the baton");
            reached_if(did == Did::Nothing && more > 0, "a spinning M found more than it runs, and was not the last");
        }
        self.is = Is::Running;
    }
}
