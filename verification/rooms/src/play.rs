//! One execution of a program.

use crate::history::{Fate, Paper, Wakers};
use crate::host::RoomHost;
use crate::oracle::Judged;
use crate::program::{Program, Step};
use crate::room::{Begun, Does, Real, Room, Wait, Waiting};
use crate::rooms::Common;
use crate::values::{Ledger, Maker, call_begins, dropped};
use crate::wakers::Sleeper;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::Poll;

/// What the calls of one execution have in common.
pub struct Stage<R: Room, H: RoomHost, I> {
    /// The room.
    pub real: I,
    /// What is written down.
    pub paper: Box<dyn Paper<R>>,
    /// Its values.
    pub ledger: Arc<Ledger>,
    host: PhantomData<fn() -> H>,
}

impl<R: Room, H: RoomHost, I: Real<R, H>> Stage<R, H, I> {
    /// Before the first call.
    pub fn new(program: &Program<R>) -> Arc<Self> {
        let (mut real, ledger) = (I::new(program.setup, &program.roles()), Arc::default());
        real.given(&Maker::new(0, &ledger));
        let paper = Common::<R>::of().paper(program.threads.len());
        Arc::new(Stage { real, paper, ledger, host: PhantomData })
    }

    /// What thread `me` of the program does. `sleeps` is called where it would sleep, and returns `false` if it is to give up.
    pub fn act(&self, program: &Program<R>, me: usize, sleeps: &dyn Fn(&Arc<Sleeper<H>>) -> bool) {
        let thread = &program.threads[me];
        let mut hand = self.real.hand(thread.role);
        for (nth, step) in thread.steps.iter().enumerate() {
            // No other call has it.
            let number = (10 * (me + 1) + nth) as u64;
            let values = Maker::new(number, &self.ledger);
            let call = self.begins(me, Does::Begin(step.op, number));
            let (answer, wait) = match self.real.begin(&mut hand, step.op, &values) {
                Begun::Over(answer) => (Some(answer), None),
                Begun::Waits(wait) => (None, Some(wait)),
            };
            self.ends(me, call, answer);
            if let Some(wait) = wait
                && !self.wait(me, *step, wait, sleeps)
            {
                return;
            }
        }
        self.paper.is_at(me, Fate::Done);
    }

    /// A call of thread `me` begins. How many values it has dropped before.
    fn begins(&self, me: usize, does: Does<R::Op>) -> usize {
        let (at, before) = (H::moment(), call_begins::<H>());
        self.paper.begins(me, at, does);
        before
    }

    fn ends(&self, me: usize, before: usize, answer: Option<R::Answer>) {
        let at = H::moment();
        self.paper.ends(me, at, answer, dropped::<H>() - before);
    }

    /// `false`: the program is over.
    fn wait<'a>(
        &self,
        me: usize,
        step: Step<R::Op>,
        mut wait: Box<dyn Wait<H, R::Answer> + 'a>,
        sleeps: &dyn Fn(&Arc<Sleeper<H>>) -> bool,
    ) -> bool {
        let sleepers = [Sleeper::<H>::new(), Sleeper::new()];
        let woken = sleepers.clone();
        self.paper.waits(me, Box::new(move || wakers_of(&woken)));
        let waiting = step.waiting.unwrap_or(Waiting::ToTheEnd);
        let poll = |wait: &mut Box<dyn Wait<H, R::Answer> + 'a>, by: &Arc<Sleeper<H>>| {
            let mut lender = by.lends(waiting != Waiting::Renewed);
            let call = self.begins(me, Does::Poll);
            let answer = match wait.poll(&mut lender) {
                Poll::Ready(answer) => Some(answer),
                Poll::Pending => None,
            };
            let is_over = answer.is_some();
            self.ends(me, call, answer);
            assert!(!is_over || wait.stays_over(&mut lender), "a wait that was over is not");
            is_over
        };
        let has_waker = matches!(waiting, Waiting::GivenUp | Waiting::Renewed);
        if has_waker && poll(&mut wait, &sleepers[0]) {
            return true;
        }
        if matches!(waiting, Waiting::Enabled | Waiting::EnabledAndGivenUp) {
            let call = self.begins(me, Does::Enable);
            self.ends(me, call, wait.enable());
        }
        if matches!(waiting, Waiting::ToTheEnd | Waiting::Renewed | Waiting::Enabled) {
            let sleeper = &sleepers[usize::from(waiting == Waiting::Renewed)];
            while !poll(&mut wait, sleeper) {
                self.paper.is_at(me, Fate::Sleeps);
                if !sleeps(sleeper) {
                    return false;
                }
                self.paper.is_at(me, Fate::Calls);
            }
            return true;
        }
        let call = self.begins(me, Does::GiveUp);
        self.ends(me, call, wait.give_up());
        true
    }

    /// Is what was written down explained? Its digest, and how many threads sleep.
    ///
    /// # Errors
    /// Why not, with the program and the history.
    pub fn judge(&self, program: &Program<R>) -> Result<(u64, usize), String> {
        let judged = Judged { live: Some(self.ledger.live()), wakes_once: I::WAKES_ONCE };
        self.ledger.close();
        self.paper.judge(program, judged, &|| self.real.at_rest())
    }
}

/// What became of a wait's wakers so far.
fn wakers_of<H: RoomHost>(sleepers: &[Arc<Sleeper<H>>]) -> Wakers {
    Wakers {
        woken: sleepers.iter().map(|sleeper| sleeper.wakes()).sum(),
        unsettled: sleepers.iter().map(|sleeper| sleeper.unsettled()).sum(),
    }
}

/// What is judged when the execution has ended.
type Judge = Box<dyn FnOnce() -> Result<(u64, usize), String>>;

thread_local! {
    /// Of the execution that is played: an engine plays it on one thread of the machine, to its end.
    static JUDGE: RefCell<Option<(Arc<Ledger>, Judge)>> = const { RefCell::new(None) };
}

/// Starts the program's threads, of an execution that goes on when this has returned. Its engine then calls [`judge`].
pub fn start<R: Room, H: RoomHost>(program: &Arc<Program<R>>) {
    let stage = Stage::<R, H, R::Real<H>>::new(program);
    for me in 0..program.threads.len() {
        let (stage, program) = (Arc::clone(&stage), Arc::clone(program));
        H::start(Box::new(move || {
            stage.act(&program, me, &|sleeper| {
                sleeper.park();
                true
            });
        }));
    }
    let program = Arc::clone(program);
    JUDGE.set(Some((Arc::clone(&stage.ledger), Box::new(move || stage.judge(&program)))));
}

/// An execution begins on this thread of the machine: one that failed before may have left something to be judged.
pub fn forget() {
    if let Some((ledger, judge)) = JUDGE.take() {
        ledger.close();
        drop(judge);
    }
}

/// The execution that [`start`] has begun on this thread of the machine has ended: is it explained? `None`: there was none.
///
/// # Errors
/// Why not.
pub fn judge() -> Result<Option<(u64, usize)>, String> {
    JUDGE.take().map_or(Ok(None), |(_, judge)| judge().map(Some))
}
