// SPDX-License-Identifier: Apache-2.0
use crate::call::{caught, check, Panic};
use crate::select::Ready;
use crate::{sys, Deadline};
use std::cell::UnsafeCell;
use std::mem::zeroed;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::{fmt, io, ptr};

/// What the two sides share. It stays at its address, in an Arc.
struct Shared<T> {
    future: UnsafeCell<sys::sennit_future>,
    /// The producer writes it before it sets the future; then it is the
    /// consumer's.
    outcome: UnsafeCell<Option<Result<T, Panic>>>,
}

// SAFETY: only `future`, which any thread may use, is used by both sides at
// once. A T goes from one thread to another.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above; no thread gets a &T.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The producer's side: it sets the future once. Dropped before that, it sets
/// the future to the error `BrokenPipe`.
pub struct Promise<T> {
    shared: Arc<Shared<T>>,
}

/// The consumer's side: a value that will be there.
pub struct Future<T> {
    shared: Arc<Shared<T>>,
}

/// A promise and its future.
pub fn promise<T: Send>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        // SAFETY: all bytes zero is a future that is not set.
        future: UnsafeCell::new(unsafe { zeroed() }),
        outcome: UnsafeCell::new(None),
    });
    (Promise { shared: shared.clone() }, Future { shared })
}

impl<T: Send> Promise<T> {
    /// Sets the future. All its waits end.
    pub fn set(self, value: T) {
        self.complete(Ok(value));
    }

    /// Sets the future to what `f` returns, or to its panic.
    pub(crate) fn fulfil(self, f: impl FnOnce() -> T) {
        let outcome = caught(f);
        self.complete(outcome);
    }

    fn complete(self, outcome: Result<T, Panic>) {
        // SAFETY: there is one promise, it is consumed here, and consumers look
        // only once the future is set.
        unsafe { *self.shared.outcome.get() = Some(outcome) };
        // Drop sets the future.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        // SAFETY: the producer's side until the future is set, below. It is not
        // set yet. The Arc keeps it until the call has returned.
        unsafe {
            let future = self.shared.future.get();
            if (*self.shared.outcome.get()).is_some() {
                sys::sennit_future_set(future, ptr::null_mut());
            } else {
                sys::sennit_future_set_error(future, -EPIPE);
            }
        }
    }
}

const EPIPE: i32 = 32;

impl<T: Send> Future<T> {
    /// Whether the future is set.
    pub fn is_set(&self) -> bool {
        // SAFETY: the Arc keeps it.
        unsafe { sys::sennit_future_is_set(self.shared.future.get()) }
    }

    /// Waits until the future is set. The error is `TimedOut` at the deadline,
    /// or ECANCELED once the caller's group is cancelled.
    pub fn wait(&self, by: Deadline) -> io::Result<()> {
        // SAFETY: the Arc keeps it.
        check(unsafe {
            sys::sennit_future_wait_until(self.shared.future.get(), by.0)
        })
    }

    /// A case of a [`select`](crate::select): the future is set, and
    /// [`Future::get`] does not wait.
    pub fn ready(&self) -> Ready<'_> {
        // SAFETY: the case borrows the future.
        unsafe { Ready::future(self.shared.future.get()) }
    }

    /// Waits until the future is set, and returns the value. The error is
    /// `BrokenPipe` if the promise was dropped, ECANCELED once the caller's group
    /// is cancelled, or `TimedOut` at the group's deadline.
    ///
    /// # Panics
    ///
    /// Resumes the panic of the task.
    pub fn get(self) -> io::Result<T> {
        // SAFETY: the Arc keeps it.
        let failed = unsafe {
            sys::sennit_future_get(self.shared.future.get(), ptr::null_mut())
        };
        check(failed)?;
        // SAFETY: the future is set, there is one consumer, and self is
        // consumed.
        let outcome = unsafe { (*self.shared.outcome.get()).take() };
        match outcome.expect("a future that is set has an outcome") {
            Ok(value) => Ok(value),
            Err(panic) => resume_unwind(panic),
        }
    }
}

impl<T> fmt::Debug for Future<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Future")
    }
}
