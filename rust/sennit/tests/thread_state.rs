// SPDX-License-Identifier: Apache-2.0
//! What `std` keeps for each thread, met by two tasks of one worker of which
//! the first waits: the second is refused, blocks or shares, as the README of
//! the crate says, and no reference ever sees its value change.
use sennit::{blocking, promise, scope, yield_now};
use sennit::{Deadline, Future, Promise, Scheduler};
use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Once};
use std::time::Duration;
use std::{env, thread};

/// Two tasks of one worker. The first gets a future to wait for in the middle
/// of what it does; the second runs meanwhile, and then sets it.
fn interleave<A, B>(
    first: impl FnOnce(Promise<()>, Future<()>) -> A + Send + 'static,
    second: impl FnOnce() -> B + Send + 'static,
) -> (A, B)
where
    A: Send + 'static,
    B: Send + 'static,
{
    // SAFETY: no initialiser of a thread-local variable in this file waits.
    let s = unsafe { Scheduler::builder().workers(1).start() }.unwrap();
    let (waits, is_waiting) = promise();
    let (go_on, may_go_on) = promise();
    let a = s.spawn(move || first(waits, may_go_on)).unwrap();
    let b = s.spawn(move || {
        is_waiting.get().unwrap();
        let seen = second();
        go_on.set(());
        seen
    });
    let (b, a) = (b.unwrap().get().unwrap(), a.get().unwrap());
    s.shutdown(Deadline::NEVER).map_err(|(_, e)| e).unwrap();
    (a, b)
}

/// To be called by the first task, in the middle.
fn wait(waits: Promise<()>, may_go_on: Future<()>) {
    waits.set(());
    may_go_on.get().unwrap();
}

#[test]
fn a_cell_that_is_borrowed_is_refused() {
    thread_local!(static CELL: RefCell<u32> = RefCell::new(1));
    let (kept, refused) = interleave(
        |waits, go_on| {
            CELL.with(|cell| {
                let mut mine = cell.borrow_mut();
                *mine = 2;
                wait(waits, go_on);
                *mine
            })
        },
        || {
            catch_unwind(|| CELL.with(|cell| *cell.borrow())).is_err()
                && CELL.with(|cell| cell.try_borrow().is_err())
        },
    );
    assert_eq!((kept, refused), (2, true));
}

#[test]
fn a_reference_outlives_the_wait_and_is_shared() {
    thread_local! {
        static MADE: Box<Cell<u32>> = Box::new(Cell::new(0));
        static CONSTANT: Cell<u32> = const { Cell::new(0) };
    }
    fn add(n: u32) -> (usize, usize) {
        CONSTANT.with(|cell| cell.set(cell.get() + n));
        MADE.with(|cell| {
            cell.set(cell.get() + n);
            let place: *const Cell<u32> = &**cell;
            (place as usize, cell.get() as usize)
        })
    }
    let (sums, other) = interleave(
        |waits, go_on| {
            let place = add(1).0;
            let sums = MADE.with(|made| {
                CONSTANT.with(|constant| {
                    wait(waits, go_on);
                    (made.get(), constant.get())
                })
            });
            (place, sums)
        },
        || add(2),
    );
    assert_eq!(sums, (other.0, (3, 3)));
}

#[test]
fn a_once_is_run_by_one_and_others_can_tell() {
    static ONCE: Once = Once::new();
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = || {
        ONCE.call_once(|| {
            RUNS.fetch_add(1, Ordering::Relaxed);
        })
    };
    let ((), done) = interleave(
        |waits, go_on| {
            ONCE.call_once(|| {
                RUNS.fetch_add(1, Ordering::Relaxed);
                wait(waits, go_on);
            })
        },
        || ONCE.is_completed(), // call_once would block the worker for ever
    );
    thread::spawn(run).join().unwrap();
    assert!(!done);
    assert_eq!(RUNS.load(Ordering::Relaxed), 1);
}

#[test]
fn the_lock_of_stdout_does_not_exclude_tasks_of_the_same_worker() {
    interleave(
        |waits, go_on| {
            let mut out = io::stdout().lock();
            wait(waits, go_on);
            writeln!(out, "first").unwrap();
        },
        || writeln!(io::stdout().lock(), "second").unwrap(),
    );
}

#[test]
fn channels_of_std_block_the_worker_and_arrive() {
    let (sender, receiver) = mpsc::channel();
    let sends = thread::spawn(move || {
        for n in 0..100 {
            sender.send(n).unwrap();
            thread::yield_now();
        }
    });
    let (first, (receiver, second)) = interleave(
        |waits, go_on| {
            wait(waits, go_on);
            thread::current().id()
        },
        move || {
            let sum: i32 = (0..50).map(|_| receiver.recv().unwrap()).sum();
            (receiver, (thread::current().id(), sum))
        },
    );
    let rest: i32 = receiver.iter().sum();
    sends.join().unwrap();
    assert_eq!((first, second.1 + rest), (second.0, (0..100).sum()));
}

#[test]
fn values_are_dropped_with_their_worker_after_all_tasks() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Value;
    impl Drop for Value {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    thread_local!(static VALUE: Value = const { Value });
    let (first, second) = interleave(
        |waits, go_on| {
            VALUE.with(|_| ());
            wait(waits, go_on);
            DROPPED.load(Ordering::Relaxed)
        },
        || VALUE.with(|_| DROPPED.load(Ordering::Relaxed)),
    );
    assert_eq!((first, second), (0, 0));
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
}

#[test]
fn a_value_that_is_dropped_with_its_worker_waits_as_a_thread() {
    struct Value(Scheduler, Option<Promise<i32>>);
    impl Drop for Value {
        fn drop(&mut self) {
            yield_now();
            sennit::sleep(Duration::from_millis(1)).unwrap();
            let task = self.0.spawn(|| 3).unwrap();
            let mut sum = task.get().unwrap();
            scope(&self.0, Deadline::NEVER, |group| {
                group.spawn(|| {
                    sum += blocking(|| 4);
                    Ok(())
                })
            })
            .unwrap()
            .unwrap();
            self.1.take().unwrap().set(sum);
        }
    }
    thread_local!(static VALUE: RefCell<Option<Value>> = RefCell::new(None));
    // SAFETY: no initialiser of a thread-local variable in this file waits.
    let other = unsafe { Scheduler::builder().workers(1).start() }.unwrap();
    let (promise, sum) = promise();
    let value = Value(other, Some(promise));
    interleave(
        move |waits, go_on| {
            VALUE.with(|place| *place.borrow_mut() = Some(value));
            wait(waits, go_on);
        },
        || (),
    );
    assert_eq!(sum.get().unwrap(), 7);
}

/// A destructor that waits while its task panics. Others see that the thread
/// panics; a panic of theirs ends with their task, or with the process.
fn unwind_beside(other: fn() -> bool) -> bool {
    struct Waits(Option<(Promise<()>, Future<()>)>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let (waits, go_on) = self.0.take().unwrap();
            wait(waits, go_on);
        }
    }
    let (panicked, seen) = interleave(
        |waits, go_on| {
            catch_unwind(AssertUnwindSafe(|| {
                let _waits = Waits(Some((waits, go_on)));
                panic!("the first task");
            }))
            .is_err()
        },
        other,
    );
    panicked && seen
}

#[test]
fn others_see_that_the_thread_panics() {
    assert!(unwind_beside(thread::panicking));
    assert!(!thread::panicking());
}

#[test]
fn a_panic_beside_a_panic_ends_its_task_or_the_process() {
    const NAME: &str = "a_panic_beside_a_panic_ends_its_task_or_the_process";
    fn panics() -> bool {
        yield_now();
        catch_unwind(|| panic!("the second task")).is_err()
    }
    if env::var_os("SENNIT_CHILD").is_some() {
        assert!(unwind_beside(panics));
        return;
    }
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env("SENNIT_CHILD", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(
        child.status.success() || said.contains("panicked while"),
        "{} {said}",
        child.status
    );
}
