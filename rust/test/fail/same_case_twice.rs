// SPDX-License-Identifier: Apache-2.0
// error: E0499
//! A case has room for one value.
use sennit::{channel, select, Deadline};

fn main() {
    let (_sender, receiver) = channel::<String>(0).unwrap();
    let mut receiving = receiver.receiving();
    select(&mut [&mut receiving, &mut receiving], Deadline::NOW).unwrap();
}
