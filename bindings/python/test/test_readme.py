# SPDX-License-Identifier: Apache-2.0
import os
import re
import unittest

from stage import Case, program


class ReadmeTest(Case):

    def test_the_program_prints_what_it_should(self):
        with open(os.environ["SENNIT_README"], encoding="utf-8") as readme:
            text = re.search(r"```python\n(.*?)```", readme.read(), re.S)[1]
        said, status = program(text)
        self.assertEqual(status, 0, said)
        lines = said.splitlines()
        if "hello" in lines:  # the group may be cancelled before it prints
            lines.remove("hello")
        self.assertEqual(lines[0], "(3, 2)")
        self.assertIn("zero", lines[1])
        self.assertEqual(lines[2:], [
            "[0, 1, 2]", "[1, 2, 4, 8, 16]", "b'hello'",
            "Selected(case=1, value='ready', closed=False)"])


if __name__ == "__main__":
    unittest.main()
