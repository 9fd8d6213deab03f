// SPDX-License-Identifier: Apache-2.0
#![cfg(feature = "io")]
use sennit::io::{File, Process};
use sennit::{select, Deadline, Scheduler};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

mod common;
use common::members;

/// No initialiser in this file waits.
fn one_worker() -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(1).start() }.unwrap()
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

#[test]
fn one_worker_feeds_and_hears_processes() {
    let s = one_worker();
    let data: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    let cat = || {
        let mut cat = Process::spawn(&mut sh("exec cat; exit 1"))?;
        let into = File::new(cat.stdin.take().unwrap());
        let out = File::new(cat.stdout.take().unwrap());
        let mut back = Vec::new();
        // More than pipes hold: one task writes while another reads.
        members(
            &s,
            [
                Box::new(|| {
                    (&into).write_all(&data)?;
                    drop(into);
                    Ok(())
                }),
                Box::new(|| (&out).read_to_end(&mut back).map(drop)),
            ],
        )?;
        assert!(back == data);
        assert!(cat.wait(Deadline::NEVER)?.success());
        Ok(())
    };
    members(&s, [Box::new(cat), Box::new(cat)]).unwrap();
}

#[test]
fn a_wait_ends_at_its_deadline_and_can_be_repeated() {
    let mut process = Process::spawn(&mut sh("read line; exit 7")).unwrap();
    let mut into = process.stdin.take().unwrap();
    for by in [Deadline::NOW, Deadline::after(Duration::from_millis(1))] {
        let error = process.wait(by).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
    assert!(process.status().is_none());
    into.write_all(b"\n").unwrap();
    for _ in 0..2 {
        assert_eq!(process.wait(Deadline::NEVER).unwrap().code(), Some(7));
    }
    assert_eq!(process.status().unwrap().code(), Some(7));
    assert_eq!(process.kill().unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_wait_closes_what_the_process_reads() {
    let mut cat = Process::spawn(&mut sh("cat >/dev/null")).unwrap();
    assert!(cat.wait(Deadline::NEVER).unwrap().success());
}

#[test]
fn a_killed_process_says_so_to_a_select_as_often_as_asked() {
    let mut process = Process::spawn(&mut sh("echo; exec cat")).unwrap();
    let out = File::new(process.stdout.take().unwrap());
    BufReader::new(out).read_line(&mut String::new()).unwrap();
    let mut ended = process.ended();
    let error = select(&mut [&mut ended], Deadline::NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(ended.take().is_none());
    process.kill().unwrap();
    for _ in 0..2 {
        let mut ended = process.ended();
        select(&mut [&mut ended], Deadline::NEVER).unwrap();
        assert_eq!(ended.take().unwrap().unwrap().signal(), Some(9));
    }
}

#[test]
fn a_program_that_is_not_there_is_not_found() {
    let mut command = Command::new("/nonexistent/program");
    let error = Process::spawn(&mut command).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
