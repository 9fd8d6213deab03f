// SPDX-License-Identifier: Apache-2.0
#![cfg(feature = "tls")]
use sennit::tls::{Config, Context, Failure, Stream};
use sennit::{select, Deadline, Scheduler};
use std::fs;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

mod common;
use common::members;

const EKEYREJECTED: i32 =
    if cfg!(any(target_arch = "mips64", target_arch = "mips")) {
        161
    } else {
        129
    };

/// No initialiser in this file waits.
fn one_worker() -> Scheduler {
    // SAFETY: see above.
    unsafe { Scheduler::builder().workers(1).start() }.unwrap()
}

/// A certificate for localhost that is its own issuer, and its key, as files
/// whose names begin with `name`.
fn identity(name: &str) -> (PathBuf, PathBuf) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let number = std::process::id();
    let certificate = folder.join(format!("{name}-{number}.pem"));
    let key = folder.join(format!("{name}-{number}-key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"])
        .args(["-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-keyout"])
        .args([&key, &PathBuf::from("-out"), &certificate])
        .output()
        .expect("openssl(1) is needed");
    assert!(made.status.success(), "{made:?}");
    (certificate, key)
}

/// Contexts of a server and of a client that trusts it.
fn contexts(name: &str) -> (Context, Context) {
    let (certificate, key) = identity(name);
    let server = Config::new()
        .certificate(&certificate)
        .key_text(fs::read(&key).unwrap())
        .protocols("warp,weft")
        .context();
    let client = Config::new()
        .trusted_text(fs::read_to_string(&certificate).unwrap())
        .protocols("weft")
        .context();
    fs::remove_file(certificate).unwrap();
    fs::remove_file(key).unwrap();
    (server.unwrap(), client.unwrap())
}

fn pair() -> (UnixStream, UnixStream) {
    UnixStream::pair().unwrap()
}

/// Runs a server and a client over a pair of sockets.
fn connected<'env>(
    name: &str,
    server: impl FnOnce(Stream) -> Result<()> + Send + 'env,
    client: impl FnOnce(Stream) -> Result<()> + Send + 'env,
) {
    let (server_context, client_context) = contexts(name);
    let (here, there) = pair();
    members(
        &one_worker(),
        [
            Box::new(|| server(server_context.accept(here, Deadline::NEVER)?)),
            Box::new(|| {
                let by = Deadline::NEVER;
                client(client_context.connect(there, "localhost", by)?)
            }),
        ],
    )
    .unwrap();
}

#[test]
fn halves_pass_more_than_a_socket_holds() {
    let data: Vec<u8> = (0..4 << 20).map(|i: u32| (i % 251) as u8).collect();
    let s = one_worker();
    connected(
        "halves",
        |mut stream| {
            let (mut from, mut to) = stream.split();
            assert_eq!(std::io::copy(&mut from, &mut to)?, 4 << 20);
            stream.shutdown(Deadline::NEVER)
        },
        |mut stream| {
            assert_eq!(stream.protocol().as_deref(), Some("weft"));
            assert!(stream.error().is_none());
            let mut back = Vec::new();
            let (mut from, mut to) = stream.split();
            members(
                &s,
                [
                    Box::new(|| from.read_to_end(&mut back).map(drop)),
                    Box::new(|| {
                        to.write_all(&data)?;
                        to.shutdown(Deadline::NEVER)
                    }),
                ],
            )?;
            assert!(back == data);
            Ok(())
        },
    );
}

#[test]
fn a_server_that_is_not_trusted_is_refused() {
    let (server, _) = contexts("right");
    let (_, client) = contexts("wrong");
    let (here, there) = pair();
    members(
        &one_worker(),
        [
            Box::new(|| {
                assert!(server.accept(here, Deadline::NEVER).is_err());
                Ok(())
            }),
            Box::new(|| {
                let refused =
                    client.connect(there, "localhost", Deadline::NEVER);
                let error = refused.unwrap_err();
                let why: &Failure =
                    error.get_ref().unwrap().downcast_ref().unwrap();
                assert_eq!(why.raw_os_error(), EKEYREJECTED);
                assert!(why.to_string().contains("certificate"), "{why}");
                Ok(())
            }),
        ],
    )
    .unwrap();
}

#[test]
fn an_end_without_the_closing_alert_is_an_error() {
    connected(
        "cut",
        |mut stream| {
            stream.write_all(b"half of")?;
            drop(stream);
            Ok(())
        },
        |mut stream| {
            let mut read = Vec::new();
            let error = stream.read_to_end(&mut read).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
            assert_eq!(read, b"half of");
            Ok(())
        },
    );
}

#[test]
fn reads_end_at_their_deadline_and_are_a_case() {
    connected(
        "case",
        |mut stream| {
            let mut to = [0; 10];
            assert_eq!(stream.read(&mut to)?, 2); // "go"
            stream.write_all(b"weft")?;
            stream.shutdown(Deadline::NEVER)
        },
        |mut stream| {
            for by in [Deadline::NOW, Deadline::after(Duration::from_millis(1))]
            {
                stream.set_deadline(by);
                let error = stream.read(&mut [0]).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TimedOut);
                let error = stream.wait_readable(by).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TimedOut);
            }
            stream.set_deadline(Deadline::NEVER);
            stream.write_all(b"go")?;
            let (mut to, mut seen) = ([0; 10], Vec::<u8>::new());
            loop {
                let mut readable = stream.readable();
                select(&mut [&mut readable], Deadline::NEVER)?;
                readable.take().unwrap()?;
                stream.set_deadline(Deadline::NOW);
                match stream.read(&mut to) {
                    Ok(0) => break,
                    Ok(n) => seen.extend(&to[..n]),
                    Err(e) => assert_eq!(e.kind(), ErrorKind::TimedOut),
                }
            }
            assert_eq!(seen, b"weft");
            Ok(())
        },
    );
}

#[test]
fn a_shutdown_of_the_socket_ends_a_read() {
    connected(
        "socket",
        |stream| stream.socket().shutdown(Shutdown::Both),
        |mut stream| {
            let error = stream.read(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
            Ok(())
        },
    );
}

#[test]
fn a_handshake_ends_at_its_deadline() {
    let (server, _) = contexts("late");
    let (here, _silent) = pair();
    let error = server.accept(here, Deadline::NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let file = fs::File::open("/dev/null").unwrap(); // no socket
    assert!(server.accept(file, Deadline::NOW).is_err());
}

#[test]
fn a_configuration_is_renewed_or_refused() {
    let (_, client) = contexts("old");
    let (certificate, key) = identity("new");
    let server = Config::new().certificate(&certificate).key(&key);
    let server = server.context().unwrap();
    client.reload(&Config::new().trusted(&certificate)).unwrap();
    let wrong = Config::new().certificate(&certificate).key(&certificate);
    let error = server.reload(&wrong).unwrap_err();
    assert!(!error.to_string().is_empty());
    let zero = Config::new().protocols("a\0b").context().unwrap_err();
    assert_eq!(zero.kind(), ErrorKind::InvalidInput);
    assert!(!format!("{:?}", wrong.key_text("secret")).contains("secret"));
    let (here, there) = pair();
    members(
        &one_worker(),
        [
            Box::new(|| server.accept(here, Deadline::NEVER).map(drop)),
            Box::new(|| {
                let by = Deadline::NEVER;
                client.connect(there, "localhost", by).map(drop)
            }),
        ],
    )
    .unwrap();
}
