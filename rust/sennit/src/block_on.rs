// SPDX-License-Identifier: Apache-2.0
use crate::call::check;
use crate::{sys, Deadline};
use std::cell::UnsafeCell;
use std::future::Future;
use std::io;
use std::mem::zeroed;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Set by the waker of a future, and cleared by the task that polls it.
struct Woken {
    event: UnsafeCell<sys::sennit_event>,
}

// SAFETY: any thread may use an event, at any time.
unsafe impl Send for Woken {}
// SAFETY: as above.
unsafe impl Sync for Woken {}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // SAFETY: the Arc keeps it.
        unsafe { sys::sennit_event_set(self.event.get()) }
    }
}

/// Polls a `std::future::Future` until it is ready, and waits in between, as a
/// fiber in a task: for code that was written for `async`. The future may need
/// a reactor of its own, as those of Tokio do; then enter its runtime first.
///
/// The error is `TimedOut` at the deadline, or ECANCELED once the caller's group
/// is cancelled; the future is then dropped.
///
/// ```
/// use sennit::{block_on, Deadline, Scheduler};
/// let scheduler = unsafe { Scheduler::new() }?;
/// let (first, second) = (scheduler.spawn(|| 1)?, scheduler.spawn(|| 2)?);
/// let sum = async { std::io::Result::Ok(first.await? + second.await?) };
/// assert_eq!(block_on(sum, Deadline::NEVER)??, 3);
/// # std::io::Result::Ok(())
/// ```
pub fn block_on<F: Future>(future: F, by: Deadline) -> io::Result<F::Output> {
    let mut future = future;
    // SAFETY: it is not moved any more: the name is hidden.
    let mut future = unsafe { Pin::new_unchecked(&mut future) };
    let woken = Arc::new(Woken {
        // SAFETY: initialised below.
        event: UnsafeCell::new(unsafe { zeroed() }),
    });
    // SAFETY: nobody uses it yet; it stays in the Arc.
    unsafe { sys::sennit_event_init(woken.event.get(), 0) };
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Ok(value);
        }
        // SAFETY: the Arc keeps it.
        unsafe {
            check(sys::sennit_event_wait_until(woken.event.get(), by.0))?;
            // A wake from here on is one before the next poll.
            sys::sennit_event_clear(woken.event.get());
        }
    }
}
