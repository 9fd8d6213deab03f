# SPDX-License-Identifier: Apache-2.0
"""The bridge to asyncio.

A worker that ends a job leaves a note in a list of the event loop and makes an
eventfd readable. It does not take the GIL. The loop reads all notes at once.
"""
import asyncio
import itertools
import weakref

from sennit.native import check, ffi, lib

_bridges = weakref.WeakKeyDictionary()  # by loop


class Bridge:
    """The notes of one event loop."""

    def __init__(self, loop):
        sink = lib.sink_create()
        if not sink:
            raise OSError(ffi.errno, "eventfd")
        self._sink = ffi.gc(sink, lib.sink_release)
        self._cookies = itertools.count(1)
        self._waiting = {}  # cookie: future of asyncio
        # The loop does not keep the bridge: with its end the eventfd goes.
        loop.add_reader(lib.sink_fd(sink), _read, weakref.ref(self))

    def future(self, job):
        """A future of asyncio that is set when the job has ended."""
        result = asyncio.get_running_loop().create_future()
        cookie = next(self._cookies)
        check(lib.job_notify(job._native, self._sink, cookie))
        self._waiting[cookie] = result
        # The note of an await that is given up finds nothing.
        result.add_done_callback(lambda _: self._waiting.pop(cookie, None))
        return result

    def read(self):
        """Sets the futures of jobs that have ended."""
        cookies = ffi.new("uint64_t[64]")
        while count := lib.sink_read(self._sink, cookies, 64):
            for i in range(count):
                result = self._waiting.pop(cookies[i], None)
                if result is not None and not result.done():
                    result.set_result(None)


def _read(reference):
    found = reference()
    if found is not None:
        found.read()


def bridge():
    """The bridge of the running loop."""
    loop = asyncio.get_running_loop()
    found = _bridges.get(loop)
    if found is None:
        for other in list(_bridges):
            if other.is_closed():  # its futures keep it
                del _bridges[other]
        found = _bridges[loop] = Bridge(loop)
    return found
