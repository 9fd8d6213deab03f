// SPDX-License-Identifier: Apache-2.0
use super::{read, write, Deadline};
use std::io::{Read, Result, Write};
use std::os::unix::io::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file, pipe or terminal whose `Read` and `Write` wait as a fiber: around a
/// `std::fs::File`, the pipe of a [`Process`](super::Process), or an `OwnedFd`.
/// Also by reference, as a [`Stream`](super::Stream).
///
/// ```
/// use sennit::io::File;
/// use std::io::{BufRead, BufReader};
/// let file = File::new(std::fs::File::open("/etc/os-release")?);
/// assert!(BufReader::new(&file).lines().count() > 0);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct File<F> {
    fd: F,
    deadline: AtomicU64,
}

impl<F: AsFd> File<F> {
    /// Wraps what owns, or borrows, the descriptor.
    pub fn new(fd: F) -> Self {
        File { fd, deadline: AtomicU64::new(Deadline::NEVER.0) }
    }

    /// The deadline of `Read` and `Write`, for calls that begin from now on. At
    /// first it never comes.
    pub fn set_deadline(&self, by: Deadline) {
        // One number; nothing else is ordered by it.
        self.deadline.store(by.0, Ordering::Relaxed);
    }

    /// What was wrapped.
    pub fn into_inner(self) -> F {
        self.fd
    }

    fn deadline(&self) -> Deadline {
        Deadline(self.deadline.load(Ordering::Relaxed))
    }
}

impl<F: AsFd> Read for &File<F> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        read(&self.fd, to, self.deadline())
    }
}

impl<F: AsFd> Write for &File<F> {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        write(&self.fd, from, self.deadline())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<F: AsFd> Read for File<F> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        (&*self).read(to)
    }
}

impl<F: AsFd> Write for File<F> {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        (&*self).write(from)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<F: AsFd> AsFd for File<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
