// SPDX-License-Identifier: Apache-2.0
//! What all calls need: deadlines, errors, panics that stay on their side.
use crate::sys;
use std::any::Any;
use std::os::raw::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;
use std::{io, process};

/// A point in time of the monotonic clock, at which a wait gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub(crate) sys::sennit_time);

impl Deadline {
    /// Try once, do not wait.
    pub const NOW: Deadline = Deadline(0);
    /// Wait until it happens, or until the task's group is cancelled.
    pub const NEVER: Deadline = Deadline(sys::SENNIT_NEVER);

    /// The time `duration` from now.
    pub fn after(duration: Duration) -> Deadline {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: may be called from anywhere.
        Deadline(unsafe { sys::sennit_after(ns) })
    }
}

/// What a call returned: 0, or a negative errno value.
pub(crate) fn check(result: c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(())
}

/// What a panic carries.
pub(crate) type Panic = Box<dyn Any + Send + 'static>;

/// Aborts if it is dropped: a panic must not unwind into frames of C.
struct Border;

impl Drop for Border {
    fn drop(&mut self) {
        eprintln!("sennit: a panic of a destructor or a waker");
        process::abort();
    }
}

/// Calls `f` from C. `f` catches panics of the program itself; any other, such
/// as one of a destructor or a waker, aborts.
pub(crate) fn from_c<T>(f: impl FnOnce() -> T) -> T {
    let border = Border;
    let result = f();
    std::mem::forget(border);
    result
}

/// Calls `f` and returns what it returned, or what it panicked with. The caller
/// that resumes the panic is responsible for values that are left in a broken
/// state, as with `std::thread`.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(f))
}
