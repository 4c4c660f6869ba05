// Executions until a bug is found: rc11 along random branches and depth first, loom, and shuttle's PCT.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

mod on_rc11 {
    use rc11 as checker;
    include!("bugs.rs");
}
mod on_loom {
    use loom as checker;
    include!("bugs.rs");
}
mod on_shuttle {
    use shuttle as checker;
    include!("bugs.rs");
}

/// So many seeds, of which the median is told; no run takes more executions or seconds than that.
const SEEDS: u64 = 11;
const MOST: u64 = 1_000_000;
const SECONDS: u64 = 3;

static RUNS: AtomicU64 = AtomicU64::new(0);

/// How many runs of the model there were when one failed.
fn until_failure(check: impl FnOnce()) -> Option<u64> {
    RUNS.store(0, Relaxed);
    catch_unwind(AssertUnwindSafe(check)).is_err().then(|| RUNS.load(Relaxed))
}

fn counted(model: fn()) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        RUNS.fetch_add(1, Relaxed);
        model();
    }
}

fn rc11(model: fn(), seed: Option<u64>) -> Option<u64> {
    let mut builder = rc11::model::Builder::new();
    builder.max_duration = Some(Duration::from_secs(SECONDS));
    if let Some(seed) = seed {
        builder.max_permutations = Some(MOST as usize);
        builder.seed = seed;
    } else {
        builder.max_duration = None;
        builder.max_permutations = None;
    }
    let outcome = builder.outcome_of(model);
    matches!(outcome.verdict, rc11::model::Verdict::Failed(_)).then_some(outcome.executions)
}

fn loom(model: fn(), preemptions: Option<usize>) -> Option<u64> {
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(Duration::from_secs(SECONDS));
    builder.max_branches = 10_000;
    builder.preemption_bound = preemptions;
    until_failure(|| builder.check(counted(model)))
}

fn shuttle(model: fn(), seed: u64) -> Option<u64> {
    let begun = Instant::now();
    let scheduler = shuttle::scheduler::PctScheduler::new_from_seed(seed, 3, MOST as usize);
    let mut config = shuttle::Config::new();
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.max_time = Some(Duration::from_secs(SECONDS));
    let found = until_failure(|| _ = shuttle::Runner::new(scheduler, config).run(counted(model)));
    assert!(begun.elapsed().as_secs() <= SECONDS + 5);
    found
}

/// The median, and of how many seeds the bug was found.
fn median(run: impl Fn(u64) -> Option<u64>) -> String {
    let mut all: Vec<u64> = Vec::new();
    for seed in 1..=SEEDS {
        match run(seed) {
            Some(n) => all.push(n),
            // A run that finds nothing takes its whole time: the others would too.
            None if all.is_empty() => return "–".to_owned(),
            None => all.push(u64::MAX),
        }
    }
    all.sort_unstable();
    let found = all.iter().filter(|&&n| n != u64::MAX).count();
    let middle = all[all.len() / 2];
    let middle = if middle == u64::MAX { "–".to_owned() } else { middle.to_string() };
    if found == all.len() { middle } else { format!("{middle} ({found} of {SEEDS})") }
}

fn one(found: Option<u64>) -> String {
    found.map_or("–".to_owned(), |n| n.to_string())
}

/// What stands in a cell.
fn cell(checker: &str, on: [fn(); 3]) -> String {
    let [on_rc11, on_loom, on_shuttle] = on;
    match checker {
        "rc11, random" => median(|seed| rc11(on_rc11, Some(seed))),
        "rc11, depth first" => one(rc11(on_rc11, None)),
        "loom" => one(loom(on_loom, None)),
        "loom, 2 preemptions" => one(loom(on_loom, Some(2))),
        _ => median(|seed| shuttle(on_shuttle, seed)),
    }
}

const CHECKERS: [&str; 5] =
    ["rc11, random", "rc11, depth first", "loom", "loom, 2 preemptions", "shuttle, PCT of depth 3"];

/// Each cell is a process of its own: a checker's panic hook is none for another's panics, and some abort.
fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if asked.is_empty() {
        println!("| wrong variant | {} |\n|--|{}", CHECKERS.join(" | "), "--:|".repeat(CHECKERS.len()));
    }
    macro_rules! row {
        ($($name:ident)*) => {$({
            let name = stringify!($name);
            if asked.is_empty() {
                let cells = CHECKERS.map(|checker| of_child(name, checker));
                println!("| {} | {} |", name.replace('_', " "), cells.join(" | "));
            } else if asked[0] == name {
                std::panic::set_hook(Box::new(|_| ()));
                println!("{}", cell(&asked[1], [on_rc11::$name, on_loom::$name, on_shuttle::$name]));
            }
        })*};
    }
    row! {
        a_ring_of_which_one_thief_stores
        a_list_of_indices_without_a_tag
        one_condition_variable_for_two_conditions
        a_queue_that_is_closed_behind_a_look
        a_value_that_is_handed_on_relaxed
    }
}

fn of_child(name: &str, checker: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    let mut child = std::process::Command::new(program)
        .args([name, checker])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("a child");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed().as_secs() > 6 * SECONDS {
            child.kill().expect("a child");
            child.wait().expect("a child");
            return "–".to_owned();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("a child");
    let said = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned();
    if output.status.success() { said } else { "aborts".to_owned() }
}
