// SPDX-License-Identifier: Apache-2.0
//! What several tests share.
use sennit::{scope, Deadline, Scheduler};
use std::io::Result;
use std::time::Duration;

#[allow(dead_code)] // in some
pub const ECANCELED: i32 = 125;

/// Runs members of a group.
pub fn members<'env, const N: usize>(
    s: &Scheduler,
    members: [Box<dyn FnOnce() -> Result<()> + Send + 'env>; N],
) -> Result<()> {
    scope(s, Deadline::after(Duration::from_secs(120)), |group| {
        for member in members {
            group.spawn(member)?;
        }
        Ok(())
    })?
}
