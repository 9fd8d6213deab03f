# SPDX-License-Identifier: Apache-2.0
"""Files and sockets, for which fibers wait."""
import socket

from sennit.native import check, deadline, error, ffi, lib

_RUN = ffi.addressof(lib, "io_run")


def fileno(file):
    """The descriptor of a file, a socket, or a number."""
    return file if isinstance(file, int) else file.fileno()


class IO:
    """Calls that a fiber makes, of a scheduler or as members of a group.

    Each returns a Future at once. Thousands may wait at a time: none needs a
    thread or the GIL. A file is a descriptor, or has fileno(); the future keeps
    it, and buffers, until the call has ended. `timeout` is in seconds, from
    now; the future raises TimeoutError then, or Cancelled in a cancelled group.
    A call that has passed some bytes by then has the number in the exception's
    characters_written.
    """

    def __init__(self, owner):
        self._owner = owner

    def read(self, file, size, *, timeout=None):
        """Reads up to `size` bytes; b"" is the end."""
        return self._into(lib.IO_READ, file, size, timeout)

    def pread(self, file, size, at, *, timeout=None):
        """Reads up to `size` bytes at byte `at` of a file."""
        return self._into(lib.IO_PREAD, file, size, timeout, at=at)

    def recv(self, file, size, *, flags=0, timeout=None):
        """Receives up to `size` bytes; b"" is the end."""
        return self._into(lib.IO_RECV, file, size, timeout, flags=flags)

    def write(self, file, data, *, timeout=None):
        """Writes all bytes."""
        return self._from(lib.IO_WRITE, file, data, timeout)

    def pwrite(self, file, data, at, *, timeout=None):
        """Writes all bytes, at byte `at` of a file."""
        return self._from(lib.IO_PWRITE, file, data, timeout, at=at)

    def send(self, file, data, *, flags=0, timeout=None):
        """Sends all bytes."""
        return self._from(lib.IO_SEND, file, data, timeout, flags=flags)

    def poll(self, file, events, *, timeout=None):
        """Waits for events of select.poll(); the result is those there are."""
        return self._start(lib.IO_POLL, file, timeout, _number, flags=events)

    def accept(self, listener, *, timeout=None):
        """Accepts a connection: a socket."""
        return self._start(lib.IO_ACCEPT, listener, timeout, _connection)

    def connect(self, address, *, timeout=None):
        """Connects to "host:port", "[::1]:port" or "unix:path": a socket."""
        text = ffi.new("char[]", address.encode())
        return self._start(lib.IO_CONNECT, -1, timeout, _connection, text)

    def _into(self, kind, file, size, timeout, **fields):
        memory = ffi.new("char[]", size)
        return self._start(kind, file, timeout, _bytes, memory, size=size,
                           **fields)

    def _from(self, kind, file, data, timeout, **fields):
        memory = ffi.from_buffer(data)
        return self._start(kind, file, timeout, _nothing, memory,
                           size=len(memory), **fields)

    def _start(self, kind, file, timeout, convert, memory=ffi.NULL, **fields):
        request = lib.io_create()
        if not request:
            raise MemoryError()
        request = ffi.gc(request, lib.io_free)
        request.kind = kind
        request.fd = fileno(file)
        request.buffer = ffi.cast("void *", memory)
        request.deadline = deadline(timeout)
        for name, value in fields.items():
            setattr(request, name, value)

        def outcome(failed, value):
            if not failed:
                return convert(request, memory, int(ffi.cast(
                    "intptr_t", value))), None
            raised = error(failed)
            if isinstance(raised, OSError) and request.done:
                raised.characters_written = request.done
            return None, raised

        return self._owner.submit_c(_RUN, request, (file, memory), outcome)


def _bytes(_, memory, count):
    return bytes(ffi.buffer(memory, count))


def _nothing(*_):
    return None


def _number(_, __, number):
    return number


def _connection(request, _, descriptor):
    request.made = -1  # it is Python's now
    return socket.socket(fileno=descriptor)


def listen(address, *, shared=False, timeout=None):
    """A socket that listens at "host:port", "[::1]:port" or "unix:path".

    shared: other sockets may listen there, too (SO_REUSEPORT). Looks up names,
    for at most `timeout` seconds.
    """
    return socket.socket(fileno=check(lib.sennit_listen_at(
        address.encode(), lib.SENNIT_LISTEN_SHARED if shared else 0,
        deadline(timeout))))
