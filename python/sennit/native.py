# SPDX-License-Identifier: Apache-2.0
"""Calls into libsennit: deadlines, errors, waits."""
import errno
import math
import threading

from sennit import interpreter

interpreter.require_main()

from sennit._native import ffi, lib  # noqa: E402

# How long the main thread waits at a time. Python handles signals, such as
# Ctrl-C, between two waits of that thread.
SLICE_NS = 100_000_000


class Cancelled(OSError):
    """A group was cancelled (ECANCELED)."""


def check(result):
    """Raises the error that a call returned as a negative number."""
    if result < 0:
        raise error(result)
    return result


def error(number):
    """The exception for a negative errno value.

    OSError makes TimeoutError of ETIMEDOUT and BrokenPipeError of EPIPE.
    """
    number = -number
    if number == errno.ENOMEM:
        return MemoryError()
    text = ffi.string(lib.sennit_strerror(number)).decode()
    if number == errno.ECANCELED:
        return Cancelled(number, text)
    return OSError(number, text)


def deadline(timeout):
    """The deadline `timeout` seconds from now; None means never."""
    if timeout is None:
        return lib.SENNIT_NEVER
    if not timeout > 0:  # negative, zero or not a number
        return 0
    if math.isinf(timeout) or timeout > 1e9:
        return lib.SENNIT_NEVER
    return lib.sennit_after(int(timeout * 1e9))


def wait(call, timeout):
    """Returns call(deadline), which waits without the GIL.

    The call returns -ETIMEDOUT at its deadline, with no effect.
    """
    end = deadline(timeout)
    if threading.current_thread() is not threading.main_thread():
        return call(end)
    while True:
        soon = lib.sennit_after(SLICE_NS)
        result = call(min(end, soon))
        if result != -errno.ETIMEDOUT or end <= soon:
            return result
