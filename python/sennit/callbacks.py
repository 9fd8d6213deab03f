# SPDX-License-Identifier: Apache-2.0
"""Callbacks of futures.

A worker that ends a job leaves a note in a list and makes an eventfd readable.
It does not take the GIL. One thread of Python reads the notes and calls the
callbacks. It runs while there are any.
"""
import itertools
import logging
import select
import threading

from sennit.native import check, ffi, lib

_lock = threading.Lock()
_notes = None  # the list that the thread reads
_cookies = itertools.count(1)
_waiting = {}  # cookie: (future, function)


def _call(future, function):
    try:
        function(future)
    except Exception:  # as concurrent.futures does
        logging.getLogger("sennit").exception(
            "exception calling callback for %r", future)


def _read(notes):
    """Runs in the thread."""
    cookies = ffi.new("uint64_t[64]")
    descriptor = lib.sink_fd(notes)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        poll.poll()  # without the GIL
        while count := lib.sink_read(notes, cookies, 64):
            for i in range(count):
                with _lock:
                    found = _waiting.pop(cookies[i], None)
                if found is not None:
                    _call(*found)
                    found = None  # the future is not kept until the next
        if _is_last(notes):
            return


def _is_last(notes):
    """Whether no callback is left. The next one begins a thread."""
    global _notes
    with _lock:
        if _waiting or _notes is not notes:
            return False
        _notes = None
        return True


def _started():
    global _notes
    if _notes is None:
        notes = lib.sink_create()
        if not notes:
            raise OSError(ffi.errno, "eventfd")
        _notes = ffi.gc(notes, lib.sink_release)
        threading.Thread(target=_read, args=(_notes,), name="sennit-callbacks",
                         daemon=True).start()
    return _notes


def add(future, function):
    """Calls function(future) when the job has ended; at once if it has."""
    if lib.sennit_future_is_set(future.pointer):
        _call(future, function)
        return
    with _lock:
        notes = _started()
        cookie = next(_cookies)
        _waiting[cookie] = (future, function)
        try:
            check(lib.job_notify(future._native, notes, cookie))
        except BaseException:
            del _waiting[cookie]
            raise


def forget_all():
    """In the child of a fork: neither the thread nor a job of it is there."""
    global _lock, _notes
    _lock = threading.Lock()
    _notes = None
    _waiting.clear()
