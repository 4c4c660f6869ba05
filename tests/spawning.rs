//! What is spawned: tasks, local tasks, sets, groups and scopes of them, and how they end, are cancelled and panic.

mod bombs;
mod cancelled;
mod go_idioms;
mod macros;
mod scope;
mod structured;
mod task_locals;
mod tasks;
mod tracked;
