# SPDX-License-Identifier: Apache-2.0
"""Wait groups and channels between threads of Python and tasks in C."""
import itertools

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
            memory, ffi.sizeof(self._type.item),
            lib.SENNIT_CHANNEL_UNBOUNDED if capacity is None else capacity,
            ffi.NULL))
        self.pointer = ffi.gc(memory, lib.sennit_channel_destroy)

    def send(self, value, timeout=None):
        """Sends a value; waits, without the GIL, for a receiver or for room.

        Raises BrokenPipeError if the channel is closed, or TimeoutError after
        `timeout` seconds. Then the value has not been sent.
        """
        cookie = None
        if self._objects is not None:
            cookie = next(self._cookies)
            self._objects[cookie] = value
            value = cookie
        try:
            memory = ffi.new(self._type, value)
            check(wait(lambda end: lib.sennit_channel_send_until(
                self.pointer, memory, end), timeout))
        except BaseException:
            if cookie is not None:
                self._objects.pop(cookie, None)
            raise

    def receive(self, timeout=None):
        """Receives a value; waits, without the GIL, for one.

        Raises BrokenPipeError if the channel is closed and empty, or
        TimeoutError after `timeout` seconds.
        """
        memory = ffi.new(self._type)
        check(wait(lambda end: lib.sennit_channel_receive_until(
            self.pointer, memory, end), timeout))
        if self._objects is not None:
            return self._objects.pop(memory[0])
        return memory[0]

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
