//! Selects over two channels: threads that send and receive on both at once, wait or give up, beside one that closes both in the
//! end. One case takes effect, and what a channel answers has an order in which a list answers so.

use crate::linear::{History, Record};
use crate::room::{Program, Room, reached_if};
use crate::rooms::queue_of_values::{self as queue, Call};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::chan::Tiny;
use spinpark_verification::harness::select::{self, Case, Got};
use spinpark_verification::hosts::model_host::ModelHost;
use std::sync::Arc;
use std::task::Poll;

/// Sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The room in each channel.
    pub capacity: [usize; 2],
}

/// Which way a value goes, and at which of the two channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// Out.
    Recv(usize),
    /// In.
    Send(usize),
}

/// What a thread does. So many values can be sent to a channel: a case that would send more is one that receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Waits until one of the two takes effect.
    Select(Way, Way),
    /// Waits, and gives up if none takes effect at once.
    SelectOrGiveUp(Way, Way),
    /// Takes the default, if none takes effect at once.
    SelectOrDefault(Way, Way),
    /// Sends or receives, without a select.
    Just(Way),
}

/// So many values a channel. No two have one number, in whichever channel.
const VALUES: u64 = 2;
/// So many selects that give up: a value may have been given to each.
const GIVE_UP: usize = 2;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Select;

impl Room for Select {
    const NAME: &'static str = "select";
    const CLAIM: &'static str = "of a select one case takes effect, and each channel stays linearizable to a list";
    const THREADS: usize = 3;
    const LONGEST: usize = 10;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] =
        &["select-never-reopens", "select-asks-after-dequeuing", "select-asks-no-claim"];
    const PATHS: &'static [&'static str] = &[
        "a select took effect by its first case",
        "a select took effect by its second case",
        "a select gave up",
        "a select gave up when it had sent",
        "a select took the default",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (0..2usize, 0..2usize).prop_map(|(one, other)| Setup { capacity: [one, other] }).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        let way = || prop_oneof![(0..2usize).prop_map(Way::Recv), (0..2usize).prop_map(Way::Send)];
        prop_oneof![
            5 => (way(), way()).prop_map(|(one, other)| Op::Select(one, other)),
            2 => (way(), way()).prop_map(|(one, other)| Op::SelectOrGiveUp(one, other)),
            1 => (way(), way()).prop_map(|(one, other)| Op::SelectOrDefault(one, other)),
            4 => way().prop_map(Op::Just),
        ]
        .boxed()
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let [one, other] = setup.capacity;
        let smaller = [[0, other], [one, 0], [0, 0]].map(|capacity| Setup { capacity });
        smaller.into_iter().filter(|smaller| smaller != setup).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let capacity = program.setup.capacity;
        let shared = Arc::new(Shared::<H> { tinies: capacity.map(Tiny::new), history: History::default() });
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), numbered(program, thread));
            move || ops.into_iter().for_each(|step| shared.does(thread, step))
        };
        let mut others: Vec<_> = (1..program.threads()).map(|thread| H::fork("other", plays(thread))).collect();
        let closer = Arc::clone(&shared);
        // Each waiter is served, or learns of this.
        others.push(H::fork("closer", move || {
            for (chan, tiny) in closer.tinies.iter().enumerate() {
                closer.history.call(Self::THREADS, || ((), (chan, Call::Closed(tiny.close()))));
            }
        }));
        plays(0)();
        others.into_iter().for_each(|other| H::join(other));
        let records = shared.history.records();
        let left = [0, 1].map(|chan| {
            let rest = shared.tinies[chan].rest();
            let of_it = records.iter().filter(|record| record.call.0 == chan);
            let of_it = of_it.map(|Record { thread, call: (_, call), begun, ended }| Record {
                thread: *thread,
                call: *call,
                begun: *begun,
                ended: *ended,
            });
            queue::check(capacity[chan], of_it.collect(), &rest);
            rest.len()
        });
        format!("left {left:?}")
    }
}

/// A case that has its value.
#[derive(Debug, Clone, Copy)]
enum Numbered {
    Recv(usize),
    Send(usize, u64),
}

impl Numbered {
    fn chan(self) -> usize {
        match self {
            Numbered::Recv(chan) | Numbered::Send(chan, _) => chan,
        }
    }
}

/// What is done, with its cases: one or two.
type Step = (Op, Vec<Numbered>);

/// What this thread does, and with which values.
fn numbered(program: &Program<Select>, thread: usize) -> Vec<Step> {
    let (mut next, mut gives_up) = ([0; 2], 0);
    let mut number = |way: Way| match way {
        Way::Send(chan) if next[chan] < VALUES => {
            next[chan] += 1;
            Numbered::Send(chan, VALUES * chan as u64 + next[chan] - 1)
        }
        Way::Send(chan) | Way::Recv(chan) => Numbered::Recv(chan),
    };
    let steps = program.ops.iter().filter_map(|&(who, op)| {
        let cases = match op {
            Op::Select(one, other) | Op::SelectOrDefault(one, other) => vec![number(one), number(other)],
            Op::SelectOrGiveUp(one, other) => {
                gives_up += 1;
                vec![number(one), number(other)]
            }
            Op::Just(way) => vec![number(way)],
        };
        (who == thread && gives_up <= GIVE_UP).then_some((op, cases))
    });
    steps.collect()
}

struct Shared<H: ModelHost> {
    tinies: [Arc<Tiny<H>>; 2],
    history: History<H, (usize, Call)>,
}

impl<H: ModelHost> Shared<H> {
    fn does(&self, thread: usize, (op, cases): Step) {
        self.history.calls(thread, || {
            let calls = match (op, &cases[..]) {
                (Op::Just(_), [case]) => vec![self.just(*case)],
                (_, [one, other]) => self.selects(op, [*one, *other]),
                (_, cases) => unreachable!("select: {} cases", cases.len()),
            };
            ((), calls)
        });
    }

    fn just(&self, case: Numbered) -> (usize, Call) {
        let tiny = &self.tinies[case.chan()];
        let call = match case {
            Numbered::Send(_, n) => tiny.send(n).map_or_else(Call::Refused, |()| Call::Sent(n)),
            Numbered::Recv(_) => tiny.recv().map_or(Call::NoneLeft, Call::Received),
        };
        (case.chan(), call)
    }

    fn case(&self, case: Numbered) -> Case<'_, H> {
        match case {
            Numbered::Send(chan, n) => select::send(&self.tinies[chan], n),
            Numbered::Recv(chan) => select::recv(&self.tinies[chan]),
        }
    }

    fn selects(&self, op: Op, cases: [Numbered; 2]) -> Vec<(usize, Call)> {
        let [one, other] = cases.map(|case| self.case(case));
        let mut select = select::Select::new(one, other);
        let got = match op {
            Op::SelectOrDefault(..) => {
                select = select.or_default();
                select.wait()
            }
            Op::SelectOrGiveUp(..) => match select.poll() {
                Poll::Ready(got) => got,
                Poll::Pending => return gave_up(cases, &select.give_up()),
            },
            Op::Select(..) | Op::Just(_) => select.wait(),
        };
        let (case, call) = match got {
            Got::Default => {
                reached_if(true, "a select took the default");
                return Vec::new();
            }
            Got::Received(case, value) => {
                value.into_iter().for_each(|n| self.tinies[cases[case].chan()].read(n));
                (case, value.map_or(Call::NoneLeft, Call::Received))
            }
            Got::Sent(case, is_sent) => match cases[case] {
                Numbered::Send(_, n) => (case, if is_sent { Call::Sent(n) } else { Call::Refused(n) }),
                Numbered::Recv(_) => unreachable!("select: a case that receives has sent"),
            },
        };
        reached_if(case == 0, "a select took effect by its first case");
        reached_if(case == 1, "a select took effect by its second case");
        vec![(cases[case].chan(), call)]
    }
}

/// A select gave up; these values came back. What did not was sent, and that is one at most.
fn gave_up(cases: [Numbered; 2], back: &[u64]) -> Vec<(usize, Call)> {
    let sends = cases.iter().filter(|case| matches!(case, Numbered::Send(..))).count();
    assert!(sends - back.len() <= 1, "two cases of one select have sent");
    reached_if(true, "a select gave up");
    let mut back = back.to_vec();
    let mut calls = Vec::new();
    for case in cases {
        match case {
            Numbered::Recv(chan) => calls.push((chan, Call::GaveUp)),
            Numbered::Send(chan, n) => match back.iter().position(|&value| value == n) {
                Some(at) => drop(back.remove(at)),
                None => {
                    reached_if(true, "a select gave up when it had sent");
                    calls.push((chan, Call::Sent(n)));
                }
            },
        }
    }
    calls
}
