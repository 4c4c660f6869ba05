//! Client programs: all of a size, one of those that differ only by which thread is which.

use crate::room::{Room, Waiting};
use std::fmt;

/// One step of a thread: an operation and, if it waits, how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step<Op> {
    /// Which operation.
    pub op: Op,
    /// `None`: it does not wait.
    pub waiting: Option<Waiting>,
}

impl<Op: fmt::Debug> fmt::Display for Step<Op> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.waiting {
            None | Some(Waiting::ToTheEnd) => write!(f, "{:?}", self.op),
            Some(waiting) => write!(f, "{:?}/{waiting:?}", self.op),
        }
    }
}

/// What one thread does.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread<R: Room> {
    /// What it holds.
    pub role: R::Role,
    /// Its steps.
    pub steps: Vec<Step<R::Op>>,
}

impl<R: Room> Clone for Thread<R> {
    fn clone(&self) -> Self {
        Thread { role: self.role, steps: self.steps.clone() }
    }
}

/// A client program.
#[derive(Debug)]
pub struct Program<R: Room> {
    /// How large the room is.
    pub setup: R::Setup,
    /// What its threads do.
    pub threads: Vec<Thread<R>>,
}

impl<R: Room> Clone for Program<R> {
    fn clone(&self) -> Self {
        Program { setup: self.setup, threads: self.threads.clone() }
    }
}

impl<R: Room> Program<R> {
    /// Does one of its calls sleep?
    pub fn sleeps(&self) -> bool {
        self.threads.iter().any(|thread| thread.steps.iter().any(|step| R::sleeps(step.op)))
    }

    /// The threads' roles.
    pub fn roles(&self) -> Vec<R::Role> {
        self.threads.iter().map(|thread| thread.role).collect()
    }
}

impl<R: Room> fmt::Display for Program<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {:?}", R::NAME, self.setup)?;
        for (n, thread) in self.threads.iter().enumerate() {
            write!(f, "\n  thread {n} {:?}:", thread.role)?;
            thread.steps.iter().try_for_each(|step| write!(f, "  {step}"))?;
        }
        Ok(())
    }
}

/// A size of programs.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// What it is called.
    pub name: &'static str,
    /// How many operations each thread does, the longest first.
    pub lens: &'static [usize],
    /// Which ways to wait are tried.
    pub waits: Waits,
}

/// Which ways to wait are tried in a shape. With another waker there are many times as many executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// All that the room has.
    All,
    /// Those with one waker.
    OneWaker,
    /// To the end, and given up after a poll.
    Polled,
}

impl Shape {
    /// Is this step tried?
    pub fn has<Op>(&self, step: &Step<Op>) -> bool {
        match (self.waits, step.waiting) {
            (Waits::All, _) | (_, None | Some(Waiting::ToTheEnd | Waiting::GivenUp)) => true,
            (Waits::OneWaker, Some(waiting)) => waiting != Waiting::Renewed,
            (Waits::Polled, _) => false,
        }
    }
}

const fn shape(name: &'static str, lens: &'static [usize], waits: Waits) -> Shape {
    Shape { name, lens, waits }
}

/// The small shapes, of which every program is explored. A thread alone is a table of sequences.
pub const LADDER: [Shape; 7] = [
    shape("1x1", &[1], Waits::All),
    shape("1x2", &[2], Waits::All),
    shape("1x3", &[3], Waits::All),
    shape("2x1", &[1, 1], Waits::All),
    shape("1,1,1", &[1, 1, 1], Waits::Polled),
    shape("2x2", &[2, 2], Waits::OneWaker),
    shape("2,1,1", &[2, 1, 1], Waits::Polled),
];

/// Says which steps are tried.
pub type IsTried<'a, R> = &'a dyn Fn(<R as Room>::Role, &Step<<R as Room>::Op>) -> bool;

/// What a thread of this role that has done `steps` may do next.
pub fn nexts<R: Room>(role: R::Role, steps: &[Step<R::Op>]) -> Vec<Step<R::Op>> {
    let done: Vec<R::Op> = steps.iter().map(|step| step.op).collect();
    let ways = |op: R::Op| match R::waits(op) {
        [] => vec![Step { op, waiting: None }],
        waits => waits.iter().map(|&waiting| Step { op, waiting: Some(waiting) }).collect(),
    };
    R::may(role, &done).into_iter().flat_map(ways).collect()
}

/// All that one thread may do in exactly so many steps.
fn threads<R: Room>(len: usize, is_tried: IsTried<'_, R>) -> Vec<Thread<R>> {
    let longer = |role: R::Role, steps: Vec<Step<R::Op>>| -> Vec<Vec<Step<R::Op>>> {
        let nexts = nexts::<R>(role, &steps).into_iter().filter(|step| is_tried(role, step));
        nexts.map(|step| steps.iter().copied().chain([step]).collect()).collect()
    };
    let of_role = |role: R::Role| {
        let all =
            (0..len).fold(vec![Vec::new()], |all, _| all.into_iter().flat_map(|steps| longer(role, steps)).collect());
        all.into_iter().map(move |steps| Thread { role, steps })
    };
    R::roles().into_iter().flat_map(of_role).collect()
}

/// All programs whose threads do so many operations (the longest first), for every size of the room. Of programs that differ
/// only by which thread is which there is one.
pub fn programs<R: Room>(lens: &[usize], is_tried: IsTried<'_, R>) -> Vec<Program<R>> {
    let of_len: Vec<Vec<Thread<R>>> = lens.iter().map(|&len| threads::<R>(len, is_tried)).collect();
    let mut teams: Vec<Vec<usize>> = vec![Vec::new()];
    for (n, all) in of_len.iter().enumerate() {
        let is_like_the_one_before = n > 0 && lens[n] == lens[n - 1];
        let longer = |team: Vec<usize>| {
            let first = if is_like_the_one_before { team[n - 1] } else { 0 };
            (first..all.len()).map(move |next| team.iter().copied().chain([next]).collect::<Vec<_>>())
        };
        teams = teams.into_iter().flat_map(longer).collect();
    }
    let threads =
        |team: Vec<usize>| -> Vec<Thread<R>> { team.iter().zip(&of_len).map(|(&n, all)| all[n].clone()).collect() };
    let teams = teams.into_iter().map(threads);
    let is_worth_it = |threads: &Vec<Thread<R>>| R::is_worth_it(&threads.iter().map(|t| t.role).collect::<Vec<_>>());
    let of_each_size = |threads: Vec<Thread<R>>| {
        R::setups().into_iter().map(move |setup| Program { setup, threads: threads.clone() }).collect::<Vec<_>>()
    };
    teams.filter(is_worth_it).flat_map(of_each_size).collect()
}

/// All programs of a shape.
pub fn of_shape<R: Room>(shape: &Shape) -> Vec<Program<R>> {
    let mut all = programs::<R>(shape.lens, &|_, step| shape.has(step));
    all.retain(R::is_small);
    all
}

/// All programs of the room's `n`th focus; those that are larger come last.
pub fn of_focus<R: Room>(n: usize) -> Vec<Program<R>> {
    let focus = R::focuses().into_iter().chain(R::larger()).nth(n).expect("a focus of the room");
    let mut all = programs::<R>(focus.lens, &|role, step| (focus.has)(role, step.op, step.waiting));
    all.retain(focus.is_played);
    all
}

/// A program as numbers, each of which chooses among what there is: of the room's sizes, and of each thread a role and its steps.
pub type Chosen = (usize, Vec<(usize, Vec<usize>)>);

/// The program that these numbers choose, if it is worth it.
pub fn chosen<R: Room>((setup, threads): &Chosen) -> Option<Program<R>> {
    let (setups, roles) = (R::setups(), R::roles());
    let thread = |(role, steps): &(usize, Vec<usize>)| {
        let mut thread = Thread::<R> { role: roles[role % roles.len()], steps: Vec::new() };
        for chosen in steps {
            let nexts = nexts::<R>(thread.role, &thread.steps);
            if let Some(step) = nexts.get(chosen % nexts.len().max(1)) {
                thread.steps.push(*step);
            }
        }
        thread
    };
    let program = Program { setup: setups[setup % setups.len()], threads: threads.iter().map(thread).collect() };
    R::is_worth_it(&program.roles()).then_some(program)
}
