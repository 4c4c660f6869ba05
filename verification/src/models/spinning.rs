//! Models of `spinning`: work conservation, played by one to three parties beside the main thread.
//!
//! The rest of the scheduler is as small as it can be, see `tiny`: one word that says how many Gs are queued, and a
//! count of idle Ps under a lock. At the end of every execution all parties have come to rest, and the question is: a G
//! waits and a P is idle, but does an M look?

use crate::harness::common::{any_of, party};
use crate::harness::queues::{OneWord, Queues, Rings};
use crate::harness::spinning::{End, Idled, Tiny};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, loom_apart_bounded, loom_bounded, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::scenario;
use crate::mutation::variants::spinning::SpinProtocol;
use spinpark_kernel::protocol::spinning::Spinning;
use spinpark_kernel::types::m::SpinningToken;
use std::sync::Arc;

fn with_idle<H: ModelHost, D: SpinProtocol>(idle_ps: u32) -> Arc<Tiny<H, D>> {
    main_plays("spinning_m");
    Tiny::new(idle_ps, OneWord::new())
}

impl<H: ModelHost, D: SpinProtocol> Tiny<H, D, OneWord<H>> {
    /// Queues a G, as the owner of a P does.
    fn submit(&self) {
        self.queues.put();
        self.wakep();
    }

    /// Queues a G by a plain store, as the ring does: the only G of the model.
    fn submit_the_only(&self) {
        self.queues.put_the_only();
        self.wakep();
    }
}

scenario!(spinning::SpinProtocol, one_submitter_one_spinning_m, |H, D| {
    let tiny = with_idle::<H, D>(0);
    let token = tiny.room.become_spinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let (end, _) = tiny.retire(token);
    H::join(submitter);
    tiny.check_at_rest(&[end])
});

scenario!(spinning::SpinProtocol, two_submitters_one_spinning_m, |H, D| {
    let tiny = with_idle::<H, D>(0);
    let token = tiny.room.become_spinning();
    let one = party::<H, _, _>("submitter 1", &tiny, |tiny| tiny.submit());
    let two = party::<H, _, _>("submitter 2", &tiny, |tiny| tiny.submit());
    let (end, _) = tiny.retire(token);
    H::join(one);
    H::join(two);
    tiny.check_at_rest(&[end])
});

scenario!(spinning::SpinProtocol, one_submitter_two_spinning_ms, |H, D| {
    let tiny = with_idle::<H, D>(0);
    let (one, two) = (tiny.room.become_spinning(), tiny.room.become_spinning());
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let first = party::<H, _, _>("spinning M 1", &tiny, |tiny| tiny.retire(one).0);
    let (end, _) = tiny.retire(two);
    H::join(submitter);
    let first = H::join(first);
    tiny.check_at_rest(&[first, end])
});

scenario!(spinning::SpinProtocol, two_submitters_two_spinning_ms, |H, D| {
    let tiny = with_idle::<H, D>(0);
    let (one, two) = (tiny.room.become_spinning(), tiny.room.become_spinning());
    let submitters = ["submitter 1", "submitter 2"].map(|name| party::<H, _, _>(name, &tiny, |tiny| tiny.submit()));
    let first = party::<H, _, _>("spinning M 1", &tiny, |tiny| tiny.retire(one).0);
    let (end, _) = tiny.retire(two);
    submitters.into_iter().for_each(H::join);
    let first = H::join(first);
    tiny.check_at_rest(&[first, end])
});

scenario!(spinning::SpinProtocol, two_gs_one_spinning_m, |H, D| {
    let tiny = with_idle::<H, D>(1);
    let token = tiny.room.become_spinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| {
        tiny.submit();
        tiny.submit();
    });
    // The spinning M runs what it finds; it ends busy, neither asleep nor looking.
    let ends = if tiny.queues.take() {
        tiny.found_work(token);
        vec![]
    } else {
        vec![tiny.retire(token).0]
    };
    H::join(submitter);
    tiny.check_at_rest(&ends)
});

scenario!(spinning::SpinProtocol, a_spinning_m_finds_more_than_it_runs, |H, D| {
    // Two seek. One found two Gs: it runs one, the other lies in its ring. If it is not the last to leave, it wakes
    // none, and the other spinning M is trusted to see what is left.
    let tiny = with_idle::<H, D>(0);
    let (one, two) = (tiny.room.become_spinning(), tiny.room.become_spinning());
    let finder = party::<H, _, _>("finder", &tiny, |tiny| {
        tiny.queues.put_the_only();
        tiny.found_work(one);
    });
    let (end, _) = tiny.retire(two);
    H::join(finder);
    tiny.check_at_rest(&[end])
});

scenario!(spinning::SpinProtocol, a_count_that_nobody_stands_behind, |H, D| {
    // No P is idle. One M passes a baton for nothing: it raises the count and lowers it without a look. Meanwhile a
    // spinning M retires, and a G is submitted.
    let tiny = with_idle::<H, D>(0);
    let passer = party::<H, _, _>("passer", &tiny, |tiny| tiny.wakep());
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let token = tiny.room.become_spinning();
    let (end, _) = tiny.retire(token);
    H::join(passer);
    H::join(submitter);
    tiny.check_at_rest(&[end])
});

scenario!(spinning::SpinProtocol, four_parties_one_p_is_taken, |H, D| {
    // A spinning M idles its P, an M back from elsewhere takes it and is busy; a submitter, or the spinning M itself, finds no
    // idle P; an M that was never spinning is about to idle its own.
    let tiny = with_idle::<H, D>(0);
    let token = tiny.room.become_spinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let returner = party::<H, _, _>("returner", &tiny, |tiny| tiny.pidleget(|| ()).is_some());
    let idler = party::<H, _, _>("idler", &tiny, |tiny| tiny.idle_unless_called());
    let (end, _) = tiny.retire(token);
    H::join(submitter);
    H::join(returner);
    let idler = H::join(idler);
    tiny.check_at_rest(&[end, idler])
});

scenario!(spinning::SpinProtocol, a_count_that_goes_without_a_scan, |H, D| {
    // A spinning M retires, whose P is taken already. Another has queued a G and says so; it runs out of Gs and spins, which clears a
    // request, takes its own G and runs out again: it trusts the counted M, as the next submitter does.
    let tiny = with_idle::<H, D>(0);
    let token = tiny.room.become_spinning();
    tiny.queues.put();
    let other = party::<H, _, _>("other", &tiny, |tiny| {
        tiny.wakep();
        let token = tiny.room.become_spinning();
        assert!(tiny.queues.take(), "it was there before");
        tiny.found_work(token);
        let end = tiny.idle_unless_called();
        tiny.submit();
        end
    });
    let (end, _) = tiny.look_again(token);
    let other = H::join(other);
    tiny.check_at_rest(&[end, other])
});

scenario!(spinning::SpinProtocol, a_request_is_wiped_out, |H, D| {
    // No P is idle. A submitter asks for a spinning M; an M that just becomes one clears the request without having seen
    // it, finds nothing where it has looked already, and retires.
    let tiny = with_idle::<H, D>(0);
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let token = tiny.room.become_spinning();
    let (end, _) = tiny.retire(token);
    H::join(submitter);
    tiny.check_at_rest(&[end])
});

scenario!(spinning::SpinProtocol, a_request_that_stands, |H, D| {
    // No P is idle, and a spinning M is asked for already. An M about to idle its P takes the request, looks, finds nothing and
    // retires, while a submitter trusts that request.
    main_plays("idler");
    let tiny = with_idle::<H, D>(0);
    tiny.room.set_needspinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.submit_the_only());
    let end = looks_and_runs_out(&tiny);
    H::join(submitter);
    tiny.check_at_rest(&[end])
});

scenario!(spinning::SpinProtocol, a_request_that_two_trust, |H, D| {
    // The same, with two that submit, of which the M may find one G and not the other.
    main_plays("idler");
    let tiny = with_idle::<H, D>(0);
    tiny.room.set_needspinning();
    let submitters = ["submitter 1", "submitter 2"].map(|name| party::<H, _, _>(name, &tiny, |tiny| tiny.submit()));
    let end = looks_and_runs_out(&tiny);
    submitters.into_iter().for_each(H::join);
    tiny.check_at_rest(&[end])
});

/// An M about to idle its P; if a spinning M is asked for, it looks, runs what it finds, or idles its P then.
fn looks_and_runs_out<H: ModelHost, D: SpinProtocol>(tiny: &Tiny<H, D>) -> End {
    match tiny.idle_unless_called() {
        End::Looking if tiny.queues.take() => {
            tiny.found_work(SpinningToken::forge());
            End::Busy
        }
        End::Looking => tiny.retire(SpinningToken::forge()).0,
        end => end,
    }
}

scenario!(spinning::SpinProtocol, a_count_that_is_about_to_go, |H, D| {
    // Two Ps: the spinning M's, and the submitter's, which goes on to run.
    let tiny = with_idle::<H, D>(0);
    let token = tiny.room.become_spinning();
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| {
        tiny.submit();
        tiny.submit();
    });
    let end = finds_one_and_runs_out(&tiny, token);
    H::join(submitter);
    tiny.check_at_rest(&[end, End::Busy])
});

/// What an M is that has idled its P, or has not.
fn end_of(idled: Idled) -> End {
    match idled {
        Idled::Work => End::Busy,
        Idled::NeedSpinning => End::Looking,
        Idled::Idle(end, _) => end,
    }
}

scenario!(spinning::SpinProtocol, who_it_was_left_to_finds_work, |H, D| {
    // Two Ps. One M seeks; the other has nothing to do and may not, for half of those that are busy do already. The
    // spinning M finds a G and runs it; two Gs come back from system calls; it takes both.
    main_plays("idler");
    let tiny = Tiny::<H, D, _>::new(0, Rings::new(2));
    let token = tiny.room.become_spinning();
    let finder = party::<H, _, _>("finder", &tiny, |tiny| {
        tiny.found_work(token);
        if !tiny.exitsyscall() && !tiny.exitsyscall() {
            tiny.take_batch(0);
        }
    });
    let end = if tiny.room.may_spin(2, tiny.queues.npidle() as usize, 2) {
        tiny.room.become_spinning().discard();
        End::Looking
    } else {
        end_of(tiny.idle(None))
    };
    H::join(finder);
    tiny.check_at_rest(&[end, End::Busy])
});

scenario!(spinning::SpinProtocol, a_share_as_the_last_spinning_m_finds_work, |H, D| {
    // Three Ps. Two Gs come back from system calls, and an owner takes both; a spinning M finds a G, and is the last; an M that
    // left the looking to it has nothing to do.
    main_plays("idler");
    let tiny = Tiny::<H, D, _>::new(0, Rings::new(3));
    let token = tiny.room.become_spinning();
    let owner = party::<H, _, _>("owner", &tiny, |tiny| {
        if !tiny.exitsyscall() && !tiny.exitsyscall() {
            tiny.take_batch(2);
        }
    });
    let finder = party::<H, _, _>("finder", &tiny, |tiny| _ = tiny.found_work(token));
    let end = end_of(tiny.idle(None));
    H::join(owner);
    H::join(finder);
    tiny.check_at_rest(&[end, End::Busy, End::Busy])
});

scenario!(spinning::SpinProtocol, a_second_g_as_the_last_spinning_m_finds_one, |H, D| {
    // The spinning M has found a G and runs it. A second is put into a ring, by a plain store, and its owner trusts the count.
    main_plays("finder");
    let tiny = Tiny::<H, D, _>::new(1, Rings::new(2));
    let token = tiny.room.become_spinning();
    let owner = party::<H, _, _>("owner", &tiny, |tiny| _ = tiny.ready(1));
    tiny.found_work(token);
    H::join(owner);
    let is_left = tiny.queues.queued();
    assert!(is_left == 1, "it waits");
    tiny.check_at_rest(&[End::Busy, End::Busy])
});

/// A spinning M finds nothing, idles its P, looks again; if it then finds a G, it runs that and looks for the next.
fn finds_one_and_runs_out<H: ModelHost, D: SpinProtocol>(tiny: &Tiny<H, D>, token: SpinningToken) -> End {
    let (end, _) = tiny.retire(token);
    if end == End::Asleep || !tiny.queues.take() {
        return end;
    }
    tiny.found_work(SpinningToken::forge());
    // No P is idle: both are in use.
    if tiny.room.may_spin(2, 0, 2) {
        tiny.room.become_spinning().discard();
        return End::Looking;
    }
    tiny.idle_unless_called()
}

/// An M that has run out of Gs may spin if fewer than half as many spin as Ps are busy, and fewer than it was told.
fn as_many_as_may<H: ModelHost>() -> String {
    let room = Spinning::<H>::new();
    let spinning = H::choose(4);
    (0..spinning).for_each(|_| room.become_spinning().discard());
    let (busy, idle) = (1 + H::choose(8), H::choose(2));
    let at_most = any_of::<H, _>(&[0, 1, 2, 3, usize::MAX]);
    let may = room.may_spin(busy + idle, idle, at_most);
    let told = spinning == 0 || 2 * spinning < busy && spinning < at_most;
    assert!(may == told, "beside {spinning} of {busy} busy Ps, {at_most} at most: may it spin? {may}");
    assert!(!room.may_spin(idle, idle, at_most), "no P is busy");
    format!("beside {spinning}: {may}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("spinning::work_is_conserved::one_submitter_one_spinning_m", one_submitter_one_spinning_m,
        claim: "a G submitted while the last spinning M gives up is not missed",
        size: "2 threads, 1 G, 1 P idled",
        invariants: [11, 30, 31],
        must_reach: ["looking=1 started=0 queued=1", "looking=0 started=1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::two_submitters_one_spinning_m", two_submitters_one_spinning_m,
        claim: "of two Gs submitted while the last spinning M gives up, none is missed",
        size: "3 threads, 2 Gs, 1 P idled",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=1 started=0 queued=2", "looking=0 started=1 queued=2"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::one_submitter_two_spinning_ms", one_submitter_two_spinning_ms,
        claim: "a G submitted while two spinning Ms give up is not missed",
        size: "3 threads, 1 G, 2 Ps idled",
        invariants: [11, 30, 31],
        must_reach: ["looking=1", "looking=2", "looking=0 started=1"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::two_submitters_two_spinning_ms", two_submitters_two_spinning_ms,
        claim: "of two Gs submitted while two spinning Ms give up, none is missed",
        size: "4 threads, 2 Gs, 2 Ps idled",
        invariants: [30, 31, 32],
        must_reach: [],
        runs: [rc11()]),
    crate::model!("spinning::work_is_conserved::two_gs_one_spinning_m", two_gs_one_spinning_m,
        claim: "a spinning M that finds work passes the baton: the second G gets a spinning M of its own",
        size: "2 threads, 2 Gs, 1 idle P",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=0 started=1 queued=1"],
        runs: [rc11(), loom_bounded(3), loom_apart_bounded(3), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_spinning_m_finds_more_than_it_runs", a_spinning_m_finds_more_than_it_runs,
        claim: "what a spinning M found and does not run is seen by the spinning M that leaves after it",
        size: "2 threads, 1 G left over, 1 P idled",
        invariants: [11, 30, 31],
        must_reach: ["looking=1 started=0 queued=1", "looking=0 started=1 queued=1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_count_that_nobody_stands_behind", a_count_that_nobody_stands_behind,
        claim: "a spinning M looks again even if others are counted, because those may not look",
        size: "3 threads, 1 G, 1 P idled",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=1 started=0 queued=1", "looking=0 started=1 queued=1"],
        runs: [rc11(), loom_bounded(2), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::four_parties_one_p_is_taken", four_parties_one_p_is_taken,
        claim: "an M that sees work and finds no idle P leaves a request, and the next M about to idle its P looks \
                again",
        size: "4 threads, 1 G, 2 Ps idled, 1 taken",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=1 started=0 queued=1 idle=0", "looking=0 started=1"],
        runs: [rc11(), loom_bounded(3), sc()]),
    crate::model!("spinning::work_is_conserved::a_count_that_goes_without_a_scan", a_count_that_goes_without_a_scan,
        claim: "a spinning M that retires, sees work and finds no idle P is not counted while it finds that out: no submitter, and no M \
            that idles a P, trusts a count that goes without a scan",
        size: "2 threads, 2 Gs, 2 Ps, of which 1 is taken already",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=1 started=0 queued=1 idle=0", "looking=0 started=1 queued=1 idle=0"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_request_is_wiped_out", a_request_is_wiped_out,
        claim: "a request for a spinning M may be cleared unseen: the M that cleared it looks again behind its own \
                fence",
        size: "2 threads, 1 G, no P idle at first",
        invariants: [30, 31],
        must_reach: ["looking=1 started=0 queued=1", "looking=0 started=1"],
        runs: [rc11(), loom(), loom_apart_bounded(3), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_request_that_stands", a_request_that_stands,
        claim: "a submitter that finds a spinning M asked for trusts that, and the M that takes the request sees its G",
        size: "2 threads, 1 G, no P idle at first",
        invariants: [11, 30, 31],
        must_reach: ["looking=0 started=0 queued=0", "looking=1 started=0 queued=1", "looking=0 started=1 queued=1"],
        runs: [rc11(), loom(), loom_apart_bounded(3), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_request_that_two_trust", a_request_that_two_trust,
        claim: "of two submitters that trust one request, none is missed",
        size: "3 threads, 2 Gs, no P idle at first",
        invariants: [11, 30, 31],
        must_reach: ["looking=1 started=0 queued=2", "looking=0 started=1"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_count_that_is_about_to_go", a_count_that_is_about_to_go,
        claim: "a spinning M that found work and trusts a count that is about to go is asked for again",
        size: "2 threads, 2 Gs, 2 Ps, of which 1 is idled",
        invariants: [30, 31],
        must_reach: ["looking=0 started=1", "looking=1 started=0 queued=1"],
        runs: [rc11(), loom_bounded(4), loom_apart_bounded(3), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_second_g_as_the_last_spinning_m_finds_one",
        a_second_g_as_the_last_spinning_m_finds_one,
        claim: "a G that is queued as the last spinning M finds another gets a spinning M, and only if it does not find one",
        size: "2 threads, 1 G, 1 idle P",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=0 started=1 queued=1"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::who_it_was_left_to_finds_work", who_it_was_left_to_finds_work,
        claim: "an M that left the looking to another does not idle its P when that one no longer looks",
        size: "2 threads, 2 Gs that no M was woken for, 2 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=1 started=0 queued=1 idle=0", "looking=0 started=0 queued=0"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("spinning::work_is_conserved::a_share_as_the_last_spinning_m_finds_work",
        a_share_as_the_last_spinning_m_finds_work,
        claim: "the same while a third M takes both Gs, and no wake goes with them",
        size: "3 threads, 2 Gs that no M was woken for, 3 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["looking=1 started=0 queued=1 idle=0", "looking=0 started=1 queued=1 idle=0"],
        runs: [rc11(), loom_bounded(3), sc(), tso()]),
    crate::model!("spinning::as_many_spin_as_may::beside_up_to_three", as_many_as_may,
        claim: "an M may spin beside none; else if fewer than half as many spin as Ps are busy, and fewer than the bound",
        size: "1 thread, 0 to 3 spinning Ms, 1 to 8 busy Ps, 0 or 1 idle, five bounds",
        invariants: [],
        must_reach: ["beside 0: true", "beside 1: true", "beside 1: false", "beside 3: true", "beside 3: false"],
        runs: [sc()]),
];

const LEFT_TO: &str = "spinning::work_is_conserved::who_it_was_left_to_finds_work";
const SHARE: &str = "spinning::work_is_conserved::a_share_as_the_last_spinning_m_finds_work";
const SECOND: &str = "spinning::work_is_conserved::a_second_g_as_the_last_spinning_m_finds_one";
const ONE: &str = "spinning::work_is_conserved::one_submitter_one_spinning_m";
const MORE: &str = "spinning::work_is_conserved::a_spinning_m_finds_more_than_it_runs";
const FOUR: &str = "spinning::work_is_conserved::four_parties_one_p_is_taken";
const WITHOUT_A_SCAN: &str = "spinning::work_is_conserved::a_count_that_goes_without_a_scan";

const ABOUT_TO_GO: &str = "spinning::work_is_conserved::a_count_that_is_about_to_go";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "spinning";
    "spinning-asks-before-it-lowers":
        "wakep asks for a spinning M, and then lowers its count (Go's order); an M that idles its P does not count",
        variant("asks-before-it-lowers"), by ABOUT_TO_GO => [Sc, Loom, Rc11];
    "spinning-no-submitter-fence": "wakep without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn wakep", "store_load::<H>()"), by ONE => [Loom, Tso, Rc11];
    "spinning-no-spinning-m-fence": "retire without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn retire", "store_load::<H>()"), by ONE => [Loom, Rc11];
    "spinning-no-finders-fence": "found_work without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn found_work", "store_load::<H>()"), by SECOND => [Loom, Rc11];
    "spinning-no-idlers-fence": "must_recheck without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn must_recheck", "store_load::<H>()"), by SHARE => [Loom, Rc11];
    "spinning-leaves-it-to-nobody": "an M idles its P without asking whether those it left the looking to still look",
        variant("leaves-it-to-nobody"), by LEFT_TO => [Sc, Loom], SHARE => [Sc], LEFT_TO => [Rc11], SHARE => [Rc11];
    "spinning-leaves-relaxed": "a spinning M leaves nmspinning Relaxed",
        weaken("protocol/spinning.rs", "fn leave", "fetch_sub"), by MORE => [Loom, Rc11];
    "spinning-looks-before-it-leaves": "retire looks at the queues, then leaves nmspinning",
        variant("looks-before-it-leaves"), by ONE => [Loom, Sc, Rc11];
    "spinning-drops-the-baton": "the last spinning M finds work and wakes no M",
        variant("drops-the-baton"), by "spinning::work_is_conserved::two_gs_one_spinning_m" => [Sc, Rc11];
    "spinning-only-the-last-looks": "a spinning M that sees others counted does not look again",
        variant("only-the-last-looks"), by "spinning::work_is_conserved::one_submitter_two_spinning_ms" => [Sc, Rc11];
    "spinning-lowers-its-count-late": "wakep finds no idle P and lowers its count after the lock is released",
        variant("lowers-its-count-late"),
        by "spinning::work_is_conserved::a_count_that_nobody_stands_behind" => [Sc, Rc11];
    "spinning-counts-itself-early": "retire counts itself again, asks for a P, and gives the count up after the lock",
        variant("counts-itself-early"), by WITHOUT_A_SCAN => [Sc, Rc11];
    "spinning-trusts-a-request-of-later": "retire counts itself again, and gives up if another has asked for a spinning M since",
        variant("trusts-a-request-of-later"), by WITHOUT_A_SCAN => [Sc, Rc11];
    "spinning-wakep-does-not-ask":
        "wakep finds no idle P and does not set needspinning (golang/go #45867), nor does an M that idles its P count",
        variant("wakep-does-not-ask"), by FOUR => [Sc, Loom, Rc11];
    "spinning-retire-does-not-ask":
        "retire sees work, finds no idle P and does not set needspinning (golang/go #45867), nor does an M that idles \
         its P count",
        variant("retire-does-not-ask"), by FOUR => [Sc, Loom, Rc11];
    "spinning-trusts-any-request": "wakep finds a spinning M asked for, and does not ask whether a P is idle",
        variant("trusts-any-request"),
        by "spinning::work_is_conserved::a_count_that_nobody_stands_behind" => [Sc, Rc11];
    "spinning-ignores-the-call": "an M idles its P without a look at needspinning, or at the count",
        variant("ignores-the-call"), by FOUR => [Sc, Loom, Rc11];
};
