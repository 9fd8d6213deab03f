// SPDX-License-Identifier: Apache-2.0
// error: E0499
// Two members that write to one variable.
use sennit::{scope, Deadline, Scheduler};

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let mut shared = 0;
    let _ = scope(&s, Deadline::NEVER, |group| {
        let first = group.spawn(|| {
            shared += 1;
            Ok(())
        });
        first.and(group.spawn(|| {
            shared += 2;
            Ok(())
        }))
    });
}
