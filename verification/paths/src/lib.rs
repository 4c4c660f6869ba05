//! Every path of an operation of spinpark's kernel.
//!
//! One operation runs alone, on a host ([`host::Havoc`]) on which each load, each exchange and each question to a neighbour is
//! answered in every way that its environment can answer. What comes out is the operation's control automaton ([`path`]), exact: no
//! path of the real source is missing, whatever the number of Ms, Ps and Gs around it. [`rooms`] says what may be answered.
//!
//! [`tie`] then holds these automata against the drawings of `spinpark-parameterized`, which are proved for every size: each step of
//! the source is one of the drawing, and each drawn step at these places is one of the source. Two solvers decide that.
//!
//! See docs/evidence/every-size.md.

pub mod command;
pub mod host;
pub mod path;
pub mod rooms;
pub mod tie;
