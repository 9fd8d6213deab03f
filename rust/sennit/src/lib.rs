// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod block_on;
mod call;
mod channel;
mod fiber;
mod future;
mod group;
#[cfg(feature = "io")]
pub mod io;
mod mutex;
mod scheduler;
mod select;
mod semaphore;
#[cfg(feature = "tls")]
pub mod tls;

pub use block_on::block_on;
pub use call::Deadline;
pub use channel::{channel, unbounded, Receiver, SendError, Sender};
pub use fiber::{blocking, cancelled, sleep, sleep_until, yield_now};
pub use future::{promise, Future, Promise};
pub use group::{scope, Scope};
pub use mutex::{Mutex, MutexGuard};
pub use scheduler::{Builder, Scheduler};
pub use select::{select, Case, Ready, Receiving, Sending};
pub use semaphore::{Permits, Semaphore};
/// The C interface, for what this crate does not have. Its declarations follow
/// the C headers of this exact version: they may change in each minor version,
/// and are not part of the promise of this crate.
pub use sennit_sys as sys;
