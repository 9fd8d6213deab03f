# SPDX-License-Identifier: Apache-2.0
"""sennit: tasks that wait as fibers, for Python.

docs/bindings.md in the source of sennit has the rules.
"""
from sennit.executor import Executor
from sennit.future import Future, wait_all, wait_any
from sennit.group import Group
from sennit.io import IO, listen
from sennit.native import Cancelled, ffi, lib
from sennit.scheduler import Scheduler
from sennit.sync import (Channel, Selected, WaitGroup, readable, select,
                         writable)

__all__ = ["Cancelled", "Channel", "Executor", "Future", "Group", "IO", "Scheduler",
           "Selected", "WaitGroup", "ffi", "listen", "readable", "select",
           "wait_all", "wait_any", "writable"]
__version__ = (f"{lib.SENNIT_VERSION_MAJOR}.{lib.SENNIT_VERSION_MINOR}."
               f"{lib.SENNIT_VERSION_PATCH}")
