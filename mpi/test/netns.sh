#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# netns.sh MPI PROGRAM [ARGUMENT...] - runs the program with MPI (openmpi, mpich)
# as two processes, each in a network namespace of its own: what they tell each
# other goes by TCP over a link between the two. Prints what the program does,
# and the bytes that came over the link. Skipped without the right to make
# namespaces.
#
# MPICH 4.0.2 does not always come back from MPI_Finalize over TCP, in plain
# programs, too. So a program that has printed what it SAYS is ended after ten
# more seconds.
#
# Environment: SAYS, what the program must print; RATE, the rate of the link for
# tc, such as 1gbit; LEAST, the bytes that must come over the link (1000); LIMIT,
# seconds (120).
set -eu

mpi=$1
shift
a=sennit-a-$$
b=sennit-b-$$
work=$(mktemp -d)
child=
end() {
	[ -z "$child" ] || kill -9 -- "-$child" 2>/dev/null || true
	for n in "$a" "$b"; do
		for pid in $(ip netns pids "$n" 2>/dev/null); do
			kill -9 "$pid" 2>/dev/null || true
		done
		ip netns del "$n" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap end EXIT
skip() {
	echo "skipped: $1"
	exit 77
}
command -v "mpirun.$mpi" >/dev/null || skip "no mpirun.$mpi"
command -v ip >/dev/null || skip "no ip (package iproute2)"

# --- two namespaces and a link ------------------------------------------------

{
	ip netns add "$a" && ip netns add "$b" &&
		ip link add link0 netns "$a" type veth peer name link0 netns "$b"
} 2>"$work/why" || skip "no network namespaces: $(cat "$work/why")"
ip -n "$a" addr add 10.213.0.1/24 dev link0
ip -n "$b" addr add 10.213.0.2/24 dev link0
for n in "$a" "$b"; do
	ip -n "$n" link set lo up
	ip -n "$n" link set link0 up
	[ -z "${RATE:-}" ] || ip netns exec "$n" tc qdisc add dev link0 root \
		tbf rate "$RATE" burst 128kb latency 1s
done
for n in "$a" "$b"; do
	tries=0
	until ip -n "$n" -br link show link0 | grep -q ' UP '; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || skip "the link does not come up"
		sleep 0.1
	done
done

# --- mpirun, for which the namespaces are hosts -------------------------------

# agent [-x] HOST COMMAND..., as ssh
cat >"$work/agent" <<EOF
#!/bin/sh
[ "\$1" != -x ] || shift
case \$1 in
10.213.0.1) n=$a ;;
*) n=$b ;;
esac
shift
exec ip netns exec \$n sh -c "\$*"
EOF
chmod +x "$work/agent"
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
export UCX_TLS=tcp,self UCX_NET_DEVICES=link0
case $mpi in
openmpi)
	set -- mpirun.openmpi --allow-run-as-root -n 2 \
		--host 10.213.0.1,10.213.0.2 --bind-to none \
		--mca plm_rsh_agent "$work/agent" \
		--mca pml ob1 --mca btl self,tcp \
		--mca btl_tcp_if_include link0 \
		--mca oob_tcp_if_include link0 "$@"
	;;
mpich)
	set -- mpirun.mpich -launcher ssh -launcher-exec "$work/agent" \
		-iface link0 -hosts 10.213.0.1,10.213.0.2 -n 2 "$@"
	;;
esac
setsid ip netns exec "$a" "$@" >"$work/said" 2>&1 </dev/null &
child=$!

is_over() {
	! kill -0 "$child" 2>/dev/null
}
says() {
	[ -n "${SAYS:-}" ] && grep -q "$SAYS" "$work/said"
}
waited=0
until is_over || [ $waited -ge $((10 * ${LIMIT:-120})) ]; do
	if says; then
		after=${after:-$((waited + 100))}
		[ $waited -lt "$after" ] || break
	fi
	sleep 0.1
	waited=$((waited + 1))
done

# --- what came of it ----------------------------------------------------------

cat "$work/said"
bytes=$(ip netns exec "$b" cat /sys/class/net/link0/statistics/rx_bytes)
echo "netns.sh: $mpi, $bytes bytes over the link"
if is_over; then
	rc=0
	wait "$child" || rc=$?
	child=
elif says; then
	echo "netns.sh: ended in MPI_Finalize"
	rc=0
else
	echo "netns.sh: not over in time"
	rc=1
fi
if [ -n "${SAYS:-}" ] && ! says; then
	echo "netns.sh: did not say: $SAYS"
	rc=1
fi
[ "$bytes" -ge "${LEAST:-1000}" ] || {
	echo "netns.sh: the processes did not use the link"
	rc=1
}
exit $rc
