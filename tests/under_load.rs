//! What keeps cores and memory busy: apart from tests that ask for a step within a time slice.

mod goroutines;
mod reliability;
mod waits;
