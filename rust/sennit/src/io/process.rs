// SPDX-License-Identifier: Apache-2.0
use super::{check, Deadline};
use crate::select::sealed;
use crate::sys;
use std::io::{ErrorKind, Result};
use std::os::raw::c_int;
use std::os::unix::process::ExitStatusExt;
use std::process::{
    Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus,
};

/// A child process, whose end a task waits for. `std::process::Command` says
/// what it is. As with `std::process::Child`, a process that is dropped is
/// neither ended nor waited for.
///
/// ```
/// use sennit::{io::{File, Process}, Deadline};
/// use std::io::Read;
/// use std::process::{Command, Stdio};
/// let mut command = Command::new("echo");
/// let mut echo = Process::spawn(command.arg("weft").stdout(Stdio::piped()))?;
/// let mut said = String::new();
/// File::new(echo.stdout.take().unwrap()).read_to_string(&mut said)?;
/// assert_eq!(said, "weft\n");
/// assert!(echo.wait(Deadline::NEVER)?.success());
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Process {
    /// The pipe to its standard input, if the command asked for one. A
    /// [`File`](super::File) around it waits as a fiber.
    pub stdin: Option<ChildStdin>,
    /// The pipe from its standard output.
    pub stdout: Option<ChildStdout>,
    /// The pipe from its standard error.
    pub stderr: Option<ChildStderr>,
    child: Child,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts it. Blocks the worker until the child runs its program.
    pub fn spawn(command: &mut Command) -> Result<Process> {
        let mut child = command.spawn()?;
        Ok(Process {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            status: None,
        })
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended, and returns how. `stdin` is closed before, as
    /// `std::process::Child::wait` does. The error is `TimedOut` at the
    /// deadline, or ECANCELED once the caller's group is cancelled; the process
    /// can be waited for again.
    pub fn wait(&mut self, by: Deadline) -> Result<ExitStatus> {
        drop(self.stdin.take());
        if let Some(status) = self.status {
            return Ok(status);
        }
        let mut status = 0;
        // SAFETY: &mut self is the one waiter, and `status` outlives the call.
        check(unsafe {
            sys::sennit_process_wait(self.number(), &mut status, by.0)
        })?;
        Ok(*self.status.insert(ExitStatus::from_raw(status)))
    }

    /// How it ended, if a wait or a select has seen its end.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Ends it, by SIGKILL. The error is `InvalidInput` once it was waited for:
    /// another process may have its number.
    pub fn kill(&mut self) -> Result<()> {
        if self.status.is_some() {
            return Err(ErrorKind::InvalidInput.into());
        }
        self.child.kill()
    }

    /// A case of a [`select`](crate::select): it has ended, and
    /// [`Process::status`] says how.
    pub fn ended(&mut self) -> Ended<'_> {
        Ended { process: self, raw: 0, outcome: None }
    }

    fn number(&self) -> c_int {
        self.child.id() as c_int
    }
}

/// A case of a select. See [`Process::ended`].
pub struct Ended<'a> {
    process: &'a mut Process,
    raw: c_int,
    outcome: Option<Result<ExitStatus>>,
}

impl Ended<'_> {
    /// How the process ended. `None` if the case has not happened since the
    /// last call.
    pub fn take(&mut self) -> Option<Result<ExitStatus>> {
        self.outcome.take()
    }
}

// SAFETY: `raw` stays where it is while self is borrowed.
unsafe impl sealed::Case for Ended<'_> {
    fn raw(&mut self) -> sys::sennit_case {
        if self.process.status.is_some() {
            // It was waited for, so its number may be another's. A time that
            // has passed is a case that can be done.
            return Deadline::NOW.ready().raw();
        }
        // SAFETY: the case borrows the place of the status.
        unsafe {
            sys::sennit_case_process(self.process.number(), &mut self.raw)
        }
    }

    unsafe fn done(&mut self, result: c_int) {
        let raw = self.raw;
        let outcome = check(result).map(|()| {
            let status = &mut self.process.status;
            *status.get_or_insert_with(|| ExitStatus::from_raw(raw))
        });
        self.outcome = Some(outcome);
    }
}
