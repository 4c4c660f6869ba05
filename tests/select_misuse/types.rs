//! Each select waits for what cannot be waited for.

use spinpark::chan::Receiver;
use spinpark::select;

async fn a_number() {
    select! { n = 5_u32 => drop::<u32>(n) } //~ select!: `u32` is no send, no receive and no future, so nothing can be waited for
}
async fn awaited_there(a: Receiver<u32>) {
    select! { _ = a.recv().await.ok() => {} } //~ select!: `Option<u32>` is no send, no receive and no future, so nothing can be waited for
}
async fn a_receiver(a: Receiver<u32>) {
    select! { _ = a => {} } //~ select!: `spinpark::chan::Receiver<u32>` is no send, no receive and no future, so nothing can be waited for
}
async fn the_third_of_four(a: Receiver<u32>) {
    select! {
        _ = a.recv() => {}
        _ = async {} => {}
        _ = "text" => {} //~ select!: `&str` is no send, no receive and no future, so nothing can be waited for
        _ = a.recv() => {}
    }
}
