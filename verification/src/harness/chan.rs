//! One channel around the protocol of [`spinpark_kernel::waits`]: who waits is a thread, which parks; what belongs to a value is a
//! cell whose races are seen.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::{Cell, ModelHost};
use spinpark_kernel::host::Host;
use spinpark_kernel::waits::chan::errors::{SendError, TryRecvError, TrySendError};
use spinpark_kernel::waits::chan::receive::Receive;
use spinpark_kernel::waits::chan::send::Send;
use spinpark_kernel::waits::chan::state::State;
use spinpark_kernel::waits::chan::{Channel, Parts};
use std::marker::PhantomData;
use std::sync::Arc;

/// What a channel of the models is made of.
pub struct OnModel<H>(PhantomData<fn() -> H>);

impl<H: ModelHost> Parts for OnModel<H> {
    type Host = H;
    type Value = u64;
    type Waker = ParkWaker<H>;
    type Lock = <H as Host>::Lock<State<Self>>;

    fn drop_value(_: u64) {}
}

/// A channel of the models.
pub type Chan<H> = Channel<OnModel<H>>;

/// A channel, and what belongs to its values: the sender of value `n` writes cell `n` before, its receiver reads it.
pub struct Tiny<H: ModelHost> {
    /// The channel.
    pub chan: Chan<H>,
    cells: Vec<H::Cell<u64>>,
    /// How often each thread had to wait.
    waits: Vec<H::Cell<u64>>,
}

/// More threads no model has.
const THREADS: usize = 4;

impl<H: ModelHost> Tiny<H> {
    /// With room for so many, for values below four.
    pub fn new(capacity: usize) -> Arc<Self> {
        let cells = |n| (0..n).map(|_| Cell::new(0)).collect();
        Arc::new(Tiny { chan: Channel::new(capacity), cells: cells(4), waits: cells(THREADS) })
    }

    /// This thread waits at least once more.
    fn waits(&self) {
        let waits = &self.waits[H::me()];
        waits.set(waits.get() + 1);
    }

    /// Has this thread had to wait?
    pub fn has_waited(&self) -> bool {
        self.waits[H::me()].get() > 0
    }

    /// Writes what belongs to value `n`.
    pub fn write(&self, n: u64) {
        self.cells[n as usize].set(n);
    }

    /// Reads what belongs to value `n`.
    pub fn read(&self, n: u64) {
        assert!(self.cells[n as usize].get() == n, "{n} is here, and not what was done before");
    }

    /// Sends `n`; waits if it has to. The value, if the channel is closed.
    pub fn send(&self, n: u64) -> Result<(), u64> {
        self.write(n);
        let mut send = Send::new(&self.chan, n);
        let sent = Sleeper::new().wait_for(|lender| {
            let polled = send.poll(lender);
            polled.is_pending().then(|| self.waits());
            polled
        });
        sent.map_err(SendError::into_inner)
    }

    /// Sends `n`, if that needs no wait.
    pub fn try_send(&self, n: u64) -> Result<(), TrySendError<u64>> {
        self.write(n);
        self.chan.try_put(n)
    }

    /// Receives; waits if it has to. `None`: the channel is closed.
    pub fn recv(&self) -> Option<u64> {
        let mut receive = Receive::new(&self.chan);
        let received = Sleeper::new().wait_for(|lender| {
            let polled = receive.poll(lender);
            polled.is_pending().then(|| self.waits());
            polled
        });
        received.ok().inspect(|&n| self.read(n))
    }

    /// Receives, if that needs no wait.
    pub fn try_recv(&self) -> Result<u64, TryRecvError> {
        self.chan.try_take().inspect(|&n| self.read(n))
    }

    /// Closes it. `false`: it was closed.
    pub fn close(&self) -> bool {
        self.chan.close()
    }

    /// What is left in it, now that no thread uses it.
    pub fn rest(&self) -> Vec<u64> {
        std::iter::from_fn(|| self.try_recv().ok()).collect()
    }
}
