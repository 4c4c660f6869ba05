//! A trace, in memory and in a file.

use serde_json::Value;
use spinpark::trace::{From, Queue, Recorder, What};
use spinpark::{BuildError, Runtime, Wait, blocking, go, spawn, syscall, time, yield_now};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, process, thread};

/// A file for one test, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(env::temp_dir().join(format!("spinpark-{}-{name}.json", process::id())))
    }

    fn read(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.0).expect("a file");
        let parsed: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        parsed.as_array().expect("an array").clone()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A little of everything.
fn run_all(runtime: &Runtime) {
    let all = runtime.spawn(async {
        let crowd: Vec<_> = (0..20).map(|_| spawn(async { thread::sleep(Duration::from_micros(50)) })).collect();
        for one in crowd {
            one.await.expect("no panic");
        }
        go(|| syscall(|| thread::sleep(Duration::from_millis(1)))).await.expect("no panic");
        go(|| blocking(|| thread::sleep(Duration::from_millis(1)))).await.expect("no panic");
        go(|| time::sleep(Duration::from_millis(1)).wait()).await.expect("no panic");
        assert!(spawn(async { panic!("as it should") }).await.is_err());
    });
    all.join().expect("no panic");
    runtime.stop_the_world(|| ()).expect("it is stopped");
}

fn text<'a>(event: &'a Value, key: &str) -> &'a str {
    event[key].as_str().unwrap_or_default()
}

fn is(event: &Value, kind: &str) -> bool {
    text(event, "ph") == kind
}

/// In nanoseconds.
fn moment(event: &Value) -> u64 {
    (event["ts"].as_f64().expect("a time") * 1000.0).round() as u64
}

/// From when to when, and its name.
type Slice = (u64, u64, String);

/// By track, what was done there.
fn slices(events: &[Value]) -> BTreeMap<(u64, u64), Vec<Slice>> {
    let mut slices: BTreeMap<_, Vec<Slice>> = BTreeMap::new();
    let mut open = BTreeMap::new();
    for event in events {
        let track = (event["pid"].as_u64().expect("a process"), event["tid"].as_u64().expect("a thread"));
        match text(event, "ph") {
            "B" => {
                let before = open.insert(track, (moment(event), text(event, "name").to_owned()));
                assert_eq!(before, None, "on {track:?} another began before this was over");
            }
            "E" => {
                let (from, name) = open.remove(&track).expect("what ends has begun");
                assert!(from < moment(event), "{name} on {track:?} took no time");
                slices.entry(track).or_default().push((from, moment(event), name));
            }
            _ => (),
        }
    }
    assert!(open.is_empty(), "what has begun does not end: {open:?}");
    slices
}

mod a_file {
    use super::*;

    fn of_all(name: &str) -> Vec<Value> {
        let file = Scratch::new(name);
        let runtime = Runtime::builder().procs(2).trace(&file.0).build().expect("a runtime");
        run_all(&runtime);
        drop(runtime);
        file.read()
    }

    #[test]
    fn ends_each_slice_before_the_next_begins_on_the_same_track() {
        for (track, slices) in slices(&of_all("slices")) {
            for pair in slices.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "on {track:?} two overlap: {pair:?}");
            }
        }
    }

    #[test]
    fn has_both_ends_of_each_arrow_in_slices() {
        let events = of_all("arrows");
        let slices = slices(&events);
        let mut ends: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
        events.iter().filter(|event| is(event, "s") || is(event, "f")).for_each(|event| {
            ends.entry(event["id"].as_u64().expect("a number")).or_default().push(event);
        });
        assert!(!ends.is_empty());
        for (id, ends) in ends {
            let [from, to] = ends[..] else { panic!("arrow {id} has not two ends: {ends:?}") };
            assert!(is(from, "s") && is(to, "f") && moment(from) <= moment(to), "{from} {to}");
            for end in [from, to] {
                let track = (end["pid"].as_u64().expect("a process"), end["tid"].as_u64().expect("a thread"));
                let at = moment(end);
                let holds = slices[&track].iter().any(|(from, to, _)| *from <= at && at <= *to);
                assert!(holds, "an end of an arrow is in no slice: {end}");
            }
        }
    }

    #[test]
    fn names_each_track_and_each_g() {
        let events = of_all("names");
        let named = |event: &&Value| is(event, "M") && text(event, "name") == "thread_name";
        let names: BTreeSet<_> = events.iter().filter(named).map(|event| text(&event["args"], "name")).collect();
        assert!(names.contains("P0") && names.contains("M0"), "{names:?}");
        let slices = slices(&events);
        let of_ps: Vec<&String> =
            slices.iter().filter(|(track, _)| track.0 == 1).flat_map(|(_, s)| s).map(|s| &s.2).collect();
        assert!(of_ps.iter().all(|name| name.starts_with('G') && name.contains(" trace.rs:")), "{of_ps:?}");
        assert!(of_ps.iter().any(|name| name.starts_with("G1 ")) && of_ps.iter().any(|name| name.starts_with("G25 ")));
        let kinds: BTreeSet<_> = events.iter().filter(|e| is(e, "C")).map(|e| text(e, "name")).collect();
        assert!(kinds.contains("Gs in the global queue") && kinds.contains("Ps busy"), "{kinds:?}");
    }

    #[test]
    fn has_no_address_and_no_directory() {
        let events = of_all("secrets");
        let here = file!().trim_end_matches("trace.rs");
        for event in &events {
            let line = event.to_string();
            assert!(!line.contains("0x") && !line.contains(&format!(" {here}")), "{line}");
            let big = event["tid"].as_u64().expect("a thread");
            assert!(big < 1000, "that is no number of an M or of a P: {line}");
        }
    }

    #[test]
    fn loses_nothing_if_much_happens_at_once() {
        const YIELDS: usize = 50_000;
        let file = Scratch::new("much");
        let runtime = Runtime::builder().procs(1).trace(&file.0).build().expect("a runtime");
        let task = runtime.spawn(async {
            for _ in 0..YIELDS {
                yield_now().await;
            }
        });
        task.join().expect("no panic");
        drop(runtime.shutdown());
        let slices = slices(&file.read());
        assert_eq!(slices[&(1, 0)].len(), YIELDS + 1);
    }

    #[test]
    fn that_cannot_be_made_is_an_error_that_names_it() {
        let path = env::temp_dir().join("spinpark-no-such-directory").join("trace.json");
        let error = Runtime::builder().trace(&path).build().expect_err("there is no such directory");
        assert!(matches!(&error, BuildError::Trace { path: named, os_error: Some(_) } if *named == path));
        assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
    }
}

mod a_trace {
    use super::*;

    #[test]
    fn of_equal_runs_says_the_same_of_each_g() {
        let run = || {
            let recorder = Recorder::new();
            let runtime = Runtime::builder().procs(1).record(&recorder).build().expect("a runtime");
            let tasks = runtime.spawn(async {
                let tasks: Vec<_> = (0..10).map(|_| spawn(yield_now())).collect();
                for task in tasks {
                    task.await.expect("no panic");
                }
            });
            tasks.join().expect("no panic");
            drop(runtime);
            let trace = recorder.trace();
            let records = trace.records().iter().filter(|r| r.g.is_some() && r.m.is_some());
            records.map(|r| (r.p, r.g, r.by, r.what.to_string())).collect::<Vec<_>>()
        };
        // Where the system sets the thread aside, the next turn is by time, and another G runs first: such runs are not equal.
        let mut pairs = (0..20).map(|_| (run(), run()));
        let (one, other) = pairs.find(|(one, other)| one == other).unwrap_or_else(|| (run(), run()));
        assert_eq!(one, other);
    }

    #[test]
    fn knows_what_is_in_the_queues() {
        let recorder = Recorder::new();
        let runtime = Runtime::builder().procs(1).ring(4).record(&recorder).build().expect("a runtime");
        let tasks = runtime.spawn(async {
            (0..6).for_each(|_| drop(spawn(async {})));
        });
        tasks.join().expect("no panic");
        drop(runtime);
        let trace = recorder.trace();
        // The seventh displaces the sixth from the place of the next, for which the ring has no place.
        let spilled = trace.records().iter().position(|r| matches!(r.what, What::Spilled { .. })).expect("it is full");
        assert_eq!(trace.records()[spilled].what, What::Spilled { gs: vec![2, 3, 6] }, "{trace}");
        let scene = trace.frame(spilled + 1);
        let p = &scene.ps[0];
        assert_eq!((p.next, &p.ring[..], &scene.global[..]), (Some(7), &[4, 5][..], &[2, 3, 6][..]));
        assert_eq!(scene.ms[0].g, Some(1));
        let queues = trace.records().iter().filter(|r| r.by == Some(1)).filter_map(|r| match r.what {
            What::Runnable { queue, .. } => Some(queue),
            _ => None,
        });
        assert_eq!(queues.collect::<Vec<_>>(), [Queue::Next(0); 6]);
    }

    /// How many thefts a trace of twenty tasks tells, each of which is checked.
    fn thefts() -> usize {
        let recorder = Recorder::new();
        let runtime = Runtime::builder().procs(2).record(&recorder).build().expect("a runtime");
        let tasks = runtime.spawn(async {
            let tasks: Vec<_> = (0..20).map(|_| spawn(async { thread::sleep(Duration::from_micros(200)) })).collect();
            for task in tasks {
                task.await.expect("no panic");
            }
        });
        tasks.join().expect("no panic");
        drop(runtime);
        let trace = recorder.trace();
        let mut thefts = 0;
        for (at, record) in trace.records().iter().enumerate() {
            let What::Stole { victim, gs } = &record.what else { continue };
            thefts += 1;
            assert_ne!(record.p, Some(*victim));
            let run = trace.records()[at..].iter().find(|r| r.m == record.m && r.g == Some(gs[0]));
            let from = trace.records()[at + 1..].iter().find_map(|r| match r.what {
                What::Executing { from } if r.g == Some(gs[0]) => Some(from),
                _ => None,
            });
            assert!(run.is_some() && from == Some(From::Stolen(*victim)), "{record}");
        }
        thefts
    }

    #[test]
    fn knows_who_stole_what() {
        // On a busy machine the other M may come too late.
        assert!((0..50).any(|_| thefts() > 0), "none in 50 traces");
    }

    #[test]
    fn says_how_much_it_has_lost() {
        let recorder = Recorder::with_room(10);
        let runtime = Runtime::builder().procs(1).record(&recorder).build().expect("a runtime");
        run_all(&runtime);
        drop(runtime);
        assert!(recorder.trace().lost() > 10);
    }

    #[test]
    fn in_memory_is_drawn_as_in_a_file() {
        let recorder = Recorder::new();
        let runtime = Runtime::builder().procs(2).record(&recorder).build().expect("a runtime");
        run_all(&runtime);
        drop(runtime);
        let mut json = Vec::new();
        recorder.trace().write_json(&mut json).expect("to memory");
        let parsed: Value = serde_json::from_slice(&json).expect("it is JSON");
        assert!(slices(parsed.as_array().expect("an array")).len() > 2);
    }
}
