# SPDX-License-Identifier: Apache-2.0
"""gdb loads this file with libsennit.so, from <data>/gdb/auto-load/<folder of
the library>, as libsennit.so.<version>-gdb.py. It loads the commands that are
installed with this version, from <data>/sennit."""

import os
import re
import sys


def data_folder():
    folder = os.path.dirname(os.path.abspath(__file__))
    while os.path.basename(folder) not in ("auto-load", ""):
        folder = os.path.dirname(folder)
    return os.path.dirname(os.path.dirname(folder))


def version():
    """The SONAME's version: 0.9 for libsennit.so.0.9.1, 1 for .so.1.2.3."""
    name = os.path.basename(os.path.abspath(__file__))
    return re.match(r"libsennit\.so\.(0\.\d+|\d+)", name).group(1)


sys.path.insert(0, os.path.join(data_folder(), "sennit", version()))
import sennit_gdb  # noqa: E402, F401
