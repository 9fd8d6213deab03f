// SPDX-License-Identifier: Apache-2.0
#![cfg(feature = "io")]
use sennit::io::{self, Events};
use sennit::{Deadline, Scheduler};
use std::io::{Error, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::io::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

mod common;
use common::{members, ECANCELED};

/// No initialiser in this file waits.
fn one_worker() -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(1).start() }.unwrap()
}

#[test]
fn fibers_of_one_worker_pass_more_than_a_socket_holds() {
    let s = one_worker();
    let listener = io::listen_at("127.0.0.1:0", Deadline::NEVER).unwrap();
    let address = listener.local_address().unwrap();
    let data: Vec<u8> = (0..8 << 20).map(|i: u32| (i % 251) as u8).collect();
    members(
        &s,
        [
            Box::new(|| {
                let peer = listener.accept(Deadline::NEVER)?;
                let n = std::io::copy(&mut &peer, &mut &peer)?;
                assert_eq!(n, data.len() as u64);
                Ok(())
            }),
            Box::new(|| {
                let stream = io::connect_to(&address, Deadline::NEVER)?;
                assert_eq!(stream.peer_address()?, address);
                let mut back = Vec::new();
                // One task reads what another writes.
                members(
                    &s,
                    [
                        Box::new(|| {
                            (&stream).write_all(&data)?;
                            stream.shutdown(Shutdown::Write)
                        }),
                        Box::new(|| (&stream).read_to_end(&mut back).map(drop)),
                    ],
                )?;
                assert!(back == data);
                Ok(())
            }),
        ],
    )
    .unwrap();
}

#[test]
fn a_deadline_ends_reads_and_accepts() {
    let listener = io::listen_at("127.0.0.1:0", Deadline::NEVER).unwrap();
    let (mut stream, _peer) = pair();
    let soon = || Deadline::after(Duration::from_millis(1));
    let attempt = || {
        let mut to = [0];
        for by in [Deadline::NOW, soon()] {
            let e = listener.accept(by).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::TimedOut);
            let e = io::recv(&stream, &mut to, by).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::TimedOut);
            let e = io::poll(&stream, Events::READABLE, by).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::TimedOut);
        }
        Ok(())
    };
    attempt().unwrap(); // the thread waits
    members(&one_worker(), [Box::new(attempt)]).unwrap();
    stream.set_deadline(soon());
    let e = stream.read(&mut [0]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::TimedOut);
}

#[test]
fn a_cancelled_group_ends_its_members_waits() {
    let (stream, _peer) = pair();
    let ended = members(
        &one_worker(),
        [
            Box::new(|| {
                let e = io::recv(&stream, &mut [0], Deadline::NEVER);
                assert_eq!(e.unwrap_err().raw_os_error(), Some(ECANCELED));
                Ok(())
            }),
            Box::new(|| Err(Error::from_raw_os_error(7))),
        ],
    );
    assert_eq!(ended.unwrap_err().raw_os_error(), Some(7));
}

#[test]
fn transfers_tell_how_much_they_have_done() {
    let (stream, peer) = pair();
    let data = vec![7; 8 << 20]; // more than a socket holds
    let mut sent = 0;
    let e = io::send_all(&stream, &data, &mut sent, Deadline::NOW);
    assert_eq!(e.unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(sent > 0 && sent < data.len());

    let (mut to, mut done) = (vec![0; data.len() + 1], 0);
    members(
        &one_worker(),
        [
            Box::new(|| {
                io::write_all(&stream, &data, &mut sent, Deadline::NEVER)?;
                stream.shutdown(Shutdown::Write)
            }),
            Box::new(|| {
                let e = io::read_exactly(
                    &peer,
                    &mut to,
                    &mut done,
                    Deadline::NEVER,
                );
                assert_eq!(e.unwrap_err().kind(), ErrorKind::UnexpectedEof);
                Ok(())
            }),
        ],
    )
    .unwrap();
    assert_eq!((sent, done), (data.len(), data.len()));
    assert!(to[..done] == data[..]);

    let mut beyond = 2;
    let e = io::write_all(&stream, &[0], &mut beyond, Deadline::NOW);
    assert_eq!(e.unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn files_pipes_and_sockets_of_std_are_taken() {
    let file = std::fs::File::open("/dev/zero").unwrap();
    let mut to = [1; 3];
    assert_eq!(io::read(&file, &mut to, Deadline::NEVER).unwrap(), 3);
    assert_eq!(to, [0; 3]);

    let (one, other) = UnixStream::pair().unwrap();
    assert_eq!(io::write(&one, b"weft", Deadline::NEVER).unwrap(), 4);
    let found =
        io::poll(&other, Events::READABLE | Events::WRITABLE, Deadline::NEVER);
    assert_eq!(found.unwrap(), Events::READABLE | Events::WRITABLE);
    let mut to = [0; 9];
    assert_eq!(io::recv(&other, &mut to, Deadline::NEVER).unwrap(), 4);
    assert_eq!(&to[..4], b"weft");
    drop(one);
    assert_eq!(io::recv(&other, &mut to, Deadline::NEVER).unwrap(), 0);
    let e = io::send(&other, b"gone", Deadline::NEVER).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn errors_are_those_of_the_system() {
    let address = {
        let listener = io::listen_at("127.0.0.1:0", Deadline::NEVER).unwrap();
        let address = listener.local_address().unwrap();
        let e = io::listen_at(&address, Deadline::NEVER).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::AddrInUse);
        address
    };
    let e = io::connect_to(&address, Deadline::NEVER).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::ConnectionRefused);
    for wrong in ["", "no port", "nul\0:1"] {
        let e = io::connect_to(wrong, Deadline::NEVER).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidInput);
    }
    let shared = io::listen_at_shared("127.0.0.1:0", Deadline::NEVER).unwrap();
    let address = shared.local_address().unwrap();
    io::listen_at_shared(&address, Deadline::NEVER).unwrap();
}

fn pair() -> (io::Stream, io::Stream) {
    let (one, other) = UnixStream::pair().unwrap();
    (OwnedFd::from(one).into(), OwnedFd::from(other).into())
}

#[test]
fn streams_send_at_once_unless_told_not_to() {
    let listener = io::listen_at("127.0.0.1:0", Deadline::NEVER).unwrap();
    let address = listener.local_address().unwrap();
    let client = io::connect_to(&address, Deadline::NEVER).unwrap();
    for stream in [client, listener.accept(Deadline::NEVER).unwrap()] {
        let std = std::net::TcpStream::from(OwnedFd::from(stream));
        assert!(std.nodelay().unwrap());
        let stream = io::Stream::from(OwnedFd::from(std));
        stream.set_nodelay(false).unwrap();
        let std = std::net::TcpStream::from(OwnedFd::from(stream));
        assert!(!std.nodelay().unwrap());
    }
    let unix = io::Stream::from(OwnedFd::from(UnixStream::pair().unwrap().0));
    assert!(unix.set_nodelay(true).is_err());
}
