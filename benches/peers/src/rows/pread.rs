//! Reads of a file that is in the page cache: a system call that may block, and does not.

use crate::contenders::spinpark::Spinpark;
use crate::meters::Watch;
use crate::row::{Round, Setup, Tally, sum_below};
use crate::rows::sleepers::computes;
use crate::tasks::Tasks;
use std::fs::File;
use std::io::{SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

pub(crate) const BLOCK: usize = 4096;
const BLOCKS: u64 = 64;

/// Each block begins and ends with its number.
pub(crate) fn tally(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: 2 * (n / BLOCKS * sum_below(BLOCKS) + sum_below(n % BLOCKS)) }
}

/// A file of a few blocks. It has no name any more, so it is gone when it is closed.
pub(crate) fn file() -> Arc<File> {
    let path = std::env::temp_dir().join(format!("spinpark-peers-{}", std::process::id()));
    let mut file = File::create_new(&path).expect("a file");
    for n in 0..BLOCKS {
        let mut block = [0; BLOCK];
        block[..8].copy_from_slice(&n.to_le_bytes());
        block[BLOCK - 8..].copy_from_slice(&n.to_le_bytes());
        file.write_all(&block).expect("written");
    }
    let readable = File::open(&path).expect("it is there");
    std::fs::remove_file(&path).expect("it is there");
    Arc::new(readable)
}

/// The `n`th read, and what it says.
pub(crate) fn read(file: &File, block: &mut [u8; BLOCK], n: u64) -> u64 {
    file.read_exact_at(block, n % BLOCKS * BLOCK as u64).expect("a block");
    numbers(block)
}

/// What a block says.
fn numbers(block: &[u8; BLOCK]) -> u64 {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    number(&block[..8]) + number(&block[BLOCK - 8..])
}

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    reads::<T>(setup, false)
}

/// As a call is made that is known to block.
pub(crate) fn long<T: Tasks>(setup: Setup) -> Round {
    reads::<T>(setup, true)
}

/// The same, while others want the worker.
pub(crate) fn beside<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let file = file();
    Box::new(move |n| {
        let file = Arc::clone(&file);
        T::run(async move {
            let is_over = Arc::new(AtomicBool::new(false));
            let others: Vec<_> = (0..4).map(|_| T::spawn(computes::<T>(Arc::clone(&is_over)))).collect();
            let watch = Watch::start();
            let sum = read_all::<T>(file, n, true).await;
            let sample = watch.time(Tally { count: n, sum });
            is_over.store(true, Relaxed);
            for other in others {
                T::join(other).await;
            }
            sample
        })
    })
}

fn reads<T: Tasks>(setup: Setup, is_long: bool) -> Round {
    T::start(setup.workers);
    let file = file();
    Box::new(move |n| {
        let file = Arc::clone(&file);
        T::run(async move {
            let watch = Watch::start();
            let sum = read_all::<T>(file, n, is_long).await;
            watch.time_and_cpu(Tally { count: n, sum })
        })
    })
}

async fn read_all<T: Tasks>(file: Arc<File>, n: u64, is_long: bool) -> u64 {
    let mut block = Box::new([0; BLOCK]);
    let mut sum = 0;
    for i in 0..n {
        // The call may outlive the task, so it owns what it uses, and gives it back.
        let file = Arc::clone(&file);
        let call = move || (read(&file, &mut block, i), block);
        let (number, used) = T::block_as(is_long, call).await;
        sum += number;
        block = used;
    }
    sum
}

/// In the task itself, where it holds up the others if it blocks: what the way of the runtime is to be compared to.
pub(crate) fn bare<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let file = file();
    Box::new(move |n| {
        let file = Arc::clone(&file);
        T::run(async move {
            let mut block = Box::new([0; BLOCK]);
            let watch = Watch::start();
            let sum = (0..n).map(|i| read(&file, &mut block, i)).sum();
            watch.time_and_cpu(Tally { count: n, sum })
        })
    })
}

/// spinpark's `syscall`, in a closure.
pub(crate) fn go(setup: Setup) -> Round {
    let runtime = spinpark::Runtime::builder().procs(setup.workers).build().expect("a runtime");
    let file = file();
    Box::new(move |n| {
        let file = Arc::clone(&file);
        let task = runtime.go(move || {
            let mut block = Box::new([0; BLOCK]);
            let watch = Watch::start();
            let sum = (0..n).map(|i| spinpark::syscall(|| read(&file, &mut block, i))).sum();
            watch.time_and_cpu(Tally { count: n, sum })
        });
        task.join().expect("no panic")
    })
}

/// spinpark's own files, read one block after the other.
pub(crate) fn files(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let blocks = file();
    Box::new(move |n| {
        let file = spinpark::fs::File::from_std(blocks.try_clone().expect("a descriptor"));
        Spinpark::run(async move {
            let mut block = Box::new([0; BLOCK]);
            let watch = Watch::start();
            let mut sum = 0;
            for i in 0..n {
                if i % BLOCKS == 0 {
                    file.seek(SeekFrom::Start(0)).await.expect("the first block");
                }
                file.read_exact(&mut block[..]).await.expect("a block");
                sum += numbers(&block);
            }
            watch.time_and_cpu(Tally { count: n, sum })
        })
    })
}

/// The same in a ring.
pub(crate) fn uring(setup: Setup) -> Round {
    Spinpark::in_a_ring(files, setup)
}
