//! One execution of a program.

use crate::history::{Fate, Log, Wakers};
use crate::host::RoomHost;
use crate::oracle::{Judged, explain};
use crate::program::{Program, Step};
use crate::room::{Begun, Does, Real, Room, Spec, Wait, Waiting};
use crate::values::{Ledger, Maker};
use crate::wakers::Sleeper;
use std::cell::RefCell;
use std::sync::Arc;
use std::task::Poll;

/// What the calls of one execution have in common.
pub struct Stage<R: Room, H: RoomHost, I> {
    /// The room.
    pub real: I,
    /// What is written down.
    pub log: Log<R, H>,
    /// Its values.
    pub ledger: Arc<Ledger>,
}

impl<R: Room, H: RoomHost, I: Real<R, H>> Stage<R, H, I> {
    /// Before the first call.
    pub fn new(program: &Program<R>) -> Arc<Self> {
        let (mut real, ledger) = (I::new(program.setup, &program.roles()), Arc::default());
        real.given(&Maker::new(0, &ledger));
        Arc::new(Stage { real, log: Log::new(program.threads.len()), ledger })
    }

    /// What thread `me` of the program does. `sleeps` is called where it would sleep, and returns `false` if it is to give up.
    pub fn act(&self, program: &Program<R>, me: usize, sleeps: &dyn Fn(&Arc<Sleeper<H>>) -> bool) {
        let thread = &program.threads[me];
        let mut hand = self.real.hand(thread.role);
        for (nth, step) in thread.steps.iter().enumerate() {
            // No other call has it.
            let number = (10 * (me + 1) + nth) as u64;
            let values = Maker::new(number, &self.ledger);
            let over = |begun: &Begun<'_, H, R::Answer>| match begun {
                Begun::Over(answer) => Some(answer.clone()),
                Begun::Waits(_) => None,
            };
            let does = Does::Begin(step.op, number);
            let begun = self.log.call(me, does, || self.real.begin(&mut hand, step.op, &values), over);
            if let Begun::Waits(wait) = begun
                && !self.wait(me, *step, wait, sleeps)
            {
                return;
            }
        }
        self.log.is_at(me, Fate::Done);
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
        self.log.waits(me, move || Wakers {
            woken: woken.iter().map(|sleeper| sleeper.wakes()).sum(),
            unsettled: woken.iter().map(|sleeper| sleeper.unsettled()).sum(),
        });
        let waiting = step.waiting.unwrap_or(Waiting::ToTheEnd);
        let ready = |polled: &Poll<R::Answer>| match polled {
            Poll::Ready(answer) => Some(answer.clone()),
            Poll::Pending => None,
        };
        let poll = |wait: &mut Box<dyn Wait<H, R::Answer> + 'a>, by: &Arc<Sleeper<H>>| {
            let mut lender = by.lends(waiting != Waiting::Renewed);
            let is_over = self.log.call(me, Does::Poll, || wait.poll(&mut lender), ready).is_ready();
            assert!(!is_over || wait.stays_over(&mut lender), "a wait that was over is not");
            is_over
        };
        let has_waker = matches!(waiting, Waiting::GivenUp | Waiting::Renewed);
        if has_waker && poll(&mut wait, &sleepers[0]) {
            return true;
        }
        if matches!(waiting, Waiting::Enabled | Waiting::EnabledAndGivenUp) {
            self.log.call(me, Does::Enable, || wait.enable(), Clone::clone);
        }
        if matches!(waiting, Waiting::ToTheEnd | Waiting::Renewed | Waiting::Enabled) {
            let sleeper = &sleepers[usize::from(waiting == Waiting::Renewed)];
            while !poll(&mut wait, sleeper) {
                self.log.is_at(me, Fate::Sleeps);
                if !sleeps(sleeper) {
                    return false;
                }
                self.log.is_at(me, Fate::Calls);
            }
            return true;
        }
        self.log.call(me, Does::GiveUp, || wait.give_up(), Clone::clone);
        true
    }

    /// Is what was written down explained? Its digest, and how many threads sleep.
    ///
    /// # Errors
    /// Why not, with the program and the history.
    pub fn judge(&self, program: &Program<R>) -> Result<(u64, usize), String> {
        let spec = R::Spec::new(program.setup, &program.roles());
        let history = self.log.history();
        let judged = Judged { live: Some(self.ledger.live()), wakes_once: I::WAKES_ONCE };
        self.ledger.close();
        explain(&spec, &history, judged).map_err(|why| format!("{why}{program}"))?;
        self.real.at_rest().map_err(|why| format!("{why}\n{history}{program}"))?;
        Ok((history.digest(), history.asleep()))
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
        H::start(move || {
            stage.act(&program, me, &|sleeper| {
                sleeper.park();
                true
            });
        });
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
