//! All tests in one program, since each that is built for itself is linked with all the models. Apart are `ledger`, which needs none of
//! them, and `models`, whose tests are a list.

mod every_size;
mod evidence;
mod litmus;
mod litmus_files;
mod liveness;
mod orderings;
mod reference;
mod replay;
mod scenes;
mod shrink;
mod stress;
