//! What is started as a process, or is an example: the examples, the console beside a browser, the standard streams.

mod chat;
mod console;
mod embedding;
mod http_server;
mod https_proxy;
mod job_runner;
mod link_check;
mod programs;
mod standard;
mod word_count;
