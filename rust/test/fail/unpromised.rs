// SPDX-License-Identifier: Apache-2.0
// error: E0133
// A scheduler for which nobody has promised anything.
use sennit::Scheduler;

fn main() {
    Scheduler::new().unwrap().spawn(|| ()).unwrap();
}
