# SPDX-License-Identifier: Apache-2.0
import os
import unittest

import readme_program
from stage import Case


class ReadmeTest(Case):

    def test_the_program_prints_what_it_should(self):
        readme_program.check(os.environ["SENNIT_README"])


if __name__ == "__main__":
    unittest.main()
