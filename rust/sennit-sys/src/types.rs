// SPDX-License-Identifier: Apache-2.0
//! Types and constants. `test/layouts.sh` compares each struct with C's.
use std::os::raw::{c_char, c_int, c_ulong, c_void};

pub type sennit_time = u64;

pub const SENNIT_NEVER: sennit_time = u64::MAX;
pub const SENNIT_UNCANCELLED: sennit_time = SENNIT_NEVER - 1;
pub const SENNIT_WORKERS_MAX: u32 = 1024;
pub const SENNIT_GUARDS_REQUIRED: u32 = 0;
pub const SENNIT_TASK_SAME_THREAD: u32 = 1;
pub const SENNIT_TASK_BACKGROUND: u32 = 2;
pub const SENNIT_GROUP_KEEP_GOING: u32 = 1;
pub const SENNIT_GROUP_OWN_STACKS: u32 = 2;
pub const SENNIT_CONTINUATION_INLINE: u32 = 1;
pub const SENNIT_CHANNEL_UNBOUNDED: usize = usize::MAX;
pub const SENNIT_WAIT_GROUP_MAX: u32 = 0x1fffffff;
pub const SENNIT_SEMAPHORE_MAX: u32 = 0x1fffffff;
pub const SENNIT_SELECT_MAX: usize = 64;
pub const SENNIT_CASE_NONE: u32 = 0;
pub const SENNIT_CASE_SEND: u32 = 1;
pub const SENNIT_CASE_RECEIVE: u32 = 2;
pub const SENNIT_CASE_EVENT: u32 = 3;
pub const SENNIT_CASE_FUTURE: u32 = 4;
pub const SENNIT_CASE_DEADLINE: u32 = 5;
pub const SENNIT_LISTEN_SHARED: u32 = 1;
pub const SOCK_CLOEXEC: c_int = 0o2000000;
pub const SIG_BLOCK: c_int =
    cfg!(any(target_arch = "mips", target_arch = "mips64")) as c_int;
pub const SENNIT_TLS_ASK_CLIENTS: u32 = 1;
pub const SENNIT_TLS_TRUST_ALL: u32 = 2;
pub const SENNIT_ADDRESS_TEXT: usize = 128;

pub type sennit_task_fn = unsafe extern "C" fn(*mut c_void);
pub type sennit_member_fn = unsafe extern "C" fn(*mut c_void) -> c_int;
pub type sennit_blocking_fn = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
pub type sennit_continuation_fn =
    unsafe extern "C" fn(*mut c_void, *mut c_void, c_int);

/// Declares structs of C, and lists their sizes and offsets for the test.
macro_rules! structs {
    ($($(#[$meta:meta])* pub struct $name:ident {
        $(pub $field:ident: $type:ty,)*
    })*) => {
        $($(#[$meta])* #[repr(C)] #[derive(Clone, Copy)] pub struct $name {
            $(pub $field: $type,)*
        })*

        /// Calls `line` with the name of each struct, its size and alignment,
        /// and with the name of each field, its offset and 0.
        pub fn layouts(
            mut line: impl FnMut(&'static str, &'static str, usize, usize),
        ) {
            $({
                let object = std::mem::MaybeUninit::<$name>::uninit();
                let base = object.as_ptr();
                line(stringify!($name), "", std::mem::size_of::<$name>(),
                    std::mem::align_of::<$name>());
                $(
                    // SAFETY: the place is inside the object, and is not read.
                    let place = unsafe { std::ptr::addr_of!((*base).$field) };
                    line(stringify!($name), stringify!($field),
                        place as usize - base as usize, 0);
                )*
            })*
        }
    };
}

/// A scheduler.
#[repr(C)]
pub struct sennit_scheduler {
    private: [u8; 0],
}

/// A resource manager.
#[repr(C)]
pub struct sennit_resources {
    private: [u8; 0],
}

/// A fiber.
#[repr(C)]
pub struct sennit_fiber {
    private: [u8; 0],
}

/// A set of signals: glibc's and musl's, which `std` does not declare.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sigset_t {
    words: [c_ulong; 128 / std::mem::size_of::<c_ulong>()],
}

/// Signals that tasks wait for.
#[repr(C)]
pub struct sennit_signals {
    private: [u8; 0],
}

/// What TLS connections share.
#[repr(C)]
pub struct sennit_tls_context {
    private: [u8; 0],
}

/// A TLS connection.
#[repr(C)]
pub struct sennit_tls {
    private: [u8; 0],
}

structs! {
    pub struct sennit_tls_config {
        pub size: usize,
        pub certificate: *const c_char,
        pub certificate_text: *const c_char,
        pub key: *const c_char,
        pub key_text: *const c_char,
        pub trusted: *const c_char,
        pub trusted_text: *const c_char,
        pub protocols: *const c_char,
        pub flags: u32,
        pub reserved_: u32,
    }
    pub struct sennit_word {
        pub value_: u32,
    }
    pub struct sennit_half {
        pub value_: u16,
    }
    pub struct sennit_pointer {
        pub value_: *mut c_void,
    }
    pub struct sennit_allocator {
        pub allocate: Option<unsafe extern "C" fn(*mut c_void, usize, usize)
            -> *mut c_void>,
        pub release: Option<unsafe extern "C" fn(*mut c_void, *mut c_void,
            usize)>,
        pub context: *mut c_void,
    }
    pub struct sennit_cpu_mask {
        pub cpus: *const u32,
        pub count: usize,
    }
    pub struct sennit_cpu_place {
        pub node: u32,
        pub cache: u32,
        pub core: u32,
    }
    pub struct sennit_config {
        pub size: usize,
        pub workers: u32,
        pub spin_ns: u32,
        pub max_workers: u32,
        pub start: u32,
        pub stack_size: usize,
        pub guard_size: usize,
        pub max_fibers: u32,
        pub placement: u32,
        pub order: u32,
        pub affinity: u32,
        pub masks: *const sennit_cpu_mask,
        pub mask_count: usize,
        pub name: *const c_char,
        pub thread_init: Option<unsafe extern "C" fn(*mut c_void, u32)>,
        pub thread_init_context: *mut c_void,
        pub allocator: *const sennit_allocator,
        pub trace_events: u32,
        pub fp: u32,
        pub max_blocking_threads: u32,
        pub blocking_idle_ms: u32,
        pub overflow: u32,
        pub measure_stacks: u32,
        pub trim_ms: u32,
        pub spare_stacks: u32,
        pub retire_ms: u32,
        pub min_workers: u32,
        pub on_shutdown: Option<unsafe extern "C" fn(*mut c_void)>,
        pub on_shutdown_context: *mut c_void,
        pub cpu_place: Option<unsafe extern "C" fn(*mut c_void, u32,
            *mut sennit_cpu_place) -> bool>,
        pub cpu_place_context: *mut c_void,
        pub resources: *mut sennit_resources,
        pub resources_min: u32,
        pub resources_max: u32,
        pub resources_priority: u32,
        pub guards: u32,
        pub owner: *mut c_void,
        pub owner_type: *const c_char,
        pub blocking_fail_ms: u32,
        pub reserved_: u32,
    }
    pub struct sennit_task {
        pub run: Option<sennit_task_fn>,
        pub argument: *mut c_void,
        pub copy_size: usize,
        pub flags: u32,
        pub reserved_: u32,
    }
    pub struct sennit_event {
        pub state_: sennit_word,
        pub mode_: u32,
        pub waiters_: *mut c_void,
    }
    pub struct sennit_wait_group {
        pub state_: sennit_word,
        pub tied_: sennit_half,
        pub kept_: sennit_half,
        pub waiters_: *mut c_void,
    }
    pub struct sennit_mutex {
        pub state_: sennit_word,
        pub worker_: sennit_word,
        pub waiters_: *mut c_void,
        pub owner_: sennit_pointer,
    }
    pub struct sennit_semaphore {
        pub state_: sennit_word,
        pub zero_: u32,
        pub waiters_: *mut c_void,
    }
    pub struct sennit_channel_buffer {
        pub capacity_: usize,
        pub count_: usize,
        pub first_: usize,
        pub last_: usize,
        pub oldest_: *mut c_void,
        pub newest_: *mut c_void,
        pub spare_: *mut c_void,
        pub allocator_: sennit_allocator,
    }
    pub struct sennit_channel {
        pub state_: sennit_word,
        pub size_: u32,
        pub senders_: *mut c_void,
        pub receivers_: *mut c_void,
        pub store_: sennit_channel_buffer,
        pub reserved_: [*mut c_void; 2],
    }
    pub struct sennit_cancel_scope {
        pub lock_: sennit_word,
        pub state_: sennit_word,
        pub cancels_: sennit_word,
        pub kind_: u32,
        pub root_: *mut sennit_cancel_scope,
        pub parent_: *mut sennit_cancel_scope,
        pub waits_: *mut c_void,
        pub deadline_: sennit_time,
        pub earlier_: sennit_time,
        pub inner_: *mut sennit_cancel_scope,
        pub next_: *mut sennit_cancel_scope,
        pub at_: *mut *mut sennit_cancel_scope,
    }
    pub struct sennit_group {
        pub scope_: sennit_cancel_scope,
        pub others_: sennit_word,
        pub here_: u32,
        pub error_: sennit_word,
        pub flags_: u32,
        pub home_: sennit_pointer,
        pub scheduler_: *mut sennit_scheduler,
        pub waiter_: *mut c_void,
        pub reserved_: [*mut c_void; 2],
    }
    pub struct sennit_continuation {
        pub run: Option<sennit_continuation_fn>,
        pub argument: *mut c_void,
        pub scheduler: *mut sennit_scheduler,
        pub flags: u32,
        pub error_: i32,
        pub value_: *mut c_void,
        pub next_: *mut sennit_continuation,
    }
    pub struct sennit_future {
        pub state_: sennit_word,
        pub error_: i32,
        pub value_: *mut c_void,
        pub waiters_: *mut c_void,
        pub last_: *mut sennit_continuation,
        pub reserved_: [*mut c_void; 2],
    }
    pub struct sennit_case {
        pub object_: *mut c_void,
        pub value_: *mut c_void,
        pub number_: u64,
        pub kind_: u32,
        pub result: c_int,
    }
}
