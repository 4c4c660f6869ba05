//! The word in which a P lies while its M is in a system call.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark_kernel::protocol::syscall::{SyscallStatus, SyscallWord};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_proptests::check::{Broken, Tally, check};
use spinpark_proptests::solo::Solo;

const CASES: u32 = 1000;
const P: PId = PId(3);

/// What is done to the word of one P.
#[derive(Debug, Clone, Copy)]
enum Op {
    /// An M leaves the P there, if it has it.
    Enter(u32),
    /// A thread looks.
    Look,
    /// A thread takes it out of the call that was seen at this look, of all there were.
    Take(usize),
    /// A thread takes it out of whatever call it is in.
    TakeAny,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => (0..3u32).prop_map(Op::Enter),
        2 => Just(Op::Look),
        3 => any::<usize>().prop_map(Op::Take),
        1 => Just(Op::TakeAny),
    ]
}

/// A retaker that looked at one call takes the P out of that one, or not at all: even if the same M makes the next, and even if the
/// number of takings wraps around between.
mod a_p_is_taken_out_of_the_call_that_was_seen_and_of_no_other {
    use super::*;

    #[test]
    fn by_any_who_look_and_take() {
        let start = prop_oneof![Just(0u32), u32::MAX - 8..=u32::MAX];
        let seen = check(CASES, (start, vec(op(), 0..60)), |(start, ops)| {
            let word = SyscallWord::<Solo>::starting_at(P, start);
            let mut owned = Some(OwnedP::forge(P));
            // The call, if there is one, by its number; how many there were; what was seen, and which call it was.
            let (mut call, mut calls, mut looks) = (None, 0, Vec::<(SyscallStatus, Option<u32>)>::new());
            let (mut seen, mut why) = (Tally::default(), Ok(()));
            for op in ops {
                let (expected, taken) = match op {
                    Op::Enter(m) => {
                        let Some(p) = owned.take() else { continue };
                        word.put(p, MId(m));
                        calls += 1;
                        call = Some((calls, m));
                        continue;
                    }
                    Op::Look => {
                        looks.push((word.peek(), call.map(|(call, _)| call)));
                        let in_syscall = call.map(|(_, m)| MId(m));
                        if word.peek().in_syscall != in_syscall {
                            why = Err(format!("{:?} is in a call, and it is {:?}", in_syscall, word.peek()));
                            break;
                        }
                        continue;
                    }
                    Op::Take(_) if looks.is_empty() => continue,
                    Op::Take(look) => {
                        let (status, saw) = looks[look % looks.len()];
                        let now = call.map(|(call, _)| call);
                        seen.note_if(saw.is_some() && now.is_some() && saw != now, "it was in another call by then");
                        seen.note_if(saw.is_none(), "it was seen in none");
                        (saw.is_some() && saw == now, word.take(status))
                    }
                    Op::TakeAny => (call.is_some(), word.take_any()),
                };
                seen.note_if(taken.is_some(), "it was taken");
                if taken.is_some() != expected {
                    why = Err(format!("{op:?} in {call:?}, with {looks:?} seen, gives {taken:?}"));
                    taken.map(OwnedP::discard);
                    break;
                }
                if taken.is_some() {
                    (owned, call) = (taken, None);
                }
            }
            seen.note_if(word.peek().tick < start, "the number of takings has wrapped around");
            owned.map(OwnedP::discard);
            why.map(|()| seen).map_err(Broken::because)
        });
        seen.must_have(&["it was taken", "it was in another call by then", "it was seen in none"]);
        seen.must_have(&["the number of takings has wrapped around"]);
    }
}
