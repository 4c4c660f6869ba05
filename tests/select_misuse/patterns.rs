//! Each pattern, condition or body has a type that does not fit: the error is on its own line.

use spinpark::chan::{Receiver, Sender};
use spinpark::select;

async fn a_pattern(a: Receiver<u32>, b: Sender<u32>) {
    select! {
        Ok(_) = a.recv() => {}
        Some(()) = b.send(1) => {} //~ mismatched types
    }
}
async fn a_condition(a: Receiver<u32>) {
    select! {
        _ = a.recv() => {}
        _ = a.recv(), if 1 => {} //~ mismatched types
    }
}
async fn a_body(a: Receiver<u32>) -> u32 {
    select! {
        Ok(n) = a.recv() => n,
        _ = a.recv() => "none", //~ mismatched types
    }
}
