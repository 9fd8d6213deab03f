// SPDX-License-Identifier: Apache-2.0
// error: E0505
// Permits that would go back to a semaphore that is gone.
use sennit::{Deadline, Semaphore};

fn main() {
    let semaphore = Semaphore::new(1);
    let permits = semaphore.acquire(1, Deadline::NOW);
    drop(semaphore);
    drop(permits);
}
