#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stubs.sh PYTHON - the type stubs agree with the package that this Python
# imports (mypy's stubtest), and mypy finds a wrong type by them.
set -eu

python=$1
$python -c 'import mypy.stubtest' 2>/dev/null || {
	echo "no mypy for $python"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cat >allow <<-'END'
sennit\.(callbacks|executor|future|group|interpreter|io|loop|native|scheduler|sync).*
sennit\._native.*
sennit\.Future\.__init__
END
cat >mypy.ini <<-'END'
[mypy]
[mypy-sennit.*]
ignore_errors = True
ignore_missing_imports = True
END
# MYPYPATH: where PYTHONPATH leads stubtest.
MYPYPATH=${PYTHONPATH:-} $python -m mypy.stubtest --allowlist allow \
	--mypy-config-file mypy.ini --ignore-unused-allowlist sennit
cat >typed.py <<-'END'
import sennit
with sennit.Scheduler(1) as s:
    read: bytes = s.io.read(0, 10).result()
    power: int = s.submit(pow, 2, 3).result()
    done: int = s.executor().submit(pow, 2, 3).result()
    wrong: int = s.io.read(0, 10).result()
END
MYPYPATH=${PYTHONPATH:-} $python -m mypy typed.py >said && {
	echo "a wrong type is accepted"
	exit 1
}
grep -q 'typed.py:6: error' said || {
	cat said
	exit 1
}
! grep 'typed.py:[345]: error' said
