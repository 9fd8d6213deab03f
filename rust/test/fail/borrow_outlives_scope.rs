// SPDX-License-Identifier: Apache-2.0
// error: E0373
// A task that borrows from a frame that may end first.
use sennit::Scheduler;

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let local = 1;
    let _ = s.spawn(|| println!("{local}"));
}
