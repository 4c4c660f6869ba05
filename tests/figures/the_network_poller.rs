use super::figures::network;
use super::scenarios::{SEED, the_network_poller};
use crate::scenarios::builder;
use spinpark::net::UdpSocket;
use spinpark::trace::{Queue, Record, Recorder, State, What};
use spinpark::{Wait, yield_now};
use std::time::Duration;
use std::{net, thread};

#[test]
fn figure_03_g1_runs_and_wants_the_network() {
    let lines = network()[0].lines();
    assert_eq!(lines, ["M1 executes G1 under P", "LRQ of P: G2 G3 G4", "GRQ: empty", "poller: empty"]);
}

#[test]
fn figure_04_g1_waits_in_the_poller_and_g2_runs_on_the_same_m() {
    let lines = network()[1].lines();
    assert_eq!(lines, ["M1 executes G2 under P", "LRQ of P: G3 G4", "GRQ: empty", "poller: G1"]);
}

/// The figure draws G1 in P's ring, behind G4. Only the owner of a P puts into its ring, and that is M1, which executes G2. So
/// it is the monitor that finds G1, and it puts G1 into the global queue. Go's does the same.
#[test]
fn figure_05_g1_is_back_in_a_queue_and_g2_still_runs() {
    let lines = network()[2].lines();
    assert_eq!(lines, ["M1 executes G2 under P", "LRQ of P: G3 G4", "GRQ: G1", "poller: empty"]);
}

#[test]
fn after_figure_05_g3_and_g4_come_first_and_then_g1() {
    let play = the_network_poller(SEED);
    let over = play.trace.records().iter().filter(|record| record.what == What::Dead);
    let order: Vec<_> = over.filter_map(|record| record.g).map(|g| play.name(g)).collect();
    assert_eq!(order, ["G2", "G3", "G4", "G1"]);
}

#[test]
fn in_all_of_it_there_is_one_thread() {
    assert_eq!(super::count(&the_network_poller(SEED), super::is_start), 1);
}

/// The same with a socket and on a real core: G2 executes until the trace says that G1 can go on, and ends only then.
#[test]
fn a_real_socket_goes_the_same_way() {
    let recorder = Recorder::new();
    // G2 keeps its thread for longer than a slice.
    let builder = builder().procs(1).global_every(0).preemption(false).record(&recorder);
    let runtime = builder.build().expect("a runtime");
    let address = net::SocketAddr::from((net::Ipv4Addr::LOCALHOST, 0));
    let socket = runtime.block_on(UdpSocket::bind(address)).expect("no deadlock").expect("a socket");
    let to = socket.local_addr().expect("it has one");
    let g1 = runtime.go(move || socket.recv(&mut [0]).wait().expect("a message"));
    let seen = recorder.clone();
    let g2 = runtime.go(move || {
        let socket = net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        // If G1 was asked to yield before it waits, it comes first once more.
        while !seen.trace().states(1).iter().any(|state| matches!(state, State::Waiting(_))) {
            yield_now().wait();
        }
        socket.send_to(&[1], to).expect("it is sent");
        while seen.trace().states(1).last() != Some(&State::Runnable) {
            thread::sleep(Duration::from_millis(1));
        }
    });
    g1.join().expect("no panic");
    g2.join().expect("no panic");
    drop(runtime);
    let trace = recorder.trace();
    use State::{Created, Dead, Executing, Runnable, Waiting};
    let g1 = trace.states(1);
    assert!(matches!(g1[..], [Created, .., Executing, Waiting(_), Runnable, Executing, Dead]), "{g1:?}");
    let back = |record: &&Record| record.g == Some(1) && record.state() == Some(Runnable);
    let back = trace.records().iter().rfind(back).expect("it comes back");
    assert_eq!(back.what, What::Runnable { queue: Queue::Global, yields: false });
}
