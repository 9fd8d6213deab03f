# SPDX-License-Identifier: Apache-2.0
"""Calls from workers come to the main interpreter, so others cannot import."""
import os
import unittest

try:
    import _interpreters as interpreters  # since 3.13
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = None

import sennit

PROGRAM = """
import os
try:
    import sennit
    said = "imported"
except ImportError as error:
    said = str(error)
os.write({}, said.encode())
"""


def import_in(interpreter):
    """Returns what an import says there."""
    reader, writer = os.pipe()
    try:
        interpreters.run_string(interpreter, PROGRAM.format(writer))
        os.close(writer)
        writer = -1
        return os.read(reader, 1000).decode()
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
        interpreters.destroy(interpreter)


@unittest.skipIf(interpreters is None, "this Python has no subinterpreters")
class Subinterpreters(unittest.TestCase):
    def test_the_import_is_refused(self):
        said = import_in(interpreters.create())
        self.assertIn("subinterpreter", said)

    def test_an_import_that_was_refused_is_refused_again(self):
        for _ in range(3):
            self.assertNotEqual(import_in(interpreters.create()), "imported")

    def test_the_main_interpreter_goes_on(self):
        with sennit.Scheduler(workers=1) as scheduler:
            import_in(interpreters.create())
            self.assertEqual(scheduler.submit(lambda: 7).result(), 7)


if __name__ == "__main__":
    unittest.main()
