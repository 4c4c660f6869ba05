//! The whole scheduler, told from plain lists: what each operation answers, and where each party is after it.
//!
//! The kernel plays on [`Stepped`](crate::hosts::stepped::Stepped): one moves at a time, until it falls asleep. So between two
//! moves every party that has begun runs a G, sleeps, is in a system call, or has stopped the world; and [`Lists`] can
//! say exactly what the next move does. What is sampled at random is part of the move.
//!
//! | file | holds |
//! |------|-------|
//! | `moves` | what can be moved, what happens, what is seen |
//! | `lists` | what they are, and what is seen of them |
//! | `look` | how an M looks for a G: the order of the places |
//! | `turn` | the global queue's turn |
//! | `hands` | whose P is whose: waking, sleeping, handing on, deadlock |
//! | `away` | system calls, bound Gs, and the monitor's rule |
//! | `elsewhere` | timers, the poller, and the monitor's thread |
//! | `world` | stopping the world, the line, the safepoint, more or fewer Ps, the end |
//! | `play` | a move is made; which there are |
//! | `sum` | what must hold of the lists themselves |
//! | `kernel`, `witness` | the same moves, made with the kernel; what is seen of it |
//! | `compare` | both, side by side |
//! | `wrong` | rules that are wrong, to see that they are refuted |

mod away;
mod compare;
mod elsewhere;
mod hands;
mod kernel;
mod lists;
mod look;
mod moves;
mod play;
mod sum;
mod turn;
mod witness;
mod world;
mod wrong;

pub use compare::{both, play, to_the_end};
pub use kernel::Kernel;
pub use lists::{Lists, Theme};
pub use moves::{Activity, Ev, Item, Move, Numbers, Observed, What, Who};
pub use wrong::Wrong;
