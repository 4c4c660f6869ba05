//! Rooms that are told once, in `verification/rooms`: every client program of each small shape, and of the room's focuses.

use crate::hosts::model_host::ModelHost;
use crate::model::{Model, OnAny, Run, rc11, rc11_cut};
use crate::mutation::mutant::Mutant;
use spinpark_rooms::explore::play_any;
use spinpark_rooms::room::Room;
use spinpark_rooms::rooms;

/// The rooms that are made of this file of the kernel's, among others.
pub fn rooms_of(file: &str) -> impl Iterator<Item = &str> {
    rooms::ROOMS.iter().filter(move |declared| declared.is_made_of(file)).map(|declared| declared.name)
}

/// One execution of one of the room's programs number `N`. How it ended is said when its threads have come to their end.
fn play<R: Room, const N: usize>() -> String {
    OnAny::leave_sleeping();
    play_any::<R, OnAny>(N);
    String::new()
}

/// As [`rc11`], with more time.
const fn to_its_end() -> Run {
    let mut run = rc11();
    run.bounds.seconds = 120.0;
    run
}

/// The models of a room: a shape each.
macro_rules! models {
    ($name:literal, $room:ty, invariants: $invariants:tt, focuses: [$($focus:literal => $n:literal),* $(,)?]) => {
        models!(@small $name, $room, $invariants,
            ["two_beside_one_and_one", "3 threads, 2, 1 and 1 operations", 6],
            $([$focus, "a few operations of more threads, or more of each", $n],)*)
    };
    // All programs of three threads take half a minute: `cargo room` plays them, and here a focus has some.
    ($name:literal, $room:ty, invariants: $invariants:tt, of_three: [$($focus:literal => $n:literal),* $(,)?]) => {
        models!(@small $name, $room, $invariants, $([$focus, "a few operations of more threads, or more of each", $n],)*)
    };
    // So do those of four operations.
    ($name:literal, $room:ty, invariants: $invariants:tt, of_two: [$($focus:literal => $n:literal),* $(,)?]) => {
        &[
            models!(@one $name, $room, $invariants, "one_operation", "1 thread, 1 operation", 0),
            models!(@one $name, $room, $invariants, "two_in_a_row", "1 thread, 2 operations", 1),
            models!(@one $name, $room, $invariants, "three_in_a_row", "1 thread, 3 operations", 2),
            models!(@one $name, $room, $invariants, "one_beside_one", "2 threads, 1 operation each", 3),
            $(models!(@one $name, $room, $invariants, $focus, "a few operations of more threads", $n),)*
        ]
    };
    (@small $name:literal, $room:ty, $invariants:tt, $([$shape:literal, $size:literal, $n:literal],)*) => {
        &[
            models!(@one $name, $room, $invariants, "one_operation", "1 thread, 1 operation", 0),
            models!(@one $name, $room, $invariants, "two_in_a_row", "1 thread, 2 operations", 1),
            models!(@one $name, $room, $invariants, "three_in_a_row", "1 thread, 3 operations", 2),
            models!(@one $name, $room, $invariants, "one_beside_one", "2 threads, 1 operation each", 3),
            models!(@one $name, $room, $invariants, "two_beside_two", "2 threads, 2 operations each", 5),
            models!(@one $name, $room, $invariants, "three_beside_each_other", "3 threads, 1 operation each", 4),
            $(models!(@one $name, $room, $invariants, $shape, $size, $n),)*
        ]
    };
    // So do those of three; and of two some, which a usual run cuts off.
    ($name:literal, $room:ty, invariants: $invariants:tt, of_pairs: [$($focus:literal => $n:literal),* $(,)?], cut: [$($cut:literal => $m:literal),* $(,)?]) => {
        &[
            models!(@one $name, $room, $invariants, "one_operation", "1 thread, 1 operation", 0),
            models!(@one $name, $room, $invariants, "two_in_a_row", "1 thread, 2 operations", 1),
            models!(@one $name, $room, $invariants, "one_beside_one", "2 threads, 1 operation each", 3),
            $(models!(@one $name, $room, $invariants, $focus, "a few operations of more threads, or more of each", $n),)*
            $(Model {
                runs: const { &[rc11_cut()] },
                ..models!(@one $name, $room, $invariants, $cut, "a few operations that have many executions", $m)
            },)*
        ]
    };
    // There is one thread.
    ($name:literal, $room:ty, invariants: $invariants:tt, alone) => {
        &[
            models!(@one $name, $room, $invariants, "one_operation", "1 thread, 1 operation", 0),
            models!(@one $name, $room, $invariants, "two_in_a_row", "1 thread, 2 operations", 1),
            models!(@one $name, $room, $invariants, "three_in_a_row", "1 thread, 3 operations", 2),
        ]
    };
    // There is one of each of two ends.
    ($name:literal, $room:ty, invariants: $invariants:tt, two_ends) => {
        &[
            models!(@one $name, $room, $invariants, "one_operation", "1 thread, 1 operation", 0),
            models!(@one $name, $room, $invariants, "two_in_a_row", "1 thread, 2 operations", 1),
            models!(@one $name, $room, $invariants, "three_in_a_row", "1 thread, 3 operations", 2),
            models!(@one $name, $room, $invariants, "one_beside_one", "2 threads, 1 operation each", 3),
            models!(@one $name, $room, $invariants, "two_beside_two", "2 threads, 2 operations each", 5),
            models!(@one $name, $room, $invariants, "three_beside_two", "2 threads, 3 and 2 operations", 7),
        ]
    };
    (@one $name:literal, $room:ty, $invariants:tt, $shape:literal, $size:literal, $n:literal) => {
        Model {
            name: concat!($name, "::every_client_program_is_explained::", $shape),
            file: file!(),
            claim: concat!("every client program does what the specification says: answers, waits, wakes and drops are explained by ",
                "an order of the calls that respects what happens before what"),
            size: $size,
            invariants: &$invariants,
            must_reach: &["0 asleep"],
            runs: const { &[to_its_end()] },
            play: play::<$room, $n>,
        }
    };
}

/// Threads that can do nothing by themselves.
pub const AT_REST: &[Model] = models!("at_rest", rooms::at_rest::AllAtRest, invariants: [127, 128],
    focuses: ["one_is_woken_by_one_that_ends" => 7, "a_task_and_a_thread" => 8, "one_that_waits_again" => 9,
        "one_that_waits_three_times" => 10]);
/// A barrier.
pub const BARRIER: &[Model] =
    models!("barrier", rooms::barrier::Barriers, invariants: [117], focuses: ["three_with_two_wakers" => 7]);
/// What wakes a thread that waits for a future.
pub const BELL: &[Model] = models!("bell", rooms::bell::RungBells, invariants: [73, 74], focuses: []);
/// A broadcast.
pub const BROADCAST: &[Model] = models!("broadcast", rooms::broadcast::Broadcasts, invariants: [118],
    focuses: ["a_slow_receiver" => 7, "two_values_for_two" => 8]);
/// Tokens, of which each is cancelled with the one above it.
pub const CANCELLATION: &[Model] =
    models!("cancellation", rooms::cancellation::Cancellations, invariants: [108, 109], focuses: []);
/// A channel.
pub const CHAN: &[Model] = models!("chan", rooms::chan::Chans, invariants: [90, 91, 92, 93, 94],
    focuses: ["values_that_come_back" => 7, "a_value_that_comes_back_twice" => 8, "the_last_end" => 9,
        "a_send_that_waits_is_overtaken" => 10, "a_send_is_let_in" => 11]);
/// A condition variable.
pub const COND: &[Model] = models!("cond", rooms::cond::Conds, invariants: [98], focuses: ["three_wait" => 7]);
/// Streams, and when there is no more to read.
pub const DRAINED: &[Model] = models!("drained", rooms::drained::Streams, invariants: [78], focuses: []);
/// The global queue.
pub const GLOBQ: &[Model] =
    models!("globq", rooms::globq::GlobQueues, invariants: [1, 2, 26, 30], focuses: ["four_in_a_row" => 7]);
/// Idle Ps and sleeping Ms.
pub const IDLE: &[Model] = models!("idle", rooms::idle::IdleLists, invariants: [4, 33, 34],
    focuses: ["five_in_a_row" => 7, "four_beside_two" => 8]);
/// How a P that its M cannot use is handed off.
pub const HANDOFF: &[Model] = models!("handoff", rooms::handoff::HandedOff, invariants: [4, 11, 14, 16, 30, 31],
    of_three: ["the_idle_p_is_taken_and_a_batch_goes_into_a_ring" => 7]);
/// How the wait of an M in the poller is ended.
pub const INTERRUPT: &[Model] = models!("interrupt", rooms::interrupt::Interrupts, invariants: [79, 80], focuses: []);
/// Tasks that are joined.
pub const JOIN_SET: &[Model] =
    models!("join_set", rooms::join_set::JoinSets, invariants: [107], focuses: ["three_beside_one" => 7]);
/// `runnext` and the ring of a P.
pub const LOCAL: &[Model] = models!("local", rooms::local::Locals, invariants: [1, 2, 8, 9, 10],
    focuses: ["six_in_a_row" => 7, "three_beside_one" => 8]);
/// Gs that are bound to their Ms, and are told if they wait for ever.
pub const LOCKED: &[Model] = models!("locked", rooms::locked::BoundGs, invariants: [4, 13, 19, 25, 30],
    of_three: ["readied_before_it_ends" => 7, "the_world_is_stopped_beside_two" => 8]);
/// The M that waits in the poller.
pub const NETPOLL: &[Model] = models!("netpoll", rooms::netpoll::Polled, invariants: [28, 29, 35, 44], of_three: []);
/// `Notify`.
pub const NOTIFY: &[Model] = models!("notify", rooms::notify::Notifies, invariants: [111, 112], focuses: []);
/// One value.
pub const ONESHOT: &[Model] = models!("oneshot", rooms::oneshot::Oneshots, invariants: [113, 114], two_ends);
/// Operations that the system completes.
pub const OPERATION: &[Model] = models!("operation", rooms::operation::Operations, invariants: [120], two_ends);
/// The tasks of a runtime that is shut down.
pub const OWNED_TASKS: &[Model] = models!("owned_tasks", rooms::owned_tasks::OwnedTasks, invariants: [53, 54, 56, 57, 123],
    of_three: ["a_shutdown_beside_two" => 7, "four_in_a_row" => 8]);
/// How a thread sleeps.
pub const PARKER: &[Model] = models!("parker", rooms::parker::Parkers, invariants: [70, 71, 72], focuses: []);
/// Slots of a channel that are held.
pub const PERMITS: &[Model] = models!("permits", rooms::permits::Permits, invariants: [90, 91, 92, 94, 129], of_three: ["the_last_receiver" => 7, "a_slot_for_three" => 8]);
/// What one thread does for others.
pub const REQUESTS: &[Model] = models!("requests", rooms::requests::Served, invariants: [124], focuses: ["one_after_the_other" => 7, "an_end_beside_three" => 8]);
/// What a thread is, and the handler of its signals.
pub const ROLE: &[Model] = models!("role", rooms::role::SignalledThreads, invariants: [52], alone);
/// The ring of a P.
pub const RUNQ: &[Model] = models!("runq", rooms::runq::RunQueues, invariants: [1, 2, 7, 9],
    focuses: ["five_in_a_row" => 7, "three_beside_one" => 8]);
/// The whole scheduler.
pub const SCHED: &[Model] = models!("sched", rooms::sched::Scheduled,
    invariants: [1, 2, 4, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 26, 30, 31, 32, 33, 34, 36, 41, 42, 45, 52],
    of_pairs: ["a_call_lasts_beside_a_party" => 7, "a_p_is_wanted_as_it_is_used" => 8, "two_ps" => 9, "a_g_keeps_its_p" => 10],
    cut: ["a_p_is_handed_off_beside_who_wants_one" => 11, "two_want_every_p" => 12]);
/// Tasks that borrow.
pub const SCOPE: &[Model] =
    models!("scope", rooms::scope::Scopes, invariants: [110, 119], of_three: ["an_end_beside_two_runs" => 7]);
/// A select.
pub const SELECT: &[Model] = models!("select", rooms::select::Selects, invariants: [90, 93, 95, 96], of_two: ["polled_again_beside_two" => 7, "two_beside_one_at_one_channel" => 8, "two_in_a_row_beside_one" => 9]);
/// Permits.
pub const SEMAPHORE: &[Model] =
    models!("semaphore", rooms::semaphore::Semaphores, invariants: [125, 126], focuses: ["three_wait" => 7]);
/// Sockets that a poller knows, and the tasks that wait for them.
pub const SOCKETS: &[Model] = models!("sockets", rooms::sockets::KnownSockets, invariants: [29, 78, 121, 122],
    of_three: ["one_waits_before_it_is_known" => 7, "one_waits_beside_two" => 8]);
/// Which Ms look for work.
pub const SPINNING: &[Model] = models!("spinning", rooms::spinning::Conserved, invariants: [11, 14, 30, 31],
    of_three: ["one_runs_out_beside_one" => 7, "four_parties" => 8, "two_come_back" => 9]);
/// Threads that stop the world, or run a function under each P.
pub const STW: &[Model] = models!("stw", rooms::stw::StoppedWorlds, invariants: [4, 16, 17, 18, 26, 41, 45],
    of_three: ["resizes_and_bits" => 7, "five_come" => 8, "two_operations_beside_a_stopper" => 9, "calls_beside_a_stopper" => 10,
        "one_stops_again_and_again" => 11, "two_stoppers_beside_an_m" => 12]);
/// The owner of a P whose M is in a system call.
pub const SYSCALL: &[Model] = models!("syscall", rooms::syscall::Syscalls, invariants: [4, 16, 20, 21, 41],
    focuses: ["two_ms_enter_twice_beside_a_stop" => 7, "seen_in_one_call_beside_a_stop" => 8]);
/// A task.
pub const TASK: &[Model] = models!("task", rooms::task::Tasks, invariants: [53, 54, 55, 56, 57],
    of_three: ["a_handle_changes_its_mind" => 7, "three_threads" => 8, "a_closer_for_longer" => 9,
        "a_closer_beside_a_waker" => 10]);
/// How a P is handed to an M that sleeps or is new.
pub const THREADS: &[Model] = models!("threads", rooms::threads::HandedPs, invariants: [4, 12, 13, 24, 30],
    of_three: ["an_m_sleeps_twice_or_hands_on" => 7]);
/// Timers.
pub const TIMERS: &[Model] = models!("timers", rooms::timers::TimerQueues, invariants: [35, 44, 75, 76, 77],
    of_three: ["a_sleeper_beside_two_takes" => 7]);
/// A group that is waited for.
pub const WAIT_GROUP: &[Model] = models!("wait_group", rooms::wait_group::WaitGroups, invariants: [97], focuses: []);
/// A watched value.
pub const WATCH: &[Model] = models!("watch", rooms::watch::Watches, invariants: [115, 116], focuses: []);

const ASKS: &str = "cancellation::every_client_program_is_explained::two_beside_two";

/// Orderings of rooms that have a word besides their lock.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "cancellation";
    "cancellation-marks-relaxed": "the mark is stored Relaxed",
        weaken("waits/cancellation.rs", "pub fn mark(&mut self)", "self.mark.store"), by ASKS => [Rc11];
    "cancellation-asks-relaxed": "the mark is read Relaxed",
        weaken("waits/cancellation.rs", "pub fn is_cancelled(&self) -> bool", "self.mark.load"), by ASKS => [Rc11];
};

const TWO: &str = "task::every_client_program_is_explained::two_beside_two";
const MIND: &str = "task::every_client_program_is_explained::a_handle_changes_its_mind";

/// A task's orderings.
pub const TASK_MUTANTS: &[Mutant] = crate::mutants! {
    room: "task";
    "task-wake-relaxed": "a wake is Relaxed", weaken("task/word.rs", "fn wake(", "compare_exchange"), by TWO => [Rc11];
    "task-start-relaxed": "a poll that finds a wake takes it Relaxed", weaken("task/word.rs", "fn start(", "fetch_sub"),
        by TWO => [Rc11];
    "task-wait-relaxed": "a task that waits leaves its future Relaxed",
        weaken("task/word.rs", "fn wait(", "compare_exchange"), by TWO => [Rc11];
    "task-complete-relaxed": "a task is completed Relaxed", weaken("task/word.rs", "fn complete(", "compare_exchange"),
        by TWO => [Rc11];
    "task-view-relaxed": "a handle looks at the word Relaxed", weaken("task/word.rs", "pub fn view(", "load("),
        by TWO => [Rc11];
    "task-put-back-relaxed": "a wake that finds the runtime ended leaves the task Relaxed",
        weaken("task/word.rs", "fn put_back(", "compare_exchange"), by TWO => [Rc11];
    "task-close-relaxed": "the closer of the runtime takes a task's future Relaxed",
        weaken("task/word.rs", "fn close(", "compare_exchange"), by TWO => [Rc11];
    "task-abort-relaxed": "a thread that aborts a task takes its future Relaxed",
        weaken("task/word.rs", "fn abort(", "compare_exchange"), by TWO => [Rc11];
    "task-leave-relaxed": "the M that has completed a task, and read its joiner, leaves it Relaxed",
        weaken("task/word.rs", "fn leave(", "fetch_sub"), by MIND => [Rc11];
    "task-withdraw-relaxed": "a handle that takes its waker back finds the task complete, Relaxed",
        weaken_failure("task/word.rs", "fn withdraw(", "compare_exchange"), by MIND => [Rc11];
    "task-drop-waker-relaxed": "a waker is dropped Relaxed", weaken("task/word.rs", "fn drop_waker(", "fetch_sub"),
        by TWO => [Rc11];
    "task-offer-relaxed": "a handle says Relaxed whom to wake", weaken("task/word.rs", "fn offer(", "compare_exchange"),
        by TWO => [Rc11];
    "task-offer-finds-it-complete-relaxed": "a handle that says whom to wake finds the task complete, Relaxed",
        weaken_failure("task/word.rs", "fn offer(", "compare_exchange"), by TWO => [Rc11];
    "task-detach-relaxed": "a handle is dropped Relaxed", weaken("task/word.rs", "fn detach(", "compare_exchange"),
        by TWO => [Rc11];
};

const PARKS: &str = "parker::every_client_program_is_explained::two_beside_two";
const RINGS: &str = "bell::every_client_program_is_explained::two_beside_two";
const ENDS: &str = "at_rest::every_client_program_is_explained::a_task_and_a_thread";

/// Orderings of what a thread sleeps by.
pub const SLEEP_MUTANTS: &[Mutant] = crate::mutants! {
    room: "parker";
    "parker-no-acquire-without-sleep": "the sleeper takes a token that is there, Relaxed",
        weaken("waits/parker.rs", "pub fn park_by", "fetch_sub(1, Acquire)"), by PARKS => [Rc11];
    "parker-no-acquire-after-sleep": "the sleeper takes the token after its sleep, Relaxed",
        weaken("waits/parker.rs", "pub fn park_by", "swap(EMPTY, Acquire)"), by PARKS => [Rc11];
    "parker-no-release": "the waker leaves the token, Relaxed",
        weaken("waits/parker.rs", "pub fn unpark", "swap(NOTIFIED, Release)"), by PARKS => [Rc11];
    "bell-no-release": "a waker rings, Relaxed",
        weaken("waits/bell.rs", "pub fn ring", "swap(State::Rung, AcqRel)"), by RINGS => [Rc11];
    "bell-gives-up-no-release": "a thread that gives up says Relaxed that it waits no more",
        weaken("waits/bell.rs", "fn gives_up", "compare_exchange(State::Waiting, State::Idle, Release"), by RINGS => [Rc11];
    "bell-no-acquire": "the thread takes a ring, Relaxed",
        weaken("waits/bell.rs", "fn take", "swap(State::Idle, Acquire)"), by RINGS => [Rc11];
    "bell-out-no-release": "a waker says Relaxed that the thread is out of the count",
        weaken("waits/bell.rs", "pub fn ring", "swap(true, Release)"), by RINGS => [Rc11];
    "bell-out-no-acquire": "the thread finds Relaxed that it is out of the count",
        weaken("waits/bell.rs", "pub fn wait_by", "swap(false, Acquire)"), by RINGS => [Rc11];
    "at-rest-no-release": "a thread counts itself, Relaxed",
        weaken("waits/at_rest.rs", "pub fn enter", "fetch_add(CHANGE + 1, Release)"), by ENDS => [Rc11];
    "at-rest-no-acquire": "the count is read, Relaxed",
        weaken("waits/at_rest.rs", "pub fn are_all", "load(Acquire)"), by ENDS => [Rc11];
};

const HANDS: &str = "threads::every_client_program_is_explained::one_beside_one";

/// Orderings of an M's `nextp`.
pub const THREADS_MUTANTS: &[Mutant] = crate::mutants! {
    room: "threads";
    "threads-nextp-relaxed": "`nextp` is set Relaxed",
        weaken("types/m.rs", "pub fn set_nextp", "swap"), by HANDS => [Rc11];
    "threads-nextp-unseen": "`nextp` is taken Relaxed",
        weaken("types/m.rs", "pub fn take_nextp", "swap"), by HANDS => [Rc11];
};

const BESIDE: &str = "syscall::every_client_program_is_explained::one_beside_one";
const STOPS: &str = "stw::every_client_program_is_explained::one_beside_one";

/// Orderings of a P's word.
pub const SYSCALL_MUTANTS: &[Mutant] = crate::mutants! {
    room: "syscall";
    "syscall-put-relaxed": "a P is put into its word Relaxed",
        weaken("protocol/syscall.rs", "pub fn put", "store(status"), by BESIDE => [Rc11];
    "syscall-take-relaxed": "a P is taken out of its word Relaxed",
        weaken("protocol/syscall.rs", "pub fn take", "compare_exchange"),
        by BESIDE => [Rc11];
    "syscall-no-entering-fence": "entersyscall without its StoreLoad",
        weaken("protocol/syscall.rs", "pub fn entersyscall<", "store_load::<H>()"),
        by BESIDE => [Rc11];
    "syscall-no-stopping-fence": "stw::stop without its StoreLoad",
        weaken("protocol/stw/mod.rs", "pub fn stop", "store_load::<H>()"), by BESIDE => [Rc11];
};

/// Orderings of a stop, and of a function that runs under each P.
pub const STW_MUTANTS: &[Mutant] = crate::mutants! {
    room: "stw";
    "stw-no-stopper-fence": "a stopper looks at the words without a StoreLoad after it has said that it stops",
        weaken("protocol/stw/mod.rs", "pub fn stop<", "store_load::<H>()"), by STOPS => [Rc11];
    "safepoint-no-callers-fence" of "safepoint":
        "for_each_p looks at the words without a StoreLoad after it has said what it wants",
        weaken("protocol/stw/safepoint.rs", "pub fn for_each_p", "store_load::<H>()"), by STOPS => [Rc11];
};

const WAITS: &str = "netpoll::every_client_program_is_explained::one_beside_one";
const LEAVES: &str = "netpoll::every_client_program_is_explained::three_beside_each_other";

/// Orderings of the word that says which M waits in the poller.
pub const NETPOLL_MUTANTS: &[Mutant] = crate::mutants! {
    room: "netpoll";
    "netpoll-no-adders-fence": "announce without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn announce", "store_load::<H>()"), by WAITS => [Rc11];
    "netpoll-no-waiters-fence": "prepare without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn prepare", "store_load::<H>()"), by WAITS => [Rc11];
    "netpoll-no-sleepers-fence": "claim without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn claim", "store_load::<H>()"), by WAITS => [Rc11];
    "netpoll-no-leavers-fence": "leave without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn leave", "store_load::<H>()"), by LEAVES => [Rc11];
    "netpoll-no-handers-fence": "is_missing without its StoreLoad",
        weaken("protocol/netpoll.rs", "pub fn is_missing", "store_load::<H>()"), by WAITS => [Rc11];
    "netpoll-leaves-relaxed": "leave gives the poller up Relaxed",
        weaken("protocol/netpoll.rs", "pub fn leave", "who.store"), by WAITS => [Rc11];
    "netpoll-peeks-relaxed": "peek takes the poller Relaxed",
        weaken("protocol/netpoll.rs", "pub fn peek", "compare_exchange"), by WAITS => [Rc11];
    "netpoll-has-peeked-relaxed": "peek gives the poller up Relaxed",
        weaken("protocol/netpoll.rs", "pub fn peek", "who.swap"), by WAITS => [Rc11];
};

const ONE_BESIDE_ONE: &str = "spinning::every_client_program_is_explained::one_beside_one";
const COME_BACK: &str = "spinning::every_client_program_is_explained::two_come_back";

/// Orderings of the protocol of Ms that look for work.
pub const SPINNING_MUTANTS: &[Mutant] = crate::mutants! {
    room: "spinning";
    "spinning-no-finders-fence": "found_work without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn found_work", "store_load::<H>()"), by ONE_BESIDE_ONE => [Rc11];
    "spinning-no-idlers-fence": "must_recheck without its StoreLoad",
        weaken("protocol/spinning.rs", "pub fn must_recheck", "store_load::<H>()"), by COME_BACK => [Rc11];
    "spinning-leaves-relaxed": "a spinning M leaves nmspinning Relaxed",
        weaken("protocol/spinning.rs", "fn leave", "fetch_sub"), by ONE_BESIDE_ONE => [Rc11];
};

const TWO_IN_A_ROW: &str = "sched::every_client_program_is_explained::two_in_a_row";
const LASTS: &str = "sched::every_client_program_is_explained::a_call_lasts_beside_a_party";

/// Orderings of the whole scheduler.
pub const SCHED_MUTANTS: &[Mutant] = crate::mutants! {
    room: "sched";
    "sched-no-fence-under-the-lock": "a submission without its StoreLoad under the lock, beside the only M, which goes to sleep",
        weaken("protocol/spinning.rs", "pub fn wakep_under", "store_load::<H>()"), by TWO_IN_A_ROW => [Rc11];
    "sched-no-spinning-m-fence": "retire without its StoreLoad, beside a submitter",
        weaken("protocol/spinning.rs", "pub fn retire", "store_load::<H>()"), by TWO_IN_A_ROW => [Rc11];
    "sched-no-fence-at-entry": "entersyscall without its StoreLoad: the stop waits for the system call's end",
        weaken("protocol/syscall.rs", "pub fn entersyscall", "store_load::<H>()"), by LASTS => [Rc11];
    "sched-no-stopper-fence": "a stopper without its StoreLoad, in the whole scheduler",
        weaken("protocol/stw/mod.rs", "pub fn stop<", "store_load::<H>()"), by LASTS => [Rc11];
};

const ONE: &str = "sockets::every_client_program_is_explained::one_beside_one";
const IDLES: &str = "interrupt::every_client_program_is_explained::one_beside_one";
const BOTH: &str = "interrupt::every_client_program_is_explained::three_beside_each_other";

/// Orderings of the poller's.
pub const READINESS_MUTANTS: &[Mutant] = crate::mutants! {
    room: "sockets";
    "readiness-no-fence-at-the-last": "the last that gives up asks for an M in the poller without a StoreLoad",
        weaken("waits/readiness.rs", "pub fn gave_up", "store_load::<H>()"), by IDLES => [Rc11];
    "readiness-no-release-of-the-woken": "the poller counts down, Relaxed",
        weaken("waits/readiness.rs", "pub fn woken", "fetch_sub(woken, Release)"), by ONE => [Rc11];
    "readiness-no-acquire-of-the-count": "an M asks whether a task waits, Relaxed",
        weaken("waits/readiness.rs", "pub fn count", "load(Acquire)"), by ONE => [Rc11];
    "interrupt-no-fence-before-the-notice": "an interrupter leaves its notice without a StoreLoad",
        weaken("waits/interrupt.rs", "pub fn interrupt", "store_load::<H>()"), by BOTH => [Rc11];
    "interrupt-no-fence-after-the-wait": "the M looks after its wait without a StoreLoad",
        weaken("waits/interrupt.rs", "pub fn wait", "store_load::<H>()"), by BOTH => [Rc11];
};
