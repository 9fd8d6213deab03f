// SPDX-License-Identifier: Apache-2.0
// error: E0277
// A mutex gives its value to whichever thread locks it.
use sennit::{Mutex, Scheduler};
use std::{rc::Rc, sync::Arc};

fn main() {
    let s = unsafe { Scheduler::new() }.unwrap();
    let lock = Arc::new(Mutex::new(Rc::new(1)));
    let _ = s.spawn(move || drop(lock.lock().clone()));
}
