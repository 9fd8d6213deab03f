// SPDX-License-Identifier: Apache-2.0
// error: E0277
// The task that has locked a mutex must unlock it.
use sennit::{scope, Deadline, Mutex, Scheduler};

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let lock = Mutex::new(1);
    let _ = scope(&s, Deadline::NEVER, |group| {
        let guard = lock.lock();
        group.spawn(move || {
            drop(guard);
            Ok(())
        })
    });
}
