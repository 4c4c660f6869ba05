//! The run: queues beside the smallest scheduler around `stw`, and books of what must be in them.

use super::{CAPACITY, MS, Op, RING, Resize};
use crate::oracle::g;
use crate::room::{Program, Room, reached_if};
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::stw::wanted::Want;
use spinpark_kernel::protocol::syscall::Away;
use spinpark_kernel::queues::globq::{GlobQueue, Len};
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId, Turn};
use spinpark_verification::harness::common::each_once;
use spinpark_verification::harness::stw::Tiny;
use spinpark_verification::harness::unrest::Unrest;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::wrap::trace::main_plays;
use std::collections::VecDeque;
use std::mem::{replace, take};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What must be in the queues of a P, next first. Its owner writes it down.
#[derive(Default)]
struct Book {
    next: Option<u64>,
    ring: VecDeque<u64>,
    /// The P was left in a system call.
    in_syscall: bool,
}

/// What the threads of a program share.
pub(super) struct ResizeRun<H: ModelHost> {
    tiny: Arc<Tiny<H>>,
    queues: Vec<LocalQueue<H, 32>>,
    /// Under a lock of its own.
    global: H::Lock<GlobQueue>,
    len: Len<H>,
    spare: Mutex<Vec<OwnedP>>,
    /// No part of what is checked, as all of `std`.
    books: Vec<Mutex<Book>>,
    made: AtomicU64,
    got: Mutex<Vec<u64>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn numbers(gs: impl Iterator<Item = G>) -> Vec<u64> {
    gs.map(|g| g.into_raw().get()).collect()
}

fn spare(from: usize) -> Vec<OwnedP> {
    (from..CAPACITY).map(|p| OwnedP::forge(PId(p as u32))).collect()
}

impl<H: ModelHost> ResizeRun<H> {
    pub(super) fn play(program: &Program<Resize>) -> String {
        main_plays("M0");
        let procs = program.setup.procs.clamp(1, CAPACITY);
        let acts = |thread: usize| !program.of(thread).is_empty();
        let unrest = Unrest::of((0..MS).filter(|m| acts(*m)).count());
        let run = Arc::new(ResizeRun::<H> {
            tiny: Tiny::with(procs as u32, CAPACITY as u32, 0, unrest),
            queues: (0..CAPACITY).map(|_| LocalQueue::new(Capacity::new(RING).expect("a power of two"))).collect(),
            global: H::Lock::new(GlobQueue::default()),
            len: Len::new(),
            spare: Mutex::new(spare(procs)),
            books: (0..CAPACITY).map(|_| Mutex::default()).collect(),
            made: AtomicU64::new(0),
            got: Mutex::default(),
        });
        let has_m = |p: usize| p < MS && acts(p);
        (0..procs).filter(|p| !has_m(*p)).for_each(|p| run.tiny.release(OwnedP::forge(PId(p as u32))));
        let others: Vec<_> = (1..Resize::THREADS)
            .filter(|thread| acts(*thread))
            .map(|thread| {
                let (run, ops) = (Arc::clone(&run), program.of(thread));
                H::fork(["M0", "M1", "stopper 1", "stopper 2"][thread], move || run.thread(thread, procs, ops))
            })
            .collect();
        if acts(0) {
            run.thread(0, procs, program.of(0));
        }
        others.into_iter().for_each(|other| H::join(other));
        run.check_at_rest()
    }

    fn thread(&self, me: usize, procs: usize, ops: Vec<Op>) {
        if me >= MS {
            let to = ops.into_iter().filter_map(|op| if let Op::Procresize(procs) = op { Some(procs) } else { None });
            return to.for_each(|procs| self.resize(me, procs));
        }
        let place = if me < procs { Place::Here(OwnedP::forge(PId(me as u32))) } else { Place::Nowhere };
        let mut actor = Actor { run: self, m: MId(me as u32), place };
        ops.into_iter().for_each(|op| actor.act(op));
        actor.releasep();
        self.tiny.rest();
    }

    /// Each G was taken once, or is still in a queue that an M scans.
    fn check_at_rest(&self) -> String {
        self.tiny.check_at_rest();
        lock(&self.spare).drain(..).for_each(|p| {
            assert!(self.queues[p.id().index()].is_empty(), "P{} has ended, and holds Gs", p.id().0);
            p.discard();
        });
        let mut got = lock(&self.got).clone();
        for (p, queue) in self.queues.iter().enumerate() {
            let left = numbers(queue.drain());
            assert!(left == lock(&self.books[p]).all(), "P{p} holds {left:?}");
            got.extend(left);
        }
        got.extend(self.global_queue());
        each_once(self.made.load(SeqCst), &[&got]);
        format!("{} Ps", self.tiny.procs())
    }

    /// What is in the global queue, which is empty then.
    fn global_queue(&self) -> Vec<u64> {
        self.global.with(|global| numbers(std::iter::from_fn(|| global.get(&self.len))))
    }

    fn resize(&self, me: usize, procs: usize) {
        let procs = procs.clamp(1, CAPACITY);
        self.tiny.stop(me as u8, &Tiny::<H>::parker());
        reached_if(self.tiny.line() > 1, "the world was stopped while another stood in line");
        reached_if(procs > self.tiny.procs(), "a P began");
        let ending: Vec<usize> = (procs..self.tiny.procs()).collect();
        let expected = self.expected(&ending);
        self.tiny.procresize(&mut lock(&self.spare), procs, |p| {
            let gs = self.queues[p.id().index()].drain();
            self.global.with(|global| global.put_front(gs, &self.len));
        });
        let found = self.global_queue();
        assert!(found == expected, "{ending:?} ended: the global queue should be {expected:?}, and is {found:?}");
        self.global.with(|global| global.put_batch(found.into_iter().map(g), &self.len));
        self.books.iter().for_each(|book| lock(book).in_syscall = false);
        self.tiny.start();
    }

    /// What the global queue must be once the Ps `ending` have ended. By the stopper.
    fn expected(&self, ending: &[usize]) -> Vec<u64> {
        let before = self.global_queue();
        self.global.with(|global| global.put_batch(before.iter().copied().map(g), &self.len));
        let mut expected = Vec::new();
        let mut holders = 0;
        for p in ending {
            let book = take(&mut *lock(&self.books[*p]));
            let gs = book.all();
            holders += usize::from(!gs.is_empty());
            reached_if(gs.len() > 1, "a P that ended held more than its runnext");
            reached_if(book.in_syscall, "a P that ended was in a system call");
            expected.extend(gs);
        }
        reached_if(holders == 1, "a P that ended held Gs");
        reached_if(holders > 1, "two Ps that ended held Gs");
        expected.extend(before);
        expected
    }
}

impl Book {
    /// In the order in which they would run.
    fn all(&self) -> Vec<u64> {
        self.next.iter().chain(&self.ring).copied().collect()
    }

    /// A G that was taken by its P's owner.
    fn takes(&mut self, g: u64) {
        let first = if self.next.is_some() { self.next.take() } else { self.ring.pop_front() };
        assert!(first == Some(g), "G{g} was taken, but {first:?} was the next");
    }
}

/// Where an M's P is.
enum Place {
    Here(OwnedP),
    InSyscall(Away, PId),
    Nowhere,
}

struct Actor<'a, H: ModelHost> {
    run: &'a ResizeRun<H>,
    m: MId,
    place: Place,
}

impl<H: ModelHost> Actor<'_, H> {
    fn act(&mut self, op: Op) {
        self.exit();
        if matches!(op, Op::Get | Op::GetGlobal) && self.run.tiny.wanted.is(Want::Stop) {
            self.releasep();
        }
        if matches!(self.place, Place::Nowhere) {
            self.place = self.run.tiny.acquire().map_or(Place::Nowhere, Place::Here);
        }
        let Place::Here(p) = &self.place else { return };
        assert!(p.id().index() < self.run.tiny.procs(), "P{} is used, and has ended", p.id().0);
        self.run.tiny.run(p);
        match op {
            Op::Put => self.put(p.id().index(), false),
            Op::PutNext => self.put(p.id().index(), true),
            Op::Get => self.get(p.id().index()),
            Op::GetGlobal => {
                let g = self.run.global.with(|global| global.get(&self.run.len));
                lock(&self.run.got).extend(g.map(|g| g.into_raw().get()));
            }
            Op::Entersyscall => self.enter(),
            Op::Exitsyscall | Op::Procresize(_) => (),
        }
    }

    fn put(&self, p: usize, next: bool) {
        let ResizeRun { queues, global, len, books, made, .. } = self.run;
        let n = made.fetch_add(1, SeqCst) + 1;
        let mut spilled = Vec::new();
        let spill = |half: Vec<u64>, last: u64| spilled.extend(half.into_iter().chain([last]));
        put_into(&queues[p], n, next, spill);
        let mut book = lock(&books[p]);
        let last = if next { book.next.replace(n) } else { Some(n) };
        if spilled.is_empty() {
            return book.ring.extend(last);
        }
        let half: Vec<u64> = book.ring.drain(..RING / 2).chain(last).collect();
        assert!(spilled == half, "{half:?} were to be spilled, not {spilled:?}");
        drop(book);
        global.with(|global| global.put_batch(spilled.into_iter().map(g), len));
    }

    fn get(&self, p: usize) {
        let taken = self.run.queues[p].get(&mut Turn::default(), 1).map(|g| g.into_raw().get());
        let Some(n) = taken else { return };
        lock(&self.run.books[p]).takes(n);
        lock(&self.run.got).push(n);
    }

    fn enter(&mut self) {
        let Place::Here(p) = replace(&mut self.place, Place::Nowhere) else { return };
        let id = p.id();
        lock(&self.run.books[id.index()]).in_syscall = true;
        self.place = self.run.tiny.enter(self.m, p).map_or(Place::Nowhere, |away| Place::InSyscall(away, id));
    }

    fn exit(&mut self) {
        let (away, old) = match replace(&mut self.place, Place::Nowhere) {
            Place::InSyscall(away, old) => (away, old),
            elsewhere => return self.place = elsewhere,
        };
        let back = self.run.tiny.come_back(away);
        reached_if(old.index() >= self.run.tiny.procs(), "an M came back when its P had ended");
        let Some((p, _)) = back else { return };
        lock(&self.run.books[p.id().index()]).in_syscall = false;
        self.place = Place::Here(p);
    }

    fn releasep(&mut self) {
        self.exit();
        if let Place::Here(p) = replace(&mut self.place, Place::Nowhere) {
            self.run.tiny.release(p);
        }
    }
}

fn put_into<H: ModelHost>(queue: &LocalQueue<H, 32>, n: u64, next: bool, spill: impl FnOnce(Vec<u64>, u64)) {
    if next {
        queue.put_next(g(n), |half, last| spill(numbers(half), last.into_raw().get()));
    } else {
        queue.put(g(n), |half, last| spill(numbers(half), last.into_raw().get()));
    }
}
