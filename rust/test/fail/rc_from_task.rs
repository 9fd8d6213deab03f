// SPDX-License-Identifier: Apache-2.0
// error: E0277
// Nor does its result come back by another thread.
use sennit::Scheduler;
use std::rc::Rc;

fn main() {
    let s = Scheduler::new().unwrap();
    let _ = unsafe { s.spawn(|| Rc::new(1)) };
}
