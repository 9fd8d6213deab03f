// SPDX-License-Identifier: Apache-2.0
// error: E0277
// Nor does its result come back by another thread.
use sennit::Scheduler;
use std::rc::Rc;

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let _ = s.spawn(|| Rc::new(1));
}
