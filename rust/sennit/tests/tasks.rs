// SPDX-License-Identifier: Apache-2.0
use sennit::{blocking, promise, Deadline, Future, Promise, Scheduler};
use std::cell::Cell;
use std::io::ErrorKind;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// No initialiser in this file waits.
fn scheduler(workers: u32) -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(workers).start() }.unwrap()
}

fn end(s: Scheduler) {
    s.shutdown(Deadline::NEVER).map_err(|(_, e)| e).unwrap();
}

#[test]
fn a_future_has_what_its_task_returns() {
    let s = scheduler(2);
    let futures: Vec<Future<usize>> =
        (0..1000).map(|n| s.spawn(move || n * n).unwrap()).collect();
    for (n, future) in futures.into_iter().enumerate() {
        assert_eq!(future.get().unwrap(), n * n);
    }
    end(s);
}

#[test]
fn captures_of_any_size_and_alignment_arrive() {
    #[repr(align(128))]
    struct Aligned(u8);
    let s = scheduler(1);
    let (large, aligned) = ([7u64; 100], Aligned(3));
    let sum = s.spawn(move || large.iter().sum::<u64>()).unwrap();
    let place = s.spawn(move || {
        let here = &aligned;
        (here as *const Aligned as usize % 128, here.0)
    });
    assert_eq!(sum.get().unwrap(), 700);
    assert_eq!(place.unwrap().get().unwrap(), (0, 3));
    end(s);
}

#[test]
fn a_panic_comes_out_of_get() {
    let s = scheduler(1);
    let future = s.spawn(|| -> () { panic!("of the task") }).unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| future.get())).unwrap_err();
    assert_eq!(caught.downcast_ref::<&str>(), Some(&"of the task"));
    assert_eq!(s.spawn(|| 1).unwrap().get().unwrap(), 1); // the worker lives
    end(s);
}

#[test]
fn a_dropped_future_detaches_its_task() {
    let s = scheduler(1);
    let ran = Arc::new(AtomicUsize::new(0));
    let value = ran.clone();
    drop(s.spawn(move || {
        value.fetch_add(1, Ordering::Relaxed);
        value // dropped in the task
    }));
    end(s);
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    assert_eq!(Arc::strong_count(&ran), 1);
}

#[test]
fn a_dropped_promise_breaks_its_future() {
    let (broken, future): (Promise<i32>, _) = promise();
    let waiter = thread::spawn(|| future.get());
    drop(broken);
    let error = waiter.join().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let (promise, future) = promise();
    let soon = Deadline::after(Duration::from_millis(1));
    for by in [Deadline::NOW, soon] {
        let error = future.wait(by).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
    assert!(!future.is_set());
    promise.set(Box::new(5));
    future.wait(Deadline::NOW).unwrap();
    assert_eq!(*future.get().unwrap(), 5);
}

#[test]
fn tasks_keep_what_is_not_send_across_waits() {
    thread_local!(static HERE: Cell<u32> = Cell::new(0));
    let s = scheduler(2);
    let turns: Vec<_> = (0..100u32)
        .map(|n| {
            s.spawn(move || {
                let local = Rc::new(n);
                let thread = thread::current().id();
                let before =
                    HERE.with(|here| here as *const Cell<u32> as usize);
                sennit::yield_now();
                sennit::sleep(Duration::from_micros(10)).unwrap();
                let after = HERE.with(|here| here as *const Cell<u32> as usize);
                (*local == n, thread == thread::current().id(), before == after)
            })
        })
        .collect();
    for turn in turns {
        assert_eq!(turn.unwrap().get().unwrap(), (true, true, true));
    }
    end(s);
}

#[test]
fn a_task_that_waits_leaves_its_worker_to_others() {
    let s = scheduler(1);
    let (promise, future) = promise();
    let waits = s.spawn(move || future.get().unwrap()).unwrap();
    s.spawn(move || promise.set(9)).unwrap(); // runs only if `waits` waits
    assert_eq!(waits.get().unwrap(), 9);
    end(s);
}

#[test]
fn shutdown_waits_for_work_and_gives_the_reference_back() {
    let s = scheduler(1);
    let (promise, future) = promise();
    let task = s.spawn(move || future.get().unwrap()).unwrap();
    let (s, error) = s.shutdown(Deadline::NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    promise.set(4);
    end(s);
    assert!(task.is_set());
    assert_eq!(task.get().unwrap(), 4);
}

#[test]
fn a_task_that_shuts_its_scheduler_down_is_told() {
    let s = scheduler(1);
    let own = s.clone();
    let told = s
        .spawn(move || match own.shutdown(Deadline::NEVER) {
            Ok(()) => None,
            Err((_, error)) => error.raw_os_error(),
        })
        .unwrap();
    assert_eq!(told.get().unwrap(), Some(35)); // EDEADLK
    end(s);
}

#[test]
fn a_blocking_call_borrows_and_panics_like_a_call() {
    let s = scheduler(1);
    let seen = s
        .spawn(|| {
            let (worker, mut other) = (thread::current().id(), None);
            let seven = blocking(|| {
                other = Some(thread::current().id());
                7
            });
            assert!(
                catch_unwind(|| blocking(|| panic!("of the call"))).is_err()
            );
            (seven, other.unwrap() != worker)
        })
        .unwrap();
    assert_eq!(seen.get().unwrap(), (7, true));
    end(s);
}

#[test]
fn errors_of_the_configuration_come_back() {
    for builder in [
        Scheduler::builder().workers(u32::MAX), // no threads, and none bound
        Scheduler::builder().workers(4).max_fibers(1),
        Scheduler::builder().name("a\0b"),
    ] {
        // SAFETY: no task.
        let error = unsafe { builder.start() }.map(end).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}
