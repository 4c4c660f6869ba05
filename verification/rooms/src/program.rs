//! Client programs: all of a size, one of those that differ only by which thread is which.

use crate::room::{Room, Waiting};
use std::fmt;
use std::sync::Arc;

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
#[derive(Debug)]
pub struct Thread<R: Room> {
    /// What it holds.
    pub role: R::Role,
    /// Its steps.
    pub steps: Vec<Step<R::Op>>,
}

/// A client program.
#[derive(Debug)]
pub struct Program<R: Room> {
    /// How large the room is.
    pub setup: R::Setup,
    /// What its threads do.
    pub threads: Vec<Thread<R>>,
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

/// What one thread does, as numbers: a role, and its steps.
type Numbers = (usize, Vec<usize>);

/// What the programs of a room are made of, whichever room that is: roles and steps are numbers.
trait Menu {
    fn roles(&self) -> usize;
    /// What a thread of this role that has done this may do next.
    fn nexts(&mut self, role: usize, done: &[usize]) -> Vec<usize>;
    /// Is there something to be checked about threads of these roles?
    fn is_worth_it(&self, roles: &[usize]) -> bool;
}

/// A room's.
struct Of<'a, R: Room> {
    roles: Vec<R::Role>,
    /// All steps so far, each once.
    steps: Vec<Step<R::Op>>,
    is_tried: IsTried<'a, R>,
}

impl<'a, R: Room> Of<'a, R> {
    fn new(is_tried: IsTried<'a, R>) -> Self {
        Of { roles: R::roles(), steps: Vec::new(), is_tried }
    }

    /// The program that these numbers are. By loops, as all here: there is one of it for each room, and of iterators many functions.
    fn program(&self, setup: R::Setup, threads: &[Numbers]) -> Program<R> {
        let mut program = Program { setup, threads: Vec::new() };
        for (role, numbers) in threads {
            let mut steps = Vec::new();
            for &step in numbers {
                steps.push(self.steps[step]);
            }
            program.threads.push(Thread { role: self.roles[*role], steps });
        }
        program
    }

    /// The number of this step.
    fn number(&mut self, step: Step<R::Op>) -> usize {
        for (n, other) in self.steps.iter().enumerate() {
            if *other == step {
                return n;
            }
        }
        self.steps.push(step);
        self.steps.len() - 1
    }
}

impl<R: Room> Menu for Of<'_, R> {
    fn roles(&self) -> usize {
        self.roles.len()
    }

    fn nexts(&mut self, role: usize, done: &[usize]) -> Vec<usize> {
        let (role, mut nexts) = (self.roles[role], Vec::new());
        let mut ops = Vec::new();
        for &step in done {
            ops.push(self.steps[step].op);
        }
        for op in R::may(role, &ops) {
            let waits = R::waits(op);
            // An operation that does not wait is one step.
            for way in 0..waits.len().max(1) {
                let step = Step { op, waiting: waits.get(way).copied() };
                if (self.is_tried)(role, &step) {
                    nexts.push(self.number(step));
                }
            }
        }
        nexts
    }

    fn is_worth_it(&self, roles: &[usize]) -> bool {
        let mut of = Vec::new();
        for &role in roles {
            of.push(self.roles[role]);
        }
        R::is_worth_it(&of)
    }
}

/// All that one thread may do in exactly so many steps.
fn threads(menu: &mut dyn Menu, len: usize) -> Vec<Numbers> {
    let mut all: Vec<Numbers> = (0..menu.roles()).map(|role| (role, Vec::new())).collect();
    for _ in 0..len {
        let longer = |(role, steps): Numbers| {
            let nexts = menu.nexts(role, &steps);
            nexts.into_iter().map(move |next| (role, steps.iter().copied().chain([next]).collect()))
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// All threads together, that are worth it, which do so many operations (the longest first). Of those that differ only by which thread
/// is which there is one.
fn teams(menu: &mut dyn Menu, lens: &[usize]) -> Vec<Vec<Numbers>> {
    let of_len: Vec<Vec<Numbers>> = lens.iter().map(|&len| threads(menu, len)).collect();
    let mut teams: Vec<Vec<usize>> = vec![Vec::new()];
    for (n, all) in of_len.iter().enumerate() {
        let is_like_the_one_before = n > 0 && lens[n] == lens[n - 1];
        let longer = |team: Vec<usize>| {
            let first = if is_like_the_one_before { team[n - 1] } else { 0 };
            (first..all.len()).map(move |next| team.iter().copied().chain([next]).collect::<Vec<_>>())
        };
        teams = teams.into_iter().flat_map(longer).collect();
    }
    let roles = |team: &Vec<usize>| -> Vec<usize> { team.iter().zip(&of_len).map(|(&n, all)| all[n].0).collect() };
    teams.retain(|team| menu.is_worth_it(&roles(team)));
    teams.iter().map(|team| team.iter().zip(&of_len).map(|(&n, all)| all[n].clone()).collect()).collect()
}

/// All programs whose threads do so many operations (the longest first), for every size of the room. Of programs that differ
/// only by which thread is which there is one.
pub fn programs<R: Room>(
    lens: &[usize],
    is_tried: IsTried<'_, R>,
    is_played: fn(&Program<R>) -> bool,
) -> Vec<Arc<Program<R>>> {
    let mut menu = Of::<R>::new(is_tried);
    let (teams, setups, mut programs) = (teams(&mut menu, lens), R::setups(), Vec::new());
    for team in &teams {
        for setup in &setups {
            let program = menu.program(*setup, team);
            if is_played(&program) {
                programs.push(Arc::new(program));
            }
        }
    }
    programs
}

/// All programs of a shape.
pub fn of_shape<R: Room>(shape: &Shape) -> Vec<Arc<Program<R>>> {
    programs::<R>(shape.lens, &|_, step| shape.has(step), R::is_small)
}

/// All programs of the room's `n`th focus; those that are larger come last.
pub fn of_focus<R: Room>(n: usize) -> Vec<Arc<Program<R>>> {
    let (mut all, larger) = (R::focuses(), R::larger());
    all.extend(larger);
    let focus = &all[n];
    programs::<R>(focus.lens, &|role, step| (focus.has)(role, step.op, step.waiting), focus.is_played)
}

/// A program as numbers, each of which chooses among what there is: of the room's sizes, and of each thread a role and its steps.
pub type Chosen = (usize, Vec<Numbers>);

/// The program that these numbers choose, if it is worth it.
pub fn chosen<R: Room>((setup, threads): &Chosen) -> Option<Program<R>> {
    let (mut menu, setups) = (Of::<R>::new(&|_, _| true), R::setups());
    let threads = chosen_threads(&mut menu, threads)?;
    Some(menu.program(setups[setup % setups.len()], &threads))
}

fn chosen_threads(menu: &mut dyn Menu, threads: &[Numbers]) -> Option<Vec<Numbers>> {
    let mut thread = |(role, chosen): &Numbers| {
        let (role, mut steps) = (role % menu.roles(), Vec::new());
        for chosen in chosen {
            let nexts = menu.nexts(role, &steps);
            steps.extend(nexts.get(chosen % nexts.len().max(1)));
        }
        (role, steps)
    };
    let threads: Vec<Numbers> = threads.iter().map(&mut thread).collect();
    let roles: Vec<usize> = threads.iter().map(|(role, _)| *role).collect();
    menu.is_worth_it(&roles).then_some(threads)
}
