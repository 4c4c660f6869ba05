//! The two queues that are shared with the kernel: any thread submits, one at a time takes what is complete.
//!
//! The queues, and their orderings, are the crate io-uring's. It asks for promises, and they are what is unsafe here: that one thread at
//! a time is in a queue, which a lock for each sees to; and that what an entry points to lives until it is complete. Only operations on
//! files point to anything, their buffers; [`UnderWay`] has a share in each until its completion is taken, and a ring that is dropped
//! waits for that. (The kernel uses them on for a while after a ring is closed.) The protocol of a buffer's owners is
//! [`operation`](crate::waits::operation).
//!
//! | a thread submits                                | a thread takes completions                              |
//! |-------------------------------------------------|---------------------------------------------------------|
//! | 1. under a lock: the entry is in the queue      | 1. under another: takes what is there                   |
//! | 2. enters the kernel: it takes all in the queue | 2. nothing: enters the kernel, with what the queue has  |
//!
//! The kernel takes entries under a lock of its own. So a thread may find at 2 that another's call has taken its entry along.

#![allow(unsafe_code)]

use crate::runtime::io::netpoll::lock::lock;
use crate::runtime::io::netpoll::under_way::{Buffer, FileOperation, Started, UnderWay, What, Work};
use core::time::Duration;
use io_uring::types::{Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard};
use std::{io, thread};

/// The number of a request, which is that of its completions.
pub(super) type Number = u64;

/// As the offset: where the file is, as read(2) and write(2) have it.
const HERE: u64 = u64::MAX;
/// How often a call is repeated that the kernel has no room for now.
const TRIES: usize = 100;

/// Both queues.
pub(super) struct Ring {
    ring: IoUring,
    under_way: UnderWay,
    submission: Mutex<()>,
    completion: Mutex<()>,
}

/// What is complete.
pub(super) enum Completion {
    /// A poll has something to report, or is no more; or any other request that is no operation.
    Poll { number: Number, result: i32, has_more: bool },
    /// An operation, with its result.
    Operation(Arc<FileOperation>, i32),
}

impl Ring {
    /// With room for so many entries, and for so many completions before the kernel keeps them elsewhere.
    ///
    /// # Errors
    /// The system has none, forbids it, or is too old (before 5.19).
    pub(super) fn new(entries: u32, completions: u32) -> io::Result<Ring> {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(completions).setup_submit_all().dontfork();
        // A poll is completed in the thread that had registered it. That is not interrupted for it: it does it when it next enters
        // the kernel, or at the next tick of the system's timer.
        builder.setup_coop_taskrun();
        let ring = builder.build(entries)?;
        let has = ring.params();
        let has_features = has.is_feature_nodrop()
            && has.is_feature_ext_arg()
            && has.is_feature_rw_cur_pos()
            && has.is_feature_skip_cqe_on_success();
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        let codes = [
            opcode::Nop::CODE,
            opcode::PollAdd::CODE,
            opcode::AsyncCancel::CODE,
            opcode::Read::CODE,
            opcode::Write::CODE,
            opcode::Fsync::CODE,
        ];
        if !has_features || !codes.iter().all(|&code| probe.is_supported(code)) {
            return Err(Errno::NOSYS.into());
        }
        Ok(Ring { ring, under_way: UnderWay::new(), submission: Mutex::new(()), completion: Mutex::new(()) })
    }

    /// The file reports as often as it gets ready for something of `flags`, as in poll(2); at once, if it is so already.
    pub(super) fn poll(&self, file: BorrowedFd<'_>, flags: u32, number: Number) -> io::Result<()> {
        let poll = opcode::PollAdd::new(Fd(file.as_raw_fd()), flags).multi(true);
        // SAFETY: it points to nothing.
        unsafe { self.submit(&poll.build().user_data(number)) }
    }

    /// The request of this number ends soon; it completes in any case. `cancellation` does only if there is none.
    ///
    /// (Not by a request to remove a poll: the kernel refuses that while it looks at the socket, and the poll goes on.)
    pub(super) fn cancel(&self, number: Number, cancellation: Number) -> io::Result<()> {
        let cancel = opcode::AsyncCancel::new(number).build().user_data(cancellation);
        // SAFETY: it points to nothing.
        unsafe { self.submit(&cancel.flags(squeue::Flags::SKIP_SUCCESS)) }
    }

    /// Starts an operation on a file. It is complete when [`wait`](Ring::wait) says so. Before it returns the kernel has the file, so
    /// that may be closed.
    ///
    /// # Errors
    /// The ring is [finished](Ring::finish), or the queue stays full: nothing was started.
    pub(super) fn start(&self, file: BorrowedFd<'_>, work: Work) -> io::Result<Started> {
        let (started, buffer) = self.under_way.insert(work)?;
        let Buffer { what, address, length } = buffer;
        let fd = Fd(file.as_raw_fd());
        let entry = match what {
            What::Read => opcode::Read::new(fd, address, length).offset(HERE).build(),
            What::Write => opcode::Write::new(fd, address, length).offset(HERE).build(),
            What::SyncAll => opcode::Fsync::new(fd).build(),
            What::SyncData => opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build(),
        };
        // SAFETY: the buffer is the operation's, in which `under_way` has a share until the completion was taken. The operation
        // gives it to no other before it is complete, and does not look into it. It is not empty, if it is pointed to.
        match unsafe { self.submit(&entry.user_data(started.number)) } {
            Ok(()) => self.until_taken(),
            Err(error) => {
                self.under_way.remove(started.number);
                return Err(error);
            }
        }
        Ok(started)
    }

    /// Waits until the kernel has all that is queued: it has looked then which files are meant.
    fn until_taken(&self) {
        let is_taken = || {
            let _turn = lock(&self.submission);
            // SAFETY: under its lock.
            unsafe { self.ring.submission_shared().is_empty() }
        };
        while !is_taken() {
            let _ = self.ring.submit(); // it has no memory now, and is asked again
            thread::yield_now();
        }
    }

    /// Lets nothing be started any more, cancels all operations, and waits for their completions.
    pub(super) fn finish(&self, mut each: impl FnMut(Completion), bell: Number) {
        self.under_way.close();
        loop {
            let numbers = self.under_way.numbers();
            if numbers.is_empty() {
                return;
            }
            // Also the thread that waits now, for ever: it takes what there is, and lets us in.
            let _ = self.nop(bell);
            numbers.into_iter().for_each(|number| drop(self.cancel(number, bell)));
            let _ = self.wait(Some(Duration::from_millis(1)), &mut each);
        }
    }

    /// Completes at once.
    pub(super) fn nop(&self, number: Number) -> io::Result<()> {
        // SAFETY: it points to nothing.
        unsafe { self.submit(&opcode::Nop::new().build().user_data(number)) }
    }

    /// Gives an entry to the kernel. If that has no room now, the next call takes it along.
    ///
    /// # Safety
    /// What the entry points to lives until its completion was taken, and no other thread uses it until then.
    ///
    /// # Errors
    /// The queue stays full: the kernel did not get the entry.
    unsafe fn submit(&self, entry: &squeue::Entry) -> io::Result<()> {
        let mut is_queued = false;
        for _ in 0..TRIES {
            if !is_queued {
                let _turn = lock(&self.submission);
                // SAFETY: the maker of a `SubmissionQueue` holds this lock until it is dropped. What the entry points to is our
                // caller's promise.
                is_queued = unsafe { self.ring.submission_shared().push(entry).is_ok() };
            }
            match self.ring.submit() {
                Ok(_) if is_queued => return Ok(()),
                // The kernel has no memory, or too many completions wait, so no thread waits for one; or a signal came.
                Ok(_) | Err(_) => thread::yield_now(),
            }
        }
        match is_queued {
            true => Ok(()),
            false => Err(Errno::AGAIN.into()),
        }
    }

    /// Takes all completions that are there. If there is none, waits for one, for `timeout` at most (`None`: for ever).
    pub(super) fn wait(&self, timeout: Option<Duration>, mut each: impl FnMut(Completion)) -> io::Result<()> {
        let turn = lock(&self.completion);
        let is_any = self.take(&turn, &mut each);
        let has_to_enter = {
            let _turn = lock(&self.submission);
            // SAFETY: under its lock.
            let queue = unsafe { self.ring.submission_shared() };
            queue.cq_overflow() || !queue.is_empty()
        };
        let waits = !is_any && timeout != Some(Duration::ZERO);
        if !has_to_enter && !waits {
            return Ok(());
        }
        let entered = match timeout {
            _ if !waits => self.ring.submit(),
            None => self.ring.submit_and_wait(1),
            Some(timeout) => {
                let time = Timespec::from(timeout);
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        self.take(&turn, &mut each);
        match entered.map_err(|error| Errno::from_io_error(&error).ok_or(error)) {
            // The time is over, a signal came, or there are so many completions that they have to be taken first.
            Ok(_) | Err(Ok(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN)) => Ok(()),
            Err(Ok(error)) => Err(error.into()),
            Err(Err(error)) => Err(error),
        }
    }

    /// Takes what is there. Was anything?
    fn take(&self, _turn: &MutexGuard<'_, ()>, each: &mut impl FnMut(Completion)) -> bool {
        // SAFETY: the maker of a `CompletionQueue` holds the lock of which it was given the guard, until it is dropped.
        let queue = unsafe { self.ring.completion_shared() };
        let is_any = !queue.is_empty();
        for entry in queue {
            let number = entry.user_data();
            match self.under_way.remove(number) {
                Some(operation) => each(Completion::Operation(operation, entry.result())),
                None => {
                    each(Completion::Poll { number, result: entry.result(), has_more: cqueue::more(entry.flags()) })
                }
            }
        }
        is_any
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.finish(
            |completion| {
                if let Completion::Operation(operation, result) = completion {
                    operation.complete(result).settle();
                }
            },
            Number::MAX,
        );
    }
}
