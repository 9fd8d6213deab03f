// SPDX-License-Identifier: Apache-2.0
use sennit::{channel, promise, select, unbounded, Deadline, Scheduler};
use std::io::{Error, ErrorKind};
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
fn each_value_of_two_channels_of_different_types_comes_once() {
    let (words, word) = channel::<String>(0).unwrap();
    let (numbers, number) = channel::<u64>(2).unwrap();
    let (mut letters, mut sum) = (0, 0);
    members(
        &scheduler(),
        [
            Box::new(move || {
                for i in 0..200 {
                    words.send("x".repeat(i), Deadline::NEVER).unwrap();
                }
                Ok(())
            }),
            Box::new(move || {
                for i in 0..200 {
                    numbers.send(i, Deadline::NEVER).unwrap();
                }
                Ok(())
            }),
            Box::new(|| {
                let mut a = word.receiving();
                let mut b = number.receiving();
                for _ in 0..400 {
                    match select(&mut [&mut a, &mut b], Deadline::NEVER)? {
                        0 => match a.take().unwrap() {
                            Ok(word) => letters += word.len() as u64,
                            // Its sender has gone: the rest of the other.
                            Err(_) => break,
                        },
                        _ => match b.take().unwrap() {
                            Ok(n) => sum += n,
                            Err(_) => break,
                        },
                    }
                    assert!(a.take().is_none() && b.take().is_none());
                }
                drop((a, b));
                letters += word.iter().map(|w| w.len() as u64).sum::<u64>();
                sum += number.iter().sum::<u64>();
                Ok(())
            }),
        ],
    )
    .unwrap();
    assert_eq!((letters, sum), (19900, 19900));
}

#[test]
fn a_send_that_is_not_done_keeps_its_value() {
    let (full, _held) = channel(1).unwrap();
    let (free, taker) = channel(1).unwrap();
    full.send(Arc::new(0), Deadline::NEVER).unwrap();
    let (one, two) = (Arc::new(1), Arc::new(2));
    let mut first = full.sending(one.clone());
    let mut second = free.sending(two.clone());
    let cases: &mut [&mut dyn sennit::Case] = &mut [&mut first, &mut second];
    assert_eq!(select(cases, Deadline::NEVER).unwrap(), 1);
    // Without a value the case never happens.
    let e = select(cases, Deadline::NOW).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::TimedOut);
    assert!(first.take().is_none());
    second.take().unwrap().unwrap();
    assert_eq!(Arc::strong_count(&one), 2);
    assert_eq!(first.replace(None), Some(one.clone()));
    assert!(second.replace(None).is_none());
    assert_eq!(taker.receive(Deadline::NOW).unwrap(), two);
    assert_eq!(Arc::strong_count(&two), 1);
    drop(first);
    assert_eq!(Arc::strong_count(&one), 1);
}

#[test]
fn a_closed_channel_is_the_result_of_its_case() {
    let (sender, receiver) = channel::<String>(0).unwrap();
    drop(receiver);
    let mut sending = sender.sending("here".into());
    let done = select(&mut [&mut sending], Deadline::NEVER);
    assert_eq!(done.unwrap(), 0);
    let refused = sending.take().unwrap().unwrap_err();
    assert_eq!(refused.value, "here");
    assert_eq!(refused.error.kind(), ErrorKind::BrokenPipe);

    let (sender, receiver) = unbounded::<String>().unwrap();
    sender.send("last".into(), Deadline::NOW).unwrap();
    drop(sender);
    let mut receiving = receiver.receiving();
    select(&mut [&mut receiving], Deadline::NEVER).unwrap();
    assert_eq!(receiving.take().unwrap().unwrap(), "last");
    select(&mut [&mut receiving], Deadline::NEVER).unwrap();
    let e = receiving.take().unwrap().unwrap_err();
    assert_eq!(e.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_value_that_nobody_takes_is_dropped() {
    let (sender, receiver) = unbounded().unwrap();
    let value = Arc::new(());
    for _ in 0..3 {
        sender.send(value.clone(), Deadline::NOW).unwrap();
    }
    let mut receiving = receiver.receiving();
    for left in [4, 3, 2] {
        select(&mut [&mut receiving], Deadline::NEVER).unwrap();
        assert_eq!(Arc::strong_count(&value), left);
    }
    drop(receiving);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn futures_and_times_are_cases() {
    let (sender, receiver) = channel::<u8>(0).unwrap();
    let (set, value) = promise();
    let (broken, nothing) = promise::<u8>();
    members(
        &scheduler(),
        [
            Box::new(move || {
                sennit::sleep(Duration::from_millis(1))?;
                set.set(6);
                Ok(())
            }),
            Box::new(|| {
                let mut other = receiver.receiving();
                let mut ready = value.ready();
                let cases: &mut [&mut dyn sennit::Case] =
                    &mut [&mut other, &mut ready];
                assert_eq!(select(cases, Deadline::NEVER)?, 1);
                ready.take().unwrap()
            }),
        ],
    )
    .unwrap();
    assert_eq!(value.get().unwrap(), 6);

    drop(broken);
    let mut ready = nothing.ready();
    select(&mut [&mut ready], Deadline::NEVER).unwrap();
    let e = ready.take().unwrap().unwrap_err();
    assert_eq!(e.kind(), ErrorKind::BrokenPipe);

    let mut other = receiver.receiving();
    let mut time = Deadline::after(Duration::from_millis(1)).ready();
    let done = select(&mut [&mut other, &mut time], Deadline::NEVER);
    assert_eq!(done.unwrap(), 1);
    time.take().unwrap().unwrap();
    let mut never = Deadline::NEVER.ready();
    let e = select(&mut [&mut never], Deadline::NOW).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::TimedOut);
    drop(sender);
}

#[cfg(feature = "io")]
#[test]
fn descriptors_are_cases() {
    use sennit::io::{readable, writable};
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    let (mut one, other) = UnixStream::pair().unwrap();
    let (_sender, receiver) = channel::<u8>(0).unwrap();
    let wait = || {
        let mut value = receiver.receiving();
        let mut bytes = readable(&other);
        let done = select(&mut [&mut value, &mut bytes], Deadline::NEVER)?;
        assert_eq!(done, 1);
        bytes.take().unwrap()
    };
    members(
        &scheduler(),
        [
            Box::new(wait),
            Box::new(|| {
                sennit::sleep(Duration::from_millis(1))?;
                one.write_all(b"x")
            }),
        ],
    )
    .unwrap();
    wait().unwrap(); // the thread waits
    let mut room = writable(&other);
    assert_eq!(select(&mut [&mut room], Deadline::NEVER).unwrap(), 0);
    room.take().unwrap().unwrap();
}

#[test]
fn a_cancelled_group_and_a_deadline_end_it() {
    let (sender, receiver) = channel::<u8>(0).unwrap();
    let wait = |by| select(&mut [&mut receiver.receiving()], by).unwrap_err();
    for by in [Deadline::NOW, Deadline::after(Duration::from_millis(1))] {
        assert_eq!(wait(by).kind(), ErrorKind::TimedOut);
    }
    let ended = members(
        &scheduler(),
        [
            Box::new(|| {
                let e = wait(Deadline::NEVER);
                assert_eq!(e.raw_os_error(), Some(ECANCELED));
                Ok(())
            }),
            Box::new(|| Err(Error::from_raw_os_error(7))),
        ],
    );
    assert_eq!(ended.unwrap_err().raw_os_error(), Some(7));
    drop(sender);
}

#[test]
fn at_most_64_cases() {
    let (sender, receiver) = channel(1).unwrap();
    for (count, result) in [(64, Ok(())), (65, Err(ErrorKind::InvalidInput))] {
        let mut all: Vec<_> = (0..count).map(|_| sender.sending(1)).collect();
        let mut cases: Vec<&mut dyn sennit::Case> = Vec::new();
        for case in &mut all {
            cases.push(case);
        }
        let done = select(&mut cases, Deadline::NEVER);
        assert_eq!(done.map(drop).map_err(|e| e.kind()), result);
    }
    assert_eq!(receiver.len(), 1);
}
