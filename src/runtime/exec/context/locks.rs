//! How often a task is bound to its thread. Go: `m.lockedExt`.

/// How often a task is bound to its thread; it is free again when each binding is undone. Go: `m.lockedExt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::runtime) struct Locks(u32);

impl Locks {
    /// Not bound.
    pub(in crate::runtime) const NONE: Locks = Locks(0);

    /// Binds once more.
    pub(in crate::runtime) fn lock(&mut self) {
        self.0 += 1;
    }

    /// Undoes one binding.
    ///
    /// # Panics
    /// If there is none.
    fn unlock(&mut self) {
        self.0 = self.0.checked_sub(1).expect("thread_lock: unlocked more often than locked");
    }

    /// A [`ThreadLock`](crate::ThreadLock) is dropped. One that outlives its task, in a thread local, finds nothing to undo.
    pub(in crate::runtime) fn dropped(&mut self) {
        if self.is_locked() {
            self.unlock();
        }
    }

    /// Is it bound? A thread whose task ends so ends with it.
    pub(in crate::runtime) fn is_locked(self) -> bool {
        self.0 > 0
    }
}

#[cfg(test)]
mod tests {
    mod a_task_is_free_again_when_each_binding_is_undone {
        use crate::runtime::exec::context::locks::Locks;

        #[test]
        fn in_every_order_of_ten_of_both() {
            for order in 0..1_u32 << 10 {
                let (mut locks, mut bound) = (Locks::default(), 0);
                for step in 0..10 {
                    if order >> step & 1 == 0 {
                        locks.lock();
                        bound += 1;
                    } else if bound > 0 {
                        locks.unlock();
                        bound -= 1;
                    }
                    assert_eq!(locks.is_locked(), bound > 0, "bound {bound} times: {locks:?}");
                    assert_eq!(locks == Locks::NONE, bound == 0, "bound {bound} times: {locks:?}");
                }
            }
        }

        /// A guard is made, the oldest or the newest is dropped, the newest is kept for ever; or the task ends, or waits. If it is bound
        /// then, its thread ends with it, and a new one has no bindings; what guards it has left, in thread locals, are dropped there.
        #[test]
        fn in_every_order_of_eight_of_guards_and_tasks() {
            const STEPS: u32 = 8;
            for order in 0..5_u32.pow(STEPS) {
                let (mut locks, mut guards, mut kept) = (Locks::default(), 0_u32, 0_u32);
                let mut rest = order;
                for _ in 0..STEPS {
                    match rest % 5 {
                        0 => {
                            locks.lock();
                            guards += 1;
                        }
                        1 if guards > 0 => {
                            locks.dropped();
                            guards -= 1;
                        }
                        2 if guards > 0 => {
                            guards -= 1;
                            kept += 1;
                        }
                        3 if locks.is_locked() => {
                            (locks, guards, kept) = (Locks::NONE, 0, 0);
                        }
                        // One that was left behind by a task of before.
                        4 if guards + kept == 0 => locks.dropped(),
                        _ => (),
                    }
                    rest /= 5;
                    assert_eq!(locks, Locks(guards + kept), "{guards} guards, {kept} were kept, order {order}");
                    assert_eq!(locks.is_locked(), guards + kept > 0, "{guards} guards, {kept} were kept: {locks:?}");
                }
            }
        }

        #[test]
        #[should_panic(expected = "thread_lock: unlocked more often than locked")]
        fn and_not_once_more() {
            let mut locks = Locks::default();
            locks.lock();
            locks.unlock();
            locks.unlock();
        }
    }
}
