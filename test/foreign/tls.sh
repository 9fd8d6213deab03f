#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tls.sh PROGRAM - examples/io/tls_echo.c, by its descriptor and by memory, with
# itself, with openssl s_client and with openssl s_server: what is sent comes
# back, close_notify is sent and awaited, a cut connection and a stranger are
# noticed, a silent peer is timed out.
set -eu

tls=$1
. "$(dirname "$0")/room.sh"
needs openssl setpriv
cd "$room"

certify() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$2" -out "$3" \
		-days 2 -subj "/CN=$1" -addext "subjectAltName=DNS:$1" \
		>openssl.log 2>&1 || fail certificate openssl.log
}
certify localhost key.pem cert.pem
certify elsewhere other.key other.pem

says() {
	grep -q "$1" "$2"
}

# The real client: what is typed comes back, and its close_notify is answered.
with_s_client() {
	serve server.out $TOOL "$tls" serve "$1" cert.pem key.pem 1
	await "our server" says '^port ' server.out
	port=$(sed -n 's/^port //p' server.out)
	rm -f typed
	mkfifo typed
	ours=$server
	input=typed
	serve client.out openssl s_client -quiet -no_ign_eof "$2" \
		-verify_return_error -CAfile cert.pem -servername localhost \
		-connect "127.0.0.1:$port"
	input=/dev/null
	exec 3>typed
	echo "to and fro by $1" >&3
	await "s_client" says "^to and fro by $1\$" client.out
	exec 3>&-
	wait "$ours" || fail "the server of s_client" server.out client.out
	says '^1 closed, 0 cut off' server.out ||
		fail 'the end of s_client' server.out client.out
}

# The port on which process $1 listens, which the kernel chose.
port_of() {
	find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' | tr -dc '0-9\n' |
		while read -r inode; do
			awk -v inode="$inode" '$4 == "0A" && $10 == inode {
				sub(/.*:/, "", $2)
				print $2
			}' /proc/net/tcp
		done | grep . >port || return 1
	port=$(printf %d "0x$(head -n 1 port)")
}

# The real server: its output is its input, so it echoes. It ends after a
# connection.
with_s_server() {
	rm -f loop
	mkfifo loop
	exec 4<>loop
	log=server.out
	setpriv --pdeathsig KILL openssl s_server -quiet "$2" -naccept 1 \
		-accept 127.0.0.1:0 -cert cert.pem -key key.pem \
		<&4 >&4 2>server.out &
	server=$!
	servers="$servers $server"
	await s_server port_of "$server"
	$TOOL "$tls" ask "$1" "$port" cert.pem >out 2>err ||
		fail "s_server $2 by $1" out err server.out
	exec 4>&-
	wait "$server" || fail 's_server does not end well' server.out
}

# A server of another name.
with_stranger() {
	serve server.out openssl s_server -quiet -naccept 1 \
		-accept 127.0.0.1:0 -cert other.pem -key other.key
	await s_server port_of "$server"
	if $TOOL "$tls" ask "$1" "$port" other.pem >out 2>err; then
		fail "a certificate for another name, by $1" out err
	fi
	grep -q 'certificate verify failed' err || fail 'the reason' err
}

for SENNIT_IO in epoll uring; do
	export SENNIT_IO
	$TOOL "$tls" both cert.pem key.pem >out 2>err ||
		fail "both ends, $SENNIT_IO" out err
	[ "$(grep -c '^16 closed, 1 cut off, 1 timed out, 1 refused$' out)" \
		= 4 ] || fail "ends, $SENNIT_IO" out err
	for way in fd memory; do
		with_stranger $way
		with_s_client $way -tls1_3
		with_s_server $way -tls1_3
	done
	echo "$SENNIT_IO: all"
done
for way in fd memory; do
	with_s_client $way -tls1_2
	with_s_server $way -tls1_2
done
