// SPDX-License-Identifier: Apache-2.0
//! TLS 1.2 and 1.3 over a connected socket, for clients and servers. Needs the
//! feature `tls`, libsennit-tls and OpenSSL 3.
//!
//! ```no_run
//! use sennit::{io, tls, Deadline};
//! use std::io::{Read, Write};
//! use std::time::Duration;
//! let context = tls::Config::new().context()?; // trusts whom the system does
//! let by = Deadline::after(Duration::from_secs(10));
//! let socket = io::connect_to("example.org:443", by)?;
//! let mut stream = context.connect(socket, "example.org", by)?;
//! stream.write_all(b"GET / HTTP/1.0\r\nHost: example.org\r\n\r\n")?;
//! let mut page = Vec::new();
//! stream.read_to_end(&mut page)?; // fails if the page is cut off
//! # std::io::Result::Ok(())
//! ```
//!
//! After `TimedOut` and ECANCELED a call can be repeated; after any other error
//! the connection has failed. `ConnectionAborted` is an end without TLS's
//! closing alert: the data may be cut off. EKEYREJECTED is a certificate that is
//! not accepted, EPROTO another violation of the protocol. The error of a
//! handshake or a configuration holds a [`Failure`] with a text; for the others
//! [`Stream::error`] has it.
use crate::call::{check, Deadline};
use crate::io;
use crate::select::sealed;
use crate::sys;
use std::ffi::{CStr, CString};
use std::io::{Error, Read, Result, Write};
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, OwnedFd};
use std::path::Path;
use std::ptr;

/// What a [`Context`] is made of. Certificates and keys are in PEM form, in a
/// file or, with `_text`, in memory. What is not given has its default.
#[derive(Clone, Debug, Default)]
pub struct Config {
    certificate: Option<Pem>,
    key: Option<Pem>,
    trusted: Option<Pem>,
    protocols: Option<Vec<u8>>,
    flags: u32,
}

#[derive(Clone)]
enum Pem {
    File(Vec<u8>),
    Text(Vec<u8>),
}

impl std::fmt::Debug for Pem {
    /// Without the text: it may be a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pem::File(name) => String::from_utf8_lossy(name).fmt(f),
            Pem::Text(_) => f.write_str("a text"),
        }
    }
}

impl Pem {
    fn file(name: impl AsRef<Path>) -> Option<Pem> {
        Some(Pem::File(name.as_ref().as_os_str().as_bytes().to_vec()))
    }

    fn text(text: impl AsRef<[u8]>) -> Option<Pem> {
        Some(Pem::Text(text.as_ref().to_vec()))
    }
}

/// The strings of a configuration, as C reads them.
struct Strings(Vec<CString>);

impl Strings {
    fn keep(&mut self, bytes: &[u8]) -> Result<*const c_char> {
        self.0.push(CString::new(bytes)?);
        Ok(self.0.last().map_or(ptr::null(), |text| text.as_ptr()))
    }

    /// As the name of a file, and as a text; one is null.
    fn pem(
        &mut self,
        pem: &Option<Pem>,
    ) -> Result<(*const c_char, *const c_char)> {
        Ok(match pem {
            None => (ptr::null(), ptr::null()),
            Some(Pem::File(name)) => (self.keep(name)?, ptr::null()),
            Some(Pem::Text(text)) => (ptr::null(), self.keep(text)?),
        })
    }
}

impl Config {
    /// All defaults: for clients that trust whom the system trusts.
    pub fn new() -> Config {
        Config::default()
    }

    /// The own certificate, then those of its issuers in order. A server needs
    /// one.
    pub fn certificate(mut self, file: impl AsRef<Path>) -> Self {
        self.certificate = Pem::file(file);
        self
    }

    /// The own certificate, as a text.
    pub fn certificate_text(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.certificate = Pem::text(pem);
        self
    }

    /// The key of the certificate, without a passphrase.
    pub fn key(mut self, file: impl AsRef<Path>) -> Self {
        self.key = Pem::file(file);
        self
    }

    /// The key, as a text.
    pub fn key_text(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.key = Pem::text(pem);
        self
    }

    /// The issuers whose certificates are accepted.
    pub fn trusted(mut self, file: impl AsRef<Path>) -> Self {
        self.trusted = Pem::file(file);
        self
    }

    /// The issuers, as a text.
    pub fn trusted_text(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.trusted = Pem::text(pem);
        self
    }

    /// For ALPN: names, separated by commas, the preferred one first.
    pub fn protocols(mut self, names: &str) -> Self {
        self.protocols = Some(names.as_bytes().to_vec());
        self
    }

    /// A server requires a certificate of each client.
    pub fn ask_clients(mut self) -> Self {
        self.flags |= sys::SENNIT_TLS_ASK_CLIENTS;
        self
    }

    /// A client accepts any certificate: no protection against a man in the
    /// middle.
    pub fn trust_all(mut self) -> Self {
        self.flags |= sys::SENNIT_TLS_TRUST_ALL;
        self
    }

    /// A context of this. Reads the files now; the worker waits for that. The
    /// text of the error says what is not valid.
    pub fn context(&self) -> Result<Context> {
        let mut raw = ptr::null_mut();
        self.given(|config, why, size| {
            // SAFETY: all outlive the call.
            unsafe {
                sys::sennit_tls_context_create(&mut raw, config, why, size)
            }
        })?;
        Ok(Context { raw })
    }

    fn given(
        &self,
        call: impl FnOnce(
            *const sys::sennit_tls_config,
            *mut c_char,
            usize,
        ) -> c_int,
    ) -> Result<()> {
        let mut strings = Strings(Vec::new());
        // SAFETY: all bytes zero is the default configuration.
        let mut config: sys::sennit_tls_config = unsafe { zeroed() };
        config.size = size_of::<sys::sennit_tls_config>();
        (config.certificate, config.certificate_text) =
            strings.pem(&self.certificate)?;
        (config.key, config.key_text) = strings.pem(&self.key)?;
        (config.trusted, config.trusted_text) = strings.pem(&self.trusted)?;
        if let Some(names) = &self.protocols {
            config.protocols = strings.keep(names)?;
        }
        config.flags = self.flags;
        let mut why = [0 as c_char; 256];
        let result = call(&config, why.as_mut_ptr(), why.len());
        // SAFETY: all bytes were zero, and the call writes a string.
        let why = || unsafe { text(why.as_ptr()) };
        explained(result, || why().filter(|text| !text.is_empty()))
    }
}

/// Why a configuration is not valid or a handshake has failed. It is in the
/// error of the call:
///
/// ```
/// use sennit::tls::{Config, Failure};
/// let error = Config::new().trusted("/nonexistent").context().unwrap_err();
/// let failure = error.get_ref().unwrap().downcast_ref::<Failure>().unwrap();
/// assert_eq!(failure.raw_os_error(), 2); // ENOENT
/// assert!(failure.to_string().contains("/nonexistent"));
/// ```
#[derive(Debug)]
pub struct Failure {
    number: i32,
    why: String,
}

impl Failure {
    /// The error number, such as EKEYREJECTED.
    pub fn raw_os_error(&self) -> i32 {
        self.number
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Failure {}

/// The error of the result, with the reason if there is one.
fn explained(
    result: c_int,
    why: impl FnOnce() -> Option<String>,
) -> Result<()> {
    check(result).map_err(|error| match why() {
        None => error,
        Some(why) => Error::new(error.kind(), Failure { number: -result, why }),
    })
}

/// What connections share: certificates, and the issuers that are trusted. For
/// any number of connections, of clients and of servers, on any threads. A
/// connection keeps what it needs of it.
#[derive(Debug)]
pub struct Context {
    raw: *mut sys::sennit_tls_context,
}

// SAFETY: any thread may use and free it.
unsafe impl Send for Context {}
// SAFETY: calls may run at once.
unsafe impl Sync for Context {}

impl Context {
    /// Uses another configuration for connections that are made from now on,
    /// for example after a certificate was renewed. Any task may do this at any
    /// time. After an error nothing has changed.
    pub fn reload(&self, config: &Config) -> Result<()> {
        config.given(|config, why, size| {
            // SAFETY: all outlive the call.
            unsafe {
                sys::sennit_tls_context_reload(self.raw, config, why, size)
            }
        })
    }

    /// Performs the handshake as the server. Takes the socket, and closes it if
    /// the handshake fails.
    pub fn accept(
        &self,
        socket: impl Into<OwnedFd>,
        by: Deadline,
    ) -> Result<Stream> {
        let stream = self.begin(socket.into())?;
        // SAFETY: nobody else uses it yet.
        let result = unsafe { sys::sennit_tls_accept(stream.raw, by.0) };
        stream.after_handshake(result)
    }

    /// Performs the handshake as a client of `host`, a name or an address for
    /// which the server's certificate must be valid. Takes the socket, and
    /// closes it if the handshake fails.
    pub fn connect(
        &self,
        socket: impl Into<OwnedFd>,
        host: &str,
        by: Deadline,
    ) -> Result<Stream> {
        let host = CString::new(host)?;
        let stream = self.begin(socket.into())?;
        // SAFETY: as above; the name outlives the call.
        let result =
            unsafe { sys::sennit_tls_connect(stream.raw, host.as_ptr(), by.0) };
        stream.after_handshake(result)
    }

    fn begin(&self, socket: OwnedFd) -> Result<Stream> {
        let mut raw = ptr::null_mut();
        // SAFETY: the stream keeps the socket until it has freed `raw`.
        check(unsafe {
            sys::sennit_tls_create(&mut raw, self.raw, socket.as_raw_fd())
        })?;
        Ok(Stream {
            raw,
            socket: socket.into(),
            read_by: Deadline::NEVER,
            write_by: Deadline::NEVER,
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: connections keep what they need of it.
        unsafe { sys::sennit_tls_context_destroy(self.raw) }
    }
}

/// A TLS connection, which owns its socket. It closes when it is dropped:
/// without [`Stream::shutdown`] before, the end looks cut off to the peer.
///
/// One task may read while another writes, see [`Stream::split`].
#[derive(Debug)]
pub struct Stream {
    raw: *mut sys::sennit_tls,
    socket: io::Stream, // closes after `raw` is freed
    read_by: Deadline,
    write_by: Deadline,
}

// SAFETY: any thread may use it, one after the other. It is not Sync: calls
// that take &self do not exclude others.
unsafe impl Send for Stream {}

impl Stream {
    fn after_handshake(self, result: c_int) -> Result<Stream> {
        explained(result, || self.error())?;
        Ok(self)
    }

    /// The deadline of `Read` and `Write`, for calls that begin from now on. At
    /// first it never comes.
    pub fn set_deadline(&mut self, by: Deadline) {
        self.read_by = by;
        self.write_by = by;
    }

    /// The half that reads and the half that writes, for two tasks:
    ///
    /// ```no_run
    /// # fn f(s: &sennit::Scheduler, mut stream: sennit::tls::Stream)
    /// # -> std::io::Result<()> {
    /// let (mut from, mut to) = stream.split();
    /// sennit::scope(s, sennit::Deadline::NEVER, |group| {
    ///     group.spawn(|| std::io::copy(&mut from, &mut std::io::sink())
    ///         .map(drop))?;
    ///     group.spawn(|| std::io::Write::write_all(&mut to, b"weft"))
    /// })?
    /// # }
    /// ```
    pub fn split(&mut self) -> (Reader<'_>, Writer<'_>) {
        (
            Reader { raw: self.raw, by: &mut self.read_by },
            Writer { raw: self.raw, by: &mut self.write_by },
        )
    }

    /// Waits until a read has something to return: bytes, or the end.
    pub fn wait_readable(&mut self, by: Deadline) -> Result<()> {
        self.split().0.wait_readable(by)
    }

    /// A case of a [`select`](crate::select): a read may have something to
    /// return. Read then with [`Deadline::NOW`]: at `TimedOut` a record is not
    /// complete yet.
    pub fn readable(&mut self) -> Readable<'_> {
        Readable { stream: self, outcome: None }
    }

    /// Tells the peer that no more data will be written. Reading is still
    /// possible: read to the end to know that the peer has received everything.
    pub fn shutdown(&mut self, by: Deadline) -> Result<()> {
        self.split().1.shutdown(by)
    }

    /// Why the connection has failed, in OpenSSL's words. `None` if it has not,
    /// or if there is no text.
    pub fn error(&self) -> Option<String> {
        // SAFETY: the text is never freed.
        unsafe { text(sys::sennit_tls_error(self.raw)) }
    }

    /// The protocol that ALPN selected.
    pub fn protocol(&self) -> Option<String> {
        // SAFETY: the text is as old as the stream.
        unsafe { text(sys::sennit_tls_alpn(self.raw)) }
    }

    /// The socket, for its addresses, and for `shutdown`, which ends calls that
    /// wait.
    pub fn socket(&self) -> &io::Stream {
        &self.socket
    }
}

/// # Safety
///
/// `text` is null or a string.
unsafe fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    Some(CStr::from_ptr(text).to_string_lossy().into_owned())
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: halves and cases borrow it, so no call uses it.
        unsafe { sys::sennit_tls_destroy(self.raw) }
    }
}

/// The half of a [`Stream`] that reads.
pub struct Reader<'a> {
    raw: *mut sys::sennit_tls,
    by: &'a mut Deadline,
}

/// The half of a [`Stream`] that writes.
pub struct Writer<'a> {
    raw: *mut sys::sennit_tls,
    by: &'a mut Deadline,
}

// SAFETY: one task may read while another writes, on any threads. There is one
// half of each kind, and each of its calls takes &mut self.
unsafe impl Send for Reader<'_> {}
// SAFETY: as above.
unsafe impl Send for Writer<'_> {}

impl Reader<'_> {
    /// The deadline of `Read`, for calls that begin from now on.
    pub fn set_deadline(&mut self, by: Deadline) {
        *self.by = by;
    }

    /// Waits until a read has something to return: bytes, or the end.
    pub fn wait_readable(&mut self, by: Deadline) -> Result<()> {
        // SAFETY: this is the task that reads.
        check(unsafe { sys::sennit_tls_wait_readable(self.raw, by.0) })
    }
}

impl Writer<'_> {
    /// The deadline of `Write`, for calls that begin from now on.
    pub fn set_deadline(&mut self, by: Deadline) {
        *self.by = by;
    }

    /// As [`Stream::shutdown`].
    pub fn shutdown(&mut self, by: Deadline) -> Result<()> {
        // SAFETY: this is the task that writes.
        check(unsafe { sys::sennit_tls_shutdown(self.raw, by.0) })
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        // SAFETY: this is the task that reads. The call writes into the slice
        // alone, and not after its return.
        io::count(unsafe {
            sys::sennit_tls_read(
                self.raw,
                to.as_mut_ptr() as *mut c_void,
                to.len(),
                self.by.0,
            )
        })
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        // SAFETY: this is the task that writes. The call reads the slice alone,
        // and not after its return.
        io::count(unsafe {
            sys::sennit_tls_write(
                self.raw,
                from.as_ptr() as *const c_void,
                from.len(),
                self.by.0,
            )
        })
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        self.split().0.read(to)
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        self.split().1.write(from)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A case of a select. See [`Stream::readable`].
pub struct Readable<'a> {
    stream: &'a mut Stream,
    outcome: Option<Result<()>>,
}

impl Readable<'_> {
    /// The result of the case. `None` if it has not happened since the last
    /// call.
    pub fn take(&mut self) -> Option<Result<()>> {
        self.outcome.take()
    }
}

// SAFETY: it writes no value, and borrows what it names.
unsafe impl sealed::Case for Readable<'_> {
    fn raw(&mut self) -> sys::sennit_case {
        // SAFETY: this is the task that reads.
        unsafe { sys::sennit_case_tls(self.stream.raw) }
    }

    unsafe fn done(&mut self, result: c_int) {
        self.outcome = Some(check(result));
    }
}
