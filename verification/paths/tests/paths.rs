//! The paths of the kernel's operations are those that are written down, and agree with the drawings.

use spinpark_parameterized::PROTOCOLS;
use spinpark_paths::path::{automaton, paths, remembers, text};
use spinpark_paths::rooms::{ROOMS, operation};
use spinpark_paths::tie::{DRAWINGS, Drawing, tie};
use std::sync::Mutex;
use std::thread;

mod the_automata {
    use super::*;

    /// A block's first line, without what it counts.
    fn name(block: &str) -> &str {
        let head = block.lines().next().unwrap_or_default();
        head.rsplit_once(": ").map_or(head, |(name, _)| name)
    }

    /// A change of one line of the kernel that changes what an operation may do shows here, both automata side by side. If it is
    /// meant: `SPINPARK_WRITE=1 cargo test -p spinpark-paths`.
    #[test]
    fn are_those_that_are_written_down() {
        let of_room = |room: &'static &spinpark_paths::path::Room| {
            room.operations.iter().map(|operation| text(room, operation, false).trim_end().to_owned())
        };
        let now: Vec<String> = ROOMS.iter().flat_map(of_room).collect();
        if std::env::var_os("SPINPARK_WRITE").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/automata.txt");
            return std::fs::write(file, now.join("\n\n") + "\n").expect("it can be written");
        }
        let file = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/automata.txt")).expect("it is there");
        let written: Vec<&str> = file.split("\n\n").map(str::trim_end).filter(|block| !block.is_empty()).collect();
        for text in &now {
            let was = written.iter().find(|was| name(was) == name(text)).copied().unwrap_or("not written down");
            assert!(was == text, "what the source may do has changed. It was:\n{was}\n\nand is:\n{text}");
        }
        for (room, operation) in ROOMS.iter().flat_map(|room| room.operations.iter().map(move |one| (room, one))) {
            assert_eq!(remembers(room, operation), None);
        }
        assert_eq!(written.len(), now.len(), "an operation is written down that is no more");
    }
}

/// Some callers in `sched/`, whose data is under the scheduler's lock, are told again in `src/rooms`. So their text is written down: a
/// line that changes there shows here.
mod what_is_told_again {
    /// By room: files below `src/kernel/src/sched`, and how the functions begin.
    const TOLD: &[(&str, &str, &[&str])] = &[
        (
            "spinning",
            "find.rs",
            &["fn idle(", "fn take_global(", "fn take_local(", "fn spill(", "fn take_extra(", "fn take("],
        ),
        ("spinning", "mod.rs", &["pub fn submit("]),
        (
            "spinning",
            "netpoll.rs",
            &["fn instead_of_sleep(", "fn injectglist(", "fn queue_all(", "fn take_turn(", "fn sysmon_netpoll("],
        ),
        ("spinning", "sysmon.rs", &["fn end_old_ms("]),
        ("spinning", "threads.rs", &["fn mput(", "fn refused(", "fn mget(", "fn available("]),
        ("spinning", "syscall.rs", &["fn pidleget_or_queue(", "fn goyield("]),
        ("spinning", "handoff.rs", &["fn settle("]),
        (
            "spinning",
            "spinning.rs",
            &[
                "fn has_any(",
                "fn take_idle(",
                "fn queue_and_wakep<",
                "fn any_work(",
                "fn is_any_p_idle(",
                "fn pidleget(",
                "fn pidleget_to_start(",
                "fn startm(",
            ],
        ),
        ("syscall", "sysmon.rs", &["fn look_at("]),
        ("stw", "central.rs", &["fn central<", "fn make(", "fn releasep("]),
        (
            "stw",
            "stw.rs",
            &[
                "fn stop_the_world(",
                "fn start_the_world(",
                "fn procresize(",
                "fn queue_up<",
                "fn leave_line(",
                "fn take_from_syscalls(&self) ->",
                "impl<H: Host, O: Observer> stw::Neighbours",
            ],
        ),
    ];

    /// The function that begins so, without its comments.
    fn text_of(source: &str, begin: &str) -> String {
        let mut lines = source.lines().skip_while(|line| !line.contains(begin)).peekable();
        let first = lines.peek().unwrap_or_else(|| panic!("no function begins with `{begin}`"));
        let end = format!("{}}}", " ".repeat(first.len() - first.trim_start().len()));
        let mut text = String::new();
        for line in lines {
            if !line.trim_start().starts_with("//") {
                text += line;
                text.push('\n');
            }
            if line == end {
                break;
            }
        }
        text
    }

    #[test]
    fn is_as_it_was_when_it_was_told() {
        let sched = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/kernel/src/sched");
        let mut now = Vec::new();
        for (room, file, begins) in TOLD {
            let source = std::fs::read_to_string(format!("{sched}/{file}")).expect("the file is there");
            now.extend(begins.iter().map(|begin| format!("{room}, sched/{file}:\n{}", text_of(&source, begin))));
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/told_again.txt");
        if std::env::var_os("SPINPARK_WRITE").is_some() {
            return std::fs::write(path, now.join("\n")).expect("it can be written");
        }
        let written = std::fs::read_to_string(path).expect("it is there");
        for text in &now {
            let (head, body) = text.split_once('\n').expect("a line");
            let name = body.lines().next().unwrap_or_default();
            assert!(
                written.contains(text.as_str()),
                "`{}` is told again in the room `{head}`, and has changed: is it told as it is now? It is:\n{body}\nand was:\n{}\n\
                 If it is: `SPINPARK_WRITE=1 cargo test -p spinpark-paths`.",
                name.trim(),
                written.split("\n\n").find(|was| was.contains(name)).unwrap_or("not written down")
            );
        }
    }
}

mod an_operation {
    use super::*;

    #[test]
    fn wakep_has_thirteen_paths() {
        let (room, wakep) = operation("spinning::wakep").expect("there is one");
        let paths = paths(room, wakep);
        assert_eq!((paths.len(), automaton(&paths).len()), (13, 11));
    }

    #[test]
    fn that_waits_in_a_loop_comes_back_to_where_it_began() {
        let (room, stop) = operation("stw::stop").expect("there is one");
        assert!(text(room, stop, false).contains("again from `under the lock: every P is held`"));
    }

    #[test]
    fn of_another_name_is_none() {
        assert!(operation("spinning::wake").is_none() && operation("wakep").is_none());
    }
}

mod a_drawing {
    use super::*;

    #[test]
    fn agrees_with_the_source_both_ways() {
        for drawing in DRAWINGS {
            let tied = tie(drawing, "");
            assert!(tied.differences.is_empty(), "{}", tied.words(drawing.name));
        }
    }

    /// Without it a theorem would be of a scheduler in which that operation never runs.
    #[test]
    fn says_what_becomes_of_every_operation_that_touches_it() {
        for drawing in DRAWINGS {
            let without = |forgotten: &str| {
                let begins = drawing.begins.iter().filter(|(name, _)| *name != forgotten);
                Drawing { begins: begins.copied().collect::<Vec<_>>().leak(), ..**drawing }
            };
            let (forgotten, _) = drawing.begins[0];
            let differences = tie(&without(forgotten), "").differences;
            let is_told = |told: &String| told.starts_with(forgotten) && told.contains("what becomes of it");
            assert!(differences.iter().any(is_told), "{}: {forgotten}: {differences:#?}", drawing.name);
        }
        let listed = Drawing { within: &["globq::peek"], ..*DRAWINGS[1] };
        let differences = tie(&listed, "").differences;
        assert!(differences.contains(&"globq::peek: listed, and no operation is so".to_owned()), "{differences:#?}");
    }

    #[test]
    fn that_is_wrong_is_noticed() {
        let variants = DRAWINGS.iter().flat_map(|drawing| {
            let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == drawing.name).expect("it is one");
            protocol.wrong.iter().chain(protocol.right).map(|variant| (*drawing, variant.name))
        });
        let variants = Mutex::new(variants);
        let next = || variants.lock().expect("no panic").next();
        let agree = Mutex::new(Vec::new());
        // It is the longest of these tests by far: two threads share it.
        let check = || {
            while let Some((drawing, variant)) = next() {
                if tie(drawing, variant).differences.is_empty() {
                    agree.lock().expect("no panic").push(format!("{}: {variant}", drawing.name));
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(check);
            check();
        });
        let agree = agree.into_inner().expect("no panic");
        assert!(agree.is_empty(), "nothing differs: {agree:#?}");
    }
}

/// Steps that move many Gs at once: one that is drawn in another way than the source does it is noticed.
mod a_batch {
    use super::*;
    use spinpark_parameterized::logic::{Formula, Places, Var, and, not, or, same};
    use spinpark_parameterized::sched;
    use spinpark_parameterized::solver::Solver;
    use spinpark_parameterized::system::{System, Transition};

    type Draw = fn(&mut Transition);

    /// The drawing, the step, what is wrong with it, and the step so.
    const WRONG: &[(usize, &str, &str, Draw)] = &[
        (0, "spills", "one G, as it was once drawn", |t| {
            use sched::state::*;
            let (m, p, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("g", G));
            t.from_any(m, spills_at()).when(OWNS.of([m, p])).drains(m).when(RING.of([g, p]));
            t.clear(RING, &[g, p]).set(SPILLS, &[m, g]).goes(m, SPILL);
        }),
        (0, "spills", "perhaps none", |t| {
            use sched::state::*;
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            t.from_any(m, spills_at())
                .when(OWNS.of([m, p]))
                .drains(m)
                .takes_batch(p)
                .puts_batch(SPILLS, m)
                .goes(m, SPILL);
            t.guard.retain(|part| !matches!(part, Formula::Some(..)));
        }),
        (0, "spills", "out of any ring", |t| {
            use sched::state::*;
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            t.from_any(m, spills_at()).drains(m).takes_batch(p).puts_batch(SPILLS, m).goes(m, SPILL);
        }),
        (0, "spills", "which stay in the ring", |t| {
            use sched::state::*;
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            t.from_any(m, spills_at()).when(OWNS.of([m, p])).drains(m).for_each_batch(|b| RING.of([b, p]));
            t.puts_batch(SPILLS, m).goes(m, SPILL);
        }),
        (0, "spills", "and what it has put before stays buffered", |t| {
            use sched::state::*;
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            t.from_any(m, spills_at()).when(OWNS.of([m, p])).takes_batch(p).puts_batch(SPILLS, m).goes(m, SPILL);
        }),
        (0, "puts_spilled", "all but what was spilled", |t| {
            use sched::state::*;
            let (m, g) = (t.for_each("m", M), t.for_each("g", G));
            t.from(m, SPILL).takes_lock(m).set(PUTS_GLOBAL, &[m, g]).clear_all(SPILLS, &[m]).goes(m, QUEUED);
        }),
        (0, "steals_more", "visible in its ring before it is stored", |t| {
            use sched::state::*;
            let (m, p, v) = steals(t);
            let is_its = |x: &[_]| and([BATCH.of([x[0]]), same(x[1], p)]);
            t.takes_batch(v).assign(RING, |x| or([RING.of([x[0], x[1]]), is_its(x)])).with_set_done().goes(m, FOUND);
        }),
        (0, "steals_more", "not the one that it runs", |t| {
            use sched::state::*;
            let (m, p, v) = (t.for_each("m", M), t.for_each("p", P), t.for_each("v", P));
            t.from(m, SPIN).when(OWNS.of([m, p])).when(not(same(p, v))).drains(m).takes_batch(v);
            t.puts_batch(PUTS, m).goes(m, FOUND);
        }),
        (0, "steals_more", "one more at a time, as it was once drawn", |t| {
            use sched::state::*;
            let (m, p, v, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
            t.from(m, FOUND).when(OWNS.of([m, p])).when(not(same(p, v))).when(RING.of([g, v]));
            t.clear(RING, &[g, v]).set(PUTS, &[m, g]);
        }),
        (0, "takes_share", "without the lock", |t| {
            use sched::state::*;
            let (m, p) = (t.for_each("m", M), t.for_each("p", P));
            t.from_any(m, SEARCHING).when(OWNS.of([m, p])).drains(m).for_each_batch(|b| GLOBAL.of([b]));
            t.assign(GLOBAL, |x| and([GLOBAL.of([x[0]]), not(BATCH.of([x[0]]))]));
            t.assign(RING, |x| or([RING.of([x[0], x[1]]), and([same(x[1], p), BATCH.of([x[0]])])])).with_set_done();
        }),
    ];

    fn spills_at() -> Places {
        use sched::state::{KICKS, RUN};
        Places::of(&[RUN, KICKS])
    }

    /// The first of those that are stolen.
    fn steals(t: &mut Transition) -> (Var, Var, Var) {
        use sched::state::*;
        let (m, p, v, g) = (t.for_each("m", M), t.for_each("p", P), t.for_each("v", P), t.for_each("g", G));
        t.from(m, SPIN)
            .when(OWNS.of([m, p]))
            .when(not(same(p, v)))
            .drains(m)
            .when(RING.of([g, v]))
            .clear(RING, &[g, v]);
        (m, p, v)
    }

    /// The drawing with this one of the steps so.
    fn changed(which: &str) -> System {
        let (drawing, name, _, draw) = &WRONG[which.parse::<usize>().expect("a number")];
        let mut system = (DRAWINGS[*drawing].system)("");
        let step = system.transitions.iter_mut().find(|step| step.name == *name).expect("it is drawn");
        *step = Transition::new(step.name, step.source);
        draw(step);
        system
    }

    #[test]
    fn that_is_drawn_wrong_is_noticed() {
        if !Solver::Z3.is_here() {
            return;
        }
        for (which, (drawing, name, what, _)) in WRONG.iter().enumerate() {
            let tied = tie(&Drawing { system: changed, ..*DRAWINGS[*drawing] }, &which.to_string());
            assert!(!tied.differences.is_empty(), "{name}, {what}: nothing differs");
            println!("{name}, {what}: {}", tied.differences[0]);
        }
    }
}
