//! The two queues that are shared with the kernel: any thread submits, one at a time takes what is complete.
//!
//! The queues, and their orderings, are the crate io-uring's. It asks for three promises, and they are what is unsafe here: that one
//! thread at a time is in a queue, which a lock for each sees to; and that what an entry points to lives until it is complete,
//! which is the caller's promise in [`submit`](Ring::submit).
//!
//! | a thread submits                                | a thread takes completions                              |
//! |-------------------------------------------------|---------------------------------------------------------|
//! | 1. under a lock: the entry is in the queue      | 1. under another: takes what is there                   |
//! | 2. enters the kernel: it takes all in the queue | 2. nothing: enters the kernel, with what the queue has  |
//!
//! The kernel takes entries under a lock of its own. So a thread may find at 2 that another's call has taken its entry along.

#![allow(unsafe_code)]

use crate::runtime::io::netpoll::entry::lock;
use core::time::Duration;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Mutex, MutexGuard};
use std::{io, thread};

/// The number of a request, which is that of its completions.
pub(super) type Number = u64;

/// How often a call is repeated that the kernel has no room for now.
const TRIES: usize = 100;

/// Both queues.
pub(super) struct Ring {
    ring: IoUring,
    submission: Mutex<()>,
    completion: Mutex<()>,
}

impl Ring {
    /// With room for so many entries, and for so many completions before the kernel keeps them elsewhere.
    ///
    /// # Errors
    /// The system has none, forbids it, or is too old (before 5.18).
    pub(super) fn new(entries: u32, completions: u32) -> io::Result<Ring> {
        let ring = IoUring::builder().setup_cqsize(completions).setup_submit_all().dontfork().build(entries)?;
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
        Ok(Ring { ring, submission: Mutex::new(()), completion: Mutex::new(()) })
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

    /// Completes at once.
    pub(super) fn nop(&self, number: Number) -> io::Result<()> {
        // SAFETY: it points to nothing.
        unsafe { self.submit(&opcode::Nop::new().build().user_data(number)) }
    }

    /// Gives an entry to the kernel. If that has no room now, the next call takes it along.
    ///
    /// # Safety
    /// What the entry points to lives until its completion was taken, and nobody else uses it until then.
    ///
    /// # Errors
    /// The queue stays full: the kernel did not get the entry.
    unsafe fn submit(&self, entry: &squeue::Entry) -> io::Result<()> {
        let mut is_queued = false;
        for _ in 0..TRIES {
            if !is_queued {
                let _turn = lock(&self.submission);
                // SAFETY: whoever makes a `SubmissionQueue` holds this lock until it is dropped. What the entry points to is our
                // caller's promise.
                is_queued = unsafe { self.ring.submission_shared().push(entry).is_ok() };
            }
            match self.ring.submit() {
                Ok(_) if is_queued => return Ok(()),
                // The kernel has no memory, or too many completions wait, so nobody waits for one; or a signal came.
                Ok(_) | Err(_) => thread::yield_now(),
            }
        }
        match is_queued {
            true => Ok(()),
            false => Err(Errno::AGAIN.into()),
        }
    }

    /// Takes all completions that are there. If there is none, waits for one, for `timeout` at most (`None`: for ever).
    pub(super) fn wait(&self, timeout: Option<Duration>, mut each: impl FnMut(cqueue::Entry)) -> io::Result<()> {
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
    fn take(&self, _turn: &MutexGuard<'_, ()>, each: &mut impl FnMut(cqueue::Entry)) -> bool {
        // SAFETY: whoever makes a `CompletionQueue` holds the lock of which it was given the guard, until it is dropped.
        let queue = unsafe { self.ring.completion_shared() };
        let is_any = queue.len() > 0;
        queue.for_each(each);
        is_any
    }
}
