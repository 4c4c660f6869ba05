//! Models of the table of sockets: one is registered, forgotten and reported beside each other and beside the end of all.

use crate::harness::common::party;
use crate::harness::readiness::{End, Net, READER, WRITER};
use crate::harness::system::System;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, sc};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::waits::readiness::Direction;
use spinpark_kernel::waits::sockets::NotRegistered;
use std::sync::Arc;

/// A task registers a socket, and waits for it, as the runtime ends.
fn a_register_beside_it<H: ModelHost>() -> String {
    main_plays("task");
    let reports_changes = H::choose(2) == 0;
    let net = Net::<H>::new();
    let closer = party::<H, _, _>("closer", &net, Net::close);
    let registered = net.try_register(&System::new(reports_changes), false);
    let ended = match &registered {
        Ok(socket) => {
            assert!(socket.io(&net, Direction::Read, READER).is_none(), "nothing was sent");
            net.forget(socket);
            if net.is_closed(READER) { "woken" } else { "told" }
        }
        Err(NotRegistered::Closed) => "refused",
        Err(NotRegistered::System(())) => unreachable!("the system knows as many as one likes"),
    };
    let were_any = H::join(closer);
    assert!(
        were_any == (ended == "woken"),
        "the closer was told that a task waited: {were_any}, and the waiter: {ended}"
    );
    net.check_at_rest();
    assert!(net.sockets.is_empty(), "a socket has a key that was not registered");
    ended.to_owned()
}

/// The system refuses a socket, before it knows it or when it is started, as the runtime ends.
fn a_refusal_beside_it<H: ModelHost>() -> String {
    main_plays("task");
    let refuses_to_start = H::choose(2) == 0;
    let net = Net::<H>::new();
    let system = System::new(true);
    if !refuses_to_start {
        system.refuse();
    }
    let closer = party::<H, _, _>("closer", &net, Net::close);
    let why = net.try_register(&system, refuses_to_start).err().expect("it is refused");
    assert!(!H::join(closer), "no task waited");
    assert!(net.sockets.is_empty(), "a socket that was refused has a key: {why:?}");
    assert!(!system.is_known(), "a socket that was refused is known to the system: {why:?}");
    net.check_at_rest();
    format!("started {refuses_to_start}, {why:?}")
}

/// A socket that a task waits for is forgotten as the runtime ends.
fn a_forget_beside_the_close<H: ModelHost>() -> String {
    main_plays("owner");
    let net = Net::<H>::new();
    let socket = net.register(true);
    socket.begin(&net, Direction::Read, READER);
    let closer = party::<H, _, _>("closer", &net, Net::close);
    let were_last = net.forget(&socket);
    let were_any = H::join(closer);
    assert!(were_last != were_any, "one wait was the last of both: {were_last}, {were_any}");
    net.check_at_rest();
    assert!(net.sockets.is_empty() && !socket.system.is_known(), "a socket that was forgotten is known");
    format!("{:?}", net.end_of(READER))
}

/// The same as it is reported.
fn a_forget_beside_the_close_and_a_poll<H: ModelHost>() -> String {
    main_plays("owner");
    let net = Net::<H>::new();
    let socket = net.register(true);
    socket.begin(&net, Direction::Read, READER);
    socket.change(&net, Direction::Read);
    let closer = party::<H, _, _>("closer", &net, Net::close);
    let m = party::<H, _, _>("M", &net, Net::poll);
    let were_last = net.forget(&socket);
    let were_any = H::join(closer);
    H::join(m);
    let end = net.end_of(READER);
    assert!(were_last == (end == End::Forgotten), "the forgetter took the last wait: {were_last}, and it was {end:?}");
    assert!(were_any == (end == End::Closed), "the closer took the last wait: {were_any}, and it was {end:?}");
    net.check_at_rest();
    format!("{end:?}")
}

/// Two tasks wait for two sockets; one is forgotten as the other is.
fn two_are_forgotten<H: ModelHost>() -> String {
    main_plays("owner");
    let net = Net::<H>::new();
    let (one, two) = (net.register(true), net.register(true));
    one.begin(&net, Direction::Read, READER);
    two.begin(&net, Direction::Write, WRITER);
    let other = {
        let net = Arc::clone(&net);
        H::fork("other owner", move || net.forget(&two))
    };
    let mine = net.forget(&one);
    let others = H::join(other);
    assert!(mine != others, "of two that were forgotten one was the last that was waited for: {mine}, {others}");
    assert!([READER, WRITER].map(|waker| net.end_of(waker)) == [End::Forgotten; 2], "both were forgotten");
    net.check_at_rest();
    assert!(net.sockets.is_empty(), "both were forgotten, and one has a key");
    format!("mine was the last: {mine}")
}

/// A socket that a task waits for is reported as it is forgotten.
fn it_goes_as_it_is_reported<H: ModelHost>() -> String {
    main_plays("owner");
    let reports_changes = H::choose(2) == 0;
    let net = Net::<H>::new();
    let socket = net.register(reports_changes);
    socket.begin(&net, Direction::Read, READER);
    socket.change(&net, Direction::Read);
    let m = party::<H, _, _>("M", &net, Net::poll);
    net.forget(&socket);
    H::join(m);
    net.check_at_rest();
    assert!(!socket.system.is_known(), "a socket that was forgotten is known to the system");
    format!("{:?}", net.end_of(READER))
}

/// Another gets the key, and a task of its waits, as the old one is reported.
fn it_is_anothers_as_it_is_reported<H: ModelHost>() -> String {
    main_plays("owner");
    let net = Net::<H>::new();
    let old = net.register(true);
    old.change(&net, Direction::Read);
    let m = party::<H, _, _>("M", &net, Net::poll);
    let new = net.replace(&old);
    assert!(new.entry.key() == old.entry.key(), "a key that is free is given to the next");
    let gave_up = !new.give_up(&net, READER);
    H::join(m);
    net.check_at_rest();
    net.forget(&new);
    assert!(net.sockets.is_empty(), "both were forgotten, and one has a key");
    format!("gave up {gave_up}")
}

/// Something can be read as the socket is made known, before the system reports it or after.
fn a_change_beside_the_register<H: ModelHost>() -> String {
    main_plays("task");
    let reports_changes = H::choose(2) == 0;
    let net = Net::<H>::new();
    let system = System::new(reports_changes);
    let m = {
        let (net, system) = (Arc::clone(&net), Arc::clone(&system));
        H::fork("M", move || {
            system.change(&net, Direction::Read);
            net.run_m();
        })
    };
    let socket = net.try_register(&system, false).unwrap_or_else(|why| panic!("it is not closed: {why:?}"));
    let tries = socket.io(&net, Direction::Read, READER);
    net.is_over();
    H::join(m);
    net.check_at_rest();
    format!("tried {tries:?}")
}

/// One thread alone: which key is whose, which caller is told that it was the last, and what the end refuses.
fn one_after_the_other<H: ModelHost>() -> String {
    let reports_changes = H::choose(2) == 0;
    let net = Net::<H>::new();
    let has = |key: usize, socket: &Arc<_>| net.sockets.get(key).is_some_and(|entry| Arc::ptr_eq(&entry, socket));
    assert!(net.sockets.is_empty() && net.sockets.get(0).is_none(), "a table has sockets from the beginning");
    let (one, two) = (net.register(reports_changes), net.register(reports_changes));
    assert!((one.entry.key(), two.entry.key()) == (0, 1), "keys are counted from 0");
    assert!(!net.sockets.is_empty(), "two are known");
    assert!(has(0, &one.entry) && has(1, &two.entry) && net.sockets.get(2).is_none(), "each has its key, and no other");
    assert!(one.entry.is_armed_each_time() != reports_changes, "an entry knows how it is armed");
    one.begin(&net, Direction::Read, READER);
    assert!(!net.forget(&two), "no task waited for it");
    assert!(net.sockets.get(1).is_none() && has(0, &one.entry), "the other is gone");
    let three = net.register(reports_changes);
    assert!(has(1, &three.entry), "a key that is free is given to the next");
    three.begin(&net, Direction::Write, WRITER);
    let closes = H::choose(2) == 0;
    if closes {
        assert!(net.close(), "two waited");
        assert!(net.end_of(READER) == End::Closed && net.end_of(WRITER) == End::Closed, "both were woken");
        let after = net.try_register(&System::new(reports_changes), false).err();
        assert!(after == Some(NotRegistered::Closed), "none is registered after the end");
        assert!(!net.close(), "no task waits any more");
    }
    assert!(!net.forget(&one), "it was not the last that was waited for");
    assert!(net.forget(&three) != closes, "it was the last that was waited for, unless that is over");
    assert!(net.sockets.is_empty(), "all were forgotten");
    net.check_at_rest();
    format!("changes {reports_changes}, closed {closes}")
}

const REGISTER: &str = "sockets::nobody_waits_after_the_close::a_register_beside_it";
const REFUSAL: &str = "sockets::nobody_waits_after_the_close::a_refusal_beside_it";
const FORGET: &str = "sockets::each_waker_goes_once::a_forget_beside_the_close";
const REPORT: &str = "sockets::a_key_that_is_gone_harms_nobody::it_goes_as_it_is_reported";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sockets::nobody_waits_after_the_close::a_register_beside_it", a_register_beside_it,
        claim: "a task that registers a socket and waits for it, as the runtime ends: the socket is refused, or the wait is, or \
            the task is woken",
        size: "2 threads, 1 socket of either kind",
        invariants: [78, 121],
        must_reach: ["refused", "told", "woken"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::nobody_waits_after_the_close::a_refusal_beside_it", a_refusal_beside_it,
        claim: "a socket that the system refuses has no key, and is not known, also as the runtime ends",
        size: "2 threads, 1 socket",
        invariants: [121],
        must_reach: ["started true, System(())", "started false, System(())", "Closed"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::each_waker_goes_once::a_forget_beside_the_close", a_forget_beside_the_close,
        claim: "a socket that is forgotten as the runtime ends: the waker of the task that waits is dropped or woken, once, and \
            counted down once",
        size: "2 threads, 1 socket, 1 wait",
        invariants: [29, 121],
        must_reach: ["Forgotten", "Closed"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::each_waker_goes_once::a_forget_beside_the_close_and_a_poll", a_forget_beside_the_close_and_a_poll,
        claim: "the same as the socket is reported: one of the three has the waker, and the one told that it was the \
                last is right",
        size: "3 threads, 1 socket, 1 wait, 1 report",
        invariants: [29, 121],
        must_reach: ["Forgotten", "Closed", "Reported"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::each_waker_goes_once::two_are_forgotten", two_are_forgotten,
        claim: "of two sockets that are forgotten at once one is told that no task waits any more, and only that",
        size: "2 threads, 2 sockets, 2 waits",
        invariants: [29, 121],
        must_reach: ["mine was the last: true", "mine was the last: false"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::a_key_that_is_gone_harms_nobody::it_goes_as_it_is_reported", it_goes_as_it_is_reported,
        claim: "a socket that is forgotten as it is reported: its waker is dropped or woken, once, and the system forgets it",
        size: "2 threads, 1 socket of either kind, 1 report",
        invariants: [29, 122],
        must_reach: ["Forgotten", "Reported"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::a_key_that_is_gone_harms_nobody::it_is_anothers_as_it_is_reported", it_is_anothers_as_it_is_reported,
        claim: "a report of a socket whose key is another's by now wakes a task of that, for nothing, and counts it down once",
        size: "2 threads, 2 sockets, 1 key, 1 report",
        invariants: [29, 122],
        must_reach: ["gave up true", "gave up false"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::a_key_that_is_gone_harms_nobody::a_change_beside_the_register", a_change_beside_the_register,
        claim: "a change as a socket is made known, reported before its entry knows it or after, is not missed",
        size: "2 threads, 1 socket of either kind, 1 change",
        invariants: [78, 122],
        must_reach: ["tried Some(1)", "tried Some(2)"],
        runs: [rc11(), sc()]),
    crate::model!("sockets::each_waker_goes_once::one_after_the_other", one_after_the_other,
        claim: "which socket has which key, which caller is told that the last wait is over, and what the end refuses, \
                step by step",
        size: "1 thread, 3 sockets of either kind, 2 waits",
        invariants: [29, 121, 122],
        must_reach: ["changes true, closed true", "changes false, closed false"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "sockets";
    "sockets-copies-before-it-is-closed": "the end copies the entries, and lets none be registered after that, under another lock",
        variant("sockets-copies-before-it-is-closed"), by REGISTER => [Rc11, Sc];
    "sockets-keeps-the-key-of-one-that-is-refused": "a socket that the system refuses keeps its key",
        variant("sockets-keeps-the-key-of-one-that-is-refused"), by REFUSAL => [Rc11, Sc];
    "sockets-counts-down-those-it-saw": "a thread that forgets a socket counts those that wait, and takes them under \
                                         another lock",
        variant("sockets-counts-down-those-it-saw"), by FORGET => [Rc11, Sc], REPORT => [Rc11, Sc];
    "sockets-forgets-the-key-alone": "a thread that forgets a socket frees its key, and leaves the entry as it is",
        variant("sockets-forgets-the-key-alone"), by REPORT => [Rc11, Sc];
};
