// SPDX-License-Identifier: Apache-2.0
use crate::call::{caught, check, from_c, Panic};
use crate::select::Ready;
use crate::{sys, Deadline};
use std::cell::UnsafeCell;
use std::mem::zeroed;
use std::os::raw::{c_int, c_void};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
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
///
/// It is also a `std::future::Future`: `future.await` gives in any executor
/// what [`Future::get`] gives, and no thread waits meanwhile. The executor must
/// not be one of tasks that wait for this one.
pub struct Future<T> {
    shared: Arc<Shared<T>>,
    awaited: Option<Arc<Awaited>>,
}

/// A promise and its future.
pub fn promise<T: Send>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        // SAFETY: all bytes zero is a future that is not set.
        future: UnsafeCell::new(unsafe { zeroed() }),
        outcome: UnsafeCell::new(None),
    });
    (Promise { shared: shared.clone() }, Future { shared, awaited: None })
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
        // SAFETY: the future is set to a value.
        unsafe { self.take() }
    }

    /// # Safety
    ///
    /// The future is set, and not to an error.
    unsafe fn take(&self) -> io::Result<T> {
        // There is one consumer, and it is here.
        let outcome = (*self.shared.outcome.get()).take();
        match outcome.expect("this future was awaited to its end before") {
            Ok(value) => Ok(value),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Whom a future wakes when it is set.
struct Awaited {
    continuation: UnsafeCell<sys::sennit_continuation>,
    waker: Mutex<Option<Waker>>,
}

// SAFETY: `continuation` is filled in before it is shared; then it is C's.
unsafe impl Send for Awaited {}
// SAFETY: as above.
unsafe impl Sync for Awaited {}

impl Awaited {
    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps the newest waker. Wakers are foreign code: none is cloned or
    /// dropped under the lock.
    fn renew(&self, waker: &Waker) {
        let newest = Some(waker.clone());
        let older = std::mem::replace(&mut *self.waker(), newest);
        drop(older);
    }
}

/// # Safety
///
/// `argument` is an Arc that this call takes over.
unsafe extern "C" fn wake(argument: *mut c_void, _: *mut c_void, _: c_int) {
    from_c(|| {
        let awaited = Arc::from_raw(argument as *const Awaited);
        let waker = awaited.waker().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    });
}

impl<T: Send> std::future::Future for Future<T> {
    type Output = io::Result<T>;

    /// # Panics
    ///
    /// Resumes the panic of the task. Panics if it has been `Ready` before.
    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Self::Output> {
        if !self.is_set() {
            self.wake_later(cx.waker());
            // It may have been set before the waker was there.
            if !self.is_set() {
                return Poll::Pending;
            }
        }
        // SAFETY: the Arc keeps it. It is set, so the call does not wait.
        let failed = check(unsafe {
            sys::sennit_future_get_until(
                self.shared.future.get(),
                ptr::null_mut(),
                0,
            )
        });
        // SAFETY: it is set to a value, unless there is an error.
        Poll::Ready(failed.and_then(|()| unsafe { self.take() }))
    }
}

impl<T: Send> Future<T> {
    fn wake_later(&mut self, waker: &Waker) {
        if let Some(awaited) = &self.awaited {
            awaited.renew(waker);
            return;
        }
        let awaited = Arc::new(Awaited {
            continuation: UnsafeCell::new(sys::sennit_continuation {
                run: Some(wake),
                argument: ptr::null_mut(),
                scheduler: ptr::null_mut(),
                flags: sys::SENNIT_CONTINUATION_INLINE,
                error_: 0,
                value_: ptr::null_mut(),
                next_: ptr::null_mut(),
            }),
            waker: Mutex::new(Some(waker.clone())),
        });
        let owner = Arc::into_raw(awaited.clone());
        // SAFETY: C has the continuation from here until `wake`, which owns it.
        // The future exists, and is set at the latest when its promise is
        // dropped.
        unsafe {
            let continuation = awaited.continuation.get();
            (*continuation).argument = owner as *mut c_void;
            sys::sennit_future_then(self.shared.future.get(), continuation);
        }
        self.awaited = Some(awaited);
    }
}

impl<T> fmt::Debug for Future<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Future")
    }
}
