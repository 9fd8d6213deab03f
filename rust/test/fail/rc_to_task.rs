// SPDX-License-Identifier: Apache-2.0
// error: E0277
// A task may start on any worker: it takes nothing that is not Send along.
use sennit::Scheduler;
use std::rc::Rc;

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let local = Rc::new(1);
    let _ = s.spawn(move || println!("{local}"));
}
