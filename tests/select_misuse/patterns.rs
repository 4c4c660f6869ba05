//! Each pattern does not fit everything that can come.

use spinpark::chan::{Receiver, Sender};
use spinpark::select;

async fn only_a_value(a: Receiver<u32>) {
    select! { Ok(value) = a.recv() => drop::<u32>(value) } //~ refutable pattern in local binding: pattern `Err(_)` not covered
}
async fn only_success(a: Receiver<u32>, b: Sender<u32>) {
    select! {
        _ = a.recv() => {}
        Ok(()) = b.send(1) => {} //~ refutable pattern in local binding: pattern `Err(_)` not covered
    }
}
