// SPDX-License-Identifier: Apache-2.0
// error: E0505
//! A case borrows its receiver.
use sennit::{channel, select, Deadline};

fn main() {
    let (_sender, receiver) = channel::<String>(0).unwrap();
    let mut receiving = receiver.receiving();
    drop(receiver);
    select(&mut [&mut receiving], Deadline::NOW).unwrap();
}
