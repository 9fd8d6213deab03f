// SPDX-License-Identifier: Apache-2.0
use crate::call::{caught, check, from_c, Panic};
use crate::{sys, Deadline};
use std::io;
use std::os::raw::c_void;
use std::panic::resume_unwind;
use std::time::Duration;

/// Lets ready tasks of this worker run first. Outside of tasks, yields the CPU.
pub fn yield_now() {
    // SAFETY: may be called from anywhere.
    unsafe { sys::sennit_yield() }
}

/// Sleeps. The error is ECANCELED once the caller's group is cancelled, or
/// `TimedOut` at the group's deadline.
pub fn sleep(duration: Duration) -> io::Result<()> {
    let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    // SAFETY: may be called from anywhere.
    check(unsafe { sys::sennit_sleep(ns) })
}

/// Sleeps until the time. The error is ECANCELED once the caller's group is
/// cancelled, or `TimedOut` at the group's deadline.
pub fn sleep_until(time: Deadline) -> io::Result<()> {
    // SAFETY: may be called from anywhere.
    check(unsafe { sys::sennit_sleep_until(time.0) })
}

/// Whether the calling task should go on: `Ok`, or ECANCELED, or `TimedOut`.
pub fn cancelled() -> io::Result<()> {
    // SAFETY: may be called from anywhere.
    check(unsafe { sys::sennit_check_cancelled() })
}

struct Call<F, T> {
    f: Option<F>,
    outcome: Option<Result<T, Panic>>,
}

/// Calls `f`, which blocks its thread, on a helper thread, while the calling
/// task waits. Outside of tasks, calls it here.
///
/// # Panics
///
/// Resumes the panic of `f`.
pub fn blocking<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let mut call = Call { f: Some(f), outcome: None };
    // SAFETY: `call` lives until the call has returned.
    unsafe {
        sys::sennit_blocking_call(
            run::<F, T>,
            &mut call as *mut Call<F, T> as *mut c_void,
        )
    };
    match call.outcome.expect("a blocking call has run") {
        Ok(value) => value,
        Err(panic) => resume_unwind(panic),
    }
}

/// # Safety
///
/// `argument` is a Call that its caller does not use meanwhile.
unsafe extern "C" fn run<F, T>(argument: *mut c_void) -> *mut c_void
where
    F: FnOnce() -> T,
{
    let call = &mut *(argument as *mut Call<F, T>);
    from_c(|| {
        if let Some(f) = call.f.take() {
            call.outcome = Some(caught(f));
        }
    });
    std::ptr::null_mut()
}
