//! Models of `threads` and `m`: `nextp`, sleep, and threads that cannot be had.

use crate::harness;
use crate::harness::common::party;
use crate::harness::threads::{Central, Tiny, nextp};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, rc11_spurious, sc, sc_spurious};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::threads::{Neighbours, startm, stopm};
use spinpark_kernel::types::m::{M, MId, NextP};
use spinpark_kernel::types::p::PId;
use std::sync::Arc;

/// The one P, and the smallest scheduler around the room: one M that goes to sleep, one P that is given away.
const P: PId = PId(0);

fn with_one<H: ModelHost>(can_start: bool) -> Arc<Tiny<H>> {
    main_plays("waker");
    // The main thread is awake, too.
    let central = Central { unused: vec![MId(1)], threads: u32::from(can_start), awake: 2, ..Central::default() };
    Tiny::new(2, 1, central)
}

fn open(nextp: NextP) -> PId {
    harness::threads::open(nextp).expect("no exit was sent")
}

/// An M that has nothing to do: sleeps, and reads what the P's last owner did.
fn sleeper<H: ModelHost>(tiny: &Tiny<H>) -> u64 {
    let p = open(stopm(MId(0), &tiny.ms, tiny));
    assert!(p == P, "the `nextp` was for P0, the M got P{}", p.0);
    tiny.data[0].get()
}

fn the_wake_comes_first_or_last<H: ModelHost>() -> String {
    let tiny = with_one::<H>(true);
    tiny.central.with(|c| c.sleeping.push(MId(0)));
    let sleeper = party::<H, _, _>("sleeper", &tiny, |tiny| {
        let p = open(tiny.ms[0].wait_nextp());
        (p, tiny.data[0].get())
    });
    tiny.data[0].set(5);
    startm(nextp(P), &tiny.ms, &*tiny);
    let (p, data) = H::join(sleeper);
    assert!(p == P && data == 5, "woken with P{} and what was done before: {data}", p.0);
    "woken with its `nextp`".to_owned()
}

fn asleep_or_not_yet<H: ModelHost>() -> String {
    let tiny = with_one::<H>(true);
    let sleeper = party::<H, _, _>("sleeper", &tiny, |tiny| {
        assert!(Neighbours::mput(tiny, MId(0)).is_none(), "it was not asked for");
        // The thread that found it on the list sends `nextp`; no other does.
        let woken = tiny.central.with(|c| c.started == 0);
        woken.then(|| open(tiny.ms[0].wait_nextp()));
        woken
    });
    startm(nextp(P), &tiny.ms, &*tiny);
    let started = tiny.central.with(|c| c.started);
    if started == 1 {
        // A new M was started instead: its `nextp` lies in its box.
        let nextp = tiny.ms[1].take_nextp().expect("a new M finds its `nextp`");
        assert!(open(nextp) == P, "the wrong P");
        // The sleeper may have listed itself since.
        let late = tiny.central.with(|c| c.sleeping.pop());
        late.into_iter().for_each(|m| tiny.ms[m.index()].wake_with(self::nextp(P)));
    }
    let woken = H::join(sleeper);
    // The sleeper gave up before the `nextp` came: it lies in its box.
    if let Some(nextp) = tiny.ms[0].take_nextp() {
        open(nextp);
    }
    format!("started {started} woken {woken}")
}

fn a_wake_for_no_reason<H: ModelHost>() -> String {
    struct Bed<H: ModelHost> {
        m: M<H>,
        data: H::Cell<u64>,
    }
    let parker = Arc::new(Bed::<H> { m: M::new(), data: Cell::new(0) });
    let sleeper = party::<H, _, _>("sleeper", &parker, |parker| {
        // Its park has returned spuriously: it looks, with nothing but the `nextp` itself to order it.
        let at_once = parker.m.take_nextp();
        let early = at_once.is_some();
        let p = open(at_once.unwrap_or_else(|| parker.m.wait_nextp()));
        (p, parker.data.get(), early)
    });
    parker.data.set(3);
    parker.m.wake_with(nextp(P));
    let (p, data, early) = H::join(sleeper);
    assert!(p == P && data == 3, "woken with P{} and what was done before: {data}", p.0);
    if early { "found its `nextp` at once" } else { "slept until the `nextp` came" }.to_owned()
}

fn no_thread_can_be_had<H: ModelHost>() -> String {
    let tiny = with_one::<H>(false);
    let m = party::<H, _, _>("sleeper", &tiny, sleeper);
    tiny.data[0].set(5);
    startm(nextp(P), &tiny.ms, &*tiny);
    // The P was not lost: the M that was about to sleep, or slept, has it. If it slept for good, this would not end.
    let data = H::join(m);
    assert!(data == 5, "the M got the P, but not what its last owner did: {data}");
    let idle = tiny.central.with(|c| c.idle.len());
    assert!(idle == 0, "the P is idle, but work waits for it");
    "the M about to sleep got the P".to_owned()
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("threads::a_woken_m_finds_its_nextp::the_wake_comes_first_or_last", the_wake_comes_first_or_last,
        claim: "`nextp` delivered before, while or after its M parks wakes it, with all its P's last owner did",
        size: "2 threads, 1 `nextp`",
        invariants: [12, 13],
        must_reach: ["woken with its `nextp`"],
        runs: [rc11(), rc11_spurious(2), loom(), loom_apart(), sc(), sc_spurious(2)]),
    crate::model!("threads::a_woken_m_finds_its_nextp::asleep_or_not_yet", asleep_or_not_yet,
        claim: "an M on the list is woken, one that is not yet on it gets a new one started instead",
        size: "2 threads, 1 `nextp`",
        invariants: [12, 13],
        must_reach: ["started 0 woken true", "started 1"],
        runs: [rc11(), loom(), loom_apart(), sc()]),
    crate::model!("threads::a_woken_m_finds_its_nextp::a_wake_for_no_reason", a_wake_for_no_reason,
        claim: "an M that is woken without `nextp` parks again",
        size: "2 threads, 1 `nextp`, a wake without `nextp`",
        invariants: [13],
        must_reach: ["found its `nextp` at once", "slept until the `nextp` came"],
        runs: [rc11(), rc11_spurious(3), loom(), loom_apart(), sc_spurious(3)]),
    crate::model!("threads::no_p_is_lost::no_thread_can_be_had", no_thread_can_be_had,
        claim: "when no thread can be started, the M about to sleep, or just asleep, gets the P",
        size: "2 threads, 1 P, every start refused",
        invariants: [4, 24, 30],
        must_reach: ["the M about to sleep got the P"],
        runs: [rc11(), rc11_spurious(1), loom_bounded(3), loom_apart(), sc(), sc_spurious(1)]),
];

const EARLY: &str = "threads::a_woken_m_finds_its_nextp::a_wake_for_no_reason";
const REFUSED: &str = "threads::no_p_is_lost::no_thread_can_be_had";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "threads";
    "threads-nextp-relaxed": "`nextp` is put into the box Relaxed",
        weaken("types/m.rs", "pub fn set_nextp", "swap"), by EARLY => [Loom, Rc11];
    "threads-nextp-unseen": "`nextp` is taken out of the box Relaxed",
        weaken("types/m.rs", "pub fn take_nextp", "swap"), by EARLY => [Loom, Rc11];
    "threads-sleeps-on-a-request": "an M goes to sleep without a look at needspinning, although a start was refused",
        variant("sleeps-on-a-request"), by REFUSED => [Sc, Rc11];
    "threads-forgets-who-fell-asleep": "when a start is refused, it is not checked whether an M fell asleep meanwhile",
        variant("forgets-who-fell-asleep"), by REFUSED => [Sc, Rc11];
};
