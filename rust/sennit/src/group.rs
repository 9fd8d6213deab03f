// SPDX-License-Identifier: Apache-2.0
use crate::call::{caught, check, from_c, Panic};
use crate::{sys, Deadline, Scheduler};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{size_of, zeroed, ManuallyDrop};
use std::os::raw::{c_int, c_void};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, sync};

/// A group whose members may borrow what lives longer than the group. See
/// [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    group: UnsafeCell<sys::sennit_group>,
    panic: sync::Mutex<Option<Panic>>,
    opener: Caller,
    /// Members that run on the opener's stack, while it waits. The opener's
    /// fiber alone changes it.
    above: AtomicU32,
    // Invariant, as in std::thread::Scope: 'scope must not shrink.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

// SAFETY: the opener and members may spawn and cancel at once.
unsafe impl Sync for Scope<'_, '_> {}

/// Opens a group on the scheduler, calls `f` with it, and waits until every
/// member has ended. Members are tasks that return `io::Result<()>` and may
/// borrow from outside of the group:
///
/// ```
/// # let scheduler = unsafe { sennit::Scheduler::new() }.unwrap();
/// let mut halves = [0, 0];
/// let (left, right) = halves.split_at_mut(1);
/// sennit::scope(&scheduler, sennit::Deadline::NEVER, |group| {
///     group.spawn(|| { left[0] = 1; Ok(()) })?;
///     group.spawn(|| { right[0] = 2; Ok(()) })
/// })??;
/// assert_eq!(halves, [1, 2]);
/// # std::io::Result::Ok(())
/// ```
///
/// The first error of a member cancels the group and is the error of the call.
/// Cancellation, and the deadline, end the members' waits.
/// A group that is opened in a task lies inside that task's group. Without an
/// error the call returns what `f` returned.
///
/// # Panics
///
/// A panic of `f` or of a member cancels the group. It is resumed here, once
/// all members have ended.
pub fn scope<'env, F, T>(
    scheduler: &Scheduler,
    by: Deadline,
    f: F,
) -> io::Result<T>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        // SAFETY: initialised below.
        group: UnsafeCell::new(unsafe { zeroed() }),
        panic: sync::Mutex::new(None),
        opener: Caller::current(),
        above: AtomicU32::new(0),
        scope: PhantomData,
        env: PhantomData,
    };
    // SAFETY: the group stays at its address until it has ended, below. No safe
    // code binds or unbinds threads.
    unsafe {
        sys::sennit_group_init_on(
            scope.group.get(),
            scheduler.as_raw(),
            by.0,
            0,
        )
    };
    let result = caught(|| f(&scope));
    if result.is_err() {
        scope.cancel();
    }
    // SAFETY: called once, by the opener. Nothing unwinds between the opening
    // and here, so no member outlives what it borrows.
    let ended = check(unsafe { sys::sennit_group_wait(scope.group.get()) });
    let panic = scope.first_panic().take();
    match (result, panic) {
        (Err(panic), _) | (Ok(_), Some(panic)) => resume_unwind(panic),
        (Ok(value), None) => ended.map(|()| value),
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Makes `f` a member: it runs as a task, on any worker. The error is
    /// ECANCELED if the group is cancelled, and then `f` is dropped.
    ///
    /// Members may spawn members. The lifetimes allow no more: code that has a
    /// `&'scope Scope` is the opener, before it waits, or a member, or a thread
    /// that ends before one of them continues.
    ///
    /// What a member must not do is the promise of [`Scheduler::new`].
    pub fn spawn<F>(&'scope self, f: F) -> io::Result<()>
    where
        F: FnOnce() -> io::Result<()> + Send + 'scope,
    {
        let scope = self as *const _;
        let mut member = ManuallyDrop::new(Member { f, scope });
        // SAFETY: the copy is the member's. What it borrows outlives 'scope,
        // which ends after the group.
        let result = check(unsafe {
            sys::sennit_group_spawn_copy(
                self.group.get(),
                run::<F>,
                &*member as *const _ as *const c_void,
                size_of::<Member<F>>(),
            )
        });
        if result.is_err() {
            // SAFETY: no task owns the copy.
            unsafe { ManuallyDrop::drop(&mut member) }
        }
        result
    }

    fn first_panic(&self) -> sync::MutexGuard<'_, Option<Panic>> {
        self.panic.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits until no member is left, and cancels the group at the deadline:
    /// for the end of a server, after it has stopped to accept. The group takes
    /// members as before, unless it was cancelled. Returns whether no member
    /// was left in time.
    ///
    /// # Panics
    ///
    /// If the caller is not the opener, which runs the closure of [`scope`].
    pub fn drain(&self, by: Deadline) -> bool {
        self.require_opener();
        // SAFETY: the opener, before it waits for the group.
        let err =
            unsafe { sys::sennit_group_wait_until(self.group.get(), by.0) };
        if err != 0 {
            self.cancel();
        }
        err == 0
    }

    /// Brings the deadline of the group forward. A later one than it has has no
    /// effect.
    pub fn set_deadline(&self, by: Deadline) {
        // SAFETY: code that has a &Scope may spawn, and so may do this.
        unsafe { sys::sennit_group_set_deadline(self.group.get(), by.0) };
    }

    /// The number of members that have not ended.
    ///
    /// # Panics
    ///
    /// If the caller is not the opener, which runs the closure of [`scope`].
    pub fn members(&self) -> u32 {
        self.require_opener();
        // SAFETY: the opener, before it waits for the group.
        unsafe { sys::sennit_group_members(self.group.get()) }
    }

    fn require_opener(&self) {
        assert!(
            self.opener == Caller::current()
                && self.above.load(Ordering::Relaxed) == 0,
            "only the opener of a scope may do this"
        );
    }

    /// Whether the caller, a member, runs on the stack of the opener, which
    /// waits meanwhile. A thread that is no fiber runs no members.
    fn is_on_openers_stack(&self) -> bool {
        self.opener.fiber != 0 && self.opener.fiber == current_fiber()
    }

    /// Cancels the group and all groups inside it.
    pub fn cancel(&self) {
        // SAFETY: code that has a &Scope may spawn, and so may cancel.
        unsafe { sys::sennit_group_cancel(self.group.get()) };
    }
}

/// A task or a thread, while it exists.
#[derive(Eq, PartialEq)]
struct Caller {
    thread: std::thread::ThreadId,
    fiber: usize,
}

impl Caller {
    fn current() -> Caller {
        Caller { thread: std::thread::current().id(), fiber: current_fiber() }
    }
}

fn current_fiber() -> usize {
    // SAFETY: may be called from anywhere.
    unsafe { sys::sennit_fiber_current() as usize }
}

struct Member<'scope, 'env, F> {
    f: F,
    scope: *const Scope<'scope, 'env>,
}

// SAFETY: the scope is Sync and outlives its members.
unsafe impl<F: Send> Send for Member<'_, '_, F> {}

impl<F: FnOnce() -> io::Result<()>> Member<'_, '_, F> {
    fn run(self) -> io::Result<()> {
        let Member { f, scope } = self;
        // SAFETY: the group has not ended while this member runs.
        let scope = unsafe { &*scope };
        let above = scope.is_on_openers_stack();
        if above {
            scope.above.fetch_add(1, Ordering::Relaxed);
        }
        let result = caught(f);
        if above {
            scope.above.fetch_sub(1, Ordering::Relaxed);
        }
        match result {
            Ok(result) => result,
            Err(panic) => {
                scope.first_panic().get_or_insert(panic);
                Err(io::ErrorKind::Other.into())
            }
        }
    }
}

/// # Safety
///
/// `argument` is a copy of a member that no other code drops or runs. The copy
/// is aligned to 16 bytes, the member perhaps to more.
unsafe extern "C" fn run<F>(argument: *mut c_void) -> c_int
where
    F: FnOnce() -> io::Result<()> + Send,
{
    from_c(|| match (argument as *mut Member<F>).read_unaligned().run() {
        Ok(()) => 0,
        Err(error) => match error.raw_os_error() {
            Some(number) if number > 0 => -number,
            _ => -EIO,
        },
    })
}

const EIO: c_int = 5;
