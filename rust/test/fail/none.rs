// SPDX-License-Identifier: Apache-2.0
// error: none
// What the other files misuse compiles as it should be.
use sennit::{channel, scope, Deadline, Mutex, Scheduler};

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let (lock, local) = (Mutex::new(1), 1);
    let _ = scope(&s, Deadline::NEVER, |group| {
        group.spawn(|| {
            *lock.lock() += local;
            group.cancel();
            Ok(())
        })
    });
    let _ = s.spawn(move || local);
    let _ = channel::<i32>(1);
}
