// SPDX-License-Identifier: Apache-2.0
//! Signals, in a program of one thread: the harness would have others, which do
//! not block them.
use sennit::io::Signals;
use sennit::{scope, Deadline, Scheduler};
use std::io::{ErrorKind, Result};
use std::process::Command;
use std::time::Duration;

/// Sends a signal to this process.
fn kill(name: &str) -> Result<()> {
    let command = format!("kill -{name} $PPID");
    let status = Command::new("sh").args(["-c", &command]).status()?;
    assert!(status.success());
    Ok(())
}

fn main() -> Result<()> {
    for number in [0, -1, 9, 1000] {
        let refused = Signals::block(&[number]).map(drop).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{number}");
    }
    let stops = Signals::block(&[Signals::INTERRUPT, Signals::TERMINATE])?;
    let reload = Signals::block(&[Signals::HANG_UP])?;
    // SAFETY: no initialiser of a thread-local variable waits.
    let s = unsafe { Scheduler::builder().workers(1).start() }?;
    let by = Deadline::after(Duration::from_secs(120));
    let mut seen = Vec::new();
    scope(&s, by, |group| {
        group.spawn(|| {
            for _ in 0..2 {
                seen.push(stops.wait(Deadline::NEVER)?);
            }
            Ok(())
        })?;
        // Runs on the same worker: the other waits as a fiber.
        group.spawn(|| {
            let soon = Deadline::after(Duration::from_millis(1));
            for by in [Deadline::NOW, soon] {
                let error = reload.wait(by).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TimedOut);
            }
            kill("HUP")?;
            assert_eq!(reload.wait(Deadline::NEVER)?, Signals::HANG_UP);
            kill("TERM")?;
            kill("INT")
        })
    })??;
    seen.sort_unstable();
    assert_eq!(seen, [Signals::INTERRUPT, Signals::TERMINATE]);
    s.shutdown(Deadline::NEVER).map_err(|(_, error)| error)
}
