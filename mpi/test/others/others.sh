#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# others.sh MPI IN_FIBER LIBRARY PACKAGE - runs MPI programs of the package
# (scalapack, hpcc), which know nothing of sennit, as two processes: as they are,
# and with their main() in a fiber (in_fiber.c) and libsennit-mpi before their
# MPI. Their checks must say the same, and fibers must have waited. Skipped
# without the package.
set -eu

mpi=$1
in_fiber=$2
library=$3
package=$4
run=$(cd "$(dirname "$0")/.." && pwd)/run.sh
. "$(dirname "$0")/../../../testing/script.sh"
cd "$scratch"
export RANKS=2 LIMIT=120 SENNIT_WAITS="$scratch/waits"

# verdicts FILE...: what the checks say, without times and rates.
verdicts()
{
	cat "$@" | grep -i 'pass\|fail\|skip\|completed\|[1-9][0-9]* error' |
		sed -E 's/[0-9]*\.[0-9]*([DE][+-]?[0-9]+)?//g; s/[*[:space:]]+/ /g'
}

# compare PROGRAM [FILE]: what it prints, and the file that it writes.
compare()
{
	for how in plain fiber; do
		rm -f out ${2:+"$2"}
		preload=
		[ "$how" = plain ] || preload="LD_PRELOAD=$in_fiber:$library"
		# shellcheck disable=SC2016 # of the inner shell
		sh "$run" "$mpi" sh -c 'exec env $2 "$1" >>out' - \
			"$1" "$preload" || fail "$1 failed: $how"
		verdicts out ${2:+"$2"} >"$how"
	done
	grep -iq 'pass' plain || fail "$1 says nothing"
	diff plain fiber || fail "the checks of $1 say something else in a fiber"
	[ -s waits ] || fail "$1: main was in no fiber"
	[ "$(cat waits)" -gt 0 ] || fail "$1: no fiber has waited"
	echo "$1: $(grep -ic pass plain) lines passed, $(cat waits) waits"
	rm waits
}

# The programs of ScaLAPACK's test suite, for two processes in a row and in a
# column. BLACS, which they call, calls MPI.
scalapack()
{
	programs=$(echo /usr/lib/*/scalapack/"$mpi"-tests)
	data=/usr/share/scalapack
	[ -d "$programs" ] || skip 'no scalapack-mpi-test'
	for file in "$data"/*.dat "$data"/BLACS/*.dat "$data"/PBLAS/*.dat; do
		sed -e '/or grids\|process grids\|Number of grids/s/.*/2/' \
			-e '/values of P\>\|NPROW/s/.*/1 2/' \
			-e '/values of Q\>\|NPCOL/s/.*/2 1/' \
			-e "/Run AUX/s/'T'/'F'/" "$file" >"${file##*/}"
	done
	for name in xCbtest xdlu xdls xdnep; do
		compare "$programs/$name"
	done
	compare "$programs/PBLAS/dpb2tst"
	compare "$programs/PBLAS/zpb3tst"
}

# HPC Challenge: HPL, PTRANS, RandomAccess and Fourier transforms across the
# processes.
hpcc()
{
	needs hpcc
	example=/usr/share/doc/hpcc/examples/_hpccinf.txt
	[ -f $example ] || skip 'no example of hpccinf.txt'
	sed -e 's/^1000 /200 /' -e 's/^80 /20 /' -e 's/^2  *Ps/1 Ps/' \
		$example >hpccinf.txt
	echo Total=4 >hpccmemf.txt # MiB
	compare hpcc hpccoutf.txt
}

"$package"
