//! Models of a channel: its values, who is woken, what happens before what, and the list that it is.

mod list;
mod memory;
mod values;

use crate::engines::Engine;
use crate::model::{Model, loom, rc11, rc11_spurious, sampled, sc};
use crate::mutation::mutant::Mutant;
use list::{what_does_not_wait, what_waits};
use memory::{
    a_close_before_who_finds_it, a_receive_before_its_send_completes, the_kth_receive_before_the_k_plus_c_th_send,
};
use values::{
    a_close_beside_both, a_dropped_receive_hands_on, a_dropped_receive_keeps_the_order,
    a_dropped_send_is_taken_or_comes_back, a_send_beside_a_receive, by_the_waker_of_the_last_poll,
    dropped_receives_keep_the_order, receives_in_the_order_of_coming, sends_in_the_order_of_coming,
    the_last_receiver_is_dropped, the_last_sender_is_dropped, tries_beside_a_receive, two_receives_beside_sends,
};

const BESIDE: &str = "chan::a_value_is_received_once_in_order::a_send_beside_a_receive";
const CLOSE: &str = "chan::a_closed_channel_lets_nobody_wait::a_close_beside_both";
const ORDER: &str = "chan::a_dropped_future_loses_nothing::a_receive_keeps_the_order";
const SENDS: &str = "chan::who_waits_is_served_in_the_order_of_coming::two_sends";
const RECEIVES_BACK: &str = "chan::a_dropped_future_loses_nothing::receives_keep_the_order";
const HANDS_ON: &str = "chan::a_dropped_future_loses_nothing::a_receive_hands_on";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("chan::a_value_is_received_once_in_order::a_send_beside_a_receive", a_send_beside_a_receive,
        claim: "of two values that are sent each is received once, in order, with what was done before; whoever has to wait is \
            woken",
        size: "2 threads, 2 values, room for none, for one, for all",
        invariants: [90, 91, 92, 93],
        must_reach: ["room for 0, the receiver waited: true, the sender: true", "room for 0, the receiver waited: true, the sender: false",
            "room for 1, the receiver waited: false, the sender: true", "room for all, the receiver waited: true"],
        runs: [rc11(), rc11_spurious(1), sc()]),
    crate::model!("chan::a_value_is_received_once_in_order::tries_beside_a_receive", tries_beside_a_receive,
        claim: "a send that does not wait, beside one that does and a receive: nothing is lost, and nothing is received twice",
        size: "3 threads, 2 values, room for none or one",
        invariants: [90, 92],
        must_reach: ["room for 0, 1 was sent: true", "room for 0, 1 was sent: false", "room for 1, 1 was sent: true",
            "room for 1, 1 was sent: false"],
        runs: [rc11(), sc()]),
    crate::model!("chan::a_value_is_received_once_in_order::two_receives_beside_sends", two_receives_beside_sends,
        claim: "of two values that are sent to two that receive each gets one",
        size: "3 threads, 2 values, room for none or one",
        invariants: [90, 92, 93],
        must_reach: ["room for 0, received [Some(1), Some(2)]", "room for 0, received [Some(2), Some(1)]",
            "room for 1, received [Some(2), Some(1)]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("chan::who_waits_is_served_in_the_order_of_coming::two_sends", sends_in_the_order_of_coming,
        claim: "of two sends that wait the first is taken first, and before what is sent at once after them",
        size: "2 threads, 3 sends, room for none or one",
        invariants: [90, 91, 92],
        must_reach: ["room for 0, at once (false, false, false)", "room for 1, at once (true, false, false)",
            "room for 1, at once (true, true, true)"],
        runs: [rc11(), sc()]),
    crate::model!("chan::who_waits_is_served_in_the_order_of_coming::two_receives", receives_in_the_order_of_coming,
        claim: "of two receives that wait the first is given what comes first",
        size: "2 threads, 2 receives, room for none or one",
        invariants: [90, 91, 92],
        must_reach: ["at once (false, false), got [Ok(1), Ok(2)]"],
        runs: [rc11(), sc()]),
    crate::model!("chan::who_waits_is_served_in_the_order_of_coming::by_the_waker_of_the_last_poll",
        by_the_waker_of_the_last_poll,
        claim: "a receive that was polled by one waker and then by another is woken by the other, also if wakers are copied \
            outside of the lock",
        size: "2 threads, 2 wakers, 1 value, room for none or one",
        invariants: [90, 92],
        must_reach: ["at once: true", "at once: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("chan::a_closed_channel_lets_nobody_wait::a_close_beside_both", a_close_beside_both,
        claim: "a channel that is closed beside sends and receives: what was sent is received, what was not comes back, and \
            nobody waits",
        size: "3 threads, 2 values, room for none or one",
        invariants: [90, 91, 92],
        must_reach: ["room for 0, received [1], came back [2]", "room for 0, received [], came back [1, 2]",
            "room for 1, received [1, 2], came back []", "room for 1, received [1], came back [2]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("chan::a_closed_channel_lets_nobody_wait::the_last_sender_is_dropped", the_last_sender_is_dropped,
        claim: "the last sender that is dropped closes the channel, and what was sent before is received",
        size: "3 threads, 2 values, room for none or one",
        invariants: [90, 92],
        must_reach: ["room for 0, received [1, 2]", "room for 0, received [2, 1]", "room for 1, received [2, 1]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("chan::a_closed_channel_lets_nobody_wait::the_last_receiver_is_dropped", the_last_receiver_is_dropped,
        claim: "the last receiver that is dropped closes the channel: a send that waits gets its value back, and nothing is left",
        size: "2 threads, 2 values, room for none or one",
        invariants: [90, 92],
        must_reach: ["room for 0, the second: Err(2)", "room for 1, the second: Err(2)", "room for 1, the second: Ok(())"],
        runs: [rc11(), sc()]),
    crate::model!("chan::a_dropped_future_loses_nothing::a_receive_keeps_the_order", a_dropped_receive_keeps_the_order,
        claim: "what was given to a receive that is dropped is the first again",
        size: "2 threads, 2 values, room for one or two",
        invariants: [90, 91],
        must_reach: ["room for 1, sent [1, 2], at once None", "room for 2, sent [1, 2], at once None",
            "room for 1, sent [1], at once None", "sent [1, 2], at once Some(1)"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("chan::a_dropped_future_loses_nothing::receives_keep_the_order", dropped_receives_keep_the_order,
        claim: "what was given to receives that are dropped, in whatever order, comes in the order of sending, also if it was given twice",
        size: "2 threads, 2 values, 3 receives, room for two",
        invariants: [90, 91],
        must_reach: ["at once [], left [1, 2]", "at once [1], left [2]", "at once [2], left [1]", "at once [1, 2]"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("chan::a_dropped_future_loses_nothing::a_receive_hands_on", a_dropped_receive_hands_on,
        claim: "what was given to a receive that is dropped goes to the next that waits, or that comes",
        size: "3 threads, 1 value, no room, and the close",
        invariants: [90, 92],
        must_reach: ["at once None, received Some(1), waited: true", "at once None, received Some(1), waited: false",
            "at once Some(1), received None"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("chan::a_dropped_future_loses_nothing::a_send_is_taken_or_comes_back", a_dropped_send_is_taken_or_comes_back,
        claim: "a send that is dropped while it waits was taken, or its value comes back",
        size: "2 threads, 1 value, room for none or one",
        invariants: [90, 91],
        must_reach: ["room for 0, came back: Some(1)", "room for 0, came back: None", "room for 1, came back: Some(1)",
            "room for 1, came back: None"],
        runs: [rc11(), sc()]),
    crate::model!("chan::what_happens_before_what::a_receive_before_its_send_completes",
        a_receive_before_its_send_completes,
        claim: "without room, what was done before a receive is seen by whoever has sent to it",
        size: "2 threads, 1 value",
        invariants: [92, 93],
        must_reach: ["the receiver waited: true, it was sent at once: true", "the receiver waited: true, it was sent at once: false",
            "the receiver waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("chan::what_happens_before_what::the_kth_receive_before_the_k_plus_c_th_send",
        the_kth_receive_before_the_k_plus_c_th_send,
        claim: "with room for one, what was done before the first receive is seen by whoever has sent a second value",
        size: "2 threads, 2 values, 1 receive, room for one",
        invariants: [92, 93],
        must_reach: ["the sender waited: true, the receiver: false", "the sender waited: false, the receiver: true",
            "the sender waited: false, the receiver: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("chan::what_happens_before_what::a_close_before_who_finds_it", a_close_before_who_finds_it,
        claim: "what was done before a close is seen by whoever finds the channel closed, a receive or a send",
        size: "2 threads",
        invariants: [92, 93],
        must_reach: ["sends: true, waited: true", "sends: true, waited: false", "sends: false, waited: true",
            "sends: false, waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("chan::it_is_a_list::what_does_not_wait", what_does_not_wait,
        claim: "calls that do not wait answer what a list would, in an order that respects what was seen to have ended before",
        size: "2 threads, 2 calls each, of all sorts; room for one",
        invariants: [90, 91, 94],
        must_reach: ["[Sent(0), Received(0)]", "[Sent(0), Full(1)]", "[Empty, Over]", "[Closed(true), Refused(1)]"],
        runs: [rc11(), sc()]),
    crate::model!("chan::it_is_a_list::what_waits", what_waits,
        claim: "calls that wait answer what a list would, beside a close, in an order that respects what was seen to have ended \
            before",
        size: "3 threads, 5 calls, of all sorts; room for none or one",
        invariants: [90, 91, 92, 94],
        must_reach: ["room for 0: [Sent(0), Received(3)] [Received(0), Sent(3)]", "room for 1: [Sent(0), Received(0)] [Sent(2), Received(2)]",
            "room for 1: [Sent(0), Refused(1)] [Received(0), Sent(3)]", "room for 0: [Over, Refused(1)] [Full(2), Over]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "chan";
    "chan-wakes-before-it-gives": "a receiver that waits is woken, and given the value after that, under another lock",
        variant("wakes-before-it-gives"), by BESIDE => [Sc, Rc11];
    "chan-enqueues-under-another-lock": "a receiver looks, and enqueues its waiter under another lock",
        variant("enqueues-under-another-lock"), by BESIDE => [Sc, Rc11];
    "chan-lets-nobody-in": "a receiver takes a value, and the sender that waits for the room stays outside",
        variant("lets-nobody-in"),
        by "chan::what_happens_before_what::the_kth_receive_before_the_k_plus_c_th_send" => [Sc, Rc11];
    "chan-lets-in-under-another-lock": "a receiver takes a value, and lets in the sender that waits under another lock: one that comes later is first",
        variant("lets-in-under-another-lock"), by SENDS => [Sc, Rc11];
    "chan-closed-is-empty": "a closed channel gives nothing, although something is in it",
        variant("closed-is-empty"), by CLOSE => [Rc11], "chan::it_is_a_list::what_does_not_wait" => [Sc, Rc11];
    "chan-closes-and-forgets-senders": "a close wakes those that receive, and those that send wait on",
        variant("closes-and-forgets-senders"),
        by "chan::what_happens_before_what::a_close_before_who_finds_it" => [Sc, Rc11];
    "chan-closes-and-forgets-receivers": "a close wakes those that send, and those that receive wait on",
        variant("closes-and-forgets-receivers"), by CLOSE => [Sc, Rc11];
    "chan-puts-back-at-the-end": "what was given to a receive that is dropped is the last in the channel",
        variant("puts-back-at-the-end"), by ORDER => [Sc, Rc11];
    "chan-puts-back-without-its-number": "what was given to a receive that is dropped is the first, although older values came back",
        variant("puts-back-without-its-number"), by RECEIVES_BACK => [Sc, Rc11];
    "chan-puts-back-with-a-new-number": "what was given to a receive that is dropped, and goes to the next, is numbered anew",
        variant("puts-back-with-a-new-number"), by RECEIVES_BACK => [Sc, Rc11];
    "chan-forgets-what-it-was-given": "a receive that is dropped takes the value with it that it was given",
        variant("forgets-what-it-was-given"), by ORDER => [Sc, Rc11], HANDS_ON => [Sc, Rc11];
};
