// SPDX-License-Identifier: Apache-2.0
// error: E0597
// A member that borrows from inside of its scope's closure.
use sennit::{scope, Deadline, Scheduler};

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let _ = scope(&s, Deadline::NEVER, |group| {
        let local = 1;
        let borrowed = &local;
        group.spawn(move || {
            println!("{borrowed}");
            Ok(())
        })
    });
}
