//! What is read: the sources, the pages about them, and what the compiler makes or says of them.

mod codegen;
mod documented;
#[path = "from_tokio/main.rs"]
mod from_tokio;
mod seam;
mod select_misuse;
mod thread_locals;
