// SPDX-License-Identifier: Apache-2.0
use crate::call::check;
use crate::{sys, Deadline, SendError};
use std::io;
use std::marker::PhantomData;
use std::mem::{forget, MaybeUninit};
use std::os::raw::{c_int, c_void};
use std::ptr;

/// A case that never happens.
const NONE: sys::sennit_case = sys::sennit_case {
    object_: ptr::null_mut(),
    value_: ptr::null_mut(),
    number_: 0,
    kind_: sys::SENNIT_CASE_NONE,
    result: 0,
};

pub(crate) mod sealed {
    use super::*;

    /// # Safety
    ///
    /// What `raw` points to stays valid, and of its kind, until the next use of
    /// `self`.
    pub unsafe trait Case {
        fn raw(&mut self) -> sys::sennit_case;

        /// The case has happened, with this result.
        ///
        /// # Safety
        ///
        /// It has, and it is that of the last `raw`.
        unsafe fn done(&mut self, result: c_int);
    }
}

/// Something that [`select`] waits for: a [`Receiving`], a [`Sending`], a
/// [`Ready`], or the end of a process.
pub trait Case: sealed::Case {}

impl<C: sealed::Case + ?Sized> Case for C {}

/// Does one of the cases, at most 64. Waits for one that can be done, and
/// returns its index; the others have no effect, and what they would have sent
/// stays with them. If several can be done, the choice is random.
///
/// ```
/// use sennit::{channel, select, Deadline};
/// use std::time::Duration;
///
/// let (_idle, words) = channel::<&str>(0)?;
/// let (numbers, _other_end) = channel(1)?;
/// let mut receiving = words.receiving();
/// let mut sending = numbers.sending(7);
/// let mut timer = Deadline::after(Duration::from_secs(60)).ready();
/// match select(&mut [&mut receiving, &mut sending, &mut timer],
///              Deadline::NEVER)? {
///     0 => println!("{}", receiving.take().unwrap()?),
///     1 => sending.take().unwrap().map_err(|refused| refused.error)?,
///     _ => println!("a minute has passed"),
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// A case may be used again, in this call's place in a loop. The error is
/// `TimedOut` at the deadline or that of the caller's group, ECANCELED once the
/// group is cancelled, or `InvalidInput` for more than 64 cases. A channel that
/// is closed is no error of the call, but the result of its case.
pub fn select(cases: &mut [&mut dyn Case], by: Deadline) -> io::Result<usize> {
    if cases.len() > sys::SENNIT_SELECT_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut raw = [NONE; sys::SENNIT_SELECT_MAX];
    for (raw, case) in raw.iter_mut().zip(cases.iter_mut()) {
        *raw = case.raw();
    }
    let mut which = 0;
    // SAFETY: `cases` is borrowed, so no code uses or moves the cases and what
    // they borrow before the call returns.
    check(unsafe {
        sys::sennit_select_until(
            raw.as_mut_ptr(),
            cases.len(),
            &mut which,
            by.0,
        )
    })?;
    // SAFETY: this case has happened.
    unsafe { cases[which].done(raw[which].result) };
    Ok(which)
}

/// A case that receives a value. See [`Receiver::receiving`].
///
/// [`Receiver::receiving`]: crate::Receiver::receiving
pub struct Receiving<'a, T> {
    channel: *mut sys::sennit_channel,
    place: MaybeUninit<T>,
    outcome: Option<io::Result<T>>,
    receiver: PhantomData<&'a T>,
}

// SAFETY: it is a reference to a receiver, and perhaps a T.
unsafe impl<T: Send> Send for Receiving<'_, T> {}

impl<T: Send> Receiving<'_, T> {
    /// # Safety
    ///
    /// The channel passes values of type T, and exists for the lifetime.
    pub(crate) unsafe fn new(channel: *mut sys::sennit_channel) -> Self {
        Receiving {
            channel,
            place: MaybeUninit::uninit(),
            outcome: None,
            receiver: PhantomData,
        }
    }

    /// The value that a select has received; or `BrokenPipe` if the channel is
    /// closed and empty. `None` if the case has not happened since the last
    /// call. A value that is not taken is dropped when the next comes.
    pub fn take(&mut self) -> Option<io::Result<T>> {
        self.outcome.take()
    }
}

// SAFETY: `place` is for a T, and stays where it is while self is borrowed.
unsafe impl<T: Send> sealed::Case for Receiving<'_, T> {
    fn raw(&mut self) -> sys::sennit_case {
        sys::sennit_case {
            object_: self.channel as *mut c_void,
            value_: self.place.as_mut_ptr() as *mut c_void,
            kind_: sys::SENNIT_CASE_RECEIVE,
            ..NONE
        }
    }

    unsafe fn done(&mut self, result: c_int) {
        self.outcome = Some(check(result).map(|()| self.place.as_ptr().read()));
    }
}

/// A case that sends a value. See [`Sender::sending`].
///
/// [`Sender::sending`]: crate::Sender::sending
pub struct Sending<'a, T> {
    channel: *mut sys::sennit_channel,
    value: Option<T>,
    outcome: Option<Result<(), SendError<T>>>,
    sender: PhantomData<&'a T>,
}

// SAFETY: it is a reference to a sender, and perhaps a T.
unsafe impl<T: Send> Send for Sending<'_, T> {}

impl<T: Send> Sending<'_, T> {
    /// # Safety
    ///
    /// The channel passes values of type T, and exists for the lifetime.
    pub(crate) unsafe fn new(
        channel: *mut sys::sennit_channel,
        value: T,
    ) -> Self {
        Sending {
            channel,
            value: Some(value),
            outcome: None,
            sender: PhantomData,
        }
    }

    /// Whether a select has sent the value; an error gives it back:
    /// `BrokenPipe` if the channel is closed. `None` if the case has not
    /// happened since the last call.
    pub fn take(&mut self) -> Option<Result<(), SendError<T>>> {
        self.outcome.take()
    }

    /// The next value to send. Returns the one that is not sent. Without a
    /// value the case never happens.
    pub fn replace(&mut self, value: Option<T>) -> Option<T> {
        std::mem::replace(&mut self.value, value)
    }
}

// SAFETY: `value` is a T, and stays where it is while self is borrowed.
unsafe impl<T: Send> sealed::Case for Sending<'_, T> {
    fn raw(&mut self) -> sys::sennit_case {
        match &self.value {
            None => NONE,
            Some(value) => sys::sennit_case {
                object_: self.channel as *mut c_void,
                value_: value as *const T as *mut c_void,
                kind_: sys::SENNIT_CASE_SEND,
                ..NONE
            },
        }
    }

    unsafe fn done(&mut self, result: c_int) {
        let value = self.value.take();
        self.outcome = value.map(|value| match check(result) {
            Ok(()) => {
                forget(value); // the channel has it
                Ok(())
            }
            Err(error) => Err(SendError { value, error }),
        });
    }
}

/// A case that passes no value: a future is set ([`Future::ready`]), a time has
/// come ([`Deadline::ready`]), or a descriptor can be read or written
/// (`io::readable`, `io::writable`).
///
/// [`Future::ready`]: crate::Future::ready
pub struct Ready<'a> {
    raw: sys::sennit_case,
    outcome: Option<io::Result<()>>,
    object: PhantomData<&'a ()>,
}

impl Ready<'_> {
    /// # Safety
    ///
    /// The object of the case exists for the lifetime.
    pub(crate) unsafe fn new(raw: sys::sennit_case) -> Self {
        Ready { raw, outcome: None, object: PhantomData }
    }

    /// A future is set.
    ///
    /// # Safety
    ///
    /// It exists for the lifetime.
    pub(crate) unsafe fn future(future: *mut sys::sennit_future) -> Self {
        Ready::new(sys::sennit_case {
            object_: future as *mut c_void,
            kind_: sys::SENNIT_CASE_FUTURE,
            ..NONE
        })
    }

    /// The result of the case; that of a future is an error if its promise was
    /// dropped. `None` if the case has not happened since the last call.
    pub fn take(&mut self) -> Option<io::Result<()>> {
        self.outcome.take()
    }
}

impl Deadline {
    /// A case of a [`select`] that happens at this time. Unlike the deadline of
    /// the select it is one of the cases, among which the choice is random.
    pub fn ready(self) -> Ready<'static> {
        let mut raw = NONE;
        if self.0 < sys::SENNIT_UNCANCELLED {
            raw.kind_ = sys::SENNIT_CASE_DEADLINE;
            raw.number_ = self.0;
        }
        // SAFETY: a time is no object.
        unsafe { Ready::new(raw) }
    }
}

// SAFETY: it writes no value.
unsafe impl sealed::Case for Ready<'_> {
    fn raw(&mut self) -> sys::sennit_case {
        self.raw
    }

    unsafe fn done(&mut self, result: c_int) {
        self.outcome = Some(check(result));
    }
}
