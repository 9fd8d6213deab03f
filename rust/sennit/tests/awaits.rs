// SPDX-License-Identifier: Apache-2.0
//! `await` of a future, by an executor of this crate and by one of others.
use sennit::{block_on, promise, Deadline, Scheduler};
use std::future::Future;
use std::io::ErrorKind;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread;
use std::time::Duration;

mod common;
use common::{members, ECANCELED};

/// No initialiser in this file waits.
fn scheduler(workers: u32) -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(workers).start() }.unwrap()
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// An executor of one thread, as others have.
fn run<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = Box::pin(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn a_thousand_futures_are_awaited_by_either_executor() {
    let s = scheduler(2);
    let sum = |s: Scheduler| async move {
        let futures: Vec<_> = (0..1000u64)
            .map(|n| {
                s.spawn(move || {
                    sennit::yield_now();
                    n
                })
                .unwrap()
            })
            .collect();
        let mut sum = 0;
        for future in futures {
            sum += future.await.unwrap();
        }
        sum
    };
    assert_eq!(run(sum(s.clone())), 499_500);
    let task = sum(s.clone());
    let task = s.spawn(|| block_on(task, Deadline::NEVER).unwrap()).unwrap();
    assert_eq!(task.get().unwrap(), 499_500);
}

#[test]
fn the_newest_waker_is_woken_once() {
    let (promise, mut future) = promise();
    let counts = [Arc::new(Count::default()), Arc::new(Count::default())];
    for count in &counts {
        for _ in 0..2 {
            let waker = count.clone().into();
            let poll =
                Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
            assert!(poll.is_pending());
        }
    }
    assert_eq!(Arc::strong_count(&counts[0]), 1); // the older is let go
    thread::spawn(|| promise.set(3)).join().unwrap();
    let seen = [0, 1].map(|i: usize| counts[i].0.load(Ordering::Relaxed));
    assert_eq!(seen, [0, 1]);
    assert_eq!(Arc::strong_count(&counts[1]), 1);
    assert_eq!(run(future).unwrap(), 3);
}

#[test]
fn a_future_that_is_dropped_while_it_is_awaited_keeps_nothing() {
    let count = Arc::new(Count::default());
    let (promise, mut future) = promise();
    let waker = count.clone().into();
    let poll = Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
    assert!(poll.is_pending());
    drop((future, waker));
    promise.set(1);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn errors_and_panics_come_out_of_await() {
    let s = scheduler(1);
    let (broken, future) = promise::<i32>();
    let task = s.spawn(|| drop(broken)).unwrap();
    assert_eq!(run(future).unwrap_err().kind(), ErrorKind::BrokenPipe);
    run(task).unwrap();
    let task = s.spawn(|| -> () { panic!("of the task") }).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| run(task))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the task"));
}

#[test]
fn block_on_ends_by_deadline_and_cancellation() {
    let soon = Deadline::after(Duration::from_millis(1));
    for by in [Deadline::NOW, soon] {
        let error = block_on(std::future::pending::<()>(), by).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
    assert_eq!(block_on(async { 5 }, Deadline::NOW).unwrap(), 5);
    let ended = members(
        &scheduler(1),
        [
            Box::new(|| block_on(std::future::pending(), Deadline::NEVER)),
            Box::new(|| Err(std::io::Error::from_raw_os_error(ECANCELED))),
        ],
    );
    assert_eq!(ended.unwrap_err().raw_os_error(), Some(ECANCELED));
}

#[test]
fn a_future_that_wakes_itself_is_polled_again() {
    struct Turns(u32);
    impl Future for Turns {
        type Output = u32;

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
            self.0 += 1;
            if self.0 == 1000 {
                return Poll::Ready(self.0);
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
    assert_eq!(block_on(Turns(0), Deadline::NEVER).unwrap(), 1000);
}
