//! What is kept in one word: it comes out as it was put in.

use proptest::prelude::*;
use spinpark_kernel::atomic::Value;
use spinpark_kernel::protocol::syscall::SyscallStatus;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::{MId, NextP, SpinningToken};
use spinpark_kernel::types::p::{OwnedP, PId, Turn};
use spinpark_proptests::check::{Broken, Tally, check};
use std::fmt::Debug;
use std::num::NonZeroU64;

const CASES: u32 = 2000;

/// Any number, and often one with few bits, or all of them.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..4u32, (0..32u32).prop_map(|bit| 1 << bit), u32::MAX - 3..=u32::MAX, any::<u32>()]
}

fn same<T: Debug + PartialEq>(put: T, out: T) -> Result<(), Broken> {
    if put == out { Ok(()) } else { Err(Broken::because(format_args!("{put:?} comes out as {out:?}"))) }
}

mod a_ticket_says_for_which_m_it_is {
    use super::*;

    #[test]
    fn for_every_m() {
        check(CASES, number(), |m| {
            let ticket = G::forge_ticket(MId(m));
            let word = Some(G::forge_ticket(MId(m))).into_word();
            same(Some(MId(m)), ticket.bound())?;
            same(Some(ticket), Value::from_word(word)).map(|()| Tally::default())
        });
    }

    #[test]
    fn for_the_first_and_for_the_last() {
        let ms = [0, 1, u32::MAX - 1, u32::MAX].map(MId);
        assert_eq!(ms.map(|m| G::forge_ticket(m).bound()), ms.map(Some));
    }

    #[test]
    fn and_two_ms_have_two_tickets() {
        check(CASES, (number(), number()), |(one, other)| {
            same(one == other, G::forge_ticket(MId(one)) == G::forge_ticket(MId(other))).map(|()| Tally::default())
        });
    }
}

/// Numbers below 2^63 are the embedder's, the others are the kernel's.
mod a_g_is_no_ticket {
    use super::*;

    const LIMIT: u64 = 1 << 63;

    fn g(raw: u64) -> G {
        G::from_raw(NonZeroU64::new(raw).expect("not 0"))
    }

    #[test]
    fn whatever_the_embedder_puts_in() {
        check(CASES, prop_oneof![Just(1), Just(LIMIT - 1), 1..LIMIT], |raw| {
            same(None, g(raw).bound())?;
            same(raw, g(raw).into_raw().get())?;
            same(Some(g(raw)), Value::from_word(Some(g(raw)).into_word())).map(|()| Tally::default())
        });
        assert_eq!(Option::<G>::None.into_word(), 0);
    }

    /// Arm and Android tag pointers in the highest byte.
    #[test]
    fn whatever_address_it_is() {
        let address =
            prop_oneof![Just(2), Just(u64::MAX - 1), Just(LIMIT), any::<u64>().prop_map(|any| (any | 2) & !1)];
        check(CASES, address, |address| {
            let g = || G::from_address(NonZeroU64::new(address).expect("not 0"));
            same(None, g().bound())?;
            same(address, g().address())?;
            same(address, g().into_address().get())?;
            same(Some(g()), Value::from_word(Some(g()).into_word())).map(|()| Tally::default())
        });
    }

    #[test]
    #[should_panic(expected = "g: an odd address cannot be a G")]
    fn unless_the_address_is_odd() {
        let _ = G::from_address(NonZeroU64::MAX);
    }

    #[test]
    #[should_panic(expected = "g: a number of 2^63 or more cannot be a G")]
    fn so_the_first_number_beyond_is_refused() {
        let _ = g(LIMIT);
    }

    #[test]
    #[should_panic(expected = "g: a number of 2^63 or more cannot be a G")]
    fn so_the_last_number_is_refused() {
        let _ = g(u64::MAX);
    }

    #[test]
    #[should_panic(expected = "g: a number of 2^63 or more cannot be a G")]
    fn so_a_ticket_is_refused() {
        let _ = G::from_raw(G::forge_ticket(MId(0)).into_raw());
    }
}

mod a_word_holds_what_was_put_in {
    use super::*;

    /// The largest M cannot be in a call: 0 says that there is none. `MAX_MS` is far below.
    #[test]
    fn a_syscall_status() {
        check(CASES, (prop::option::of(number().prop_filter("one less", |m| *m < u32::MAX)), number()), |(m, tick)| {
            let status = SyscallStatus { in_syscall: m.map(MId), tick };
            same(status, SyscallStatus::from_word(status.into_word())).map(|()| Tally::default())
        });
    }

    #[test]
    fn a_turn() {
        let mut turn = Turn::default();
        for dispatch in 0..200 {
            assert_eq!(Turn::from_word(turn.into_word()), turn);
            assert_eq!(turn.dispatches(), dispatch);
            if dispatch % 3 == 0 { turn.from_runnext() } else { turn.from_global() }
        }
    }

    #[test]
    fn nextp() {
        check(CASES, (number(), any::<bool>()), |(p, spins)| {
            let token = spins.then(SpinningToken::forge);
            let word = NextP::into_word(Some(NextP::Run { p: OwnedP::forge(PId(p)), token }));
            let Some(NextP::Run { p: out, token }) = NextP::from_word(word) else {
                return Err(Broken::because(format_args!("the `nextp` with P{p} comes out as something else")));
            };
            let still_spins = token.map(SpinningToken::discard).is_some();
            same((PId(p), spins), (out.discard(), still_spins)).map(|()| Tally::default())
        });
        assert!(matches!(NextP::from_word(NextP::into_word(Some(NextP::Exit))), Some(NextP::Exit)));
        assert_eq!(NextP::into_word(None), 0);
    }
}
