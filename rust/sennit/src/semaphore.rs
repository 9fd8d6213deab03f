// SPDX-License-Identifier: Apache-2.0
use crate::call::check;
use crate::{sys, Deadline};
use std::cell::UnsafeCell;
use std::io;
use std::mem::{forget, zeroed};
use std::panic::RefUnwindSafe;

/// A number of permits: for as many connections, requests or bytes at a time.
///
/// Waiters are served first come, first served, however few permits later
/// callers want. A semaphore can be made in the program and shared by `&` or
/// by an `Arc`.
pub struct Semaphore {
    raw: UnsafeCell<sys::sennit_semaphore>,
}

// SAFETY: any thread may use it.
unsafe impl Send for Semaphore {}
// SAFETY: calls may run at once.
unsafe impl Sync for Semaphore {}
// A panic leaves the number of permits as it is.
impl RefUnwindSafe for Semaphore {}

impl Semaphore {
    /// The largest number of permits.
    pub const MAX: u32 = sys::SENNIT_SEMAPHORE_MAX;

    /// A semaphore with these permits.
    ///
    /// # Panics
    ///
    /// If there are more than [`Semaphore::MAX`].
    pub fn new(permits: u32) -> Self {
        assert!(permits <= Self::MAX, "more permits than Semaphore::MAX");
        // SAFETY: all bytes zero is a semaphore. It may move as long as nobody
        // waits, which borrows it.
        let raw = UnsafeCell::new(unsafe { zeroed() });
        // SAFETY: nobody uses it yet.
        unsafe { sys::sennit_semaphore_init(raw.get(), permits) };
        Semaphore { raw }
    }

    /// Takes `n` permits, all or none. Waits for them and for earlier waiters.
    /// The error is `TimedOut` at the deadline, or ECANCELED once the caller's
    /// group is cancelled.
    ///
    /// # Panics
    ///
    /// If `n` is more than [`Semaphore::MAX`].
    pub fn acquire(&self, n: u32, by: Deadline) -> io::Result<Permits<'_>> {
        assert!(n <= Self::MAX, "more permits than Semaphore::MAX");
        // SAFETY: &self keeps it at its address while anyone waits.
        check(unsafe {
            sys::sennit_semaphore_acquire_until(self.raw.get(), n, by.0)
        })?;
        Ok(Permits { semaphore: self, n })
    }

    /// Adds permits: more than there were at first, or those that
    /// [`Permits::keep`] has kept. To exceed [`Semaphore::MAX`] ends the
    /// process with a message.
    pub fn release(&self, n: u32) {
        // SAFETY: as above. The call checks the number.
        unsafe { sys::sennit_semaphore_release(self.raw.get(), n) }
    }

    /// The number of permits at this moment.
    pub fn permits(&self) -> u32 {
        // SAFETY: as above.
        unsafe { sys::sennit_semaphore_count(self.raw.get()) }
    }
}

/// Permits that go back when they are dropped, by any task or thread.
#[must_use = "the permits go back when this is dropped"]
pub struct Permits<'a> {
    semaphore: &'a Semaphore,
    n: u32,
}

impl Permits<'_> {
    /// Does not give them back. [`Semaphore::release`] does, at another place.
    pub fn keep(self) {
        forget(self);
    }
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        self.semaphore.release(self.n);
    }
}
