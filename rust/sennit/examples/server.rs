// SPDX-License-Identifier: Apache-2.0
//! A server of lines, in upper case: `server HOST:PORT`. SIGTERM and SIGINT stop
//! it: it accepts no more, lets the connections end for ten seconds, and then
//! cancels those that are left.
use sennit::io::{listen_at, Signals, Stream};
use sennit::{scope, Deadline, Scheduler, Semaphore};
use std::io::{BufRead, BufReader, Result, Write};
use std::time::Duration;

fn serve(stream: Stream) -> Result<()> {
    for line in BufReader::new(&stream).lines() {
        let line = line?.to_uppercase() + "\n";
        stream.set_deadline(Deadline::after(Duration::from_secs(60)));
        (&stream).write_all(line.as_bytes())?;
    }
    Ok(())
}

pub fn main() -> Result<()> {
    let signals = Signals::block(&[Signals::TERMINATE, Signals::INTERRUPT])?;
    // SAFETY: no task waits in an initialiser of a thread-local variable, nor in
    // a function that relies on nested calls.
    let scheduler = unsafe { Scheduler::new() }?;
    let address = std::env::args().nth(1).unwrap_or("[::1]:0".into());
    let listener = listen_at(&address, Deadline::NEVER)?;
    println!("{}", listener.local_address()?);
    let few = Semaphore::new(1000);
    let in_time = scope(&scheduler, Deadline::NEVER, |connections| {
        let accepted = scope(&scheduler, Deadline::NEVER, |accepting| {
            accepting.spawn(|| loop {
                let permit = few.acquire(1, Deadline::NEVER)?;
                let stream = listener.accept(Deadline::NEVER)?;
                connections.spawn(move || {
                    // An error ends this connection, and not the others.
                    let _ = serve(stream);
                    drop(permit);
                    Ok(())
                })?;
            })?;
            signals.wait(Deadline::NEVER)?;
            accepting.cancel();
            Result::Ok(())
        });
        eprintln!("no more connections: {:?}", accepted.err());
        connections.drain(Deadline::after(Duration::from_secs(10)))
    });
    eprintln!("all have ended by themselves: {:?}", in_time.ok());
    scheduler.shutdown(Deadline::NEVER).map_err(|(_, error)| error)
}
