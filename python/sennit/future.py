# SPDX-License-Identifier: Apache-2.0
"""Futures, and the jobs that set them."""
import concurrent.futures
import errno
import itertools
import threading
import time

from sennit.native import check, error, ffi, lib, wait

# What a job returns when a callable has raised. The exception is in its future.
RAISED = -errno.EPROTO

inside = threading.local()  # .future: whose callable this thread runs
_running = {}  # cookie: the future of a job that has not ended
_cookies = itertools.count(1)
_native_functions = set()  # addresses of C functions that use this libsennit
_beginning = threading.Lock()  # _begun and _cancelled of all futures

_KINDS = {
    ("void", ("void *",)): lib.JOB_TASK,
    ("int", ("void *",)): lib.JOB_MEMBER,
    ("int", ("void *", "void * *")): lib.JOB_ASYNC,
}


class Future:
    """The outcome of a callable or a C function that a task runs.

    It has the methods of concurrent.futures.Future, and can be awaited.
    sennit.wait_all and sennit.wait_any wait for several.
    """

    __slots__ = ("_job", "_kind", "_keep", "_outcome", "_convert",
                 "_converting", "_begun", "_cancelled", "scheduler", "group",
                 "__weakref__")

    def __init__(self, scheduler, kind, function, data, keep, group=None,
                 convert=None):
        self.scheduler = scheduler
        self.group = group
        self._kind = kind
        self._keep = keep  # until the job has ended
        self._outcome = None  # (value, exception), of a callable or converted
        self._convert = convert  # makes that of (failed, value), once
        self._converting = None if convert is None else threading.RLock()
        self._begun = kind != lib.JOB_PYTHON  # may have, of a C function
        self._cancelled = False
        cookie = next(_cookies)
        job = lib.job_create(kind, function, data, cookie)
        if not job:
            raise MemoryError()
        self._job = ffi.gc(job, lib.job_release)
        reap()
        _running[cookie] = self
        try:
            if group is None:
                check(lib.job_enqueue(scheduler.pointer, job))
            else:
                check(lib.group_spawn(group.pointer, job))
        except BaseException:
            del _running[cookie]
            raise

    @property
    def _native(self):
        """The job."""
        return self._job

    @property
    def pointer(self):
        """The sennit_future, valid as long as this object."""
        return lib.job_future(self._job)

    def cancel(self):
        """Prevents a call that has not begun. Returns whether it did.

        A callable can be prevented while it waits for a thread; the future is
        done then, and result() raises concurrent.futures.CancelledError. A
        function of C, and so a call of IO, cannot: cancel its group.
        """
        with _beginning:
            if not self._begun:
                self._cancelled = True
            return self._cancelled

    def cancelled(self):
        """Whether cancel() has prevented the call."""
        return self._cancelled

    def running(self):
        """Whether the callable has begun and has not ended.

        True for a function of C that is not done, which may not have begun.
        """
        return self._begun and not self.done()

    def done(self):
        """Whether the call has returned or raised, or was prevented."""
        return self._cancelled or lib.sennit_future_is_set(self.pointer)

    def add_done_callback(self, function):
        """Calls function(future) when the call has ended, or at once.

        A thread of sennit's calls it, or the caller's if the call has ended
        already. An exception of the function is logged. A call that was
        prevented has ended when its turn would have come.
        """
        from sennit import callbacks
        callbacks.add(self, function)

    def wait(self, timeout=None):
        """Waits, without the GIL, until the call has returned or raised.

        Raises TimeoutError after `timeout` seconds.
        """
        if self._cancelled:
            return
        check(wait(lambda end: lib.sennit_future_wait_until(
            self.pointer, end), timeout))

    def result(self, timeout=None):
        """Waits, then returns the result or raises the exception."""
        try:
            self.wait(timeout)
            return self._result()
        finally:
            # The exception has this frame, or one that this one has called.
            # It would keep the future, which keeps the exception.
            self = None

    def exception(self, timeout=None):
        """Waits, then returns the exception, or None."""
        self.wait(timeout)
        if self._cancelled:
            raise concurrent.futures.CancelledError()
        try:
            return self._settled()[1]
        finally:
            self = None  # see result()

    def _result(self):
        """Returns the result or raises the exception of what is done."""
        if self._cancelled:
            raise concurrent.futures.CancelledError()
        result, raised = self._settled()
        if raised is None:
            return result
        try:
            raise raised
        finally:
            self = raised = None  # see result()

    def _settled(self):
        """The value and the exception of what is done; one is None."""
        value = ffi.new("void **")
        failed = lib.sennit_future_get_until(self.pointer, value, 0)
        reap()
        if self._converting is not None:
            try:
                return self._converted(failed, value[0])
            finally:
                self = None  # see result()
        if self._outcome is not None:
            return self._outcome
        if failed:
            return None, error(failed)
        if self._kind == lib.JOB_ASYNC:
            return value[0], None
        if self._kind == lib.JOB_MEMBER:
            return int(ffi.cast("intptr_t", value[0])), None
        return None, None

    def _converted(self, failed, value):
        """What convert() has made. The first caller calls it.

        It may wait, also for other futures: only those who want this one wait
        for it.
        """
        with self._converting:
            if self._outcome is not None:
                return self._outcome
            convert, self._convert = self._convert, None
            if convert is None:
                raise RuntimeError("convert waits for its own future")
            try:
                self._outcome = convert(failed, value)
            except Exception as raised:
                self._outcome = None, _without_caller(raised)
            except BaseException:  # KeyboardInterrupt: the next may try
                self._convert = convert
                raise
            try:
                return self._outcome
            finally:
                self = convert = None  # see result()

    def __await__(self):
        from sennit.loop import bridge
        try:
            if not self.done():
                yield from bridge().future(self).__await__()
            return self._result()
        finally:
            self = None  # see result()

    def _call(self):
        """Runs the callable, on a helper thread."""
        function, args, keywords = self._keep
        with _beginning:
            if self._cancelled:
                return 0
            self._begun = True
        inside.future = self
        try:
            self._outcome = (function(*args, **keywords), None)
            return 0
        except BaseException as raised:  # also SystemExit: the waiter gets it
            self._outcome = None, _without_caller(raised)
            if self.group is not None:
                self.group._member_raised(raised)
            return RAISED
        finally:
            inside.future = None
            self = function = args = keywords = None  # see result()

    def _forget(self):
        """The job has ended: it needs its arguments no longer."""
        self._keep = None


def _without_caller(raised):
    """The exception, without this module's frame."""
    return raised.with_traceback(raised.__traceback__.tb_next)


def of_callable(scheduler, function, args, keywords, group=None):
    """Schedules a callable of Python."""
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    return Future(scheduler, lib.JOB_PYTHON, ffi.NULL, ffi.NULL,
                  (function, args, keywords), group)


def of_c(scheduler, function, data, keep, group=None, convert=None):
    """Schedules a function of C, a pointer of cffi.

    convert(failed, value), if given, returns the value and the exception.
    """
    kind = None
    if isinstance(function, ffi.CData):
        shape = ffi.typeof(function)
        if shape.kind == "function":
            pass
        elif shape.kind == "pointer" and shape.item.kind == "function":
            shape = shape.item
        if shape.kind == "function" and not shape.ellipsis:
            kind = _KINDS.get((shape.result.cname, tuple(
                argument.cname for argument in shape.args)))
    if kind is None:
        raise TypeError(f"{function!r} is none of void(*)(void *), "
                        "int(*)(void *), int(*)(void *, void **)")
    _check_library(function)
    return Future(scheduler, kind, ffi.cast("void *", function),
                  ffi.cast("void *", data), (function, data, keep), group,
                  convert)


def _check_library(function):
    """Refuses a function whose library is linked to another libsennit."""
    address = int(ffi.cast("uintptr_t", function))
    if address in _native_functions:
        return
    name = ffi.new("char[]", 1024)
    if lib.is_foreign(ffi.cast("void *", function), name, len(name)):
        raise RuntimeError(
            f"{ffi.string(name).decode(errors='replace')} is linked to another "
            "libsennit than the package sennit, whose schedulers it does not "
            "know")
    _native_functions.add(address)


def reap():
    """Drops the arguments of jobs that have ended."""
    cookies = ffi.new("uint64_t[64]")
    while count := lib.sink_read(lib.ended_sink(), cookies, 64):
        for i in range(count):
            _running.pop(cookies[i])._forget()


def wait_all(futures, timeout=None):
    """Waits, without the GIL, until all futures are done."""
    futures = list(futures)
    end = None if timeout is None else time.monotonic() + timeout
    for future in futures:
        future.wait(None if end is None else end - time.monotonic())


def wait_any(futures, timeout=None):
    """Waits, without the GIL, until a future is done, and returns it.

    There are at most SENNIT_FUTURE_WAIT_MAX (64) futures.
    """
    futures = list(futures)
    if not 0 < len(futures) <= lib.SENNIT_FUTURE_WAIT_MAX:
        raise ValueError("wait_any takes 1 to 64 futures")
    array = ffi.new("sennit_future *[]", [f.pointer for f in futures])
    which = ffi.new("size_t *")
    check(wait(lambda end: lib.sennit_future_wait_any_until(
        array, len(futures), which, end), timeout))
    return futures[which[0]]


@ffi.def_extern(onerror=None, error=RAISED)
def python_call(cookie):
    """Runs on helper threads."""
    return _running[cookie]._call()


def forget_all():
    """In the child of a fork: no job of the parent ends here."""
    from sennit import callbacks
    lib.after_fork()
    _running.clear()
    callbacks.forget_all()


def cancel_all(scheduler):
    """Cancels the calls of a scheduler that have not begun."""
    for running in list(_running.values()):
        if running.scheduler is scheduler:
            running.cancel()
