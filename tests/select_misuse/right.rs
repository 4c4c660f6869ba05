//! Compiles: else the others would fail for another reason.

use spinpark::chan::Receiver;
use spinpark::select;
use std::time::Duration;

pub async fn either(a: Receiver<u32>, b: Option<Receiver<u32>>) -> u32 {
    let b = b.as_ref().map(|b| b.recv());
    select! {
        value = a.recv() => value.unwrap_or_default(),
        _ = b => 1,
        _ = async { 3 } => 2,
        timeout(Duration::from_secs(1)) => 3,
    }
}
