#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh - pip makes a wheel of the tree that needs no installed library, and
# the same of a source distribution outside of the tree. Both have the licence,
# and the tag of what they need: glibc alone. In a virtual environment the
# README's program and the tests of io and select run with the second, and its
# type stubs agree with it (mypy's stubtest).
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"
SOURCE_DIR=$(cd "$SOURCE_DIR" && pwd)
unset LD_LIBRARY_PATH PYTHONPATH SENNIT_LIB_DIR
# Debian's, which has the modules that install-deps installs.
python=/usr/bin/python3

$python -c 'import setuptools, pip, wheel, cffi, venv' 2>/dev/null ||
	skip "no pip, setuptools, wheel, cffi or venv for $python"
cat >"$scratch/config" <<END
[build]
build_base = $scratch/build
[egg_info]
egg_base = $scratch
END
export DIST_EXTRA_CONFIG="$scratch/config" PIP_DISABLE_PIP_VERSION_CHECK=1
export PYTHONDONTWRITEBYTECODE=1
quietly $python -m pip wheel --no-build-isolation --no-deps --no-index \
	-w "$scratch/wheel" "$SOURCE_DIR/python"
cd "$SOURCE_DIR/python"
quietly $python setup.py sdist -d "$scratch/sdist"
cd "$scratch"
quietly $python -m pip wheel --no-build-isolation --no-deps --no-index \
	-w "$scratch/again" sdist/*.tar.gz
quietly $python -m venv --system-site-packages "$scratch/venv"
quietly "$scratch/venv/bin/pip" install --no-index --no-deps \
	"$scratch"/again/*.whl

# names FOLDER: the wheel there, and the files in it.
names()
{
	(cd "$1" && ls)
	$python -m zipfile --list "$1"/*.whl | awk '{ print $1 }' | sort
}
names wheel >of_tree
names again >of_sdist
diff of_tree of_sdist || fail "the source distribution makes another wheel"
for name in LICENSE NOTICE; do
	grep -q "dist-info/$name\$" of_sdist || fail "the wheel has no $name"
	cmp "$SOURCE_DIR/$name" \
		"$(find venv -path '*sennit*.dist-info/*' -name $name)"
done
needed=$(ldd "$(find venv -name '_native*.so')" |
	grep -v -e linux-vdso -e ld-linux -e 'libc\.so' -e 'lib\(m\|pthread\)\.' ||
	true)
[ -z "$needed" ] || fail "the wheel needs more than glibc: $needed"
[ -n "$(ls /lib*/ld-musl-* 2>/dev/null)" ] || head -n 1 of_sdist |
	grep -q 'manylinux_2_[0-9]*_' || fail "the tag is $(head -n 1 of_sdist)"
cp "$SOURCE_DIR/python/test/readme_program.py" .
cp "$SOURCE_DIR/python/test/test_io.py" .
quietly venv/bin/python -c "import readme_program
readme_program.check('$SOURCE_DIR/python/README.md')"
cat >stage.py <<'END'
import unittest


class Case(unittest.TestCase):
    pass
END
quietly venv/bin/python -W error test_io.py
# 77: no mypy, and a line that says so.
sh "$SOURCE_DIR/python/test/stubs.sh" "$scratch/venv/bin/python" >said 2>&1 ||
	[ $? = 77 ] || fail "$(cat said)"
cat said
echo "made, installed and run: $(basename wheel/*.whl)"
