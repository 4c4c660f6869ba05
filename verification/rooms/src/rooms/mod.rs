//! The rooms, a file each.

pub mod at_rest;
pub mod barrier;
pub mod bell;
pub mod broadcast;
pub mod cancellation;
pub mod chan;
pub mod cond;
pub mod drained;
pub mod globq;
pub mod handoff;
pub mod idle;
pub mod interrupt;
pub mod join_set;
pub mod local;
pub mod locked;
pub mod netpoll;
pub mod notify;
pub mod oneshot;
pub mod operation;
pub mod owned_tasks;
pub mod parker;
pub mod permits;
pub mod requests;
pub mod role;
pub mod runq;
pub mod sched;
pub mod scope;
pub mod select;
pub mod semaphore;
pub mod sockets;
pub mod spinning;
pub mod stw;
pub mod syscall;
pub mod task;
pub mod threads;
pub mod timers;
pub mod wait_group;
pub mod watch;

use crate::history::{Log, Paper};
use crate::program::{Chosen, LADDER, Program, chosen, of_focus, of_shape};
use crate::room::Room;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What a function makes of every room, as a list: `every_room!(Played::of)`.
#[macro_export]
macro_rules! every_room {
    ($type:ident::$function:ident) => {
        $crate::each_of! { $type::$function:
            at_rest::AllAtRest,
            barrier::Barriers,
            bell::RungBells,
            broadcast::Broadcasts,
            cancellation::Cancellations,
            chan::Chans,
            cond::Conds,
            drained::Streams,
            globq::GlobQueues,
            handoff::HandedOff,
            idle::IdleLists,
            interrupt::Interrupts,
            join_set::JoinSets,
            local::Locals,
            locked::BoundGs,
            netpoll::Polled,
            notify::Notifies,
            oneshot::Oneshots,
            operation::Operations,
            owned_tasks::OwnedTasks,
            parker::Parkers,
            permits::Permits,
            requests::Served,
            role::SignalledThreads,
            runq::RunQueues,
            sched::Scheduled,
            scope::Scopes,
            select::Selects,
            semaphore::Semaphores,
            sockets::KnownSockets,
            spinning::Conserved,
            stw::StoppedWorlds,
            syscall::Syscalls,
            task::Tasks,
            threads::HandedPs,
            timers::TimerQueues,
            wait_group::WaitGroups,
            watch::Watches,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! each_of {
    ($type:ident::$function:ident: $($module:ident::$room:ident,)*) => {
        [$($type::$function::<$crate::rooms::$module::$room>(),)*]
    };
}

/// Every room.
pub static ROOMS: &[Declared] = &every_room!(Declared::of);

/// A room, as it is listed.
pub struct Declared {
    /// Its name.
    pub name: &'static str,
    /// What its source is called.
    pub source: &'static str,
    /// How many focuses it has.
    focuses: fn() -> usize,
    /// How many more it has that are larger.
    larger: fn() -> usize,
    /// A [`Common`].
    common: &'static (dyn Any + Send + Sync),
}

impl Declared {
    const fn of<R: Room>() -> Declared {
        Declared {
            name: R::NAME,
            source: R::SOURCE,
            focuses: || R::focuses().len(),
            larger: || R::larger().len(),
            common: &Common::<R>::HERE,
        }
    }

    /// The shapes of a usual run: the ladder, and the focuses.
    pub fn usual(&self) -> Range<usize> {
        0..LADDER.len() + (self.focuses)()
    }

    /// All of its shapes.
    pub fn shapes(&self) -> Range<usize> {
        0..self.usual().end + (self.larger)()
    }

    /// Is this file of the kernel's part of the room's source?
    pub fn is_made_of(&self, file: &str) -> bool {
        let folders = ["queues/", "waits/", "protocol/", "types/"];
        let inside = folders.iter().find_map(|folder| file.strip_prefix(folder)).unwrap_or(file);
        let module = inside.split(['/', '.']).next();
        self.source.split(' ').any(|source| module == Some(source))
    }
}

/// What of a room is the same on every host. By its place in [`ROOMS`] it is compiled here, once, and not for each host anew.
pub struct Common<R: Room> {
    programs: fn(usize) -> Programs<R>,
    chosen: fn(&Chosen) -> Option<Arc<Program<R>>>,
    paper: fn(usize) -> Box<dyn Paper<R>>,
}

/// Programs of a room.
pub type Programs<R> = Arc<Vec<Arc<Program<R>>>>;

thread_local! {
    /// The programs of each room and shape.
    static PROGRAMS: RefCell<HashMap<(TypeId, usize), Kept>> = RefCell::new(HashMap::new());
}

/// [`Programs`] of a room.
type Kept = Arc<dyn Any + Send + Sync>;

fn known(key: (TypeId, usize)) -> Option<Kept> {
    PROGRAMS.with_borrow(|all| all.get(&key).cloned())
}

fn keep(key: (TypeId, usize), programs: Kept) {
    PROGRAMS.with_borrow_mut(|all| all.insert(key, programs));
}

impl<R: Room> Common<R> {
    const HERE: Self = Common {
        programs: programs::<R>,
        chosen: |numbers| chosen::<R>(numbers).map(Arc::new),
        paper: |threads| Box::new(Log::<R>::new(threads)),
    };

    /// Of the room in the list.
    ///
    /// # Panics
    /// If it is not in [`ROOMS`].
    pub fn of() -> &'static Self {
        ROOMS.iter().find_map(|declared| declared.common.downcast_ref()).expect("the room is in the list of rooms")
    }

    /// The programs number `n`: those of a shape of the ladder, and behind these those of the room's focuses.
    pub fn programs(&self, n: usize) -> Programs<R> {
        (self.programs)(n)
    }

    /// The program that these numbers choose, if it is worth it.
    pub fn chosen(&self, numbers: &Chosen) -> Option<Arc<Program<R>>> {
        (self.chosen)(numbers)
    }

    /// A paper for so many threads to write on.
    pub fn paper(&self, threads: usize) -> Box<dyn Paper<R>> {
        (self.paper)(threads)
    }
}

fn programs<R: Room>(n: usize) -> Programs<R> {
    let key = (TypeId::of::<R>(), n);
    if let Some(known) = known(key) {
        return known.downcast().expect("of this room");
    }
    let all = Arc::new(match LADDER.get(n) {
        Some(shape) => of_shape::<R>(shape),
        None => of_focus::<R>(n - LADDER.len()),
    });
    keep(key, Arc::clone(&all) as Kept);
    all
}
