//! A value that is set once, and waited for.

use crate::runtime::exec::yielding::proceed;
use crate::runtime::sync::notify::Notify;
use core::error::Error;
use core::fmt;
use std::sync::OnceLock;

/// A value that is set once; tasks wait until it is. For a value that is made on demand there is
/// [`OnceCell`](crate::sync::OnceCell). Go: a variable, and a channel that is closed when it is set.
///
/// ```
/// use spinpark::sync::SetOnce;
///
/// static ADDRESS: SetOnce<String> = SetOnce::new();
///
/// # spinpark::run(async {
/// let task = spinpark::spawn(async { ADDRESS.wait().await.len() });
/// assert_eq!(ADDRESS.set("localhost".into()), Ok(()));
/// assert_eq!(task.await.expect("no panic"), 9);
/// assert_eq!(ADDRESS.set("elsewhere".into()).unwrap_err().0, "elsewhere");
/// assert_eq!(ADDRESS.get().map(String::as_str), Some("localhost"));
/// # });
/// ```
pub struct SetOnce<T> {
    value: OnceLock<T>,
    is_set: Notify,
}

impl<T> SetOnce<T> {
    /// Without a value yet.
    #[must_use]
    #[doc(alias = "const_new")]
    pub const fn new() -> Self {
        SetOnce { value: OnceLock::new(), is_set: Notify::new() }
    }

    /// With this value, or without one yet.
    ///
    /// ```
    /// use spinpark::sync::SetOnce;
    ///
    /// assert_eq!(SetOnce::new_with(Some(1)).get(), Some(&1));
    /// assert!(!SetOnce::<u8>::new_with(None).initialized());
    /// ```
    #[must_use]
    pub fn new_with(value: Option<T>) -> Self {
        SetOnce { value: value.map_or_else(OnceLock::new, OnceLock::from), is_set: Notify::new() }
    }

    /// Is it set?
    #[must_use]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if it is set. From any thread.
    #[must_use]
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Sets it, and wakes all that wait. From any thread.
    ///
    /// # Errors
    /// [`SetOnceError`], with the value: it is set already.
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.value.set(value).map_err(SetOnceError)?;
        self.is_set.notify_waiters();
        Ok(())
    }

    /// Waits until it is set.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    pub async fn wait(&self) -> &T {
        proceed().await;
        loop {
            // Before the look: what is set after it ends this wait.
            let is_set = self.is_set.notified();
            if let Some(value) = self.get() {
                return value;
            }
            is_set.await;
        }
    }

    /// The value, if it was set.
    ///
    /// ```
    /// assert_eq!(spinpark::sync::SetOnce::from(1).into_inner(), Some(1));
    /// ```
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for SetOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for SetOnce<T> {
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").field("value", &self.get()).finish_non_exhaustive()
    }
}

/// It is set already; here is the value that was to be set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Debug for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError(..)")
    }
}

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value was not set: there is one already")
    }
}

impl<T> Error for SetOnceError<T> {}

static_assertions::assert_impl_all!(SetOnce<std::cell::Cell<u8>>: Send);
static_assertions::assert_not_impl_any!(SetOnce<std::cell::Cell<u8>>: Sync);
