//! A TCP server and its clients, all of them tasks of one runtime.

use crate::contenders::spinpark::Spinpark;
use crate::meters::Watch;
use crate::row::{Round, Setup, Tally};
use crate::tasks::Sockets;

pub(crate) const MESSAGE: usize = 64;

/// The `n`th message.
pub(crate) fn message(n: u64) -> [u8; MESSAGE] {
    let mut message = [n as u8; MESSAGE];
    message[..8].copy_from_slice(&n.to_le_bytes());
    message
}

/// Its number, if it came back whole.
pub(crate) fn number(message: &[u8; MESSAGE]) -> u64 {
    let number = u64::from_le_bytes(message[..8].try_into().expect("8 bytes"));
    assert_eq!(*message, self::message(number), "an echo");
    number
}

pub(crate) fn open<T: Sockets>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(move |n| T::run(round::<T>(setup.width, n / setup.width)))
}

/// So many connections to servers that send back what they read.
pub(crate) async fn connect<T: Sockets>(width: u64) -> Vec<T::Stream> {
    let (listener, address) = T::listen().await;
    let server = T::spawn(async move {
        for _ in 0..width {
            let mut stream = T::accept(&listener).await;
            T::detach(async move {
                let mut message = [0; MESSAGE];
                while T::read(&mut stream, &mut message).await {
                    T::write(&mut stream, &message).await;
                }
            });
        }
    });
    let mut streams = Vec::new();
    for _ in 0..width {
        streams.push(T::connect(address).await);
    }
    T::join(server).await;
    streams
}

async fn round<T: Sockets>(width: u64, each: u64) -> crate::row::Sample {
    let streams = connect::<T>(width).await;
    // All are connected: now by the clock.
    let watch = Watch::start();
    let client = |mut stream: T::Stream| {
        T::spawn(async move {
            let mut sum = 0;
            let mut answer = [0; MESSAGE];
            for i in 0..each {
                T::write(&mut stream, &message(i)).await;
                assert!(T::read(&mut stream, &mut answer).await, "the server has closed");
                sum += number(&answer);
            }
            sum
        })
    };
    let clients: Vec<_> = streams.into_iter().map(client).collect();
    let mut sum = 0;
    for client in clients {
        sum += T::join(client).await;
    }
    watch.time_and_cpu(Tally { count: width * each, sum })
}

/// The same in a ring.
pub(crate) fn uring(setup: Setup) -> Round {
    Spinpark::in_a_ring(open::<Spinpark>, setup)
}
