#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh MPI PROGRAM [ARGUMENT...] - runs the program with MPI (openmpi, mpich)
# and some numbers of processes. Fails if one of the runs does, or lasts for more
# than $LIMIT seconds (240).
#
# Environment: RANKS, the numbers of processes ("1 2 3"); ENDS=yes: the
# program must be ended by a failure, in time, and SAYS, what it must print.
set -eu

mpi=$1
shift
command -v "mpirun.$mpi" >/dev/null || {
	echo "skipped: no mpirun.$mpi"
	exit 77
}
limit=${LIMIT:-240}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# More processes than CPUs: those that wait yield their CPU. They talk through
# shared memory, or TCP on this machine alone.
case $mpi in
openmpi)
	set -- --allow-run-as-root --oversubscribe \
		--mca mpi_yield_when_idle 1 --mca btl self,vader,tcp \
		--mca btl_tcp_if_include lo --mca pml ob1 \
		--mca plm isolated --bind-to none "$@"
	;;
mpich)
	export MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 HYDRA_LAUNCHER=fork
	;;
esac
# What MPI leaves behind at its end is not ours.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"

rc=0
for ranks in ${RANKS:-1 2 3}; do
	status=0
	begin=$(date +%s)
	timeout -k 10 "$limit" "mpirun.$mpi" -n "$ranks" "$@" \
		>"$work/said" 2>&1 </dev/null || status=$?
	if [ "${ENDS:-}" ]; then
		why=
		[ "$status" != 0 ] || why="did not fail"
		[ $(($(date +%s) - begin)) -lt "$limit" ] ||
			why="did not end in time"
		[ -z "${SAYS:-}" ] || grep -q "$SAYS" "$work/said" ||
			why="did not say: $SAYS"
	elif [ "$status" = 77 ] || grep -q '^skipped: ' "$work/said"; then
		grep '^skipped: ' "$work/said"
		exit 77
	else
		why=
		[ "$status" = 0 ] || why="failed with $status"
	fi
	if [ "$why" ]; then
		cat "$work/said"
		echo "run.sh: $mpi, $ranks processes: $why"
		rc=1
	fi
done
exit $rc
