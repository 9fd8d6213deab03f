// SPDX-License-Identifier: Apache-2.0
//! Prints sizes, offsets and constants of the declarations, for
//! test/layouts.sh.
use sennit_sys::*;

macro_rules! constants {
    ($($name:ident)*) => {
        $(println!("constant {} {}", stringify!($name), $name as u64);)*
    };
}

fn main() {
    layouts(|name, field, place, align| match field {
        "" => println!("struct {name} {place} {align}"),
        _ => println!("field {name} {field} {place}"),
    });
    constants! {
        SENNIT_NEVER SENNIT_UNCANCELLED SENNIT_WORKERS_MAX
        SENNIT_TASK_SAME_THREAD SENNIT_TASK_BACKGROUND SENNIT_GROUP_KEEP_GOING
        SENNIT_GROUP_OWN_STACKS SENNIT_CONTINUATION_INLINE
        SENNIT_CHANNEL_UNBOUNDED SENNIT_WAIT_GROUP_MAX SENNIT_SEMAPHORE_MAX
        SENNIT_SELECT_MAX
        SENNIT_CASE_NONE SENNIT_CASE_SEND SENNIT_CASE_RECEIVE SENNIT_CASE_EVENT
        SENNIT_CASE_FUTURE SENNIT_CASE_DEADLINE
        SENNIT_LISTEN_SHARED SOCK_CLOEXEC SIG_BLOCK
        SENNIT_TLS_ASK_CLIENTS SENNIT_TLS_TRUST_ALL SENNIT_ADDRESS_TEXT
    }
    println!("constant sizeof(sigset_t) {}", std::mem::size_of::<sigset_t>());
}
