//! Running models and wrong variants, and what is said of them: all of them, or some.

use crate::how::How;
use crate::nearest::unknown;
use crate::plan::{self, Estimate};
use crate::progress::Progress;
use crate::table::{self, Kill, Row};
use crate::{Stop, collect, every_size, print, summary, watch, write};
use clap::Args;
use spinpark_verification::engines::{Engine, Outcome};
use spinpark_verification::job::{self, Order};
use spinpark_verification::kept::Kept;
use spinpark_verification::model::{self, Model, Run};
use spinpark_verification::mutation::mutant::{self, Mutant};
use spinpark_verification::output;
use spinpark_verification::schedule::Schedule;
use spinpark_verification::selection;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

/// The options of the run of everything.
#[derive(Args)]
pub(crate) struct Whole {
    /// Every run there is: the other engines, longer samples, and what is cut off after some seconds.
    #[arg(long)]
    pub(crate) all: bool,
    /// Prints the whole table, and not only its summary.
    #[arg(long)]
    table: bool,
    /// Runs again what a changed file of the kernel or of the models touches, until it is interrupted.
    #[arg(long)]
    watch: bool,
}

/// One of the sittings in which a long exploration is done.
#[derive(Args)]
pub(crate) struct Sitting {
    /// Keeps the state of the exploration in this file, and goes on from there if it exists: for one model on rc11.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Stops after so many seconds, about. What is left stands in the checkpoint's file, for the next sitting.
    #[arg(long, value_name = "S", requires = "checkpoint", value_parser = crate::seconds)]
    seconds: Option<f64>,
    /// Leaves the checkpoint's file when nothing is left: verification/fleet adds up what it counts.
    #[arg(long, hide = true, requires = "checkpoint")]
    leave_checkpoint: bool,
}

pub(crate) fn everything(whole: &Whole, how: &How) -> Result<(), Stop> {
    if how.record.is_some() && !whole.all {
        let hint = "`cargo verify --all --record FILE`";
        return Err(Stop::BadInput(format!("a record is of every run, and this is only the usual ones: {hint}")));
    }
    how.check_files()?;
    if whole.watch {
        return watch::watch(&[], how);
    }
    let models: Vec<&Model> = model::all().collect();
    let orders = orders(&models, how, None, |model| of_the_whole(model, whole, how));
    let mutants: Vec<&Mutant> = mutant::all().collect();
    let kill_orders = if how.engine.is_empty() { kill_orders(&mutants, how) } else { Vec::new() };
    let together: Vec<Order> = orders.iter().chain(kill_orders.iter().map(|(_, order)| order)).cloned().collect();
    let clock = Instant::now();
    let mut outcomes = run_all(&together, how);
    let kill_outcomes = outcomes.split_off(orders.len());
    let rows = rows(orders, outcomes);
    let kills = kills(kill_orders, kill_outcomes);
    let text = table::text(&rows) + &gaps(&rows) + &table::kills_text(&kills) + &every_size::text();
    let file = summary::keep(&text);
    if whole.table {
        print(&output::painted(&text));
    }
    if let Some(path) = &how.json {
        write(path, &format!("{:#}\n", table::rows_json(&rows)))?;
    }
    print(&summary::whole(&rows, &kills, clock.elapsed(), file.as_deref()));
    print(&every_size::summary());
    if let Some(path) = &how.record {
        // The matrix is tried by `cargo verify mutants`: what it has found out stays.
        let matrix = Kept::read(path).unwrap_or_default().matrix;
        collect::with_the_best(collect::kept(&rows, matrix)).write(path)?;
    }
    let kills_hold = kills.iter().all(|kill| kill.verdict() == "killed");
    let nothing_dropped = compare(&rows, how, whole.all)?;
    let rows_hold = print_failures(&rows, how);
    if rows_hold && kills_hold && nothing_dropped { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// Is everything explored that the record says was explored?
fn compare(rows: &[Row], how: &How, of_all: bool) -> Result<bool, Stop> {
    let Some(path) = &how.against else { return Ok(true) };
    let is_whole = of_all && how.engine.is_empty();
    let dropped = collect::dropped(&Kept::read(path)?, rows, is_whole);
    if !dropped.is_empty() {
        print(&format!("\nless than in {}:\n  {}\n", path.display(), dropped.join("\n  ")));
        print(
            "if that is as it should be: cargo verify --all --record verification/record.jsonl && cargo verify pages\n",
        );
    }
    Ok(dropped.is_empty())
}

pub(crate) fn some(
    names: &[String],
    how: &How,
    watches: bool,
    mutant: Option<&str>,
    Sitting { checkpoint, seconds, leave_checkpoint }: Sitting,
) -> Result<(), Stop> {
    how.refuse("run", &["--record"])?;
    how.check_files()?;
    let models = select(names)?;
    let mutant = mutant.map(|name| mutant::find(name).ok_or_else(|| unknown_mutant(&[name.to_owned()]))).transpose()?;
    if watches {
        if mutant.is_some() || checkpoint.is_some() {
            return Err(Stop::BadInput(
                "`--watch` runs the kernel as it is, from the beginning: leave out the rest".to_owned(),
            ));
        }
        return watch::watch(names, how);
    }
    let mut orders = orders(&models, how, mutant, |model| asked_for(model, how));
    if let Some(mutant) = mutant {
        keep_killers(&mut orders, mutant, how);
    }
    match (orders.as_mut_slice(), checkpoint) {
        ([], _) => return Err(Stop::BadInput("none of these models runs on that engine".to_owned())),
        (_, None) => (),
        ([order], checkpoint) if order.engine == Engine::Rc11 => {
            order.checkpoint = checkpoint;
            order.leaves_checkpoint = leave_checkpoint;
            order.bounds.seconds = seconds.unwrap_or(order.bounds.seconds);
        }
        (many, _) => {
            let n = many.len();
            let hint = "a checkpoint is of one model on one engine: name it in full, with `--engine rc11`";
            return Err(Stop::BadInput(format!("{hint} (this names {n} runs)")));
        }
    }
    let kept = orders.iter().find_map(|order| order.checkpoint.clone());
    if kept.is_some() {
        listen_for_ctrl_c()?;
    }
    let clock = Instant::now();
    let outcomes = run_all(&orders, how);
    if let Some(why) = outcomes.iter().find_map(Outcome::no_checkpoint) {
        return Err(Stop::BadInput(why.to_owned()));
    }
    let rows = rows(orders, outcomes);
    print(&output::painted(&(table::text(&rows) + &gaps(&rows))));
    if let Some(path) = &how.json {
        write(path, &format!("{:#}\n", table::rows_json(&rows)))?;
    }
    print(&summary::line(&rows, &[], clock.elapsed()));
    if let (Some(path), true) = (&kept, job::is_stopped()) {
        let path = path.display();
        return Err(Stop::Interrupted(format!("what was explored is in {path}; the same command goes on from there")));
    }
    let nothing_dropped = compare(&rows, how, false)?;
    let hold = print_failures(&rows, how);
    if hold && nothing_dropped { Ok(()) } else { Err(Stop::DoesNotHold) }
}

/// As a shell says of what SIGINT ends.
const INTERRUPTED: i32 = 130;

/// From now on Ctrl-C has the state written, and then ends the run.
pub(crate) fn listen_for_ctrl_c() -> Result<(), Stop> {
    #[cfg(unix)]
    {
        let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
        let mut heard = signal_hook::iterator::Signals::new(signals)
            .map_err(|error| format!("cannot listen for Ctrl-C: {error}"))?;
        std::thread::spawn(move || {
            for _ in heard.forever() {
                if job::is_stopped() {
                    // Asked for twice: at once.
                    std::process::exit(INTERRUPTED);
                }
                job::stop();
            }
        });
    }
    Ok(())
}

/// Of several runs only those that must kill the mutant, if there are any.
fn keep_killers(orders: &mut Vec<Order>, mutant: &Mutant, how: &How) {
    let must_kill = |order: &Order| {
        let is_it = |(model, engine): &(&str, Engine)| {
            order.model == *model && (order.engine == *engine || !how.engine.is_empty())
        };
        mutant.killed_by.iter().any(is_it)
    };
    if orders.iter().any(must_kill) {
        orders.retain(must_kill);
    }
}

pub(crate) fn list(json: Option<&std::path::Path>) -> Result<(), Stop> {
    let models: Vec<&Model> = model::all().collect();
    let rows: Vec<Row> = orders(&models, &How::default(), None, |model| model.runs.to_vec())
        .into_iter()
        .map(|order| row(order, None))
        .collect();
    print(&table::text(&rows));
    match json {
        Some(path) => write(path, &format!("{:#}\n", table::rows_json(&rows))),
        None => Ok(()),
    }
}

/// The models that `names` name, each once, in reading order.
pub(crate) fn select(names: &[String]) -> Result<Vec<&'static Model>, Stop> {
    all_named(names)?;
    let mut selected = Vec::new();
    for name in names {
        let models = model::matching(name);
        if models.is_empty() {
            let rooms_and_models = model::all().flat_map(|model| [model.room(), model.name]);
            return Err(unknown("model", std::slice::from_ref(name), rooms_and_models, "cargo verify list"));
        }
        selected.extend(models.iter().map(|model| model.name));
    }
    Ok(model::all().filter(|model| selected.contains(&model.name)).collect())
}

/// Every name has an empty one in it.
pub(crate) fn all_named(names: &[String]) -> Result<(), Stop> {
    match names.iter().any(|name| name.trim().is_empty()) {
        true => Err(Stop::BadInput("a NAME is empty, and would name everything".to_owned())),
        false => Ok(()),
    }
}

pub(crate) fn unknown_mutant(names: &[String]) -> Stop {
    unknown("mutant", names, mutant::all().map(|mutant| mutant.name), "cargo verify mutants --list")
}

/// The runs of `model` on the engines that were asked for, whether it runs there by default or not; else all it has.
pub(crate) fn asked_for(model: &Model, how: &How) -> Vec<Run> {
    if how.engine.is_empty() {
        return model.runs.to_vec();
    }
    let on = |engine: &Engine| {
        let runs: Vec<Run> = model.runs.iter().filter(|run| run.engine == *engine).copied().collect();
        if runs.is_empty() { vec![model::usual(*engine)] } else { runs }
    };
    how.engine.iter().flat_map(on).collect()
}

/// Those of its runs that are part of the run of everything.
fn of_the_whole(model: &Model, whole: &Whole, how: &How) -> Vec<Run> {
    if how.engine.is_empty() && !whole.all && !how.deep {
        return selection::usual(model);
    }
    let is_meant = |run: &&Run| how.engine.is_empty() || how.engine.contains(&run.engine);
    model.runs.iter().filter(is_meant).copied().collect()
}

/// The orders of `models`.
pub(crate) fn orders(
    models: &[&'static Model],
    how: &How,
    mutant: Option<&Mutant>,
    runs_of: impl Fn(&Model) -> Vec<Run>,
) -> Vec<Order> {
    let order = |model: &Model, run: Run| {
        let bounds = if how.deep { run.deep } else { run.bounds };
        let order = Order::new(model.name, run.engine, bounds, mutant.map(|mutant| mutant.name), how.seed);
        Order { is_read: true, ..order }
    };
    models.iter().flat_map(|model| runs_of(model).into_iter().map(|run| order(model, run))).collect()
}

pub(crate) fn kill_orders(mutants: &[&'static Mutant], how: &How) -> Vec<(&'static Mutant, Order)> {
    let mut orders = Vec::new();
    for mutant in mutants {
        for (name, engine) in mutant.killed_by {
            let run = model::find(name).and_then(|model| model.run_on(*engine));
            let bounds = run.unwrap_or_else(|| model::usual(*engine)).bounds;
            orders.push((*mutant, Order::new(name, *engine, bounds, Some(mutant.name), how.seed)));
        }
    }
    orders
}

pub(crate) fn row(order: Order, outcome: Option<Outcome>) -> Row {
    let model = model::find(&order.model).expect("orders are made from models");
    Row { model, order, outcome }
}

pub(crate) fn rows(orders: Vec<Order>, outcomes: Vec<Outcome>) -> Vec<Row> {
    orders.into_iter().zip(outcomes).map(|(order, outcome)| row(order, Some(outcome))).collect()
}

fn kills(orders: Vec<(&'static Mutant, Order)>, outcomes: Vec<Outcome>) -> Vec<Kill> {
    let kill = |((mutant, order), outcome)| Kill { mutant, order, outcome };
    orders.into_iter().zip(outcomes).map(kill).collect()
}

/// Plays mutants against the models that must kill them.
pub(crate) fn run_kills(orders: Vec<(&'static Mutant, Order)>, how: &How) -> Vec<Kill> {
    let only_orders: Vec<Order> = orders.iter().map(|(_, order)| order.clone()).collect();
    kills(orders, run_all(&only_orders, how))
}

/// Runs them, and shows how it goes.
pub(crate) fn run_all(orders: &[Order], how: &How) -> Vec<Outcome> {
    let jobs = how.jobs();
    // Fewer models than cores: one that can use several does.
    let each = NonZeroUsize::new(jobs / orders.len().max(1)).unwrap_or(NonZeroUsize::MIN);
    let estimate = Estimate::of_this_tree();
    let seconds: Vec<f64> = orders.iter().map(|order| estimate.seconds(order)).collect();
    let sequence = plan::sequence(orders, &seconds);
    let planned: Vec<Order> = sequence.iter().map(|&i| Order { jobs: each, ..orders[i].clone() }).collect();
    let expected = sequence.iter().map(|&i| seconds[i]).collect();
    let mut progress = Progress::new(&planned, expected, jobs);
    let outcomes = job::run_all(&planned, jobs, |event| progress.hear(&event));
    progress.end();
    let mut placed: Vec<(usize, Outcome)> = sequence.into_iter().zip(outcomes).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, outcome)| outcome).collect()
}

/// What a complete engine has reached and loom has not.
fn gaps(rows: &[Row]) -> String {
    let gaps = table::gaps(rows);
    let head = "\nreached by a complete engine, but missed by loom (within its bounds)\n";
    let lines: String = gaps.iter().map(|gap| format!("  {gap}\n")).collect();
    if gaps.is_empty() { String::new() } else { head.to_owned() + &lines }
}

/// Prints the shortest picture of a failure in each room, and in the end how to play all of them, and to draw them, again. Does all
/// hold?
pub(crate) fn print_failures(rows: &[Row], how: &How) -> bool {
    let mut hints = String::new();
    let failing: Vec<(&Row, Schedule)> = rows.iter().filter(|row| !row.holds()).filter_map(failing).collect();
    for (row, schedule) in &failing {
        let length = |schedule: &Schedule| schedule.picture().lines().count();
        let of_room = failing.iter().filter(|(other, _)| other.model.room() == row.model.room());
        let shortest = of_room.min_by_key(|(_, schedule)| length(schedule));
        match shortest.is_some_and(|(_, shortest)| std::ptr::eq(shortest, schedule)) {
            true => print(&format!("\nFAILED {}", schedule.picture())),
            // One picture a room says what is wrong; the others are in their files.
            false => {
                let message = schedule.failure.message.lines().next().unwrap_or_default();
                print(&format!("\nFAILED {} on {}: {message}\n", row.model.name, row.order.engine));
            }
        }
        if schedule.failure.script.is_none() {
            continue;
        }
        match schedule.write(&how.schedules) {
            Ok(path) => {
                let path = path.display();
                hints += &format!("\nplay it again: cargo verify replay {path}\n");
                if row.order.engine == Engine::Rc11 {
                    hints += &format!("draw it:       cargo verify picture {path} --svg failure.svg\n");
                }
            }
            Err(error) => eprintln!("cannot write the schedule to {}: {error}", how.schedules.display()),
        }
    }
    print(&hints);
    rows.iter().all(Row::holds)
}

fn failing(row: &Row) -> Option<(&Row, Schedule)> {
    Some((row, schedule(&row.order, row.outcome.as_ref()?)?))
}

pub(crate) fn print_kills(kills: &[Kill]) -> bool {
    if !kills.is_empty() {
        print(&output::painted(&table::kills_text(kills)));
    }
    kills.iter().all(|kill| kill.verdict() == "killed")
}

pub(crate) fn schedule(order: &Order, outcome: &Outcome) -> Option<Schedule> {
    Some(Schedule::new(order, outcome.failure.clone()?))
}
