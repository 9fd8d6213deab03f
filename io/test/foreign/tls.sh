#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tls.sh PROGRAM - libsennit-tls, by tls/examples/tls.c, with openssl s_client,
# openssl s_server and curl: what is sent comes back, close_notify is sent and
# awaited, sessions are resumed, protocols chosen; a cut connection, a stranger,
# an expired certificate and a silent peer are noticed.
set -eu

tls=$1
. "$(dirname "$0")/room.sh"
needs openssl setpriv
cd "$room"

# certify NAME KEY CERTIFICATE: by itself.
certify() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$2" -out "$3" \
		-days 2 -subj "/CN=$1" -addext "subjectAltName=DNS:$1" \
		>openssl.log 2>&1 || fail certificate openssl.log
}
# key.pem and own.pem of localhost, by the issuer; cert.pem is their chain.
issue() {
	echo subjectAltName=DNS:localhost,IP:127.0.0.1 >names
	{
		openssl req -newkey rsa:2048 -nodes -keyout key.pem \
			-out request -subj /CN=localhost &&
		openssl x509 -req -in request -CA ca.pem -CAkey ca.key \
			-CAcreateserial -days 2 -extfile names -out own.pem
	} >openssl.log 2>&1 || fail 'a certificate of the issuer' openssl.log
	cat own.pem ca.pem >cert.pem
}
certify issuer ca.key ca.pem
issue
certify elsewhere other.key other.pem
# Signed for a day that is over.
past() {
	: >index.txt
	echo 01 >serial
	cat >ca.conf <<-END
		[ca]
		default_ca = here
		[here]
		database = index.txt
		serial = serial
		new_certs_dir = .
		default_md = sha256
		policy = any
		[any]
		commonName = supplied
	END
	openssl ca -batch -config ca.conf -cert ca.pem -keyfile ca.key \
		-startdate 20200101000000Z -enddate 20200102000000Z \
		-extfile names -in request -out past.pem -notext \
		>openssl.log 2>&1 || fail 'a past certificate' openssl.log
}
past

says() {
	grep -q "$1" "$2"
}

# Starts our server for some connections.
serve_ours() {
	rm -f server.out
	serve server.out $TOOL "$tls" serve cert.pem key.pem "$@"
	await "our server" says '^port ' server.out
	port=$(sed -n 's/^port //p' server.out)
	ours=$server
}
await_ours() {
	wait "$ours" || fail "our server of $1" server.out client.out
	says "^$2" server.out || fail "the end of $1" server.out client.out
}

# Ours with itself.
with_itself() {
	serve_ours 4
	for i in 1 2; do
		$TOOL "$tls" ask "$port" ca.pem 20 >client.out 2>&1 ||
			fail "our client" client.out server.out
	done
	$TOOL "$tls" silent "$port" || fail 'who is silent' server.out
	if $TOOL "$tls" ask "$port" other.pem >client.out 2>&1; then
		fail 'an issuer that is not trusted' client.out
	fi
	says 'self-signed certificate in certificate chain' client.out ||
		fail 'the reason' client.out
	await_ours itself '2 closed, 0 cut off, 1 timed out, 1 refused'
}

# The real client: what is typed comes back, and its close_notify is answered.
with_s_client() {
	serve_ours 1 x,y/1
	rm -f typed
	mkfifo typed
	input=typed
	serve client.out openssl s_client -quiet -no_ign_eof "$1" \
		-verify_return_error -CAfile ca.pem -servername localhost \
		-verify_hostname localhost -alpn z,y/1 \
		-connect "127.0.0.1:$port"
	input=/dev/null
	exec 3>typed
	echo "to and fro" >&3
	await "s_client" says "^to and fro\$" client.out
	exec 3>&-
	await_ours s_client '1 closed, 0 cut off'
}

# Who comes after the new certificate gets that; a wrong one is not taken.
with_renewal() {
	serve_ours 3
	$TOOL "$tls" ask "$port" ca.pem 1 >client.out 2>&1 ||
		fail 'before a renewal' client.out server.out
	cp cert.pem cert.kept
	cp key.pem key.kept
	cp other.pem cert.pem
	kill -HUP "$ours"
	await 'a wrong key' says '^key key.pem: key values mismatch' server.out
	$TOOL "$tls" ask "$port" ca.pem 1 >client.out 2>&1 ||
		fail 'after no renewal' client.out server.out
	cp other.key key.pem
	kill -HUP "$ours"
	await 'a renewal' says '^renewed' server.out
	if $TOOL "$tls" ask "$port" ca.pem 1 >client.out 2>&1; then
		fail 'the old certificate' client.out server.out
	fi
	mv cert.kept cert.pem
	mv key.kept key.pem
	await_ours 'a renewal' '2 closed, 0 cut off, 0 timed out, 1 refused'
}

# One that is killed has not said that it ends.
with_killed_client() {
	serve_ours 1
	rm -f typed
	mkfifo typed
	input=typed
	serve client.out openssl s_client -quiet -CAfile ca.pem \
		-connect "127.0.0.1:$port"
	input=/dev/null
	exec 3>typed
	echo "cut off" >&3
	await "s_client" says "^cut off\$" client.out
	kill -KILL "$server"
	exec 3>&-
	await_ours 'a killed s_client' '0 closed, 1 cut off'
}

# What s_client was told of its session it shows when it comes again.
with_session() {
	serve_ours 2
	for option in -sess_out -sess_in; do
		rm -f typed
		mkfifo typed
		input=typed
		serve client.out openssl s_client -no_ign_eof "$1" \
			$option session -CAfile ca.pem \
			-connect "127.0.0.1:$port"
		input=/dev/null
		exec 3>typed
		echo "to and fro" >&3
		await "s_client" says "^to and fro\$" client.out
		exec 3>&-
		wait "$server" || :
	done
	says '^Reused, ' client.out ||
		fail "a session, $1" client.out server.out
	await_ours "s_client's session" '2 closed, 0 cut off'
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
	setpriv --pdeathsig KILL openssl s_server -quiet "$1" -naccept 1 \
		-accept 127.0.0.1:0 -cert own.pem -key key.pem \
		<&4 >&4 2>server.out &
	server=$!
	servers="$servers $server"
	await s_server port_of "$server"
	$TOOL "$tls" ask "$port" ca.pem >out 2>err ||
		fail "s_server $1" out err server.out
	exec 4>&-
	wait "$server" || fail 's_server does not end well' server.out
}

# refuse CERTIFICATE KEY TRUSTED WHY: a server that we do not talk to.
refuse() {
	serve server.out openssl s_server -quiet -naccept 1 \
		-accept 127.0.0.1:0 -cert "$1" -key "$2"
	await s_server port_of "$server"
	if $TOOL "$tls" ask "$port" "$3" >out 2>err; then
		fail "not refused: $4" out err
	fi
	says "^tls: $4\$" err || fail "the reason, $4" err
}

# curl gets what it says, and refuses our name where it is not the right one.
with_curl() {
	serve_ours 2
	serve client.out curl -sSN --http0.9 --cacert ca.pem --resolve \
		"localhost:$port:127.0.0.1" "https://localhost:$port/echo"
	await curl says '^GET /echo' client.out
	kill "$server"
	rc=0
	curl -sS --cacert ca.pem --resolve "elsewhere:$port:127.0.0.1" \
		"https://elsewhere:$port/" >client.out 2>&1 || rc=$?
	[ $rc = 60 ] || fail 'a wrong name' client.out # "not authenticated"
	wait "$ours" || fail 'our server of curl' server.out
}

for SENNIT_IO in epoll uring; do
	export SENNIT_IO
	with_itself
	with_renewal
	for version in -tls1_3 -tls1_2; do
		with_s_client $version
		with_s_server $version
		with_session $version
	done
	with_killed_client
	refuse other.pem other.key other.pem 'hostname mismatch'
	refuse past.pem key.pem ca.pem 'certificate has expired'
	refuse own.pem key.pem other.pem \
		'unable to get local issuer certificate'
	! command -v curl >/dev/null || with_curl
	echo "$SENNIT_IO: all"
done
