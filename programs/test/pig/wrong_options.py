#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong options end with 1 and say why; --help ends with 0."""
from pig import pig
from program import check

check(pig("--help")[0].startswith(b"NAME\n  sennit-pig"), "no help")
for wrong in ["-0"], ["-p", "0"], ["-p", "257"], ["-p", "x"], ["-p", "-1"], \
        ["-p", ""], ["-p", "2x"], ["-b", "31"], ["-b", "16385"], ["-p"], \
        ["--color"], ["-z"]:
    out, said = pig(*wrong, data=b"data", status=1)
    check(not out and "sennit-pig" in said, wrong, said)
