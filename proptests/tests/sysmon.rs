//! The monitor's verdicts, enumerated, and compared with Go's rule, told from the list of all looks; how often it
//! looks; and its tick on a whole scheduler.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spinpark_kernel::host::{Host, Nanos};
use spinpark_kernel::protocol::sysmon::Verdict::{Leave, Preempt, Retake};
use spinpark_kernel::protocol::sysmon::{
    Around, CALM, LONGEST, Observed, PATIENCE, Pace, QUIET, SHORTEST, SLICE, SysmonTick, Verdict,
};
use spinpark_proptests::check::{Broken, Tally, check, refute};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

const CASES: u32 = 1000;

/// A thread that looks at one P, again and again.
trait Judge: Clone + Debug {
    fn look(&mut self, p: Observed, around: Around) -> Verdict;
}

impl Judge for SysmonTick {
    fn look(&mut self, p: Observed, around: Around) -> Verdict {
        self.verdict(p, around)
    }
}

type Looked = (Observed, Around, Verdict);

/// An observer that forgets nothing, and judges by a rule: Go's, or a wrong one.
#[derive(Debug, Clone)]
struct ByRule {
    looks: Vec<Looked>,
    rule: fn(&[Looked]) -> Verdict,
}

impl ByRule {
    fn of(rule: fn(&[Looked]) -> Verdict) -> Self {
        ByRule { looks: Vec::new(), rule }
    }
}

impl Judge for ByRule {
    fn look(&mut self, p: Observed, around: Around) -> Verdict {
        self.looks.push((p, around, Leave));
        (self.rule)(&self.looks)
    }
}

/// For how long each look has shown the same as the last one. (The kernel keeps 0 for "never", so a look at moment 0
/// has looked at moment 1.)
fn shown_for<T: PartialEq>(looks: &[Looked], what: impl Fn(&Observed) -> T) -> Nanos {
    let (last, around, _) = looks[looks.len() - 1];
    let same = looks.iter().rev().take_while(|(p, ..)| what(p) == what(&last));
    same.last().map_or(0, |(_, first, _)| around.now.saturating_sub(first.now.max(1)))
}

fn slice_is_over(looks: &[Looked]) -> bool {
    shown_for(looks, |p| p.dispatches) >= SLICE
}

/// Is this not the first look at this call?
fn same_call(looks: &[Looked]) -> bool {
    looks.len() > 1 && looks[looks.len() - 2].0.syscall == looks[looks.len() - 1].0.syscall
}

/// Is there a reason to take the P out of a call?
fn is_needed(looks: &[Looked]) -> bool {
    let (p, around, _) = looks[looks.len() - 1];
    p.has_work || !around.somebody_looks || shown_for(looks, |p| p.syscall) >= SLICE
}

fn judge(looks: &[Looked], may_retake: bool) -> Verdict {
    let (p, around, _) = looks[looks.len() - 1];
    match p.syscall {
        Some(_) if around.is_wanted || may_retake => Retake,
        None if slice_is_over(looks) => Preempt,
        _ => Leave,
    }
}

/// Go's rule.
fn gos(looks: &[Looked]) -> Verdict {
    judge(looks, (same_call(looks) || slice_is_over(looks)) && is_needed(looks))
}

/// Go's rule as it was before golang/go #28701 was mended.
fn same_call_only(looks: &[Looked]) -> Verdict {
    judge(looks, same_call(looks) && is_needed(looks))
}

/// What is seen of a P at one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    /// So long after the one before; the first, after moment 0.
    after: Nanos,
    dispatches: u32,
    syscall: Option<u32>,
    has_work: bool,
    somebody_looks: bool,
    is_wanted: bool,
}

impl Look {
    fn at(self, now: Nanos) -> (Observed, Around) {
        let Look { dispatches, syscall, has_work, somebody_looks, is_wanted, .. } = self;
        (Observed { dispatches, syscall, has_work }, Around { now, somebody_looks, is_wanted, slice: SLICE })
    }
}

/// On both sides of the one limit there is, and the monitor's own.
fn after() -> impl Strategy<Value = Nanos> {
    prop_oneof![
        2 => Just(SHORTEST),
        2 => select(&[0, 1, SLICE / 2, SLICE - 1, SLICE, SLICE + 1][..]),
        1 => 0..2 * SLICE,
    ]
}

/// Anything, and often what was seen before.
fn look() -> impl Strategy<Value = Look> {
    let number = || prop_oneof![8 => Just(0), 1 => 0..3u32, 1 => Just(u32::MAX)];
    let syscall = prop_oneof![1 => Just(None), 2 => number().prop_map(Some)];
    let is_wanted = prop::bool::weighted(0.05);
    (after(), number(), syscall, any::<bool>(), any::<bool>(), is_wanted).prop_map(
        |(after, dispatches, syscall, has_work, somebody_looks, is_wanted)| Look {
            after,
            dispatches,
            syscall,
            has_work,
            somebody_looks,
            is_wanted,
        },
    )
}

fn verdicts(mut judge: impl Judge, looks: &[Look]) -> Vec<Looked> {
    let mut now = 0;
    let judged = looks.iter().map(|look| {
        now += look.after;
        let (p, around) = look.at(now);
        (p, around, judge.look(p, around))
    });
    judged.collect()
}

/// `law` holds for each look, which is the last in the list it gets.
fn obeys(
    judge: impl Judge,
    looks: &[Look],
    law: impl Fn(&[Looked], &mut Tally) -> Result<(), &'static str>,
) -> Result<Tally, Broken> {
    let (judged, mut seen) = (verdicts(judge, looks), Tally::default());
    for i in 1..=judged.len() {
        let (p, around, verdict) = judged[i - 1];
        law(&judged[..i], &mut seen)
            .map_err(|why| Broken::because(format_args!("look {i} says {verdict:?} of {p:?}, {around:?}: {why}")))?;
    }
    Ok(seen)
}

/// Proved for the verdict, by going through all there is. What was seen before matters only by the answers to four
/// questions: did the last look show as many dispatches; if so, is the first look of those that did a slice ago; did
/// the last look show the same call; if so, is the first of those that did a slice ago. Numbers are compared only for
/// being equal, times only with `SLICE`: two numbers, and times on both sides of `SLICE`, stand for all. (0 is among
/// both, for a `SysmonTick` that has seen nothing has 0 in it.) That three looks lead to every state there is, is checked
/// too, for the kernel as it is: a fourth leads to nothing that one more look could tell from what three have led to.
mod a_p_in_a_syscall_while_work_waits_is_retaken_within_two_ticks {
    use super::*;

    const TIMES: [Nanos; 5] = [0, 1, SLICE - 1, SLICE, SLICE + 1];
    const NUMBERS: [u32; 2] = [0, 1];
    const BOTH: [bool; 2] = [false, true];

    /// Every look at a P, but for the flags: none of them is set.
    fn every_look() -> impl Iterator<Item = Look> {
        let calls = [None, Some(NUMBERS[0]), Some(NUMBERS[1])];
        let no =
            Look { after: 0, dispatches: 0, syscall: None, has_work: false, somebody_looks: false, is_wanted: false };
        let looks = TIMES.into_iter().flat_map(move |after| NUMBERS.map(|dispatches| Look { after, dispatches, ..no }));
        looks.flat_map(move |look| calls.map(|syscall| Look { syscall, ..look }))
    }

    /// The same look, with all flags.
    fn every_flag(look: Look) -> impl Iterator<Item = Look> {
        let all = BOTH.into_iter().flat_map(move |has_work| BOTH.map(|is_wanted| Look { has_work, is_wanted, ..look }));
        all.flat_map(|look| BOTH.map(|somebody_looks| Look { somebody_looks, ..look }))
    }

    /// Every state that this many looks lead to, and when the last of them was.
    fn states<J: Judge>(nothing: J, looks: usize) -> Vec<(J, Nanos)> {
        let mut states = vec![(nothing, 0)];
        for _ in 0..looks {
            let mut next = BTreeMap::new();
            for (state, before) in &states {
                for look in every_look() {
                    let now = before + look.after;
                    let mut seen = state.clone();
                    let (p, around) = look.at(now);
                    seen.look(p, around);
                    next.entry(format!("{seen:?} {now}")).or_insert((seen, now));
                }
            }
            states = next.into_values().collect();
        }
        states
    }

    /// A state and two looks at the same call, at the second of which work waits, that do not end in `Retake`.
    fn exception<J: Judge>(nothing: J, seen: &mut Tally) -> Option<String> {
        let waits = |look: &Look| look.has_work || !look.somebody_looks;
        for (state, before) in (0..=3).flat_map(|looks| states(nothing.clone(), looks)) {
            for first in every_look().filter(|look| look.syscall.is_some()).flat_map(every_flag) {
                let mut after_first = state.clone();
                let now = before + first.after;
                let (p, around) = first.at(now);
                let verdict = after_first.look(p, around);
                seen.note(if verdict == Retake { "the first look was enough" } else { "the first was not enough" });
                if verdict == Retake {
                    continue;
                }
                let seconds = every_look().filter(|look| look.syscall == first.syscall).flat_map(every_flag);
                for second in seconds.filter(waits) {
                    let (p, around) = second.at(now + second.after);
                    let verdict = after_first.clone().look(p, around);
                    if verdict != Retake {
                        return Some(format!("after {state:?}, {first:?}, {second:?} it is {verdict:?}"));
                    }
                    seen.note("the second was");
                }
            }
        }
        None
    }

    #[test]
    fn whatever_was_seen_before() {
        let mut seen = Tally::default();
        assert_eq!(exception(SysmonTick::default(), &mut seen), None);
        seen.must_have(&["the first look was enough", "the first was not enough", "the second was"]);
    }

    /// What is remembered does not depend on the flags, so that the states above, reached without any, are all.
    #[test]
    fn and_what_is_remembered_does_not_depend_on_the_flags() {
        for (state, before) in (0..=2).flat_map(|looks| states(SysmonTick::default(), looks)) {
            for look in every_look() {
                let remembered = every_flag(look).map(|look| {
                    let mut seen = state;
                    let (p, around) = look.at(before + look.after);
                    seen.look(p, around);
                    seen
                });
                let remembered: Vec<SysmonTick> = remembered.collect();
                assert!(remembered.windows(2).all(|two| two[0] == two[1]), "{state:?}, {look:?}: {remembered:?}");
            }
        }
    }

    /// What one more look says. Of the flags two settings, neither of them wanted, tell whatever can be told: with
    /// work, whether the P was old; without, whether its call was long.
    fn tells(state: SysmonTick, before: Nanos) -> Vec<u8> {
        let flags = |look: Look| BOTH.map(|has_work| Look { has_work, somebody_looks: true, ..look });
        let says = |look: Look| {
            let (p, around) = look.at(before + look.after);
            state.clone().look(p, around) as u8
        };
        every_look().flat_map(flags).map(says).collect()
    }

    #[test]
    fn and_a_fourth_look_leads_nowhere_that_three_do_not() {
        let [two, three, four] = [2, 3, 4].map(|looks| -> BTreeSet<Vec<u8>> {
            let all = (0..=looks).flat_map(|looks| states(SysmonTick::default(), looks));
            all.map(|(state, before)| tells(state, before)).collect()
        });
        assert!(two.len() < three.len(), "{} states after two looks, {} after three", two.len(), three.len());
        assert!(three == four, "{} states after three looks, {} after four", three.len(), four.len());
    }

    /// Alive: a look that sees more than the call finds exceptions.
    #[test]
    fn and_a_variant_that_wants_the_same_slice_too_is_refuted() {
        let variant = ByRule::of(|looks| {
            judge(looks, same_call(looks) && shown_for(looks, |p| p.dispatches) > 0 && is_needed(looks))
        });
        assert!(exception(variant, &mut Tally::default()).is_some());
    }
}

mod a_p_that_makes_one_short_call_after_another_is_retaken_when_its_slice_is_over {
    use super::*;

    /// Each look meets another call. Until the first retake; then the P is another's.
    fn in_time(judge: impl Judge, afters: &[Nanos]) -> Result<Tally, Broken> {
        let looks = (7..).zip(afters).map(|(call, &after)| Look {
            after,
            dispatches: 5,
            syscall: Some(call),
            has_work: true,
            somebody_looks: false,
            is_wanted: false,
        });
        let looks: Vec<Look> = looks.collect();
        let judged = verdicts(judge, &looks);
        let retaken = judged.iter().position(|&(.., verdict)| verdict == Retake);
        let over = (1..=judged.len()).position(|i| slice_is_over(&judged[..i]));
        if retaken != over {
            return Err(Broken::because(format_args!("retaken at look {retaken:?}, its slice was over at {over:?}")));
        }
        let mut seen = Tally::default();
        seen.note(if over.is_some() { "the slice was over" } else { "it was not" });
        Ok(seen)
    }

    #[test]
    fn whenever_it_is_looked_at() {
        let seen = check(CASES, vec(after(), 0..60), |afters| in_time(SysmonTick::default(), &afters));
        seen.must_have(&["the slice was over", "it was not"]);
    }

    /// At most two slices after it began.
    #[test]
    fn by_a_monitor_that_finds_nothing_else_to_do() {
        let mut pace = Pace::new();
        let mut afters = Vec::new();
        while afters.iter().sum::<Nanos>() < SLICE + LONGEST {
            afters.push(pace.delay());
            pace.after(false);
        }
        in_time(SysmonTick::default(), &afters).expect("in time").must_have(&["the slice was over"]);
    }

    /// Go before the mending of #28701.
    #[test]
    fn but_not_by_a_variant_that_waits_for_the_same_call() {
        let (afters, why) = refute(CASES, vec(after(), 0..60), |afters| in_time(ByRule::of(same_call_only), afters));
        assert!(afters.len() <= 12, "{} looks are too many to read: {afters:?}", afters.len());
        assert!(why.to_string().starts_with("retaken at look None, its slice was over at Some"), "{why}");
    }
}

mod the_monitor_judges_as_go_does {
    use super::*;

    #[test]
    fn a_p_of_which_anything_may_be_seen() {
        let seen = check(CASES, vec(look(), 0..80), |looks| {
            obeys(SysmonTick::default(), &looks, |looks, seen| {
                let (p, around, verdict) = looks[looks.len() - 1];
                let is_other_call = !same_call(looks);
                seen.note_if(verdict == Preempt, "it was asked to yield");
                seen.note_if(
                    verdict == Retake && !around.is_wanted && is_other_call,
                    "its slice was over in another call",
                );
                seen.note_if(verdict == Retake && !p.has_work && around.somebody_looks, "it had been idle for long");
                seen.note_if(verdict == Retake && around.is_wanted && is_other_call, "it was wanted at once");
                seen.note_if(
                    verdict == Leave && same_call(looks) && p.syscall.is_some(),
                    "it was left in the same call",
                );
                if verdict == gos(looks) { Ok(()) } else { Err("Go does not") }
            })
        });
        seen.must_have(&[
            "it was asked to yield",
            "its slice was over in another call",
            "it had been idle for long",
            "it was wanted at once",
            "it was left in the same call",
        ]);
    }
}

/// The other side: when a P is left alone. Each law is asked of the kernel, and of a variant that breaks it.
mod a_p_is_left_alone {
    use super::*;

    type Law = fn(&[Looked], &mut Tally) -> Result<(), &'static str>;

    fn law(law: Law, variant: fn(&[Looked]) -> Verdict, reached: &[&str]) {
        check(CASES, vec(look(), 0..80), |looks| obeys(SysmonTick::default(), &looks, law)).must_have(reached);
        let (looks, _) = refute(CASES, vec(look(), 0..80), |looks| obeys(ByRule::of(variant), looks, law));
        assert!(looks.len() <= 12, "{} looks are too many to read: {looks:?}", looks.len());
    }

    #[test]
    fn by_who_retakes_while_it_is_in_no_call() {
        law(
            |looks, seen| {
                let (p, _, verdict) = looks[looks.len() - 1];
                seen.note_if(p.syscall.is_none() && slice_is_over(looks), "it was in no call, and its slice was over");
                if p.syscall.is_some() || verdict != Retake { Ok(()) } else { Err("it is in no call") }
            },
            |looks| if slice_is_over(looks) { Retake } else { gos(looks) },
            &["it was in no call, and its slice was over"],
        );
    }

    #[test]
    fn in_the_first_look_at_a_call_within_its_slice() {
        law(
            |looks, seen| {
                let (p, around, verdict) = looks[looks.len() - 1];
                if p.syscall.is_none() || same_call(looks) || slice_is_over(looks) || around.is_wanted {
                    return Ok(());
                }
                seen.note_if(is_needed(looks), "it was the first look, and work waited");
                if verdict == Leave { Ok(()) } else { Err("it is the first look at this call") }
            },
            |looks| judge(looks, is_needed(looks)),
            &["it was the first look, and work waited"],
        );
    }

    #[test]
    fn for_a_slice_of_a_call_if_it_has_no_work_and_somebody_looks() {
        law(
            |looks, seen| {
                let (p, around, verdict) = looks[looks.len() - 1];
                let since = shown_for(looks, |p| p.syscall);
                if p.syscall.is_none() || p.has_work || !around.somebody_looks || around.is_wanted || since >= SLICE {
                    return Ok(());
                }
                seen.note_if(same_call(looks), "it was seen in the same call again");
                seen.note_if(slice_is_over(looks), "its slice was over");
                if verdict == Leave { Ok(()) } else { Err("no G needs it") }
            },
            |looks| judge(looks, same_call(looks)),
            &["it was seen in the same call again", "its slice was over"],
        );
    }

    #[test]
    fn by_who_asks_it_to_make_way_unless_the_same_dispatch_was_seen_a_slice_ago() {
        law(
            |looks, seen| {
                let (p, around, verdict) = looks[looks.len() - 1];
                let was_seen = |&(q, then, _): &Looked| q.dispatches == p.dispatches && then.now + SLICE <= around.now;
                seen.note_if(looks.iter().any(was_seen) && verdict == Preempt, "it was seen a slice ago");
                if verdict != Preempt || looks.iter().any(was_seen) { Ok(()) } else { Err("it has just begun") }
            },
            |looks| {
                let (p, around, _) = looks[looks.len() - 1];
                if p.syscall.is_none() && around.now >= SLICE { Preempt } else { gos(looks) }
            },
            &["it was seen a slice ago"],
        );
    }
}

mod a_g_that_is_asked_to_yield {
    use super::*;

    #[test]
    fn is_news_once_a_slice() {
        let running = |dispatches| Observed { dispatches, syscall: None, has_work: false };
        let at = |now| Around { now, somebody_looks: true, is_wanted: false, slice: SLICE };
        let mut seen = SysmonTick::default();
        let mut news = Vec::new();
        for (dispatches, now) in [(1, 1), (1, SLICE), (1, 1 + SLICE), (1, 2 * SLICE), (2, 3 * SLICE), (2, 4 * SLICE)] {
            let verdict = seen.verdict(running(dispatches), at(now));
            news.push((verdict == Verdict::Preempt, seen.is_news()));
        }
        let (no, first, again) = ((false, false), (true, true), (true, false));
        assert_eq!(news, [no, no, first, again, no, first]);
    }
}

mod the_monitor_slows_down_while_there_is_nothing_to_do {
    use super::*;

    /// What it sleeps before each of so many looks that retake nothing.
    fn sleeps(looks: usize) -> Vec<Nanos> {
        let mut pace = Pace::new();
        let sleeps = (0..looks).map(|_| {
            let delay = pace.delay();
            pace.after(false);
            delay
        });
        sleeps.collect()
    }

    #[test]
    fn by_the_double_after_fifty_looks_and_to_five_milliseconds_at_most() {
        let sleeps = sleeps(70);
        let (patient, slowing) = sleeps.split_at(PATIENCE as usize + 1);
        assert_eq!((PATIENCE, SHORTEST, LONGEST), (50, 20_000, 5_000_000));
        assert!(patient.iter().all(|&nanos| nanos == 20_000), "{patient:?}");
        let micros: Vec<Nanos> = slowing[..11].iter().map(|nanos| nanos / 1000).collect();
        assert_eq!(micros, [40, 80, 160, 320, 640, 1280, 2560, 5000, 5000, 5000, 5000]);
        assert!(slowing[7..].iter().all(|&nanos| nanos == 5_000_000), "{slowing:?}");
    }

    /// 51 sleeps of 20 us, then 40, 80, … 2560 us: 6.1 ms until it sleeps for 5 ms for the first time.
    #[test]
    fn within_six_milliseconds_and_a_bit() {
        let before: Vec<Nanos> = sleeps(100).into_iter().take_while(|&nanos| nanos < LONGEST).collect();
        assert_eq!((before.len(), before.iter().sum()), (58, 6_100_000));
    }

    #[test]
    fn and_is_quick_again_after_a_retake() {
        check(CASES, vec(prop::bool::weighted(0.01), 0..300), |retakes| {
            let mut pace = Pace::new();
            let from_the_start = sleeps(retakes.len() + 1);
            let mut quiet = 0;
            for retook in retakes {
                pace.after(retook);
                quiet = if retook { 0 } else { quiet + 1 };
                if pace.delay() != from_the_start[quiet] {
                    let delay = pace.delay();
                    return Err(Broken::because(format_args!("{delay} ns after {quiet} looks without a retake")));
                }
            }
            Ok(Tally::default())
        });
    }

    #[test]
    fn and_takes_eight_long_naps_before_it_may_sleep_deeply() {
        let mut pace = Pace::new();
        for nap in 0..CALM {
            assert!(!pace.may_sleep(true), "after {nap} naps");
            assert_eq!(pace.delay(), QUIET);
            pace.after(false);
        }
        assert!(pace.may_sleep(true));
        assert!(pace.may_sleep(true), "it stays so");
    }

    #[test]
    fn and_goes_on_as_before_its_naps_as_soon_as_there_is_something_to_see() {
        for ticks in [0, 20, 53, 60] {
            let mut pace = Pace::new();
            (0..ticks).for_each(|_| pace.after(false));
            let before = pace;
            (0..CALM).for_each(|_| {
                assert!(!pace.may_sleep(true));
                pace.after(false);
            });
            assert_eq!(pace.delay(), QUIET);
            assert!(!pace.may_sleep(false));
            assert_eq!(pace, before, "after {ticks} ticks, and naps");
        }
    }

    #[test]
    fn and_looks_within_a_millisecond_after_it_has_asked_a_g_to_yield() {
        let mut pace = Pace::new();
        (0..100).for_each(|_| pace.after(false));
        assert_eq!(pace.delay(), LONGEST);
        pace.hurry();
        assert_eq!(pace.delay(), 1_000_000);
        pace.after(false);
        assert_eq!(pace.delay(), 2_000_000);
        // One that is quick already stays so.
        let mut pace = Pace::new();
        pace.hurry();
        assert_eq!(pace, Pace::new());
    }

    #[test]
    fn and_never_overflows() {
        let mut pace = Pace::new();
        (0..10_000).for_each(|_| pace.after(false));
        assert_eq!(pace.delay(), LONGEST);
    }
}

/// A scheduler whose Ms the test plays. Ticks are 20 us apart, unless it says otherwise.
mod the_tick_on_a_whole_scheduler {
    use super::*;
    use spinpark_kernel::protocol::find::Worker;
    use spinpark_kernel::protocol::syscall::Way;
    use spinpark_kernel::protocol::sysmon;
    use spinpark_kernel::protocol::work_source::Wakep;
    use spinpark_kernel::sched::Sched;
    use spinpark_kernel::sched::config::Config;
    use spinpark_kernel::sched::sysmon::SysmonTicks;
    use spinpark_kernel::types::g::G;
    use spinpark_proptests::oracle::g;
    use spinpark_proptests::stepped::{self, Stepped, close, close_with, for_ever, in_each_sleep, until_woken};
    use std::cell::RefCell;
    use std::ops::ControlFlow::{Break, Continue};
    use std::rc::Rc;
    use std::sync::Arc;

    type S = Arc<Sched<Stepped>>;

    fn scheduler(procs: usize) -> S {
        Sched::new(Config { procs, ..Config::default() }, (), stepped::enter).expect("these numbers are allowed")
    }

    fn submit(sched: &S, number: u64) {
        sched.submit(g(number)).expect("it is open");
    }

    /// The M that was asked for first runs the next G.
    fn begin(sched: &S) -> (Worker, G) {
        sched.next(Stepped::begin().expect("a thread was asked for")).expect("it is open")
    }

    /// After each of these times a tick: did it take a P out of a call?
    fn ticks(sched: &S, watch: &mut SysmonTicks, afters: &[Nanos]) -> Vec<bool> {
        let ticks = afters.iter().map(|&after| {
            Stepped::pass(after);
            sched.tick(watch, Stepped::now())
        });
        ticks.collect()
    }

    /// An M more is woken, finds nothing, and sleeps.
    fn another_sleeps(sched: &S) {
        Wakep::wakep(Arc::clone(sched));
        for_ever(|| sched.next(Stepped::begin().expect("an M to search")));
    }

    /// Where can work wait? With one P even work that has yet to come would wait: no M would look for it.
    #[test]
    fn takes_the_only_p_out_of_a_call_at_the_second_look_wherever_work_waits() {
        for (ring, global) in [(0, 0), (0, 1), (1, 0), (2, 3)] {
            let sched = scheduler(1);
            submit(&sched, 9);
            let (mut m1, g9) = begin(&sched);
            (1..=ring).for_each(|number| sched.ready(&mut m1, g(number)));
            (1..=global).for_each(|number| submit(&sched, 100 + number));
            let away = sched.entersyscall(m1);
            let mut watch = sched.watch();
            assert_eq!(ticks(&sched, &mut watch, &[SHORTEST; 4]), [false, true, false, false], "{ring} and {global}");
            assert_eq!((Stepped::suspended(), sched.snapshot().in_syscall), (1, 0), "{ring} and {global}");
            let m2 = Stepped::begin().expect("it was started");
            let m2 = if ring + global == 0 { m2 } else { sched.next(m2).expect("there is work").0 };
            close_with(&sched, vec![m2], vec![(away, g9)]);
        }
    }

    /// The P has no work, and another is idle: whatever came would be found.
    #[test]
    fn leaves_a_p_that_nobody_needs_in_its_call_for_ten_milliseconds() {
        let sched = scheduler(2);
        submit(&sched, 1);
        let (m1, g1) = begin(&sched);
        another_sleeps(&sched);
        let away = sched.entersyscall(m1);
        let mut watch = sched.watch();
        assert_eq!(ticks(&sched, &mut watch, &[SHORTEST, SLICE - 1, 1, SHORTEST]), [false, false, true, false]);
        assert_eq!(sched.snapshot().idle_ps, 2);
        let (m1, _, way) = sched.exitsyscall(away, g1).expect("both are idle");
        assert_eq!(way, Way::Idle);
        sched.end(m1);
    }

    #[test]
    fn takes_a_p_that_has_work_though_somebody_looks() {
        let sched = scheduler(2);
        submit(&sched, 9);
        let (mut m1, g9) = begin(&sched);
        another_sleeps(&sched);
        // The one that sleeps is woken to look for this, but does not get up in time.
        sched.ready(&mut m1, g(1));
        assert_eq!(sched.snapshot().nmspinning, 1);
        let away = sched.entersyscall(m1);
        let mut watch = sched.watch();
        assert_eq!(ticks(&sched, &mut watch, &[SHORTEST; 2]), [false, true]);
        let (m3, g1) = begin(&sched);
        assert_eq!(g1, g(1));
        let m1 = sched.exitsyscall(away, g9).expect_err("both are in use");
        for_ever(|| sched.rest(m1));
        sched.end(m3);
    }

    #[test]
    fn takes_a_p_out_of_the_first_call_that_it_meets_when_the_slice_is_over() {
        let sched = scheduler(1);
        submit(&sched, 9);
        let (m1, mut g9) = begin(&sched);
        let (mut m1, mut watch, mut now) = (m1, sched.watch(), 0);
        sched.ready(&mut m1, g(1));
        // A look into each call, and it is always another.
        let away = loop {
            let away = sched.entersyscall(m1);
            now += SHORTEST;
            if sched.tick(&mut watch, now) {
                break away;
            }
            assert!(now < 2 * SLICE, "it was never taken");
            let (m, g, way) = sched.exitsyscall(away, g9).expect("P is there");
            assert_eq!(way, Way::Kept);
            (m1, g9) = (m, g);
        };
        assert_eq!(now, SHORTEST + SLICE);
        let (m2, g1) = begin(&sched);
        assert_eq!(g1, g(1));
        assert_eq!(close_with(&sched, vec![m2], vec![(away, g9)]), [9]);
    }

    #[test]
    fn asks_a_g_to_make_way_that_has_run_for_a_slice() {
        let sched = scheduler(1);
        submit(&sched, 1);
        let (m1, _) = begin(&sched);
        let mut watch = sched.watch();
        assert_eq!(ticks(&sched, &mut watch, &[SHORTEST, SLICE - 1]), [false, false]);
        assert!(!sched.should_yield(&m1));
        assert_eq!(ticks(&sched, &mut watch, &[1]), [false]);
        assert!(sched.should_yield(&m1));
        let m1 = sched.yield_bound(m1);
        assert!(!sched.should_yield(&m1), "it was granted");
        close(&sched, vec![m1]);
    }

    /// A request is for one slice. The next G runs for one of its own, wherever it was.
    #[test]
    fn asks_that_g_and_not_the_next_under_its_p() {
        for (local, global) in [(0, 0), (1, 0), (0, 1), (2, 1)] {
            let sched = scheduler(1);
            submit(&sched, 9);
            let (mut m1, g9) = begin(&sched);
            (1..=local).for_each(|number| sched.ready(&mut m1, g(number)));
            (1..=global).for_each(|number| submit(&sched, 100 + number));
            let mut watch = sched.watch();
            ticks(&sched, &mut watch, &[1, SLICE]);
            assert!(sched.should_yield(&m1), "{local} and {global}");
            sched.yield_now(&mut m1, g9);
            let (m1, next) = sched.next(m1).expect("it is open");
            assert!(!sched.should_yield(&m1), "{local} and {global}: {next:?} has just begun");
            let asked = [SHORTEST, SLICE - 1, 1].map(|after| {
                ticks(&sched, &mut watch, &[after]);
                sched.should_yield(&m1)
            });
            assert_eq!(asked, [false, false, true], "{local} and {global}: {next:?} gets a slice");
            close(&sched, vec![m1]);
        }
    }

    #[test]
    fn asks_that_g_and_not_the_next_that_its_m_steals() {
        let sched = scheduler(2);
        submit(&sched, 1);
        submit(&sched, 2);
        let (m1, _) = begin(&sched);
        let (mut m2, _) = begin(&sched);
        (3..=5).for_each(|number| sched.ready(&mut m2, g(number)));
        ticks(&sched, &mut sched.watch(), &[1, SLICE]);
        assert_eq!([&m1, &m2].map(|m| sched.should_yield(m)), [true, true]);
        let (m1, stolen) = sched.next(m1).expect("it is open");
        assert_eq!(stolen, g(3));
        assert_eq!([&m1, &m2].map(|m| sched.should_yield(m)), [false, true], "G2 still runs");
        close(&sched, vec![m1, m2]);
    }

    /// A P that is not idle, and runs nothing, looks as if a G ran for long.
    #[test]
    fn asks_no_g_for_the_time_in_which_an_m_searched_before_it() {
        let sched = scheduler(1);
        submit(&sched, 1);
        let m1 = Stepped::begin().expect("a thread was asked for");
        ticks(&sched, &mut sched.watch(), &[1, SLICE]);
        assert!(sched.should_yield(&m1), "it has the P, and has yet to find G1");
        let (m1, _) = sched.next(m1).expect("it is open");
        assert!(!sched.should_yield(&m1));
        close(&sched, vec![m1]);
    }

    #[test]
    fn asks_no_g_for_the_time_in_which_the_world_was_stopped() {
        let sched = scheduler(1);
        let stopped = sched.stop_the_world(None);
        submit(&sched, 1);
        ticks(&sched, &mut sched.watch(), &[1, SLICE]);
        assert!(sched.start_the_world(stopped).is_none());
        let m1 = Stepped::begin().expect("G1 waits");
        assert!(sched.should_yield(&m1), "its P was held");
        let (m1, _) = sched.next(m1).expect("it is open");
        assert!(!sched.should_yield(&m1));
        close(&sched, vec![m1]);
    }

    #[test]
    fn asks_no_g_for_what_ran_before_its_p_was_idle() {
        let sched = scheduler(1);
        submit(&sched, 1);
        let (m1, _) = begin(&sched);
        ticks(&sched, &mut sched.watch(), &[1, SLICE]);
        assert!(sched.should_yield(&m1));
        let later = Arc::clone(&sched);
        let (found, ()) = until_woken(|| sched.next(m1), move || submit(&later, 2));
        let (m1, _) = found.expect("it is open");
        assert!(!sched.should_yield(&m1));
        close(&sched, vec![m1]);
    }

    #[test]
    fn tries_again_for_an_m_that_was_refused() {
        let sched = scheduler(1);
        Stepped::refuse(2);
        submit(&sched, 1);
        let mut watch = sched.watch();
        let mut after_each = Vec::new();
        for _ in 0..3 {
            let now = sched.snapshot();
            after_each.push((now.refused, now.global, now.idle_ps, Stepped::suspended()));
            assert!(now.masks_agree, "{now:?}");
            ticks(&sched, &mut watch, &[SHORTEST]);
        }
        assert_eq!(after_each, [(1, 1, 1, 0), (2, 1, 1, 0), (2, 1, 0, 1)]);
        let (m1, g1) = begin(&sched);
        assert_eq!(g1, g(1));
        close(&sched, vec![m1]);
    }

    /// For how long the monitor of `sched` sleeps each time; `scenario` is what happens in its first sleep, its second …
    fn naps(sched: &S, looks: usize, mut scenario: impl FnMut(usize) + 'static) -> Vec<Option<Nanos>> {
        sched.start_sysmon().expect("a thread");
        let naps = Rc::new(RefCell::new(Vec::new()));
        let slept = Rc::clone(&naps);
        let ended = in_each_sleep(Stepped::begin, move |nanos| {
            slept.borrow_mut().push(nanos);
            let so_far = slept.borrow().len();
            scenario(so_far);
            if so_far < looks { Continue(()) } else { Break(()) }
        });
        assert!(ended.is_none(), "it lives for as long as the scheduler");
        naps.take()
    }

    const SOON: Option<Nanos> = Some(SHORTEST);

    /// So it naps while there is nothing to see, before it sleeps deeply.
    fn calm() -> Vec<Option<Nanos>> {
        vec![Some(QUIET); CALM as usize]
    }

    /// 51 times after 20 us, then after 40, 80, …
    fn ever_later(naps: usize) -> Vec<Option<Nanos>> {
        let slower = (1..=naps - 51).map(|doubled| Some(SHORTEST << doubled));
        std::iter::repeat_n(SOON, 51).chain(slower).collect()
    }

    #[test]
    fn comes_ever_later_while_there_is_nothing_to_do_and_soon_again_after_a_retake() {
        let sched = scheduler(1);
        submit(&sched, 1);
        let mut m1 = Some(begin(&sched).0);
        let later = Arc::clone(&sched);
        let naps = naps(&sched, 57, move |nap| {
            if nap == 53 {
                std::mem::forget(later.entersyscall(m1.take().expect("once")));
            }
        });
        // It sees the call in the ticks after sleeps 53 and 54; then a P is on its way to an M that looks for work.
        assert_eq!(naps, [ever_later(54), vec![SOON; 3]].concat());
    }

    #[test]
    fn comes_ever_later_while_there_is_nothing_to_do_and_soon_again_after_a_deep_sleep() {
        let sched = scheduler(1);
        submit(&sched, 1);
        let mut m1 = Some(begin(&sched).0);
        let later = Arc::clone(&sched);
        let naps = naps(&sched, 65, move |nap| match nap {
            54 => for_ever(|| later.next(m1.take().expect("once"))),
            63 => submit(&later, 2),
            _ => (),
        });
        assert_eq!(naps, [ever_later(54), calm(), vec![None, SOON, SOON]].concat());
    }

    /// Two are asked to yield at the same tick, and one of them does: at the next tick neither is news.
    #[test]
    fn comes_soon_once_though_two_are_asked_at_once() {
        let sched = scheduler(2);
        (1..=2).for_each(|number| submit(&sched, number));
        std::mem::forget(begin(&sched).0);
        let mut m2 = begin(&sched).0;
        sched.ready(&mut m2, g(3));
        let (later, mut m2) = (Arc::clone(&sched), Some(m2));
        let naps = naps(&sched, 70, move |_| {
            if m2.as_ref().is_some_and(|m2| later.is_preempted(m2)) {
                std::mem::forget(later.next(m2.take().expect("once")));
            }
        });
        let asked = naps.iter().position(|nap| *nap == Some(sysmon::SOON)).expect("they were asked");
        assert_eq!(naps[asked..asked + 3], [sysmon::SOON, 2 * sysmon::SOON, 4 * sysmon::SOON].map(Some));
    }

    #[test]
    fn comes_soon_while_a_p_is_in_use_and_not_before_somebody_takes_one_if_all_are_idle() {
        let sched = scheduler(1);
        let later = Arc::clone(&sched);
        let naps = naps(&sched, 14, move |nap| {
            if nap == 10 {
                submit(&later, 1);
            }
        });
        assert_eq!(naps, [vec![SOON], calm(), vec![None, SOON, SOON, SOON, SOON]].concat());
    }

    #[test]
    fn comes_soon_again_if_a_p_is_taken_while_it_naps() {
        let sched = scheduler(1);
        let later = Arc::clone(&sched);
        let naps = naps(&sched, 6, move |nap| {
            if nap == 4 {
                submit(&later, 1);
            }
        });
        let long = Some(QUIET);
        assert_eq!(naps, [SOON, long, long, long, SOON, SOON]);
    }

    #[test]
    fn comes_soon_though_all_are_idle_if_an_m_was_refused() {
        let sched = scheduler(1);
        let later = Arc::clone(&sched);
        let naps = naps(&sched, 5, move |nap| {
            if nap == 1 {
                Stepped::refuse(3);
                submit(&later, 1);
            }
            assert_eq!(later.snapshot().refused as usize, nap.min(3));
        });
        assert_eq!(naps, [SOON; 5]);
        assert_eq!(Stepped::suspended(), 1, "it could be had at last");
    }

    #[test]
    fn comes_not_before_the_world_goes_on_if_it_is_stopped() {
        let sched = scheduler(1);
        submit(&sched, 1);
        let (mut m1, g1) = begin(&sched);
        // With work: when the world goes on, there is no idle P that would be taken.
        sched.ready(&mut m1, g(2));
        let away = sched.entersyscall(m1);
        let mut stopped = Some(sched.stop_the_world(None));
        let later = Arc::clone(&sched);
        let naps = naps(&sched, 12, move |nap| {
            if nap == 10 {
                assert!(later.start_the_world(stopped.take().expect("once")).is_none());
            }
        });
        assert_eq!(naps, [vec![SOON], calm(), vec![None, SOON, SOON]].concat());
        let m1 = sched.exitsyscall(away, g1).expect_err("P is on its way to another M");
        for_ever(|| sched.rest(m1));
    }

    /// Ms that slept for `keep_alive` end, the longest first, but one always stays.
    #[test]
    fn comes_when_an_m_has_slept_for_long() {
        const KEEP: Nanos = 1_000_000_000;
        let config = Config { procs: 2, keep_alive: KEEP, ..Config::default() };
        let sched: S = Sched::new(config, (), stepped::enter).expect("these numbers are allowed");
        submit(&sched, 1);
        let (m1, _) = begin(&sched);
        another_sleeps(&sched);
        Stepped::pass(250_000);
        for_ever(|| sched.next(m1));
        let later = Arc::clone(&sched);
        let naps = naps(&sched, 11, move |nap| assert_eq!(later.snapshot().sleeping, if nap < 11 { 2 } else { 1 }));
        let left = KEEP - 250_000 - SHORTEST - QUIET * Nanos::from(CALM);
        assert_eq!(naps, [vec![SOON], calm(), vec![Some(left), Some(QUIET)]].concat());
    }

    #[test]
    fn comes_no_more_when_the_scheduler_is_closed() {
        let sched = scheduler(1);
        sched.start_sysmon().expect("a thread");
        let (left, began) = until_woken(
            || sched.close(),
            || {
                // The monitor, and no other thread runs after it.
                Stepped::begin().is_none()
            },
        );
        assert!(left.is_empty() && began);
    }
}
