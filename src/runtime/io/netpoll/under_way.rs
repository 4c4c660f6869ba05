//! The operations on files that the kernel has not completed, each by its number.
//!
//! **A number is of one operation, and never of another**, so a cancellation that comes too late does nothing. (It comes again after
//! 2^31 operations.) Numbers of polls are smaller, others' greater: one bit says that it is an operation's.

use crate::host::Host;
use crate::runtime::host::cores::Cores;
use crate::runtime::io::netpoll::lock::{lock, shut_down};
use crate::runtime::task_waker::TaskWaker;
use crate::waits::operation::{Operation, State};
use slab::Slab;
use std::io;
use std::sync::{Arc, Mutex};

/// Set in the number of an operation. The greatest numbers are not of operations: there is none so late in the slab.
const IS_OPERATION: u64 = 1 << 63;

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) enum What {
    Read,
    Write,
    SyncAll,
    SyncData,
}

/// An operation on a file, with the bytes that it is to write, or the room for those that it reads.
pub(in crate::runtime) struct Work {
    pub(in crate::runtime) what: What,
    pub(in crate::runtime) buffer: Vec<u8>,
}

/// An operation that holds its buffer. Its result is the kernel's: a number of bytes, or an error's code below 0.
pub(in crate::runtime) type FileOperation =
    Operation<Work, i32, TaskWaker, <Cores as Host>::Lock<State<Work, i32, TaskWaker>>>;

/// One that is started.
pub(in crate::runtime) struct Started {
    pub(in crate::runtime) number: u64,
    pub(in crate::runtime) operation: Arc<FileOperation>,
}

/// What the kernel is given.
pub(super) struct Buffer {
    pub(super) what: What,
    pub(super) address: *mut u8,
    pub(super) length: u32,
}

/// All of a ring.
pub(super) struct UnderWay(Mutex<Table>);

struct Table {
    operations: Slab<(u64, Arc<FileOperation>)>,
    generation: u32,
    is_closed: bool,
}

impl UnderWay {
    pub(super) fn new() -> UnderWay {
        UnderWay(Mutex::new(Table { operations: Slab::new(), generation: 0, is_closed: false }))
    }

    /// One that is about to be started.
    pub(super) fn insert(&self, mut work: Work) -> io::Result<(Started, Buffer)> {
        // Where the bytes are does not change when the vector is moved.
        let (what, address) = (work.what, work.buffer.as_mut_ptr());
        let length = u32::try_from(work.buffer.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let operation = Arc::new(FileOperation::new(work));
        let mut table = lock(&self.0);
        if table.is_closed {
            return Err(shut_down());
        }
        table.generation = table.generation.wrapping_add(1) & (u32::MAX >> 1);
        let generation = u64::from(table.generation);
        let place = table.operations.vacant_entry();
        let key =
            u32::try_from(place.key()).ok().filter(|&key| key < u32::MAX - 1).ok_or(io::ErrorKind::OutOfMemory)?;
        let number = IS_OPERATION | generation << 32 | u64::from(key);
        place.insert((number, Arc::clone(&operation)));
        Ok((Started { number, operation }, Buffer { what, address, length }))
    }

    /// It is complete. `None`: it is no operation's number.
    pub(super) fn remove(&self, number: u64) -> Option<Arc<FileOperation>> {
        if number & IS_OPERATION == 0 {
            return None;
        }
        let mut table = lock(&self.0);
        let key = (number & u64::from(u32::MAX)) as usize;
        match table.operations.get(key) {
            Some(&(found, _)) if found == number => Some(table.operations.remove(key).1),
            _ => None,
        }
    }

    /// Nothing is started any more.
    pub(super) fn close(&self) {
        lock(&self.0).is_closed = true;
    }

    /// Of all.
    pub(super) fn numbers(&self) -> Vec<u64> {
        lock(&self.0).operations.iter().map(|(_, &(number, _))| number).collect()
    }
}

/// The kernel has completed these. How many tasks without a waker wait no more?
pub(super) fn take_complete(complete: &mut Vec<(Arc<FileOperation>, i32)>, wakers: &mut Vec<TaskWaker>) -> usize {
    let mut finished = 0;
    for (operation, result) in complete.drain(..) {
        let (left, has_given_up) = operation.with(|state| (state.completes(result), state.has_given_up()));
        finished += usize::from(!has_given_up && left.wakes.is_none());
        wakers.extend(left.wakes);
        drop(left.frees);
    }
    finished
}
