// SPDX-License-Identifier: Apache-2.0
use crate::call::{check, from_c};
use crate::{promise, sys, Deadline, Future};
use std::ffi::CString;
use std::mem::{size_of, zeroed, ManuallyDrop};
use std::os::raw::c_void;
use std::{io, ptr};

/// Options of a scheduler.
#[derive(Clone, Debug)]
pub struct Builder {
    workers: u32,
    stack_size: usize,
    max_fibers: u32,
    name: String,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            workers: 0,
            stack_size: 256 << 10,
            max_fibers: 0,
            name: "sennit".into(),
        }
    }
}

impl Builder {
    /// The number of workers; 0: one for each CPU of the process.
    pub fn workers(mut self, workers: u32) -> Self {
        self.workers = workers;
        self
    }

    /// Bytes of a task's stack. The default, 256 KiB, is enough to print the
    /// backtrace of a panic. Only what is touched takes memory.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// The largest number of tasks that wait at once; 0: no limit.
    pub fn max_fibers(mut self, fibers: u32) -> Self {
        self.max_fibers = fibers;
        self
    }

    /// The name of the threads.
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Starts the scheduler.
    ///
    /// # Safety
    ///
    /// The caller promises for all tasks of the scheduler, once, what
    /// [`Scheduler::new`] says. Everything else in this crate is safe.
    pub unsafe fn start(self) -> io::Result<Scheduler> {
        if self.workers > sys::SENNIT_WORKERS_MAX {
            // A scheduler without threads needs a bound thread.
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let name = CString::new(self.name)?;
        // All bytes zero is the default configuration.
        let mut config: sys::sennit_config = zeroed();
        config.size = size_of::<sys::sennit_config>();
        config.workers = self.workers;
        config.stack_size = self.stack_size;
        config.max_fibers = self.max_fibers;
        config.name = name.as_ptr();
        // Guards stay required: without one an overflow in safe code would
        // write into another task's stack.
        config.guards = sys::SENNIT_GUARDS_REQUIRED;
        let mut raw = ptr::null_mut();
        // Both outlive the call, which copies the name.
        check(sys::sennit_scheduler_create(&mut raw, &config))?;
        Ok(Scheduler { raw })
    }
}

/// Worker threads that run tasks. A value is a reference: clones name the same
/// scheduler. When the last is dropped, the scheduler finishes its work,
/// waiting tasks included, and ends by itself. The drop does not wait for that;
/// [`Scheduler::shutdown`] does.
pub struct Scheduler {
    raw: *mut sys::sennit_scheduler,
}

// SAFETY: any thread may use and release a reference.
unsafe impl Send for Scheduler {}
// SAFETY: calls on one scheduler may run at once.
unsafe impl Sync for Scheduler {}

impl Scheduler {
    /// Options, to be followed by [`Builder::start`].
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A scheduler with a worker for each CPU of the process.
    ///
    /// # Safety
    ///
    /// While a task waits, its thread runs other tasks. The caller promises
    /// that no task of this scheduler waits,
    ///
    /// - inside the initialiser of a `thread_local!`: another task would
    ///   initialise the same variable meanwhile, and the end of the first
    ///   initialiser would replace the value to which it has a reference;
    /// - inside a function that is sound only because the calls of a thread are
    ///   nested. `std` has no other. Some crates have: such as
    ///   `scoped_tls::ScopedKey::set`, which keeps a pointer in a thread-local
    ///   variable while it calls a closure, or
    ///   `thread_local::ThreadLocal::get_or`, which makes a thread's value by a
    ///   closure.
    ///
    /// The promise is about the program: about all code that is given a
    /// reference to the scheduler, or runs in its tasks. To keep it, look for
    /// waits in initialisers, and look at what the closures call that are
    /// passed to such functions. Only waits of this crate count: while a
    /// `std::sync::Mutex` blocks the thread, no other task of the thread runs.
    ///
    /// Everything else that a thread has in common is safe across waits; the
    /// README of the crate says what it does.
    pub unsafe fn new() -> io::Result<Scheduler> {
        Builder::default().start()
    }

    /// The scheduler of C.
    pub fn as_raw(&self) -> *mut sys::sennit_scheduler {
        self.raw
    }

    /// The number of workers.
    pub fn workers(&self) -> u32 {
        // SAFETY: self is a reference.
        unsafe { sys::sennit_scheduler_workers(self.raw) }
    }

    /// Runs `f` in a task, on any worker, and returns the future of its result.
    ///
    /// `f` is `Send`, since it may start on any worker. What it holds across a
    /// wait need not be: a task stays on the worker that has started it. A
    /// future that is dropped detaches its task, as a `JoinHandle` does.
    ///
    /// What a task must not do is the promise of [`Scheduler::new`].
    pub fn spawn<F, T>(&self, f: F) -> io::Result<Future<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (promise, future) = promise();
        // SAFETY: what the task captures is 'static, a Promise is Send, and
        // `fulfil` catches panics.
        unsafe { self.enqueue(move || promise.fulfil(f)) }?;
        Ok(future)
    }

    /// # Safety
    ///
    /// What `f` borrows lives until it has run, and `f` does not panic.
    unsafe fn enqueue<F: FnOnce() + Send>(&self, f: F) -> io::Result<()> {
        let mut f = ManuallyDrop::new(f);
        let task = sys::sennit_task {
            run: Some(run::<F>),
            argument: &mut *f as *mut F as *mut c_void,
            copy_size: size_of::<F>(),
            flags: 0,
            reserved_: 0,
        };
        let result = check(sys::sennit_schedule_task_on(self.raw, &task));
        if result.is_err() {
            ManuallyDrop::drop(&mut f); // no task owns the copy
        }
        result
    }

    /// Drops this reference and waits until the scheduler has ended, which it
    /// does when it has no other reference and no work.
    ///
    /// At the deadline the error is `TimedOut`, and the reference comes back.
    /// In a task of the scheduler itself the error is `EDEADLK`.
    pub fn shutdown(self, by: Deadline) -> Result<(), (Scheduler, io::Error)> {
        // SAFETY: may be called from anywhere.
        if unsafe { sys::sennit_scheduler_current() } == self.raw {
            let error = io::Error::from_raw_os_error(EDEADLK);
            return Err((self, error));
        }
        // SAFETY: the reference is given up, unless the call fails.
        match check(unsafe { sys::sennit_scheduler_shutdown(self.raw, by.0) }) {
            Ok(()) => {
                std::mem::forget(self);
                Ok(())
            }
            Err(error) => Err((self, error)),
        }
    }
}

const EDEADLK: i32 = 35;

/// # Safety
///
/// `argument` is a copy of an F that no other code drops or calls. F has bytes,
/// since it holds a promise: of no bytes there would be no copy. The copy is
/// aligned to 16 bytes, F perhaps to more.
unsafe extern "C" fn run<F: FnOnce()>(argument: *mut c_void) {
    from_c(|| (argument as *mut F).read_unaligned()());
}

impl Clone for Scheduler {
    fn clone(&self) -> Self {
        // SAFETY: self is a reference.
        unsafe { sys::sennit_scheduler_retain(self.raw) };
        Scheduler { raw: self.raw }
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        // SAFETY: this is the reference that self owns.
        unsafe { sys::sennit_scheduler_release(self.raw) }
    }
}
