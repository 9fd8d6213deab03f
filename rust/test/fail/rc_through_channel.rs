// SPDX-License-Identifier: Apache-2.0
// error: E0277
// A channel passes values between threads.
use std::rc::Rc;

fn main() {
    let _ = sennit::channel::<Rc<i32>>(1);
}
