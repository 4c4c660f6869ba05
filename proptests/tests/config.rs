//! Which numbers a scheduler may be given, and what is said about the others.

use proptest::prelude::*;
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::sources::SearchOrder;
use spinpark_kernel::protocol::sysmon::SHORTEST;
use spinpark_kernel::queues::runq::{BadCapacity, Capacity};
use spinpark_kernel::sched::config::{Config, ConfigError};
use spinpark_proptests::check::{Broken, Tally, check};

const CASES: u32 = 2000;

/// `1..=max`, and often one of the two.
fn up_to(max: usize) -> impl Strategy<Value = usize> {
    prop_oneof![Just(1), Just(max), 1..=max]
}

fn good() -> impl Strategy<Value = Config> {
    (
        up_to(Config::MAX_PROCS),
        1..=16u32,
        prop_oneof![Just(SearchOrder::StealFirst), Just(SearchOrder::GlobalFirst)],
        any::<u32>(),
        any::<u32>(),
        1..=Config::MAX_STEAL_PASSES,
        up_to(Config::MAX_MS),
        // None at all, or fewer than there are: that is no promise to have less.
        (
            prop_oneof![3 => 0..=Config::MAX_PROCS, 1 => Just(Config::MAX_PROCS)],
            prop_oneof![Just(0), Just(Nanos::MAX), any::<Nanos>()],
            prop_oneof![Just(0), up_to(Config::MAX_MS)],
            prop_oneof![Just(SHORTEST), SHORTEST..=Nanos::MAX],
            any::<Nanos>(),
            any::<usize>(),
        ),
    )
        .prop_map(|(procs, log, order, global_every, inherit_at_most, steal_passes, max_ms, others)| {
            let (max_procs, keep_alive, max_detached, slice, peek_every, spinning_at_most) = others;
            let ring = 1 << log;
            Config {
                procs,
                max_procs,
                ring,
                order,
                global_every,
                inherit_at_most,
                steal_passes,
                spinning_at_most,
                max_ms,
                max_detached,
                slice,
                peek_every,
                keep_alive,
            }
        })
}

fn out_of(max: usize) -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), Just(max + 1), max + 1..=usize::MAX]
}

fn bad_ring() -> impl Strategy<Value = usize> {
    prop_oneof![
        Just(0),
        Just(1),
        (17..usize::BITS).prop_map(|log| 1 << log),
        any::<usize>().prop_filter("no power of two", |n| !n.is_power_of_two()),
        (3..1usize << 17).prop_filter("no power of two", |n| !n.is_power_of_two()),
    ]
}

mod every_good_number_is_accepted {
    use super::*;

    #[test]
    fn whatever_the_others_are() {
        check(CASES, good(), |config| match config.check() {
            Ok(ring) if ring.get() == config.ring => Ok(Tally::default()),
            other => Err(Broken::because(format_args!("it is {other:?}"))),
        });
    }

    #[test]
    fn the_defaults() {
        assert_eq!(Config::default().check(), Ok(Capacity::DEFAULT));
    }

    /// They are stated in the documentation, so that a change of one is seen.
    #[test]
    fn the_defaults_are_those_that_are_documented() {
        let Config { procs, max_procs, ring, order, .. } = Config::default();
        let Config { global_every, inherit_at_most, steal_passes, max_ms, .. } = Config::default();
        let Config { keep_alive, max_detached, slice, peek_every, spinning_at_most, .. } = Config::default();
        assert_eq!((procs, max_procs, ring, order), (1, 1, Capacity::DEFAULT.get(), SearchOrder::default()));
        assert_eq!((global_every, inherit_at_most, steal_passes), (61, 16, 4));
        assert_eq!((max_ms, keep_alive, spinning_at_most), (512, 10_000_000_000, 2));
        assert_eq!((max_detached, slice, peek_every), (0, 10_000_000, 1_000_000));
    }

    #[test]
    fn every_ring_that_is_allowed_and_no_other() {
        let allowed: Vec<usize> = (0..=1 << 18).filter(|&n| Capacity::new(n).is_ok()).collect();
        assert_eq!(allowed, (1..=16).map(|log| 1 << log).collect::<Vec<_>>());
        assert_eq!((Capacity::MIN.get(), Capacity::MAX.get()), (2, 1 << 16));
    }
}

mod every_bad_number_is_refused_by_name_and_range {
    use super::*;

    /// Good numbers, then some of them made bad.
    fn bad() -> impl Strategy<Value = (Config, Vec<ConfigError>)> {
        let errors = (
            prop::option::of(bad_ring().prop_map(|n| ConfigError::Ring(BadCapacity(n)))),
            prop::option::of(out_of(Config::MAX_PROCS).prop_map(ConfigError::Procs)),
            prop::option::of((Config::MAX_PROCS + 1..=usize::MAX).prop_map(ConfigError::MaxProcs)),
            prop::option::of(
                prop_oneof![Just(0), Config::MAX_STEAL_PASSES + 1..=u32::MAX].prop_map(ConfigError::StealPasses),
            ),
            prop::option::of(out_of(Config::MAX_MS).prop_map(ConfigError::MaxMs)),
            prop::option::of((Config::MAX_MS + 1..=usize::MAX).prop_map(ConfigError::MaxDetached)),
            prop::option::of((0..SHORTEST).prop_map(ConfigError::Slice)),
        );
        (good(), errors).prop_map(|(mut config, (ring, procs, max_procs, passes, ms, detached, slice))| {
            let errors = [ring, procs, max_procs, passes, ms, detached, slice];
            let errors: Vec<ConfigError> = errors.into_iter().flatten().collect();
            for error in &errors {
                match *error {
                    ConfigError::Ring(BadCapacity(n)) => config.ring = n,
                    ConfigError::Procs(n) => config.procs = n,
                    ConfigError::MaxProcs(n) => config.max_procs = n,
                    ConfigError::StealPasses(n) => config.steal_passes = n,
                    ConfigError::MaxMs(n) => config.max_ms = n,
                    ConfigError::MaxDetached(n) => config.max_detached = n,
                    ConfigError::Slice(n) => config.slice = n,
                    other => unreachable!("not generated: {other:?}"),
                }
            }
            (config, errors)
        })
    }

    fn says(error: ConfigError) -> Vec<String> {
        let (name, value, range) = match error {
            ConfigError::Ring(BadCapacity(n)) => ("ring", n, "a power of two from 2 to 65536"),
            ConfigError::Procs(n) => ("procs", n, "1 to 4096"),
            ConfigError::MaxProcs(n) => ("max_procs", n, "4096 at most"),
            ConfigError::StealPasses(n) => ("steal_passes", n as usize, "1 to 64"),
            ConfigError::MaxMs(n) => ("max_ms", n, "1 to 65536"),
            ConfigError::MaxDetached(n) => ("max_detached", n, "65536 at most"),
            ConfigError::Slice(n) => ("slice", n as usize, "20000 ns or more"),
            other => unreachable!("not generated: {other:?}"),
        };
        vec![name.to_string(), value.to_string(), range.to_string()]
    }

    #[test]
    fn alone_or_among_other_bad_ones() {
        let seen = check(CASES, bad(), |(config, errors)| {
            let mut seen = Tally::default();
            let found = config.check();
            match errors.first() {
                None if found.is_ok() => seen.note("all were good"),
                Some(&error) if found == Err(error) => {
                    let text = error.to_string();
                    if let Some(missing) = says(error).iter().find(|part| !text.contains(*part)) {
                        return Err(Broken::because(format_args!("{text:?} does not say {missing:?}")));
                    }
                    seen.note(match error {
                        ConfigError::Ring(_) => "the ring was bad",
                        ConfigError::Procs(_) => "procs was bad",
                        ConfigError::MaxProcs(_) => "max_procs was bad",
                        ConfigError::StealPasses(_) => "steal_passes was bad",
                        _ => "max_ms was bad",
                    });
                    seen.note_if(errors.len() > 1, "several were bad");
                }
                _ => return Err(Broken::because(format_args!("it is {found:?}, with {errors:?} wrong"))),
            }
            Ok(seen)
        });
        seen.must_have(&["all were good", "several were bad"]);
        seen.must_have(&["the ring was bad", "procs was bad", "max_procs was bad"]);
        seen.must_have(&["steal_passes was bad", "max_ms was bad"]);
    }
}

/// For `procs` there is always a place, whatever `max_procs` says.
mod there_is_a_place_for_as_many_ps_as_either_number_asks_for {
    use super::*;

    #[test]
    fn whatever_the_others_are() {
        let seen = check(CASES, good(), |config| {
            let asked = [config.procs, config.max_procs];
            let capacity = config.capacity();
            if !asked.contains(&capacity) || asked.iter().any(|&n| n > capacity) {
                return Err(Broken::because(format_args!("of {asked:?} it is {capacity}")));
            }
            let mut seen = Tally::default();
            seen.note_if(config.max_procs < config.procs, "max_procs was less than procs");
            seen.note_if(config.max_procs > config.procs, "max_procs was more");
            Ok(seen)
        });
        seen.must_have(&["max_procs was less than procs", "max_procs was more"]);
    }

    #[test]
    fn unless_more_is_asked_for_there_is_none_to_spare() {
        assert_eq!(Config { procs: 3, ..Config::default() }.capacity(), 3);
    }
}
