# SPDX-License-Identifier: Apache-2.0
"""An executor with the futures of concurrent.futures."""
import concurrent.futures
import threading


class Executor(concurrent.futures.Executor):
    """Runs callables on a scheduler, for code that takes any executor.

    Its futures are concurrent.futures.Future: for wait() and as_completed() of
    that module and for run_in_executor() of asyncio, which take no other. The
    executor ends with `with` or shutdown(), which wait for its calls; the
    scheduler goes on.
    """

    def __init__(self, scheduler):
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._closed = False
        self._pending = set()

    def submit(self, function, /, *args, **keywords):
        """Calls function(*args, **keywords) on a helper thread.

        Returns a concurrent.futures.Future.
        """
        future = concurrent.futures.Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor is shut down")
            self._pending.add(future)
        try:
            call = self._scheduler.submit(_run, future, function, args,
                                          keywords)
            call.add_done_callback(lambda call: _fail(future, call))
        except BaseException:
            future.cancel()  # or else it has begun
            self._discard(future)
            raise
        future.add_done_callback(self._discard)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Refuses new calls; waits for those under way, unless told not to."""
        with self._lock:
            self._closed = True
            pending = list(self._pending)
        if cancel_futures:
            for future in pending:
                future.cancel()
        if wait:
            concurrent.futures.wait(pending)

    def _discard(self, future):
        with self._lock:
            self._pending.discard(future)


def _run(future, function, args, keywords):
    """Runs on a helper thread."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function(*args, **keywords)
    except BaseException as raised:
        future.set_exception(raised)
        # The exception has this frame, and the future has the exception.
        future = function = args = keywords = None
    else:
        future.set_result(result)


def _fail(future, call):
    """The call has ended: without having begun, if there was no thread."""
    raised = None if future.done() else call.exception()
    if raised is not None and future.set_running_or_notify_cancel():
        future.set_exception(raised)
