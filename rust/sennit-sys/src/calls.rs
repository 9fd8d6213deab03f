// SPDX-License-Identifier: Apache-2.0
//! Calls, by header.
use crate::types::*;
#[cfg(feature = "io")]
use std::os::raw::c_short;
use std::os::raw::{c_char, c_int, c_void};

extern "C" {
    // base.h
    pub fn sennit_now() -> sennit_time;
    pub fn sennit_after(nanoseconds: u64) -> sennit_time;

    // config.h, scheduler.h
    pub fn sennit_config_check(
        config: *const sennit_config,
        field: *mut *const c_char,
    ) -> c_int;
    pub fn sennit_scheduler_create(
        out: *mut *mut sennit_scheduler,
        config: *const sennit_config,
    ) -> c_int;
    pub fn sennit_scheduler_retain(s: *mut sennit_scheduler);
    pub fn sennit_scheduler_release(s: *mut sennit_scheduler);
    pub fn sennit_scheduler_shutdown(
        s: *mut sennit_scheduler,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_scheduler_workers(s: *const sennit_scheduler) -> u32;
    pub fn sennit_thread_bind(s: *mut sennit_scheduler) -> c_int;
    pub fn sennit_thread_unbind();
    pub fn sennit_scheduler_current() -> *mut sennit_scheduler;
    pub fn sennit_cpu_count() -> u32;

    // task.h
    pub fn sennit_schedule_task(task: *const sennit_task) -> c_int;
    pub fn sennit_schedule_task_on(
        s: *mut sennit_scheduler,
        task: *const sennit_task,
    ) -> c_int;

    // fiber.h
    pub fn sennit_fiber_current() -> *mut sennit_fiber;
    pub fn sennit_yield();
    pub fn sennit_sleep_until(wake: sennit_time) -> c_int;
    pub fn sennit_sleep(nanoseconds: u64) -> c_int;

    // event.h
    pub fn sennit_event_init(e: *mut sennit_event, flags: u32);
    pub fn sennit_event_set(e: *mut sennit_event);
    pub fn sennit_event_clear(e: *mut sennit_event);
    pub fn sennit_event_is_set(e: *const sennit_event) -> bool;
    pub fn sennit_event_wait_until(
        e: *mut sennit_event,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_event_wait(e: *mut sennit_event) -> c_int;

    // wait_group.h
    pub fn sennit_wait_group_init(g: *mut sennit_wait_group, count: u32);
    pub fn sennit_wait_group_add(g: *mut sennit_wait_group, n: u32);
    pub fn sennit_wait_group_done(g: *mut sennit_wait_group) -> bool;
    pub fn sennit_wait_group_wait_until(
        g: *mut sennit_wait_group,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_wait_group_spawn(
        g: *mut sennit_wait_group,
        run: sennit_task_fn,
        argument: *mut c_void,
    ) -> c_int;
    pub fn sennit_wait_group_wait(g: *mut sennit_wait_group);

    // mutex.h
    pub fn sennit_mutex_init(m: *mut sennit_mutex);
    pub fn sennit_mutex_destroy(m: *mut sennit_mutex);
    pub fn sennit_mutex_lock_until(
        m: *mut sennit_mutex,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_mutex_lock(m: *mut sennit_mutex);
    pub fn sennit_mutex_unlock(m: *mut sennit_mutex);

    // semaphore.h
    pub fn sennit_semaphore_init(s: *mut sennit_semaphore, count: u32);
    pub fn sennit_semaphore_destroy(s: *mut sennit_semaphore);
    pub fn sennit_semaphore_acquire_until(
        s: *mut sennit_semaphore,
        n: u32,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_semaphore_acquire(s: *mut sennit_semaphore, n: u32) -> c_int;
    pub fn sennit_semaphore_release(s: *mut sennit_semaphore, n: u32);
    pub fn sennit_semaphore_count(s: *const sennit_semaphore) -> u32;

    // channel.h
    pub fn sennit_channel_init(
        c: *mut sennit_channel,
        capacity: usize,
        size: usize,
        allocator: *const sennit_allocator,
    ) -> c_int;
    pub fn sennit_channel_destroy(c: *mut sennit_channel);
    pub fn sennit_channel_send_until(
        c: *mut sennit_channel,
        value: *const c_void,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_channel_send(
        c: *mut sennit_channel,
        value: *const c_void,
    ) -> c_int;
    pub fn sennit_channel_receive_until(
        c: *mut sennit_channel,
        value: *mut c_void,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_channel_receive(
        c: *mut sennit_channel,
        value: *mut c_void,
    ) -> c_int;
    pub fn sennit_channel_close(c: *mut sennit_channel);
    pub fn sennit_channel_length(c: *mut sennit_channel) -> usize;

    // group.h
    pub fn sennit_group_init(
        g: *mut sennit_group,
        deadline: sennit_time,
        flags: u32,
    );
    pub fn sennit_group_init_on(
        g: *mut sennit_group,
        s: *mut sennit_scheduler,
        deadline: sennit_time,
        flags: u32,
    );
    pub fn sennit_group_spawn(
        g: *mut sennit_group,
        run: sennit_member_fn,
        argument: *mut c_void,
    ) -> c_int;
    pub fn sennit_group_spawn_copy(
        g: *mut sennit_group,
        run: sennit_member_fn,
        arguments: *const c_void,
        size: usize,
    ) -> c_int;
    pub fn sennit_group_wait(g: *mut sennit_group) -> c_int;
    pub fn sennit_group_wait_until(
        g: *mut sennit_group,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_group_members(g: *const sennit_group) -> u32;
    pub fn sennit_group_set_deadline(
        g: *mut sennit_group,
        deadline: sennit_time,
    );
    pub fn sennit_group_cancel(g: *mut sennit_group) -> bool;
    pub fn sennit_check_cancelled() -> c_int;

    // future.h
    pub fn sennit_future_init(f: *mut sennit_future);
    pub fn sennit_future_destroy(f: *mut sennit_future);
    pub fn sennit_future_set(f: *mut sennit_future, value: *mut c_void);
    pub fn sennit_future_set_error(f: *mut sennit_future, error: c_int);
    pub fn sennit_future_is_set(f: *const sennit_future) -> bool;
    pub fn sennit_future_wait_until(
        f: *mut sennit_future,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_future_wait(f: *mut sennit_future) -> c_int;
    pub fn sennit_future_get(
        f: *mut sennit_future,
        value: *mut *mut c_void,
    ) -> c_int;
    pub fn sennit_future_get_until(
        f: *mut sennit_future,
        value: *mut *mut c_void,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_future_then(
        f: *mut sennit_future,
        c: *mut sennit_continuation,
    );

    // blocking.h
    pub fn sennit_blocking_call(
        run: sennit_blocking_fn,
        argument: *mut c_void,
    ) -> *mut c_void;
    pub fn sennit_blocking_call_until(
        run: sennit_blocking_fn,
        argument: *mut c_void,
        result: *mut *mut c_void,
        deadline: sennit_time,
    ) -> c_int;

    // select.h
    pub fn sennit_select_until(
        cases: *mut sennit_case,
        count: usize,
        which: *mut usize,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_select(
        cases: *mut sennit_case,
        count: usize,
        which: *mut usize,
    ) -> c_int;
}

// Those of libsennit-io.
#[cfg(feature = "io")]
extern "C" {
    // io.h
    pub fn sennit_read(
        fd: c_int,
        to: *mut c_void,
        size: usize,
        deadline: sennit_time,
    ) -> isize;
    pub fn sennit_write(
        fd: c_int,
        from: *const c_void,
        size: usize,
        deadline: sennit_time,
    ) -> isize;
    pub fn sennit_read_exactly(
        fd: c_int,
        to: *mut c_void,
        size: usize,
        done: *mut usize,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_write_all(
        fd: c_int,
        from: *const c_void,
        size: usize,
        done: *mut usize,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_poll(
        fd: c_int,
        events: c_short,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_case_readable(fd: c_int) -> sennit_case;
    pub fn sennit_case_writable(fd: c_int) -> sennit_case;

    // net.h
    pub fn sennit_recv(
        fd: c_int,
        to: *mut c_void,
        size: usize,
        flags: c_int,
        deadline: sennit_time,
    ) -> isize;
    pub fn sennit_send(
        fd: c_int,
        from: *const c_void,
        size: usize,
        flags: c_int,
        deadline: sennit_time,
    ) -> isize;
    pub fn sennit_send_all(
        fd: c_int,
        from: *const c_void,
        size: usize,
        flags: c_int,
        done: *mut usize,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_accept(
        fd: c_int,
        address: *mut c_void, // a sockaddr, which std does not declare
        size: *mut u32,
        flags: c_int,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_shutdown(fd: c_int, how: c_int) -> c_int;

    // process.h
    pub fn sennit_process_wait(
        child: c_int, // a pid_t
        status: *mut c_int,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_case_process(child: c_int, status: *mut c_int)
        -> sennit_case;

    // signals.h
    pub fn sennit_signals_open(
        out: *mut *mut sennit_signals,
        which: *const sigset_t,
    ) -> c_int;
    pub fn sennit_signals_wait(
        s: *mut sennit_signals,
        info: *mut c_void, // a signalfd_siginfo, which std does not declare
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_signals_close(s: *mut sennit_signals);

    // <signal.h>
    pub fn sigemptyset(set: *mut sigset_t) -> c_int;
    pub fn sigaddset(set: *mut sigset_t, number: c_int) -> c_int;
    pub fn pthread_sigmask(
        how: c_int,
        set: *const sigset_t,
        old: *mut sigset_t,
    ) -> c_int;

    // address.h
    pub fn sennit_listen_at(
        text: *const c_char,
        flags: u32,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_connect_to(
        text: *const c_char,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_local_address(
        fd: c_int,
        text: *mut c_char,
        room: usize,
    ) -> c_int;
    pub fn sennit_peer_address(
        fd: c_int,
        text: *mut c_char,
        room: usize,
    ) -> c_int;
}

// Those of libsennit-tls.
#[cfg(feature = "tls")]
extern "C" {
    // tls.h
    pub fn sennit_tls_context_create(
        out: *mut *mut sennit_tls_context,
        config: *const sennit_tls_config,
        text: *mut c_char,
        size: usize,
    ) -> c_int;
    pub fn sennit_tls_context_reload(
        context: *mut sennit_tls_context,
        config: *const sennit_tls_config,
        text: *mut c_char,
        size: usize,
    ) -> c_int;
    pub fn sennit_tls_context_destroy(context: *mut sennit_tls_context);
    pub fn sennit_tls_create(
        out: *mut *mut sennit_tls,
        context: *mut sennit_tls_context,
        fd: c_int,
    ) -> c_int;
    pub fn sennit_tls_accept(
        tls: *mut sennit_tls,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_tls_connect(
        tls: *mut sennit_tls,
        host: *const c_char,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_tls_read(
        tls: *mut sennit_tls,
        to: *mut c_void,
        size: usize,
        deadline: sennit_time,
    ) -> isize;
    pub fn sennit_tls_wait_readable(
        tls: *mut sennit_tls,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_case_tls(tls: *mut sennit_tls) -> sennit_case;
    pub fn sennit_tls_write(
        tls: *mut sennit_tls,
        from: *const c_void,
        size: usize,
        deadline: sennit_time,
    ) -> isize;
    pub fn sennit_tls_write_all(
        tls: *mut sennit_tls,
        from: *const c_void,
        size: usize,
        done: *mut usize,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_tls_shutdown(
        tls: *mut sennit_tls,
        deadline: sennit_time,
    ) -> c_int;
    pub fn sennit_tls_destroy(tls: *mut sennit_tls);
    pub fn sennit_tls_error(tls: *const sennit_tls) -> *const c_char;
    pub fn sennit_tls_alpn(tls: *const sennit_tls) -> *const c_char;
}
