// SPDX-License-Identifier: Apache-2.0
use sennit::{yield_now, Deadline, Scheduler, Semaphore};
use std::io::ErrorKind;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

mod common;
use common::{members, ECANCELED};

/// No initialiser in this file waits.
fn scheduler() -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(2).start() }.unwrap()
}

#[test]
fn as_many_tasks_are_inside_as_there_are_permits() {
    let s = scheduler();
    let inside = Arc::new((Semaphore::new(3), AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let inside = inside.clone();
            s.spawn(move || {
                let _permit = inside.0.acquire(1, Deadline::NEVER).unwrap();
                let now = inside.1.fetch_add(1, Ordering::Relaxed);
                yield_now();
                inside.1.fetch_sub(1, Ordering::Relaxed);
                now
            })
            .unwrap()
        })
        .collect();
    for task in tasks {
        assert!(task.get().unwrap() < 3);
    }
    assert_eq!(inside.0.permits(), 3);
}

#[test]
fn a_wait_ends_by_deadline_and_cancellation_and_takes_none() {
    let semaphore = Semaphore::new(2);
    for by in [Deadline::NOW, Deadline::after(Duration::from_millis(1))] {
        let error = semaphore.acquire(3, by).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
    let ended = members(
        &scheduler(),
        [
            Box::new(|| semaphore.acquire(3, Deadline::NEVER).map(drop)),
            Box::new(|| Err(std::io::Error::from_raw_os_error(ECANCELED))),
        ],
    );
    assert_eq!(ended.unwrap_err().raw_os_error(), Some(ECANCELED));
    assert_eq!(semaphore.permits(), 2);
}

#[test]
fn permits_that_are_kept_go_back_elsewhere() {
    let (s, semaphore) = (scheduler(), Semaphore::new(1));
    members(
        &s,
        [Box::new(|| {
            semaphore.acquire(1, Deadline::NEVER)?.keep();
            Ok(())
        })],
    )
    .unwrap();
    assert_eq!(semaphore.permits(), 0);
    semaphore.release(2);
    drop(semaphore.acquire(2, Deadline::NOW).unwrap());
    assert_eq!(semaphore.permits(), 2);
}

#[test]
fn too_many_permits_are_refused() {
    let many = Semaphore::MAX + 1;
    assert!(catch_unwind(|| Semaphore::new(many)).is_err());
    let semaphore = Semaphore::new(0);
    let refused =
        catch_unwind(|| semaphore.acquire(many, Deadline::NOW).is_ok());
    assert!(refused.is_err());
}
