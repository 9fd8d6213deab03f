// SPDX-License-Identifier: Apache-2.0
//! examples/server.rs as a process: it answers, and SIGTERM lets connections
//! end. Without the harness, whose threads would not block the signal.
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Stdio};

#[path = "../examples/server.rs"]
mod server;

fn main() -> Result<()> {
    if std::env::var_os("SENNIT_CHILD").is_some() {
        return server::main();
    }
    let mut child = Command::new(std::env::current_exe()?)
        .arg("127.0.0.1:0")
        .env("SENNIT_CHILD", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address)?;
    let streams: Vec<_> = (0..100)
        .map(|_| TcpStream::connect(address.trim()))
        .collect::<Result<_>>()?;
    for (n, mut stream) in streams.iter().enumerate() {
        writeln!(stream, "line {n}")?;
    }
    let answer = |stream: &TcpStream| -> Result<String> {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(line)
    };
    for (n, stream) in streams.iter().enumerate() {
        assert_eq!(answer(stream)?, format!("LINE {n}\n"));
    }
    let kill = format!("kill {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status()?.success());
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line)?;
    assert!(line.starts_with("no more connections"), "{line}");
    for mut stream in &streams {
        writeln!(stream, "late")?;
        assert_eq!(answer(stream)?, "LATE\n");
        stream.shutdown(Shutdown::Write)?;
    }
    line.clear();
    said.read_to_string(&mut line)?;
    assert_eq!(line, "all have ended by themselves: Some(true)\n");
    assert!(child.wait()?.success());
    Ok(())
}
