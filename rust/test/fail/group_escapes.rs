// SPDX-License-Identifier: Apache-2.0
// error: E0521
// A group that is kept until after its end.
use sennit::{scope, Deadline, Scheduler, Scope};

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let mut kept: Option<&Scope> = None;
    let _ = scope(&s, Deadline::NEVER, |group| kept = Some(group));
    kept.unwrap().cancel();
}
