//! Each select is wrong; the line on which it begins says what the compiler must say.

use spinpark::chan::Receiver;
use spinpark::select;
use std::time::Duration;

async fn no_pattern(a: Receiver<u32>) {
    select! { a.recv() => {} } //~ select!: a case is `pattern = future => body`, `default => body`, `else => body` or `timeout(duration) => body`
}
async fn a_block_without_a_pattern() {
    select! { async { 1 } => {} } //~ select!: a case is `pattern = future => body`, `default => body`, `else => body` or `timeout(duration) => body`
}
async fn no_arrow(a: Receiver<u32>) {
    select! { _ = a.recv() } //~ select!: `_ = a.recv()` has no body: write `pattern = future => body`
}
async fn no_body_before_the_next(a: Receiver<u32>) {
    select! { _ = a.recv(), default => {} } //~ select!: `_ = a.recv()` has no body: write `pattern = future => body`
}
async fn no_comma(a: Receiver<u32>) {
    select! { _ = a.recv() => 1 default => 2 }; //~ select!: a comma is missing behind the body of `_ = a.recv()`
}
async fn a_semicolon(a: Receiver<u32>) {
    select! { _ = a.recv() => 1; default => 2 }; //~ select!: a comma, not a semicolon, stands between the body of `_ = a.recv()` and the next case
}
async fn two_elses(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, else => {} else => {} } //~ select!: one `else`, not two
}
async fn biased_late(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, biased; } //~ select!: `biased;` stands before the first case
}
async fn complete(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, complete => {} } //~ select!: there is no `complete`: write `else => body`, which is chosen if no case is left
}
async fn no_comma_behind_a_condition(a: Receiver<u32>, open: bool) {
    select! { Ok(n) = a.recv(), if open => n default => 2 }; //~ select!: a comma is missing behind the body of `Ok(n) = a.recv()`
}
async fn no_time(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, timeout => {} } //~ select!: how long? Write `timeout(duration) => body`
}
async fn a_default_and_a_timeout(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, default => {}, timeout(Duration::ZERO) => {} } //~ select!: one `default` or one `timeout`, not both, nor two
}
fn waits_without_braces(a: Receiver<u32>) {
    select!(wait _ = a.recv() => {}); //~ select!: a case is `pattern = future => body`, `default => body`, `else => body` or `timeout(duration) => body`
}
