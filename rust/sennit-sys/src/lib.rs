// SPDX-License-Identifier: Apache-2.0
//! Declarations of libsennit, as its headers write them. The headers
//! (`core/include/sennit/<x>.h`) say what each call promises.
//!
//! The fields of objects that the library changes are private or end in `_`.
//! An object must not move while anyone uses it.
#![allow(non_camel_case_types)]

mod calls;
mod types;

pub use calls::*;
pub use types::*;
