// SPDX-License-Identifier: Apache-2.0
use sennit::{scope, sleep_until, Deadline, Scheduler};
use std::io::{self, ErrorKind};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// No initialiser in this file waits.
fn scheduler() -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(2).start() }.unwrap()
}

const ECANCELED: Option<i32> = Some(125);

#[test]
fn members_borrow_the_openers_stack() {
    let s = scheduler();
    let mut squares = [0usize; 100];
    scope(&s, Deadline::NEVER, |group| {
        for (n, square) in squares.iter_mut().enumerate() {
            group.spawn(move || {
                sennit::yield_now();
                *square = n * n;
                Ok(())
            })?;
        }
        io::Result::Ok(())
    })
    .unwrap()
    .unwrap();
    assert!(squares.iter().enumerate().all(|(n, square)| *square == n * n));
}

#[test]
fn members_spawn_members_in_groups_inside_groups() {
    let (s, leaves) = (scheduler(), AtomicUsize::new(0));
    fn tree(s: &Scheduler, leaves: &AtomicUsize, depth: u32) -> io::Result<()> {
        if depth == 0 {
            leaves.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        scope(s, Deadline::NEVER, |group| {
            group.spawn(move || tree(s, leaves, depth - 1))?;
            group.spawn(move || group.spawn(move || tree(s, leaves, depth - 1)))
        })?
    }
    tree(&s, &leaves, 6).unwrap();
    assert_eq!(leaves.load(Ordering::Relaxed), 64);
}

#[test]
fn the_first_error_cancels_the_others_and_comes_out() {
    let s = scheduler();
    let mut other = Ok(());
    let error = scope(&s, Deadline::NEVER, |group| {
        group.spawn(|| {
            other = sleep_until(Deadline::NEVER);
            Ok(())
        })?;
        group.spawn(|| Err(io::Error::from_raw_os_error(2)))
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(other.unwrap_err().raw_os_error(), ECANCELED);
}

#[test]
fn a_panic_of_a_member_comes_out_after_the_others() {
    let (s, mut ended) = (scheduler(), false);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        scope(&s, Deadline::NEVER, |group| {
            group.spawn(|| {
                let _ = sleep_until(Deadline::NEVER); // until cancelled
                ended = true;
                Ok(())
            })?;
            group.spawn(|| panic!("of a member"))
        })
    }))
    .unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"of a member"));
    assert!(ended);
}

#[test]
fn a_panic_of_the_opener_waits_for_members() {
    let (s, mut ended) = (scheduler(), false);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        scope(&s, Deadline::NEVER, |group| {
            group
                .spawn(|| {
                    let _ = sleep_until(Deadline::NEVER); // until cancelled
                    ended = true;
                    Ok(())
                })
                .unwrap();
            panic!("of the opener");
        })
    }));
    assert!(panic.is_err());
    assert!(ended);
}

#[test]
fn a_cancelled_group_takes_no_member_and_drops_its_closure() {
    let (s, held) = (scheduler(), std::sync::Arc::new(()));
    let error = scope(&s, Deadline::NEVER, |group| {
        group.cancel();
        let held = held.clone();
        let refused = group.spawn(move || {
            drop(held);
            Ok(())
        });
        assert_eq!(refused.unwrap_err().raw_os_error(), ECANCELED);
    });
    assert_eq!(error.unwrap_err().raw_os_error(), ECANCELED);
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}

#[test]
fn a_deadline_ends_waits_of_members() {
    let s = scheduler();
    let by = Deadline::after(Duration::from_millis(1));
    let error =
        scope(&s, by, |group| group.spawn(|| sleep_until(Deadline::NEVER)));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn a_captured_value_of_any_alignment_arrives() {
    #[repr(align(64))]
    struct Aligned(u8);
    let (s, aligned, mut seen) = (scheduler(), Aligned(3), (1, 0));
    let place = &mut seen;
    scope(&s, Deadline::NEVER, |group| {
        group.spawn(move || {
            let here = &aligned;
            *place = (here as *const Aligned as usize % 64, here.0);
            Ok(())
        })
    })
    .unwrap()
    .unwrap();
    assert_eq!(seen, (0, 3));
}

#[test]
fn a_drain_waits_for_members_until_a_deadline() {
    let s = scheduler();
    let counts = scope(&s, Deadline::NEVER, |group| {
        group.spawn(|| Ok(())).unwrap();
        let in_time = group.drain(Deadline::NEVER);
        let none = group.members();
        group.spawn(|| sleep_until(Deadline::NEVER)).unwrap();
        let one = group.members();
        let late = group.drain(Deadline::after(Duration::from_millis(1)));
        assert_eq!((in_time, none, one, late), (true, 0, 1, false));
    });
    assert_eq!(counts.unwrap_err().raw_os_error(), ECANCELED);
}

#[test]
fn a_deadline_can_be_brought_forward() {
    let s = scheduler();
    let error = scope(&s, Deadline::NEVER, |group| {
        group.spawn(|| sleep_until(Deadline::NEVER)).unwrap();
        group.set_deadline(Deadline::after(Duration::from_millis(1)));
        group.set_deadline(Deadline::NEVER); // has no effect
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn members_are_not_the_opener() {
    let s = scheduler();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        scope(&s, Deadline::NEVER, |group| {
            group.spawn(|| {
                group.members();
                Ok(())
            })
        })
    }));
    assert!(panic.is_err());
}

#[test]
fn a_member_on_the_openers_stack_is_not_the_opener() {
    // One worker: the opener runs its members while it waits for them.
    // SAFETY: no initialiser in this file waits.
    let s = unsafe { Scheduler::builder().workers(1).start() }.unwrap();
    let own = s.clone();
    let refused = s.spawn(move || {
        let refused = AtomicUsize::new(0);
        scope(&own, Deadline::NEVER, |group| {
            for _ in 0..10 {
                group.spawn(|| {
                    let asked =
                        catch_unwind(AssertUnwindSafe(|| group.members()));
                    let drained = catch_unwind(AssertUnwindSafe(|| {
                        group.drain(Deadline::NOW)
                    }));
                    let both = asked.is_err() && drained.is_err();
                    refused.fetch_add(both as usize, Ordering::Relaxed);
                    Ok(())
                })?;
            }
            assert_eq!(group.members(), 10);
            io::Result::Ok(())
        })??;
        io::Result::Ok(refused.into_inner())
    });
    assert_eq!(refused.unwrap().get().unwrap().unwrap(), 10);
}
