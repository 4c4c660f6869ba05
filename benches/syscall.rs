//! What it costs to give a P away: `cargo bench --bench syscall`. (`cargo test --benches` only sees that it runs.)
//!
//! * `syscall(|| pread 4 KiB)` whose P is not retaken against the bare call: both interleaved in one run, medians.
//! * How soon a P is retaken whose task sits in a system call while another task waits.

use spinpark::{Runtime, blocking, checkpoint, go, syscall};
use std::env;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::sync::mpsc;
use std::time::{Duration, Instant};

#[cfg(unix)]
fn pread(file: &File, buffer: &mut [u8]) {
    use std::os::unix::fs::FileExt;
    file.read_exact_at(buffer, 0).expect("4 KiB");
}

#[cfg(windows)]
fn pread(file: &File, buffer: &mut [u8]) {
    use std::os::windows::fs::FileExt;
    file.seek_read(buffer, 0).expect("4 KiB");
}

const CALLS: u32 = 20_000;

fn main() {
    let rounds = if env::args().any(|arg| arg == "--bench") { 101 } else { 1 };
    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    let path = env::temp_dir().join(format!("spinpark-bench-{}", std::process::id()));
    File::create(&path).and_then(|mut file| file.write_all(&[7; 4096])).expect("a file of 4 KiB");
    let file = File::open(&path).expect("it is there");

    let measured = runtime.go(move || {
        let mut buffer = [0; 4096];
        let mut bare = || pread(&file, black_box(&mut buffer));
        let mut ways: Vec<(&str, Vec<f64>)> = vec![];
        for round in 0..rounds {
            let calls = if rounds == 1 { 10 } else { CALLS };
            let mut way = |name, f: &mut dyn FnMut()| {
                let start = Instant::now();
                (0..calls).for_each(|_| f());
                let each = start.elapsed().as_nanos() as f64 / f64::from(calls);
                match ways.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, times)) => times.push(each),
                    None => ways.push((name, vec![each])),
                }
            };
            // In turn one and the other first: what drifts, drifts for both.
            if round % 2 == 0 {
                way("bare pread of 4 KiB", &mut bare);
                way("the same in syscall()", &mut || syscall(&mut bare));
            } else {
                way("the same in syscall()", &mut || syscall(&mut bare));
                way("bare pread of 4 KiB", &mut bare);
            }
            way("syscall() of nothing", &mut || assert!(syscall(|| black_box(true))));
            way("checkpoint()", &mut checkpoint);
        }
        ways
    });
    let ways = measured.join().expect("a value");
    std::fs::remove_file(path).expect("it is there");
    for (name, times) in &ways {
        println!("{:>8.1} ns: {name}", median(times));
    }
    let differences: Vec<f64> = ways[1].1.iter().zip(&ways[0].1).map(|(with, bare)| with - bare).collect();
    println!("{:>8.1} ns: what syscall() adds, the median of {rounds} differences", median(&differences));

    let mut waits: Vec<f64> = (0..rounds * 4).map(|_| retaken_after(&runtime).as_nanos() as f64 / 1e3).collect();
    waits.sort_by(f64::total_cmp);
    let (half, most) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    println!("{half:>8.1} us: a task waits behind one in a syscall, median; 99 in 100: {most:.1} us");
    let mut waits: Vec<f64> = (0..rounds * 4).map(|_| handed_on_after(&runtime).as_nanos() as f64 / 1e3).collect();
    waits.sort_by(f64::total_cmp);
    let (half, most) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    println!("{half:>8.1} us: a task waits behind one that is blocking(), median; 99 in 100: {most:.1} us");
}

/// From the moment in which a task enters a system call to that in which the one behind it runs.
fn retaken_after(runtime: &Runtime) -> Duration {
    let task = runtime.go(|| {
        let (tell, told) = mpsc::channel();
        drop(go(move || tell.send(Instant::now())));
        let entered = Instant::now();
        syscall(|| told.recv().expect("the other task tells")) - entered
    });
    task.join().expect("a value")
}

/// The same for a call that is known to block.
fn handed_on_after(runtime: &Runtime) -> Duration {
    let task = runtime.go(|| {
        let (tell, told) = mpsc::channel();
        drop(go(move || tell.send(Instant::now())));
        let entered = Instant::now();
        blocking(|| told.recv().expect("the other task tells")) - entered
    });
    task.join().expect("a value")
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
