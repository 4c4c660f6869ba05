//! What the documents name by a path, each name a link: rustdoc refuses one that leads nowhere.
//!
//! verification/tests/ledger/the_names.rs writes the lists. What a page means by a name that several crates have is what stands here.

pub mod kernel {
    //! On the kernel's pages.
    #![doc = include_str!("../named/kernel.txt")]
    use crate::engines;
    use crate::hosts::{any::Any as H, model_host::ModelHost};
    use spinpark_kernel::protocol::work_source::Waker;
    use spinpark_kernel::sched::{Sched, observer::Event, snapshot::Snapshot};
    use spinpark_kernel::types::{g::G, m::M};
    use spinpark_kernel::{host::*, queues, task, waits};
}

pub mod runtime {
    //! On the runtime's, and on all others.
    #![doc = include_str!("../named/runtime.txt")]
    use rc11::model;
    use spinpark::runtime::{self, Event, *};
    use spinpark::{chan::*, io::*, net::*, sync::*, task::*, time::*, *};
    use spinpark::{sync, task, time, tokio_compat::Compat};
    use spinpark_kernel::host::Host;
    use spinpark_kernel::protocol::{deadlock::Census, sources::SearchOrder, stw};
    use spinpark_kernel::protocol::{spinning::Neighbours, spinning::Spinning, syscall};
    use spinpark_kernel::queues::{globq::GlobQueue, globq::Len, local::LocalQueue, runq::RunQueue};
    use spinpark_kernel::sched::{Sched, config::Config, snapshot::Snapshot};
    use spinpark_kernel::types::{g::G, p::Turn};
    use spinpark_kernel::waits::chan::state::State;
    use std::{io::ErrorKind, sync::Arc, thread, time::Instant};
}

pub mod checker {
    //! On the checker's.
    #![doc = include_str!("../named/checker.txt")]
    use rc11::engine::Tally;
    use rc11::{alloc, cell, sync, thread};
    use rc11::{model::*, sync::*, thread::*, *};
}
