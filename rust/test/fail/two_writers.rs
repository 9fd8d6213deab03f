// SPDX-License-Identifier: Apache-2.0
// error: E0499
// Two members that write to one variable.
use sennit::{scope, Deadline, Scheduler};

fn main() {
    let s = Scheduler::new().unwrap();
    let mut shared = 0;
    let _ = scope(&s, Deadline::NEVER, |group| {
        let first = unsafe {
            group.spawn(|| {
                shared += 1;
                Ok(())
            })
        };
        first.and(unsafe {
            group.spawn(|| {
                shared += 2;
                Ok(())
            })
        })
    });
}
