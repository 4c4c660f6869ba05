//! The kill matrix: every access of the kernel weakened in every way, and every step of its source mistaken.

use crate::proptest;
use crate::survivors::{self, Survivors};
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::{Engine, Outcome, Verdict};
use spinpark_verification::job::{Order, drain};
use spinpark_verification::model::{self, Model};
use spinpark_verification::models::rooms::rooms_of;
use spinpark_verification::mutation::mutant::source_line;
use spinpark_verification::mutation::trial::{self, End, Mistake, Seen, Trial, Word};
use spinpark_verification::record::{Fate, MutantRecord, Sort};
use spinpark_verification::sources::is_checked;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// A mutant of the mutated kernel's, as `mutants list` prints it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Step {
    pub(crate) id: u32,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) what: String,
}

/// How far a trial goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// At first each candidate gets so many seconds.
    pub(crate) glance: f64,
    /// Then those that had not finished get so many.
    pub(crate) look: f64,
    /// But not more than so many together.
    pub(crate) all: f64,
    /// At most so many candidates, those of the same room and the fastest first.
    pub(crate) candidates: usize,
    /// What is done with those of which it is known that they live: argued, or open?
    pub(crate) known: Known,
}

/// What is done with mutants of which it is known that they live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// They are believed to.
    Believed,
    /// They are tried like the others.
    Tried,
}

impl Budget {
    /// For minutes.
    pub(crate) const QUICK: Budget =
        Budget { glance: 0.08, look: 1.4, all: 12.0, candidates: 120, known: Known::Believed };
    /// For one that survived [`Budget::QUICK`], and should not: that may be because the machine is busy.
    pub(crate) const PATIENT: Budget = Budget { glance: 0.5, look: 10.0, all: 60.0, ..Budget::QUICK };
    /// For hours.
    pub(crate) const DEEP: Budget =
        Budget { glance: 0.5, look: 10.0, all: 120.0, candidates: usize::MAX, known: Known::Tried };
}

/// A model on an engine that may kill a mutant: what it finds in the kernel as it is.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    order: Order,
    seconds: f64,
    verdict: Verdict,
    executions: u64,
    outcomes: BTreeSet<String>,
}

/// Which candidate covers which access and which step.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) accesses: BTreeMap<Seen, Vec<usize>>,
    pub(crate) steps: BTreeMap<u32, Vec<usize>>,
}

/// A mutant that is to be tried.
#[derive(Debug, Clone)]
pub(crate) struct Untried {
    pub(crate) record: MutantRecord,
    pub(crate) mistake: Mistake,
    /// Which of the candidates covered it.
    pub(crate) candidates: Vec<usize>,
}

/// What was found out about one mutant, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tried {
    #[serde(flatten)]
    pub(crate) record: MutantRecord,
    /// No model failed, but the outcomes that a complete engine reached were others than without the mutation.
    #[serde(default)]
    pub(crate) noticed: bool,
}

/// Each model's runs that may find something: a complete engine's, and what is sampled at random, for a short time.
fn candidates_of(model: &'static Model, seed: u64, budget: Budget) -> Vec<Order> {
    let complete = if model.run_on(Engine::Rc11).is_some() { Engine::Rc11 } else { Engine::Sc };
    let runs = model.runs.iter().filter(|run| run.engine == complete || run.engine.samples());
    let order = |run: &model::Run| {
        let mut bounds = run.bounds;
        bounds.seconds = bounds.seconds.min(budget.look);
        if run.engine.samples() {
            bounds.executions = bounds.executions.map(|n| (n / 4).max(200));
        }
        Order::new(model.name, run.engine, bounds, None, seed)
    };
    runs.map(order).collect()
}

/// Plays every model without a mutation, and writes down what it covers.
pub(crate) fn survey(
    program: &Path,
    models: &[&'static Model],
    seed: u64,
    budget: Budget,
    jobs: usize,
    mut tell: impl FnMut(usize, usize, &str),
) -> Result<Survey, String> {
    let orders: Vec<Order> = models.iter().flat_map(|model| candidates_of(model, seed, budget)).collect();
    let mut survey = Survey::default();
    let (mut done, mut failed) = (0, None);
    let all = orders.len();
    each(
        orders,
        jobs,
        |order| {
            let trial = Trial { mistake: Mistake::Nothing, judges: vec![order.clone()] };
            (order, trial::hold(program, &trial, Duration::from_secs(60)))
        },
        |(order, held)| {
            done += 1;
            tell(done, all, &order.model);
            match held {
                Ok((mut words, End::Heard)) if words.len() == 1 => survey.add(order, words.remove(0)),
                Ok((_, End::Silent { why, .. })) => failed = Some(format!("{}: {why}", order.model)),
                Ok(_) => failed = Some(format!("{}: nothing was said", order.model)),
                Err(why) => failed = Some(why),
            }
        },
    );
    if let Some(candidate) = survey.candidates.iter().find(|candidate| candidate.verdict == Verdict::Failed) {
        return Err(format!("{} fails without a mistake: run `cargo verify run` first", candidate.order.model));
    }
    failed.map_or(Ok(survey), Err)
}

impl Survey {
    fn add(&mut self, order: Order, word: Word) {
        let index = self.candidates.len();
        let Word { outcome, seen, steps, .. } = word;
        let Outcome { verdict, executions, seconds, outcomes, .. } = outcome;
        self.candidates.push(Candidate {
            order,
            seconds,
            verdict,
            executions,
            outcomes: outcomes.into_keys().collect(),
        });
        for seen in seen {
            self.accesses.entry(seen).or_default().push(index);
        }
        for step in steps {
            self.steps.entry(step).or_default().push(index);
        }
    }
}

/// The room of a file: `spinning` of `protocol/spinning.rs`.
pub(crate) fn room(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".rs").unwrap_or(name).to_owned()
}

/// Every access of the kernel, in every weaker way.
pub(crate) fn accesses(survey: &Survey) -> Vec<Untried> {
    let mut untried = Vec::new();
    for (seen, candidates) in survey.accesses.iter().filter(|(seen, _)| is_checked(&seen.file)) {
        let Some(asked) = seen.asked() else { continue };
        for change in asked.changes() {
            let Seen { ref file, line, column, .. } = *seen;
            let what = asked.describe(change);
            let record = MutantRecord {
                name: format!("{file}:{line}:{column} {what}"),
                sort: Sort::Ordering,
                kind: change.name().to_owned(),
                room: room(file),
                file: file.clone(),
                line: Some(line),
                source: source_line(file, line).unwrap_or_default().to_owned(),
                what,
                ..MutantRecord::unknown()
            };
            let mistake = Mistake::Access { file: file.clone(), line, column, change };
            untried.push(Untried { record, mistake, candidates: candidates.clone() });
        }
    }
    untried
}

/// Of which sort a mutant of the matrix is, by its name.
pub(crate) fn sort_of(name: &str) -> Sort {
    match name.split(' ').nth(1) {
        Some(word) if word.starts_with('`') => Sort::Ordering,
        _ if name.contains(OF_TWO_LINES) => Sort::Pair,
        _ => Sort::Step,
    }
}

/// Stands behind the function in the name of a mistake of two lines.
const OF_TWO_LINES: &str = " (two lines): ";

/// Every step of the kernel's source; or every mistake of two lines.
pub(crate) fn steps(list: &[Step], survey: &Survey, sort: Sort) -> Vec<Untried> {
    let untried = |step: &Step| {
        let Step { id, line, file, kind, name, what } = step.clone();
        let record = MutantRecord {
            name,
            sort,
            kind,
            room: room(&file),
            line: Some(line),
            source: source_line(&file, line).unwrap_or_default().to_owned(),
            file,
            what,
            ..MutantRecord::unknown()
        };
        let candidates = survey.steps.get(&id).cloned().unwrap_or_default();
        Untried { record, mistake: Mistake::Step(id), candidates }
    };
    list.iter().filter(|step| sort_of(&step.name) == sort).map(untried).collect()
}

/// What mutants are tried with.
#[derive(Debug)]
pub(crate) struct Programs {
    /// The models, on the kernel or on the mutated one.
    pub(crate) models: PathBuf,
    /// The property tests on the mutated kernel.
    pub(crate) proptests: Option<PathBuf>,
}

/// Tries all of them, `jobs` at a time; `tell` is called with each as soon as it is known.
pub(crate) fn try_all(
    programs: &Programs,
    untried: Vec<Untried>,
    survey: &Survey,
    survivors: &Survivors,
    budget: Budget,
    jobs: usize,
    mut tell: impl FnMut(&Tried),
) -> Result<Vec<Tried>, String> {
    let open = survivors::open();
    let (mut all, mut failed) = (Vec::new(), None);
    each(
        untried,
        jobs,
        |mut untried| {
            let is_open = open.contains(untried.record.name.as_str());
            let is_known = is_open || survivors.reason(&untried.record).is_some();
            if budget.known == Known::Believed && is_known {
                untried.record.fate = if untried.candidates.is_empty() { Fate::Unreached } else { Fate::Survived };
                survivors.explain(&mut untried.record);
                return Ok(Tried { record: untried.record, noticed: false });
            }
            let step = match untried.mistake {
                Mistake::Step(step) => Some(step),
                _ => None,
            };
            let mut tried = try_one(&programs.models, untried.clone(), survey, budget)?;
            let tests = programs.proptests.as_deref().filter(|_| tried.record.fate.is_unexplained());
            if let (Some(step), Some(proptests)) = (step, tests) {
                proptest::ask(proptests, step, &mut tried.record)?;
            }
            if tried.record.fate == Fate::Survived && !is_known && budget.look < Budget::PATIENT.look {
                let again = try_one(&programs.models, untried, survey, Budget::PATIENT)?;
                if again.record.fate == Fate::Killed {
                    tried = again;
                }
            }
            survivors.explain(&mut tried.record);
            Ok(tried)
        },
        |tried| match tried {
            Ok(tried) => {
                tell(&tried);
                all.push(tried);
            }
            Err(why) => failed = Some(why),
        },
    );
    failed.map_or(Ok(all), Err)
}

pub(crate) fn try_one(program: &Path, untried: Untried, survey: &Survey, budget: Budget) -> Result<Tried, String> {
    let Untried { mut record, mistake, candidates } = untried;
    if candidates.is_empty() {
        return Ok(Tried { record, noticed: false });
    }
    let (clock, mut noticed) = (Instant::now(), false);
    record.fate = Fate::Survived;
    for (candidates, bound) in rounds(&candidates, &record, survey, budget) {
        let orders = candidates.iter().map(|&candidate| bounded(&survey.candidates[candidate].order, bound)).collect();
        let trial = Trial { mistake: mistake.clone(), judges: orders };
        let (words, end) = trial::hold(program, &trial, Duration::from_secs(4))?;
        record.executions += words.iter().map(|word| word.outcome.executions).sum::<u64>();
        noticed |= words.iter().any(|word| survey.candidates[candidates[word.judge]].notices(&word.outcome));
        let killer = match end {
            End::Silent { judge, .. } => Some(judge),
            End::Heard => words.last().filter(|word| word.outcome.verdict == Verdict::Failed).map(|word| word.judge),
        };
        if let Some(killer) = killer {
            let order = &trial.judges[killer];
            record.fate = Fate::Killed;
            (record.model, record.engine) = (Some(order.model.clone()), Some(order.engine));
            record.executions = words.get(killer).map_or(0, |word| word.outcome.executions);
            break;
        }
    }
    record.seconds = clock.elapsed().as_secs_f64();
    Ok(Tried { record, noticed })
}

fn bounded(order: &Order, seconds: f64) -> Order {
    let mut order = order.clone();
    order.bounds.seconds = order.bounds.seconds.min(seconds);
    order
}

/// They hear every event of the whole scheduler, so they are asked before others.
const HEAR_ALL: &str = "sched::answers_as_lists_would::";

/// Which candidates are played, and for how long: all of them for a moment, those of the same room first; then those that need longer.
fn rounds(candidates: &[usize], record: &MutantRecord, survey: &Survey, budget: Budget) -> Vec<(Vec<usize>, f64)> {
    let own: BTreeSet<&str> = rooms_of(&record.file).chain([record.room.as_str()]).collect();
    let seconds = |j: usize| survey.candidates[j].seconds;
    let cost = |candidate: &usize| {
        let candidate = &survey.candidates[*candidate];
        let is_of_room = candidate.order.model.split("::").next().is_some_and(|room| own.contains(room));
        let hears_all = candidate.order.model.starts_with(HEAR_ALL);
        (!is_of_room, !hears_all, (candidate.seconds * 1000.0) as u64)
    };
    let mut in_order = candidates.to_vec();
    in_order.sort_by_key(cost);
    // Engines that sample see what only large models have: some of them are asked, however many others there are.
    let (at_random, complete): (Vec<usize>, Vec<usize>) =
        in_order.into_iter().partition(|&j| survey.candidates[j].order.engine.samples());
    let of_these = at_random.len().min(budget.candidates / 4);
    let mut first: Vec<usize> = complete.iter().copied().take(budget.candidates - of_these).collect();
    first.extend(at_random.into_iter().take(of_these));
    // Half of the time for those that come first, half for those that need least: as many as end in it.
    let fit = ((budget.all / budget.look / 2.0) as usize).max(1);
    let mut second: Vec<usize> = first.iter().copied().filter(|&j| seconds(j) > budget.glance).take(fit).collect();
    let mut quick: Vec<usize> =
        complete.into_iter().filter(|j| seconds(*j) > budget.glance && !second.contains(j)).collect();
    quick.sort_by(|a, b| seconds(*a).total_cmp(&seconds(*b)));
    let mut left = budget.all / 2.0;
    second.extend(quick.into_iter().take_while(|&j| {
        left -= seconds(j).min(budget.look);
        left >= 0.0
    }));
    vec![(first, budget.glance), (second, budget.look)]
}

impl Candidate {
    /// Both came to their end, and saw different things.
    fn notices(&self, outcome: &Outcome) -> bool {
        let both = self.verdict == Verdict::Proved && outcome.verdict == Verdict::Proved;
        both && (self.executions != outcome.executions || !outcome.outcomes.keys().eq(self.outcomes.iter()))
    }
}

/// Does `act` on each, `jobs` at a time, and hands what comes of it to `take`.
fn each<T: Send, U: Send>(all: Vec<T>, jobs: usize, act: impl Fn(T) -> U + Sync, mut take: impl FnMut(U)) {
    let queue = Mutex::new(VecDeque::from(all));
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (send, queue, act) = (send.clone(), &queue, &act);
            scope.spawn(move || {
                // The receiver outlives this scope.
                drain(queue, |one| drop(send.send(act(one))));
            });
        }
        drop(send);
        receive.into_iter().for_each(&mut take);
    });
}
