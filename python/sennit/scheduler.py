# SPDX-License-Identifier: Apache-2.0
"""Schedulers."""
import atexit
import concurrent.futures
import contextlib
import errno
import os
import threading
import warnings
import weakref

from sennit import future
from sennit.executor import Executor
from sennit.io import IO
from sennit.native import check, error, ffi, lib, wait

_alive = weakref.WeakSet()


class Scheduler(concurrent.futures.Executor):
    """Worker threads that run tasks. Use it with `with`, or close it.

    It is an executor of concurrent.futures, whose submit() returns a
    sennit.Future. executor() has one that returns a future of that module.

    workers: their number; 0 is one for each CPU of the process.
    stack_size: bytes of a task's stack; 0 is 64 KiB. For functions of C:
        callables run on threads whose stacks are as large as usual.
    max_fibers: the largest number of tasks that wait at once; 0: no limit.
    max_callables: the largest number of callables that run at once; 0: 256,
        or less on small systems.
    name: of the threads.
    """

    _ended = True  # nothing to end, until there is a scheduler

    def __init__(self, workers=0, *, stack_size=0, max_fibers=0,
                 max_callables=0, name="python"):
        if not 0 <= workers <= lib.SENNIT_WORKERS_MAX:
            raise ValueError(f"workers is 0 to {lib.SENNIT_WORKERS_MAX}")
        self._lock = threading.RLock()
        self._closers = threading.Lock()  # one at a time
        text = ffi.new("char[]", name.encode())
        config = ffi.new("sennit_config *", {
            "size": ffi.sizeof("sennit_config"), "workers": workers,
            "stack_size": stack_size, "max_fibers": max_fibers,
            "max_blocking_threads": max_callables, "name": text})
        out = ffi.new("sennit_scheduler **")
        check(lib.sennit_scheduler_create(out, config))
        self.pointer = out[0]
        self._closing = self._ended = False
        _alive.add(self)

    @contextlib.contextmanager
    def _retained(self):
        """Keeps the scheduler for the time of a call, if it is open."""
        with self._lock:
            if self._closing:
                raise RuntimeError("the scheduler is closed")
            lib.sennit_scheduler_retain(self.pointer)
        try:
            yield
        finally:
            lib.sennit_scheduler_release(self.pointer)

    def submit(self, function, /, *args, **keywords):
        """Calls function(*args, **keywords) on a helper thread.

        Returns a Future.
        """
        with self._retained():
            return future.of_callable(self, function, args, keywords)

    def submit_c(self, function, data=ffi.NULL, keep=None, convert=None):
        """Calls function(data) as a task, on a fiber, without the GIL.

        function is a function pointer of cffi, from any library that uses no
        libsennit or the one of this package; another is a RuntimeError:
            void (*)(void *)            the result is None
            int (*)(void *)             a negative result raises OSError
            int (*)(void *, void **)    likewise; the result is *value
        The scheduler keeps function, data and the object `keep` until the
        function has returned. convert(failed, value), if given, returns the
        future's value and exception, or None for one of them. failed is the
        negative error, or 0. The first call that wants the outcome calls it. It
        may wait, and what it raises is the outcome. Returns a Future.
        """
        with self._retained():
            return future.of_c(self, function, data, keep, None, convert)

    def executor(self):
        """An Executor, for wait(), as_completed() and run_in_executor()."""
        return Executor(self)

    @property
    def io(self):
        """Reads, writes and connections that fibers wait for: see IO."""
        return IO(self)

    def group(self, timeout=None):
        """A Group: tasks that end before its `with` block does."""
        from sennit.group import Group
        return Group(self, timeout)

    @property
    def workers(self):
        """The number of workers."""
        with self._retained():
            return lib.sennit_scheduler_workers(self.pointer)

    def stats(self):
        """Counters of sennit_stats, as a dictionary."""
        stats = ffi.new("sennit_stats *", {"size": ffi.sizeof("sennit_stats")})
        with self._retained():
            lib.sennit_scheduler_get_stats(self.pointer, stats)
        return {name: getattr(stats, name) for name in (
            "tasks", "steals", "blocks", "fibers", "threads",
            "blocking_threads")}

    def close(self, timeout=None):
        """Waits, without the GIL, until all work is done, and ends the threads.

        New work is refused from the moment of the call. Raises TimeoutError
        after `timeout` seconds; call again to wait on.
        """
        running = getattr(future.inside, "future", None)
        if running is not None and running.scheduler is self:
            raise RuntimeError("a callable cannot close its own scheduler")
        if not self._closers.acquire(timeout=-1 if timeout is None
                                     else max(timeout, 0)):
            raise error(-errno.ETIMEDOUT)
        try:
            self._close(timeout)
        finally:
            self._closers.release()

    def shutdown(self, wait=True, *, cancel_futures=False):
        """The call of an executor: close(), or without waiting.

        Without waiting, the scheduler ends after its work, or with the process.
        """
        with self._lock:
            self._closing = True
        if cancel_futures:
            future.cancel_all(self)
        if wait:
            self.close()

    def _close(self, timeout):
        if self._ended:
            return
        with self._lock:
            self._closing = True
        failed = wait(lambda end: lib.sennit_scheduler_shutdown(
            self.pointer, end), timeout)
        if failed:
            raise error(failed)
        self._ended = True
        future.reap()

    def _abandon(self):
        """In the child of a fork: the workers are the parent's."""
        self._lock = threading.RLock()
        self._closers = threading.Lock()
        self._closing = self._ended = True

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def __del__(self):
        # No task is left that runs Python: its future would keep this object.
        if not self._ended:
            warnings.warn(f"{self!r} was not closed", ResourceWarning,
                          source=self)
            self._ended = True
            lib.sennit_scheduler_release(self.pointer)


@atexit.register
def _close_all():
    # A thread that needs Python after its end would be ended by it, also in
    # the middle of a task.
    for scheduler in list(_alive):
        scheduler.close()


def _in_child():
    for scheduler in list(_alive):
        scheduler._abandon()
    future.forget_all()


os.register_at_fork(after_in_child=_in_child)
