//! `Parallel`, by easy-parallel's names: closures that run at once, each a goroutine where that has a thread.

#![forbid(unsafe_code)]

use spinpark_interop::runtime;

type Closure<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

/// Closures that run at once.
pub struct Parallel<'a, T>(Vec<Closure<'a, T>>);

impl<'a, T: Send + 'a> Parallel<'a, T> {
    /// Of none.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Parallel(Vec::new())
    }

    /// And this.
    #[must_use]
    pub fn add(mut self, f: impl FnOnce() -> T + Send + 'a) -> Self {
        self.0.push(Box::new(f));
        self
    }

    /// And one for each.
    #[must_use]
    pub fn each<A: Send + 'a>(
        mut self,
        of: impl IntoIterator<Item = A>,
        f: impl FnOnce(A) -> T + Clone + Send + 'a,
    ) -> Self {
        for argument in of {
            let f = f.clone();
            self.0.push(Box::new(move || f(argument)));
        }
        self
    }

    /// What each returns. Panics if one has.
    pub fn run(self) -> Vec<T> {
        self.finish(|| ()).0
    }

    /// The same, while the caller does something, too.
    pub fn finish<R>(self, f: impl FnOnce() -> R) -> (Vec<T>, R) {
        runtime().scope(|scope| {
            let goroutines: Vec<_> = self.0.into_iter().map(|closure| scope.go(closure)).collect();
            let own = f();
            let values = goroutines.into_iter().map(|one| one.join().unwrap_or_else(|error| panic!("{error}")));
            (values.collect(), own)
        })
    }
}
