#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""At each level the result is at most 0.5 % larger than that of pigz, as blocks
know what stands before them."""
from pig import BLOCK, need, noise, pig, run, text
from program import check

need("pigz")
for kind in text, noise:
    data = kind(6 * BLOCK + 1000)
    for level in "-1", "-3", "-6", "-9":
        ours = len(pig(level, "-p", "2", data=data)[0])
        theirs = len(run("pigz", level, "-c", "-p", "2", data=data))
        print(kind.__name__, level, ours, theirs, "%.5f" % (ours / theirs))
        check(ours <= 1.005 * theirs, kind.__name__, level, ours, theirs)
