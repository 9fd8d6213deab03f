// SPDX-License-Identifier: Apache-2.0
// error: E0133
// Two tasks of one worker initialise one thread-local variable. The first one's
// initialiser waits. When it ends, it replaces the value to which the second
// task has a reference. The compiler asks for the promise that no task of the
// scheduler does this.
use sennit::{scope, yield_now, Deadline, Scheduler};
use std::sync::atomic::{AtomicU32, Ordering};

// 1: the first initialiser has begun; 2: the second task has a reference;
// 3: the first initialiser has ended.
static STEP: AtomicU32 = AtomicU32::new(0);

fn reach(step: u32) {
    while STEP.load(Ordering::Relaxed) < step {
        yield_now();
    }
}

thread_local!(static VALUE: Box<u32> = {
    let first = STEP.fetch_max(1, Ordering::Relaxed) == 0;
    if first {
        reach(2);
    }
    Box::new(first as u32)
});

fn main() {
    let s = Scheduler::builder().workers(1).start().unwrap();
    scope(&s, Deadline::NEVER, |group| {
        group.spawn(|| {
            VALUE.with(|_| STEP.store(3, Ordering::Relaxed));
            Ok(())
        })?;
        group.spawn(|| {
            reach(1);
            VALUE.with(|value| {
                let before: u32 = **value;
                STEP.store(2, Ordering::Relaxed);
                reach(3);
                assert_eq!(before, **value, "changed behind a &");
            });
            Ok(())
        })
    })
    .unwrap()
    .unwrap();
}
