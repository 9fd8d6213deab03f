// SPDX-License-Identifier: Apache-2.0
use super::{check, Deadline};
use crate::sys;
use std::io::{Error, ErrorKind, Result};
use std::mem::MaybeUninit;
use std::os::raw::c_int;
use std::ptr;

/// Signals of the process, for which tasks wait. Dropped, it receives no more;
/// the signals stay blocked.
///
/// ```
/// use sennit::{io::Signals, Deadline, Scheduler};
/// // Before any thread is made: threads inherit what is blocked.
/// let signals = Signals::block(&[Signals::INTERRUPT, Signals::TERMINATE])?;
/// let scheduler = unsafe { Scheduler::new() }?;
/// let stop = scheduler.spawn(move || signals.wait(Deadline::NEVER))?;
/// # std::process::Command::new("sh").args(["-c", "kill $PPID"]).status()?;
/// assert_eq!(stop.get()??, Signals::TERMINATE); // which kill(1) sends
/// # std::io::Result::Ok(())
/// ```
pub struct Signals {
    raw: *mut sys::sennit_signals,
}

// SAFETY: any thread may use and close it.
unsafe impl Send for Signals {}
// SAFETY: several may wait at once.
unsafe impl Sync for Signals {}

impl Signals {
    /// SIGHUP.
    pub const HANG_UP: i32 = 1;
    /// SIGINT: Ctrl-C.
    pub const INTERRUPT: i32 = 2;
    /// SIGQUIT.
    pub const QUIT: i32 = 3;
    /// SIGTERM.
    pub const TERMINATE: i32 = 15;

    /// Blocks the signals in the calling thread, and begins to receive them.
    /// Other signals than the four of this type have their numbers in C.
    ///
    /// Call it in `main`, before the scheduler or any thread is made. A thread
    /// that was there before does not block the signals, and may get them in
    /// place of this object. A child of `std::process::Command` does not
    /// inherit what is blocked.
    ///
    /// The error is `InvalidInput` for a number that is no signal, or one that
    /// cannot be blocked (SIGKILL, SIGSTOP).
    pub fn block(numbers: &[i32]) -> Result<Signals> {
        let mut set = MaybeUninit::<sys::sigset_t>::uninit();
        // SAFETY: it initialises the set.
        unsafe { sys::sigemptyset(set.as_mut_ptr()) };
        for &number in numbers {
            // SAFETY: the set is initialised.
            if unsafe { sys::sigaddset(set.as_mut_ptr(), number) } != 0 {
                return Err(ErrorKind::InvalidInput.into());
            }
        }
        // SAFETY: as above.
        let failed = unsafe {
            sys::pthread_sigmask(sys::SIG_BLOCK, set.as_ptr(), ptr::null_mut())
        };
        if failed != 0 {
            return Err(Error::from_raw_os_error(failed));
        }
        let mut raw = ptr::null_mut();
        // SAFETY: both outlive the call.
        check(unsafe { sys::sennit_signals_open(&mut raw, set.as_ptr()) })?;
        Ok(Signals { raw })
    }

    /// Waits for one of the signals, and returns its number. Each is received
    /// by one waiter. The error is `TimedOut` at the deadline, or ECANCELED once
    /// the caller's group is cancelled; no signal is lost.
    pub fn wait(&self, by: Deadline) -> Result<c_int> {
        // SAFETY: &self keeps it. No details are asked for.
        let number = unsafe {
            sys::sennit_signals_wait(self.raw, ptr::null_mut(), by.0)
        };
        check(number)?;
        Ok(number)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: nobody waits: that would borrow self.
        unsafe { sys::sennit_signals_close(self.raw) }
    }
}
