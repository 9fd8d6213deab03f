# SPDX-License-Identifier: Apache-2.0
"""Which interpreter of the process this is."""


def is_main():
    """Whether this is the main interpreter, the one with the number 0."""
    try:
        import ctypes
    except ImportError:
        # Built without, or refused in a subinterpreter with a GIL of its own.
        # That one refuses the backend of cffi, too.
        return True
    api = ctypes.pythonapi
    try:
        here = api.PyInterpreterState_Get
    except AttributeError:
        here = api._PyInterpreterState_Get  # Python 3.8
    here.restype = ctypes.c_void_p
    number = api.PyInterpreterState_GetID
    number.argtypes = [ctypes.c_void_p]
    number.restype = ctypes.c_int64
    return number(here()) == 0


def require_main():
    """Raises ImportError in a subinterpreter."""
    if not is_main():
        raise ImportError(
            "sennit cannot be imported in a subinterpreter: callables that "
            "workers start would run in the main interpreter")
