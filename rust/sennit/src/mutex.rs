// SPDX-License-Identifier: Apache-2.0
use crate::call::check;
use crate::{sys, Deadline};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::{io, ptr};

/// A lock that suspends the task that waits, and not its thread. Unlike that of
/// `std`, it may be held across any wait: the others wait as tasks.
///
/// A panic while it is held unlocks it; there is no poisoning. To lock it again
/// while holding it aborts the process with a message.
pub struct Mutex<T: ?Sized> {
    raw: UnsafeCell<sys::sennit_mutex>,
    value: UnsafeCell<T>,
}

// SAFETY: the holder alone uses the value, on whichever thread it runs.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub const fn new(value: T) -> Self {
        let word = sys::sennit_word { value_: 0 };
        let null = ptr::null_mut();
        Mutex {
            raw: UnsafeCell::new(sys::sennit_mutex {
                state_: word,
                worker_: word,
                waiters_: null,
                owner_: sys::sennit_pointer { value_: null },
            }),
            value: UnsafeCell::new(value),
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks the mutex. Waits as long as another task or thread holds it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // SAFETY: &self keeps the mutex at its address while anyone waits.
        unsafe { sys::sennit_mutex_lock(self.raw.get()) };
        MutexGuard { mutex: self, here: PhantomData }
    }

    /// Locks the mutex. The error is `TimedOut` at the deadline, or ECANCELED
    /// once the caller's group is cancelled.
    pub fn lock_until(&self, by: Deadline) -> io::Result<MutexGuard<'_, T>> {
        // SAFETY: as in lock.
        check(unsafe { sys::sennit_mutex_lock_until(self.raw.get(), by.0) })?;
        Ok(MutexGuard { mutex: self, here: PhantomData })
    }

    /// The value, without locking: `&mut self` is the only reference.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// A lock that is held until the guard is dropped. The task that locked it
/// drops it, so it is not `Send`.
#[must_use = "the mutex is unlocked when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    here: PhantomData<*mut ()>, // !Send
}

// SAFETY: a &MutexGuard gives a &T, and no more.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mutex is held.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the mutex is held, and &mut self is the only way to it.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the guard stands for the lock.
        unsafe { sys::sennit_mutex_unlock(self.mutex.raw.get()) }
    }
}
