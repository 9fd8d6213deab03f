// SPDX-License-Identifier: Apache-2.0
//! Files, pipes and sockets, for which a task waits, and not its worker.
//!
//! ```
//! use sennit::{io, scope, Deadline, Scheduler};
//! use std::io::{Read, Write};
//! # let scheduler = unsafe { Scheduler::new() }?;
//! let listener = io::listen_at("127.0.0.1:0", Deadline::NEVER)?;
//! let address = listener.local_address()?;
//! scope(&scheduler, Deadline::NEVER, |group| {
//!     group.spawn(|| {
//!         let peer = listener.accept(Deadline::NEVER)?;
//!         std::io::copy(&mut &peer, &mut &peer).map(drop)
//!     })?;
//!     group.spawn(|| {
//!         let mut stream = io::connect_to(&address, Deadline::NEVER)?;
//!         stream.write_all(b"warp")?;
//!         stream.shutdown(std::net::Shutdown::Write)?;
//!         let mut back = String::new();
//!         stream.read_to_string(&mut back)?;
//!         assert_eq!(back, "warp");
//!         Ok(())
//!     })
//! })??;
//! # std::io::Result::Ok(())
//! ```
//!
//! The functions take everything that has a descriptor: a [`Stream`], a
//! `std::fs::File`, a `std::net::TcpStream`. On a thread that is not a worker's
//! the thread waits. Each error of a wait is `TimedOut` at the deadline or the
//! group's, ECANCELED once the caller's group is cancelled, or one of the
//! system's. No byte is lost: a call that has transferred something succeeds,
//! or returns how much.
use crate::call::{check, Deadline};
use crate::select::Ready;
use crate::sys;
use std::ffi::CString;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::mem::ManuallyDrop;
use std::net::{Shutdown, TcpStream};
use std::os::raw::{c_char, c_int, c_short, c_void};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

mod file;
mod process;
mod signals;

pub use file::File;
pub use process::{Ended, Process};
pub use signals::Signals;

/// Events of [`poll`], those of `poll()`. Several are joined by `|`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Events(i16);

impl Events {
    /// There is something to read, or the end.
    pub const READABLE: Events = Events(0x1);
    /// Something can be written.
    pub const WRITABLE: Events = Events(0x4);
    /// The descriptor has an error.
    pub const ERROR: Events = Events(0x8);
    /// The other side has closed.
    pub const HANG_UP: Events = Events(0x10);

    /// Those of a number of `poll()`, such as `POLLPRI`.
    pub const fn from_bits(bits: i16) -> Events {
        Events(bits)
    }

    /// The number for `poll()`.
    pub const fn bits(self) -> i16 {
        self.0
    }

    /// Whether all of `other` are among these.
    pub const fn contains(self, other: Events) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Events {
    type Output = Events;

    fn bitor(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }
}

const ENODATA: i32 = 61;

/// Whether fd was open is a promise of its type; its owner cannot close it
/// while a call borrows it.
fn number(fd: &impl AsFd) -> RawFd {
    fd.as_fd().as_raw_fd()
}

pub(crate) fn count(result: isize) -> Result<usize> {
    usize::try_from(result)
        .map_err(|_| Error::from_raw_os_error((-result) as i32))
}

/// A new descriptor, which is the caller's.
fn made(result: c_int) -> Result<OwnedFd> {
    check(result)?;
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(result) })
}

/// The rest of a transfer of which `done` bytes are done.
fn transfer(
    size: usize,
    done: &mut usize,
    call: impl FnOnce(*mut usize) -> c_int,
) -> Result<()> {
    if *done > size {
        return Err(ErrorKind::InvalidInput.into());
    }
    check(call(done)).map_err(|error| match error.raw_os_error() {
        Some(ENODATA) => ErrorKind::UnexpectedEof.into(),
        _ => error,
    })
}

/// Reads up to `to.len()` bytes. Returns how many; 0 is the end.
pub fn read(fd: &impl AsFd, to: &mut [u8], by: Deadline) -> Result<usize> {
    // SAFETY: the call writes into the slice alone, and not after its return.
    count(unsafe {
        sys::sennit_read(
            number(fd),
            to.as_mut_ptr() as *mut c_void,
            to.len(),
            by.0,
        )
    })
}

/// Writes up to `from.len()` bytes, at least one. Returns how many.
pub fn write(fd: &impl AsFd, from: &[u8], by: Deadline) -> Result<usize> {
    // SAFETY: the call reads the slice alone, and not after its return.
    count(unsafe {
        sys::sennit_write(
            number(fd),
            from.as_ptr() as *const c_void,
            from.len(),
            by.0,
        )
    })
}

/// Fills `to`. The first `*done` bytes are there already; the call raises
/// `*done`, so that after an error the same call continues. The error is
/// `UnexpectedEof` if the end comes first.
pub fn read_exactly(
    fd: &impl AsFd,
    to: &mut [u8],
    done: &mut usize,
    by: Deadline,
) -> Result<()> {
    let (place, size) = (to.as_mut_ptr() as *mut c_void, to.len());
    // SAFETY: as for read; `done` is at most the size.
    transfer(size, done, |done| unsafe {
        sys::sennit_read_exactly(number(fd), place, size, done, by.0)
    })
}

/// Writes all of `from` but its first `*done` bytes. The call raises `*done`,
/// so that after an error the same call continues.
pub fn write_all(
    fd: &impl AsFd,
    from: &[u8],
    done: &mut usize,
    by: Deadline,
) -> Result<()> {
    let (place, size) = (from.as_ptr() as *const c_void, from.len());
    // SAFETY: as for write; `done` is at most the size.
    transfer(size, done, |done| unsafe {
        sys::sennit_write_all(number(fd), place, size, done, by.0)
    })
}

/// Receives up to `to.len()` bytes from a socket. Returns how many; 0 is the
/// end.
pub fn recv(fd: &impl AsFd, to: &mut [u8], by: Deadline) -> Result<usize> {
    // SAFETY: as for read.
    count(unsafe {
        sys::sennit_recv(
            number(fd),
            to.as_mut_ptr() as *mut c_void,
            to.len(),
            0,
            by.0,
        )
    })
}

/// Sends up to `from.len()` bytes to a socket, at least one. Returns how many.
/// The error is `BrokenPipe` if the peer has closed.
pub fn send(fd: &impl AsFd, from: &[u8], by: Deadline) -> Result<usize> {
    // SAFETY: as for write.
    count(unsafe {
        sys::sennit_send(
            number(fd),
            from.as_ptr() as *const c_void,
            from.len(),
            0,
            by.0,
        )
    })
}

/// Sends all of `from` but its first `*done` bytes. The call raises `*done`, so
/// that after an error the same call continues.
pub fn send_all(
    fd: &impl AsFd,
    from: &[u8],
    done: &mut usize,
    by: Deadline,
) -> Result<()> {
    let (place, size) = (from.as_ptr() as *const c_void, from.len());
    // SAFETY: as for write; `done` is at most the size.
    transfer(size, done, |done| unsafe {
        sys::sennit_send_all(number(fd), place, size, 0, done, by.0)
    })
}

/// Waits until the descriptor has one of the events. Returns those that it has;
/// `ERROR` and `HANG_UP` need not be asked for.
pub fn poll(fd: &impl AsFd, events: Events, by: Deadline) -> Result<Events> {
    // SAFETY: may be called from anywhere.
    let found =
        unsafe { sys::sennit_poll(number(fd), events.0 as c_short, by.0) };
    check(found)?;
    Ok(Events(found as i16))
}

/// A case of a select: the descriptor can be read, or has an error or its end.
pub fn readable<'a>(fd: &'a impl AsFd) -> Ready<'a> {
    // SAFETY: the case borrows the descriptor.
    unsafe { Ready::new(sys::sennit_case_readable(number(fd))) }
}

/// A case of a select: the descriptor can be written, or has an error.
pub fn writable<'a>(fd: &'a impl AsFd) -> Ready<'a> {
    // SAFETY: as for readable.
    unsafe { Ready::new(sys::sennit_case_writable(number(fd))) }
}

/// Listens at "host:port", "\[::1\]:port", ":port" (any address of this
/// machine) or "unix:path". Port 0 is a free one. The deadline is that of the
/// lookup of a name.
pub fn listen_at(address: &str, by: Deadline) -> Result<Listener> {
    listen(address, 0, by)
}

/// As [`listen_at`]; other sockets may listen there, too (SO_REUSEPORT), and
/// the system spreads connections among them.
pub fn listen_at_shared(address: &str, by: Deadline) -> Result<Listener> {
    listen(address, sys::SENNIT_LISTEN_SHARED, by)
}

fn listen(address: &str, flags: u32, by: Deadline) -> Result<Listener> {
    let text = CString::new(address)?;
    // SAFETY: the text outlives the call.
    let fd =
        made(unsafe { sys::sennit_listen_at(text.as_ptr(), flags, by.0) })?;
    Ok(Listener { fd })
}

/// Connects to "host:port", "\[::1\]:port" or "unix:path". Of a host with
/// several addresses each is tried.
pub fn connect_to(address: &str, by: Deadline) -> Result<Stream> {
    let text = CString::new(address)?;
    // SAFETY: the text outlives the call.
    made(unsafe { sys::sennit_connect_to(text.as_ptr(), by.0) })
        .map(Stream::from)
}

type AddressCall = unsafe extern "C" fn(c_int, *mut c_char, usize) -> c_int;

fn address(fd: &impl AsFd, call: AddressCall) -> Result<String> {
    let mut text = [0u8; sys::SENNIT_ADDRESS_TEXT];
    // SAFETY: the call writes into the array, whose size it has.
    check(unsafe {
        call(number(fd), text.as_mut_ptr() as *mut c_char, text.len())
    })?;
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    Ok(String::from_utf8_lossy(&text[..end]).into_owned())
}

/// A socket that listens. It closes when it is dropped.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
}

impl Listener {
    /// Accepts a connection. Waits for one.
    pub fn accept(&self, by: Deadline) -> Result<Stream> {
        // SAFETY: no address is asked for.
        made(unsafe {
            sys::sennit_accept(
                number(self),
                ptr::null_mut(),
                ptr::null_mut(),
                sys::SOCK_CLOEXEC,
                by.0,
            )
        })
        .map(Stream::from)
    }

    /// Its address, as [`connect_to`] takes it.
    pub fn local_address(&self) -> Result<String> {
        address(self, sys::sennit_local_address)
    }
}

/// A connected socket. It closes when it is dropped. As a `std::net::TcpStream`
/// it is read and written also by reference: `&stream` is `Read` and `Write`,
/// so one task may read while another writes.
///
/// `Read` and `Write` wait until the time of [`Stream::set_deadline`], which at
/// first never comes.
#[derive(Debug)]
pub struct Stream {
    fd: OwnedFd,
    deadline: AtomicU64,
}

impl Stream {
    /// The deadline of `Read` and `Write`, for calls that begin from now on.
    pub fn set_deadline(&self, by: Deadline) {
        // One number; nothing else is ordered by it.
        self.deadline.store(by.0, Ordering::Relaxed);
    }

    fn deadline(&self) -> Deadline {
        Deadline(self.deadline.load(Ordering::Relaxed))
    }

    /// Ends receiving, sending or both. Reads see the end of the stream.
    pub fn shutdown(&self, how: Shutdown) -> Result<()> {
        let how = match how {
            Shutdown::Read => 0,
            Shutdown::Write => 1,
            Shutdown::Both => 2,
        };
        // SAFETY: may be called at any time.
        check(unsafe { sys::sennit_shutdown(number(self), how) })
    }

    /// Whether small data is sent at once, without waiting for what follows
    /// (TCP_NODELAY). The streams that this module makes do, if they are TCP.
    pub fn set_nodelay(&self, at_once: bool) -> Result<()> {
        // SAFETY: the descriptor is open, and the wrapper does not close it.
        let socket = unsafe { TcpStream::from_raw_fd(number(self)) };
        ManuallyDrop::new(socket).set_nodelay(at_once)
    }

    /// Its own address.
    pub fn local_address(&self) -> Result<String> {
        address(self, sys::sennit_local_address)
    }

    /// The address of its peer.
    pub fn peer_address(&self) -> Result<String> {
        address(self, sys::sennit_peer_address)
    }
}

impl Read for &Stream {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        recv(*self, to, self.deadline())
    }
}

impl Write for &Stream {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        send(*self, from, self.deadline())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        (&*self).read(to)
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        (&*self).write(from)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl From<OwnedFd> for Stream {
    fn from(fd: OwnedFd) -> Self {
        Stream { fd, deadline: AtomicU64::new(Deadline::NEVER.0) }
    }
}

impl From<Stream> for OwnedFd {
    fn from(stream: Stream) -> Self {
        stream.fd
    }
}

impl From<OwnedFd> for Listener {
    fn from(fd: OwnedFd) -> Self {
        Listener { fd }
    }
}

impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.fd
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
