// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod call;
mod channel;
mod fiber;
mod future;
mod group;
mod mutex;
mod scheduler;

pub use call::Deadline;
pub use channel::{channel, unbounded, Receiver, SendError, Sender};
pub use fiber::{blocking, cancelled, sleep, sleep_until, yield_now};
pub use future::{promise, Future, Promise};
pub use group::{scope, Scope};
pub use mutex::{Mutex, MutexGuard};
pub use scheduler::{Builder, Scheduler};
pub use sennit_sys as sys;
