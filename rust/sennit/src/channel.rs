// SPDX-License-Identifier: Apache-2.0
use crate::call::check;
use crate::select::{Receiving, Sending};
use crate::{sys, Deadline};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{size_of, zeroed, ManuallyDrop, MaybeUninit};
use std::os::raw::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::{fmt, io, ptr};

struct Shared<T> {
    channel: UnsafeCell<sys::sennit_channel>,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    values: PhantomData<T>,
}

// SAFETY: any thread may use the channel. It passes a T from thread to thread.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above; no thread gets a &T.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The side that sends. When the last sender is dropped, the channel closes.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// The side that receives. When the last receiver is dropped, the channel
/// closes, and values that it holds are dropped with it.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

/// A value that was not sent, and why: `BrokenPipe` if the channel is closed,
/// `TimedOut` at the deadline, ECANCELED if the sender's group is cancelled.
#[non_exhaustive]
pub struct SendError<T> {
    /// The value.
    pub value: T,
    /// Why it was not sent.
    pub error: io::Error,
}

/// A channel that holds up to `capacity` values; 0: a send waits for a receive.
pub fn channel<T: Send>(
    capacity: usize,
) -> io::Result<(Sender<T>, Receiver<T>)> {
    let shared = Arc::new(Shared {
        // SAFETY: initialised below.
        channel: UnsafeCell::new(unsafe { zeroed() }),
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
        values: PhantomData,
    });
    // SAFETY: all bytes zero is a channel that needs no destruction, should
    // this fail. It stays at its address, in the Arc.
    check(unsafe {
        sys::sennit_channel_init(
            shared.channel.get(),
            capacity,
            size_of::<T>(),
            ptr::null(),
        )
    })?;
    Ok((Sender { shared: shared.clone() }, Receiver { shared }))
}

/// A channel that holds any number of values: a send never waits.
pub fn unbounded<T: Send>() -> io::Result<(Sender<T>, Receiver<T>)> {
    channel(sys::SENNIT_CHANNEL_UNBOUNDED)
}

impl<T: Send> Sender<T> {
    /// Sends a value. Waits for a receiver or for room.
    pub fn send(&self, value: T, by: Deadline) -> Result<(), SendError<T>> {
        let value = ManuallyDrop::new(value);
        // SAFETY: the call copies the value. The copy is its owner, unless the
        // call fails.
        let result = check(unsafe {
            sys::sennit_channel_send_until(
                self.shared.channel.get(),
                &*value as *const T as *const c_void,
                by.0,
            )
        });
        result.map_err(|error| SendError {
            value: ManuallyDrop::into_inner(value),
            error,
        })
    }

    /// A case of a [`select`](crate::select) that sends the value.
    pub fn sending(&self, value: T) -> Sending<'_, T> {
        // SAFETY: the case borrows the sender.
        unsafe { Sending::new(self.shared.channel.get(), value) }
    }
}

impl<T> Shared<T> {
    fn close(&self) {
        // SAFETY: any caller may close at any time.
        unsafe { sys::sennit_channel_close(self.channel.get()) }
    }

    fn receive(&self, by: Deadline) -> io::Result<T> {
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: the call writes a T, which was sent, or fails.
        check(unsafe {
            sys::sennit_channel_receive_until(
                self.channel.get(),
                value.as_mut_ptr() as *mut c_void,
                by.0,
            )
        })?;
        // SAFETY: it is written, and its sender has given it up.
        Ok(unsafe { value.assume_init() })
    }
}

impl<T: Send> Receiver<T> {
    /// Receives a value. Waits for one. The error is `BrokenPipe` if the
    /// channel is closed and empty, `TimedOut` at the deadline, or ECANCELED if
    /// the receiver's group is cancelled.
    pub fn receive(&self, by: Deadline) -> io::Result<T> {
        self.shared.receive(by)
    }

    /// A case of a [`select`](crate::select) that receives a value.
    pub fn receiving(&self) -> Receiving<'_, T> {
        // SAFETY: the case borrows the receiver.
        unsafe { Receiving::new(self.shared.channel.get()) }
    }

    /// The values, until the channel is closed and empty, or the receiver's
    /// group is cancelled.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(move || self.receive(Deadline::NEVER).ok())
    }

    /// The number of values that the channel holds at this moment.
    pub fn len(&self) -> usize {
        // SAFETY: the Arc keeps it.
        unsafe { sys::sennit_channel_length(self.shared.channel.get()) }
    }

    /// Whether the channel holds no value at this moment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Sender { shared: self.shared.clone() }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.receivers.fetch_add(1, Ordering::Relaxed);
        Receiver { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // The channel's lock orders what senders did before the close.
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.close();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.shared.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.close();
        }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        self.close();
        while self.receive(Deadline::NOW).is_ok() {} // drops the values
                                                     // SAFETY: the last owner: no task waits.
        unsafe { sys::sennit_channel_destroy(self.channel.get()) }
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> std::error::Error for SendError<T> {}
