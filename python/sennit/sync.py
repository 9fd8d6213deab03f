# SPDX-License-Identifier: Apache-2.0
"""Wait groups, channels and select, between threads of Python and tasks in C."""
import collections
import errno
import itertools

from sennit.future import Future
from sennit.io import fileno
from sennit.native import check, ffi, lib, wait


class WaitGroup:
    """A counter that threads and tasks wait on until it is zero.

    C functions get `pointer`, and the caller keeps this object meanwhile. To
    count below zero aborts the process, as it does in C.
    """

    def __init__(self, count=0):
        if not 0 <= count <= lib.SENNIT_WAIT_GROUP_MAX:
            raise ValueError("count is 0 to SENNIT_WAIT_GROUP_MAX")
        self.pointer = ffi.new("sennit_wait_group *")
        lib.sennit_wait_group_init(self.pointer, count)

    def add(self, n=1):
        """Adds n to the count."""
        lib.sennit_wait_group_add(self.pointer, n)

    def done(self):
        """Subtracts one. Returns whether that made the count zero."""
        return lib.sennit_wait_group_done(self.pointer)

    def wait(self, timeout=None):
        """Waits, without the GIL, until the count is zero.

        Raises TimeoutError after `timeout` seconds.
        """
        check(wait(lambda end: lib.sennit_wait_group_wait_until(
            self.pointer, end), timeout))


class Channel:
    """A queue that passes values from senders to receivers.

    capacity: the number of values that it holds; 0: a send waits for a
        receive; None: no limit.
    ctype: the type of the values in C, such as "int" or "struct point *", so
        that C functions use `pointer` as well; None: objects of Python.
    """

    def __init__(self, capacity=0, ctype=None):
        self._type = ffi.typeof("uint64_t *" if ctype is None
                                else ffi.getctype(ctype, "*"))
        self._objects = {} if ctype is None else None
        self._cookies = itertools.count(1)
        memory = ffi.new("sennit_channel *")
        check(lib.sennit_channel_init(
            memory,
            lib.SENNIT_CHANNEL_UNBOUNDED if capacity is None else capacity,
            ffi.sizeof(self._type.item), ffi.NULL))
        self.pointer = ffi.gc(memory, lib.sennit_channel_destroy)

    def send(self, value, timeout=None):
        """Sends a value; waits, without the GIL, for a receiver or for room.

        Raises BrokenPipeError if the channel is closed, or TimeoutError after
        `timeout` seconds. Then the value has not been sent.
        """
        memory = self._pack(value)
        try:
            check(wait(lambda end: lib.sennit_channel_send_until(
                self.pointer, memory, end), timeout))
        except BaseException:
            self._forget(memory)
            raise

    def _pack(self, value):
        """The value in memory of C. _unpack() or _forget() follows."""
        if self._objects is None:
            return ffi.new(self._type, value)
        cookie = next(self._cookies)
        self._objects[cookie] = value
        return ffi.new(self._type, cookie)

    def _forget(self, memory):
        """The value was not sent."""
        if self._objects is not None:
            self._objects.pop(memory[0], None)

    def receive(self, timeout=None):
        """Receives a value; waits, without the GIL, for one.

        Raises BrokenPipeError if the channel is closed and empty, or
        TimeoutError after `timeout` seconds.
        """
        memory = self._room()
        check(wait(lambda end: lib.sennit_channel_receive_until(
            self.pointer, memory, end), timeout))
        return self._unpack(memory)

    def _room(self):
        """Memory of C for a value."""
        return ffi.new(self._type)

    def _unpack(self, memory):
        """The value that was received there."""
        if self._objects is not None:
            return self._objects.pop(memory[0])
        return memory[0]

    def sending(self, value):
        """The case of a select that sends the value."""
        return Sending(self, value)

    def close(self):
        """Closes the channel. Receivers get what it holds."""
        lib.sennit_channel_close(self.pointer)

    def __len__(self):
        return lib.sennit_channel_length(self.pointer)

    def __bool__(self):
        return True

    def __iter__(self):
        """The values, until the channel is closed and empty."""
        while True:
            try:
                value = self.receive()
            except BrokenPipeError:
                return
            yield value


class Sending:
    """The case of a select that sends a value."""

    __slots__ = ("channel", "value")

    def __init__(self, channel, value):
        self.channel = channel
        self.value = value


class Selected(collections.namedtuple("Selected", "case value closed")):
    """What a select has done.

    case: its index.
    value: that was received, or None. For a descriptor its events, of
        select.poll().
    closed: whether the channel is closed, so that no value was passed.
    """


def readable(file):
    """The case of a select that a descriptor has something to read."""
    return _Ready(file, lib.sennit_case_readable)


def writable(file):
    """The case of a select that a descriptor can be written to."""
    return _Ready(file, lib.sennit_case_writable)


class _Ready:
    """A descriptor, which the select keeps open."""

    __slots__ = ("file", "case")

    def __init__(self, file, case):
        self.file = file
        self.case = case


def select(cases, timeout=None):
    """Does the first of several cases that is possible; returns a Selected.

    A case is a channel, to receive from it; channel.sending(value); a Future,
    to wait until it is done; readable(file) or writable(file). If several are
    possible, the choice is random. The other cases have no effect. Waits
    without the GIL. Raises TimeoutError after `timeout` seconds, and then no
    case is done. At most 64 cases, of which the same object may be several.
    """
    cases = list(cases)
    if not 0 < len(cases) <= lib.SENNIT_SELECT_MAX:
        raise ValueError("select takes 1 to 64 cases")
    array = ffi.new("sennit_case[]", len(cases))
    memory = [None] * len(cases)
    which = ffi.new("size_t *")
    sent = None
    try:
        for i, case in enumerate(cases):
            memory[i], array[i] = _native_case(case)
        check(wait(lambda end: lib.sennit_select_until(
            array, len(cases), which, end), timeout))
        index = which[0]
        result = array[index].result
        if isinstance(cases[index], Sending) and not result:
            sent = index
    finally:
        for i, case in enumerate(cases):
            if isinstance(case, Sending) and i != sent and memory[i]:
                case.channel._forget(memory[i])
    if result == -errno.EPIPE:
        return Selected(index, None, True)
    if isinstance(cases[index], Future):
        return Selected(index, None, False)
    check(result)
    if isinstance(cases[index], Channel):
        return Selected(index, cases[index]._unpack(memory[index]), False)
    return Selected(index, result or None, False)


def _native_case(case):
    """What the case passes or receives, in memory of C, and the case in C."""
    if isinstance(case, Channel):
        memory = case._room()
        return memory, lib.sennit_case_receive(case.pointer, memory)
    if isinstance(case, Sending):
        memory = case.channel._pack(case.value)
        return memory, lib.sennit_case_send(case.channel.pointer, memory)
    if isinstance(case, Future):
        return None, lib.sennit_case_future(case.pointer, ffi.NULL)
    if isinstance(case, _Ready):
        return None, case.case(fileno(case.file))
    raise TypeError(f"{case!r} is no case of a select")
