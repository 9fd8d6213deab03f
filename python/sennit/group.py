# SPDX-License-Identifier: Apache-2.0
"""Groups: structured concurrency."""
import threading
import time

from sennit import future
from sennit.io import IO
from sennit.native import deadline, error, ffi, lib, wait

_first = threading.Lock()  # _raised of all groups
_open = set()  # groups that have begun and have not ended: members use them


class Group:
    """Tasks that all end before the `with` block that opens the group does.

    The first error, an exception of a callable or a negative result of a C
    function, cancels the group, and the block raises it. So does an exception
    that leaves the block. Cancellation ends the waits of C functions that take
    deadlines, and callables do not begin; one that runs asks cancelled().

    The thread that opens a group, and callables that are its members, may
    submit and cancel.
    """

    def __init__(self, scheduler, timeout=None):
        self.scheduler = scheduler
        self._timeout = timeout
        self._end = None
        self._opener = None
        self._raised = None  # the first exception of a callable

    def __enter__(self):
        if self._opener is not None:
            raise RuntimeError("a group is opened once")
        self._scheduler_kept = self.scheduler._retained()
        self._scheduler_kept.__enter__()
        self.pointer = ffi.new("struct group *")
        _open.add(self)
        if self._timeout is not None:
            self._end = time.monotonic() + self._timeout
        lib.group_open(self.pointer, self.scheduler.pointer,
                       deadline(self._timeout))
        self._opener = threading.get_ident()
        return self

    def __exit__(self, kind, raised, trace):
        try:
            if raised is None:
                self._wait_for_members()
        except BaseException:  # KeyboardInterrupt: no member outlives the group
            self._end_it(cancel=True)
            self._raised = None
            raise
        failed = self._end_it(cancel=raised is not None)
        first, self._raised = self._raised, None
        if raised is not None or not failed:
            return False
        try:
            # A function of C may return that number, too.
            if first is None or failed != future.RAISED:
                first = error(failed)
            raise first
        finally:
            first = None  # which has this frame

    def submit(self, function, /, *args, **keywords):
        """Like Scheduler.submit, as a member."""
        self._check_caller()
        return future.of_callable(
            self.scheduler, function, args, keywords, self)

    def submit_c(self, function, data=ffi.NULL, keep=None, convert=None):
        """Like Scheduler.submit_c, as a member."""
        self._check_caller()
        return future.of_c(
            self.scheduler, function, data, keep, self, convert)

    @property
    def io(self):
        """Like Scheduler.io; each call is a member."""
        return IO(self)

    def cancel(self):
        """Cancels the group. Its block raises Cancelled or an earlier error."""
        self._check_caller()
        lib.group_cancel(self.pointer)

    def drain(self, timeout=None):
        """Waits until no member is left, `timeout` seconds; then cancels.

        For the end of a server, after it has stopped to accept. The opener
        calls this. Returns whether the members ended by themselves.
        """
        self._check_opener()
        failed = wait(lambda end: lib.group_wait_until(self.pointer, end),
                      timeout)
        if failed:
            lib.group_cancel(self.pointer)
        return not failed

    def set_timeout(self, timeout):
        """Brings the end of the group's time forward, to `timeout` from now.

        A later end than the group has already has no effect.
        """
        self._check_caller()
        end = time.monotonic() + timeout
        if self._end is None or end < self._end:
            self._end = end
        lib.group_set_deadline(self.pointer, deadline(timeout))

    def __len__(self):
        """The number of members that have not ended. The opener may ask."""
        self._check_opener()
        return lib.group_members(self.pointer)

    def __bool__(self):
        return True

    def cancelled(self):
        """Whether the group is cancelled or its time is over."""
        return lib.group_failed(self.pointer) or (
            self._end is not None and time.monotonic() >= self._end)

    def _member_raised(self, raised):
        """A callable has raised; called before its task has ended."""
        with _first:
            if self._raised is None:
                self._raised = raised

    def _check_caller(self):
        # Others cannot know that some member will not end during the call,
        # after which the group may have ended.
        running = getattr(future.inside, "future", None)
        if threading.get_ident() != self._opener and (
                running is None or running.group is not self):
            raise RuntimeError("neither the opener nor a member of the group")

    def _check_opener(self):
        if threading.get_ident() != self._opener:
            raise RuntimeError("not the opener of the group")

    def _wait_for_members(self):
        # sennit_group_wait cannot be interrupted, and this wait can.
        wait(lambda end: lib.group_wait_until(self.pointer, end), None)

    def _end_it(self, cancel):
        if cancel:
            lib.group_cancel(self.pointer)
        failed = lib.group_wait(self.pointer)
        _open.discard(self)
        self._opener = -1  # no thread
        future.reap()
        self._scheduler_kept.__exit__(None, None, None)
        return failed
