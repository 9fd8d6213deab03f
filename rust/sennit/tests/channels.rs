// SPDX-License-Identifier: Apache-2.0
use sennit::{channel, unbounded, Deadline, Mutex, Scheduler};
use std::io::ErrorKind;
use std::sync::Arc;
use std::thread;

/// No initialiser in this file waits.
fn scheduler(workers: u32) -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(workers).start() }.unwrap()
}

#[test]
fn tasks_and_threads_pass_each_value_once() {
    let s = scheduler(2);
    for capacity in [0, 3] {
        let (sender, receiver) = channel(capacity).unwrap();
        for n in 0..4u64 {
            let sender = sender.clone();
            s.spawn(move || {
                for i in 0..100 {
                    sender.send(n * 100 + i, Deadline::NEVER).unwrap();
                }
            })
            .unwrap();
        }
        drop(sender); // those of the tasks are left
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || receiver.iter().sum::<u64>())
            })
            .collect();
        let sum: u64 = receivers.into_iter().map(|r| r.join().unwrap()).sum();
        assert_eq!(sum, (0..400).sum());
    }
}

#[test]
fn a_value_that_is_not_sent_comes_back() {
    let (sender, receiver) = channel(0).unwrap();
    let refused = sender.send("here".to_string(), Deadline::NOW).unwrap_err();
    assert_eq!(refused.value, "here");
    assert_eq!(refused.error.kind(), ErrorKind::TimedOut);
    drop(receiver);
    let refused = sender.send(refused.value, Deadline::NEVER).unwrap_err();
    assert_eq!(refused.value, "here");
    assert_eq!(refused.error.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn the_last_sender_closes_and_held_values_arrive() {
    let (sender, receiver) = unbounded().unwrap();
    let second = sender.clone();
    sender.send(Box::new(1), Deadline::NEVER).unwrap();
    drop(sender);
    second.send(Box::new(2), Deadline::NEVER).unwrap();
    drop(second);
    assert_eq!(receiver.len(), 2);
    assert_eq!(receiver.iter().map(|b| *b).collect::<Vec<i32>>(), [1, 2]);
    assert!(receiver.is_empty());
}

#[test]
fn values_that_nobody_receives_are_dropped() {
    let value = Arc::new(());
    for sender_first in [true, false] {
        let (sender, receiver) = channel(4).unwrap();
        for _ in 0..3 {
            sender.send(value.clone(), Deadline::NEVER).unwrap();
        }
        if sender_first {
            drop(sender);
            drop(receiver);
        } else {
            drop(receiver);
            drop(sender);
        }
        assert_eq!(Arc::strong_count(&value), 1);
    }
}

#[test]
fn values_without_bytes_are_counted() {
    for capacity in [3, usize::MAX] {
        let (sender, receiver) = channel(capacity).unwrap();
        for _ in 0..3 {
            sender.send((), Deadline::NOW).unwrap();
        }
        drop(sender);
        assert_eq!(receiver.iter().count(), 3);
    }
}

#[test]
fn a_mutex_is_held_across_waits() {
    let s = scheduler(2);
    let sum = Arc::new(Mutex::new(0u64));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let sum = sum.clone();
            s.spawn(move || {
                let mut held = sum.lock();
                let before = *held;
                sennit::yield_now();
                *held = before + 1;
            })
            .unwrap()
        })
        .collect();
    for task in tasks {
        task.get().unwrap();
    }
    assert_eq!(*sum.lock(), 100);
    let held = sum.lock();
    let other = sum.clone();
    let late = s.spawn(move || other.lock_until(Deadline::NOW).map(|_| ()));
    let error = late.unwrap().get().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    drop(held);
}

#[test]
fn a_panic_unlocks_the_mutex() {
    let s = scheduler(1);
    let lock = Arc::new(Mutex::new(1));
    let held = lock.clone();
    let task = s.spawn(move || {
        let _held = held.lock();
        panic!("with the mutex");
    });
    task.unwrap().wait(Deadline::NEVER).unwrap();
    assert_eq!(*lock.lock(), 1);
}
