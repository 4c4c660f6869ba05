//! Each select is wrong; the line on which it begins says what the compiler must say.

use spinpark::chan::Receiver;
use spinpark::select;
use std::time::Duration;

async fn no_pattern(a: Receiver<u32>) {
    select! { a.recv() => {} } //~ select!: a case is `pattern = future => body`, `default => body` or `timeout(duration) => body`
}
async fn a_block_without_a_pattern() {
    select! { async { 1 } => {} } //~ select!: a case is `pattern = future => body`, `default => body` or `timeout(duration) => body`
}
async fn no_arrow(a: Receiver<u32>) {
    select! { _ = a.recv() } //~ select!: a case has no body: write `pattern = future => body`
}
async fn no_body_before_the_next(a: Receiver<u32>) {
    select! { _ = a.recv(), default => {} } //~ select!: a case has no body: write `pattern = future => body`
}
async fn no_comma(a: Receiver<u32>) {
    select! { _ = a.recv() => 1 default => 2 }; //~ select!: a comma is missing behind the body of a case
}
async fn a_semicolon(a: Receiver<u32>) {
    select! { _ = a.recv() => 1; default => 2 }; //~ select!: a comma, not a semicolon, stands between a case's body and the next case
}
async fn a_condition(a: Receiver<u32>, open: bool) {
    select! { _ = a.recv(), if open => {} } //~ select!: a case has no `if`: make it an `Option` of a send or a receive; `None` is never ready
}
async fn an_else(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, else => {} } //~ select!: there is no `else`: write `default => body`, which is chosen if no case is ready now
}
async fn biased(a: Receiver<u32>) {
    select! { biased; _ = a.recv() => {} } //~ select!: there is no `biased`: of several cases that are ready, each is as likely as any other
}
async fn complete(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, complete => {} } //~ select!: there is no `complete`: a case that is never ready again is an `Option` that is `None`
}
async fn no_time(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, timeout => {} } //~ select!: how long? Write `timeout(duration) => body`
}
async fn a_default_and_a_timeout(a: Receiver<u32>) {
    select! { _ = a.recv() => {}, default => {}, timeout(Duration::ZERO) => {} } //~ select!: one `default` or one `timeout`, not both, nor two
}
fn waits_without_braces(a: Receiver<u32>) {
    select!(wait _ = a.recv() => {}); //~ select!: a case is `pattern = future => body`, `default => body` or `timeout(duration) => body`
}
