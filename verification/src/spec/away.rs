//! An M without a P: system calls, bound Gs; and the monitor, which never has one.

use crate::spec::hands::Slept;
use crate::spec::lists::{At, Lists, M, P, Watched};
use crate::spec::moves::{Ev, Item};
use crate::spec::wrong::Wrong;
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::syscall::Way;

/// How long a G may run, and a P sit idle in a system call.
const SLICE: Nanos = 10_000_000;

impl Lists {
    /// `m`, which runs `g` under `p`, enters a system call that may be short. Does it look whether the P is wanted? An
    /// M that is interrupted does not.
    pub(super) fn enter(&mut self, m: usize, g: u64, p: usize, does_look: bool) {
        let left = Some(self.ps[p].takings);
        self.ps[p].in_call_of = Some(m);
        self.ms[m].at = At::Away { g, p, left };
        self.ms[m].is_detached = !does_look;
        if self.is_wanted() && does_look {
            self.take_from_call(p);
            self.hand_on(p);
        }
    }

    /// The G of `m`, which goes on without a P, enters a system call.
    pub(super) fn enter_detached(&mut self, m: usize, blocks: bool) {
        let At::Away { p, left, .. } = self.ms[m].at else { unreachable!("M{m} is not away") };
        self.ms[m].is_detached = false;
        if blocks && self.ps[p].in_call_of == Some(m) && left == Some(self.ps[p].takings) {
            self.seen.note("a preempted G blocked, and its P was handed on");
            self.take_from_call(p);
            self.hand_on(p);
        }
    }

    /// The G of `m` goes on without a P, and takes one that is idle, if its own was taken.
    pub(super) fn try_reattach(&mut self, m: usize) {
        let At::Away { g, p, left } = self.ms[m].at else { unreachable!("M{m} is not away") };
        let is_left = self.ps[p].in_call_of == Some(m) && left == Some(self.ps[p].takings);
        self.seen.note_if(is_left && !self.idle.is_empty(), "a P was idle, and a preempted G's own was not taken yet");
        if is_left && self.is(Wrong::ReattachesToThePItLost) {
            self.take_from_call(p);
            self.came_back(m, p, Way::Kept);
            self.ms[m].at = At::Runs { g, p };
        } else if (!is_left || self.is(Wrong::ReattachesBesideThePItLost))
            && let Some(idle) = self.idle_p()
        {
            self.seen.note("a preempted G went on under an idle P");
            self.came_back(m, idle, Way::Idle);
            self.ms[m].at = At::Runs { g, p: idle };
            self.ms[m].is_detached &= !self.is(Wrong::ReattachedCountsNoMore);
        } else {
            self.seen.note("a preempted G went on without a P");
        }
    }

    /// Taking a P out of a call changes the number of takings.
    pub(super) fn take_from_call(&mut self, p: usize) {
        (self.ps[p].in_call_of, self.ps[p].takings) = (None, self.ps[p].takings + 1);
    }

    /// `m` comes back. `None`: there is no P, and `ticket` is queued.
    fn come_back(&mut self, m: usize, p: usize, left: Option<u32>, ticket: Item) -> Option<usize> {
        let call = self.ps[p].in_call_of;
        let idle_first = self.is(Wrong::TakesAnIdlePFirst) && !self.idle.is_empty();
        let (p, way) = if call == Some(m) && left == Some(self.ps[p].takings) {
            self.take_from_call(p);
            (p, Way::Kept)
        } else if call.is_some() && !self.is_wanted() && !idle_first {
            self.take_from_call(p);
            (p, Way::TookBack)
        } else if let Some(idle) = self.idle_p() {
            (idle, Way::Idle)
        } else {
            self.global.push_back(ticket);
            self.seen.note("back, and queued");
            return None;
        };
        self.came_back(m, p, way);
        Some(p)
    }

    fn came_back(&mut self, m: usize, p: usize, way: Way) {
        self.events.push(Ev::Returned { m, p, way });
        self.seen.note(match way {
            Way::Kept => "back, and the P was kept",
            Way::TookBack => "back, and the P was taken back",
            Way::Idle => "back, and a P was idle",
            Way::Queued => "back, and a P came later",
        });
    }

    /// `m` comes back with a G that any M may run.
    pub(super) fn exit(&mut self, m: usize, g: u64, p: usize, left: Option<u32>) {
        match self.come_back(m, p, left, Item::G(g)) {
            Some(p) => self.ms[m].at = At::Runs { g, p },
            None => {
                self.ms[m].is_detached = false;
                match self.rest(m) {
                    Slept::Run { p, spins } => self.look_with(m, p, spins),
                    Slept::Sleeps => (),
                    Slept::Exit => self.exited(m),
                }
            }
        }
    }

    /// `m` comes back with a G that is bound to it.
    pub(super) fn exit_bound(&mut self, m: usize, g: u64, p: usize, left: Option<u32>) {
        match self.come_back(m, p, left, Item::Ticket(m)) {
            Some(p) => self.ms[m].at = At::Runs { g, p },
            None => self.lie_down(m, At::Returns(g)),
        }
    }

    /// The G of `m` waits for a P where `at` says. It may have come before.
    fn lie_down(&mut self, m: usize, at: At) {
        self.ms[m].at = at;
        if let Slept::Run { p, .. } = self.collect(m) {
            self.get_up(m, p);
        }
    }

    /// A P came for the G of `m`.
    pub(super) fn get_up(&mut self, m: usize, p: usize) {
        self.events.push(Ev::Got { m, p });
        let g = match self.ms[m].at {
            At::Returns(g) => {
                self.came_back(m, p, Way::Queued);
                g
            }
            At::Waits(g) => {
                self.events.push(Ev::WaitOver(m, self.ms[m].why));
                g
            }
            At::Yielded(g) => g,
            other => unreachable!("M{m} is {other:?}"),
        };
        self.ms[m].at = At::Runs { g, p };
    }

    /// The G of `m` waits, unless it was readied before, or the scheduler is closed.
    pub(super) fn park(&mut self, m: usize, g: u64, p: usize, wake: Wake) {
        if self.is_closed {
            self.events.push(Ev::WaitOver(m, Woken::Closed));
        } else if self.readied.remove(&m) {
            self.seen.note("it was readied before it waited");
            self.ms[m].why = Woken::Ready;
            self.events.push(Ev::WaitOver(m, Woken::Ready));
        } else {
            self.ms[m] = M { at: At::Waits(g), nextp: None, why: Woken::Ready, is_detached: false };
            self.events.push(Ev::Left { m, p, waits: true });
            self.hand_on(p);
            self.waiting.push((m, wake));
            self.check_dead();
            self.unlock();
            self.lie_down(m, At::Waits(g));
        }
    }

    /// The G of `m` yields, if there is anything to yield for.
    pub(super) fn yield_bound(&mut self, m: usize, g: u64, p: usize) {
        self.ps[p].is_needspinning = false;
        self.attend(p);
        let has_work = !self.global.is_empty() || self.has_arrived() || self.ps[p].len() > 0;
        if self.is_stopping || has_work && !self.is_wanted() {
            self.seen.note("a bound G yielded");
            self.events.push(Ev::Left { m, p, waits: false });
            self.seen.note_if(self.ms[m].is_detached, "a bound G yielded again");
            self.ms[m].is_detached |= self.detached() < self.numbers.max_detached;
            self.seen.note_if(self.ms[m].is_detached, "a bound G yielded, and its M counts as detached");
            self.global.push_back(Item::Ticket(m));
            self.ms[m].at = At::Yielded(g);
            self.hand_on(p);
            self.lie_down(m, At::Yielded(g));
        }
    }

    /// The monitor looks at each P. Did it take one out of a call?
    pub(super) fn tick(&mut self) -> bool {
        self.mind_the_poller();
        let somebody_looks = self.spinning_ms + self.idle.len() > 0;
        let is_wanted = self.is_stopping || self.safepoint.is_some();
        let mut retook = false;
        for p in (0..self.procs).collect::<Vec<_>>() {
            if self.idle.contains(&p) {
                if !self.is(Wrong::IdleTimeIsOfASlice) {
                    self.watch[p].slice = None;
                }
                continue;
            }
            let (slice_is_old, retake) = self.judge(p, somebody_looks);
            if self.ps[p].in_call_of.is_none() {
                if slice_is_old {
                    self.seen.note("a G was asked to yield");
                    let first = !std::mem::replace(&mut self.ps[p].is_needspinning, true);
                    self.events.push(Ev::Preempt(p, first));
                    let most = self.numbers.max_detached;
                    if most > 0 && self.detached() >= most {
                        self.events.push(Ev::Undetachable(p));
                        self.seen.note("as many as may be were detached");
                    }
                }
            } else if retake || is_wanted {
                self.seen.note("retaken");
                self.take_from_call(p);
                self.events.push(Ev::Retaken(p));
                self.hand_on(p);
                retook = true;
            }
        }
        if std::mem::take(&mut self.must_retry) {
            self.seen.note("the monitor tried again to get an M");
            self.wakep();
        }
        retook
    }

    /// Is the slice of `p` over? Is there a reason to take it out of its call?
    fn judge(&mut self, p: usize, somebody_looks: bool) -> (bool, bool) {
        let (now, has_work) = (self.now, self.ps[p].len() > 0);
        let P { dispatches, in_call_of, takings, .. } = self.ps[p].clone();
        let Watched { slice, call } = self.watch[p];
        let since = slice.filter(|(number, _)| *number == dispatches).map_or(now, |(_, since)| since);
        let (first, ticks) =
            call.filter(|(number, ..)| *number == takings).map_or((now, 0), |(_, first, ticks)| (first, ticks));
        let new_call = in_call_of.map(|_| (takings, first, ticks + 1));
        self.watch[p] = Watched { slice: Some((dispatches, since)), call: new_call };
        let slice_is_old = now - since >= SLICE;
        let by_slice = slice_is_old && !self.is(Wrong::ForgetsTheSlice);
        let ticks_before = if self.is(Wrong::RetakesOneTickLate) { 2 } else { 1 };
        let is_needed = has_work || !somebody_looks || now - first >= SLICE;
        (slice_is_old, (ticks >= ticks_before || by_slice) && is_needed)
    }
}
