#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# curl.sh PROGRAM - io/examples/curl.c against a real nginx: a hundred files
# arrive whole, the driver goes round for events only, an error and a deadline
# end all transfers.
set -eu

curl=$1
. "$(dirname "$0")/room.sh"
PATH=$PATH:/usr/sbin
needs nginx
cd "$room"

mkdir files got
i=0
while [ $i -lt 100 ]; do
	head -c $((i * i * 50)) /dev/urandom >files/$i
	i=$((i + 1))
done
(cd files && sha256sum ./*) >sums
head -c 200000 /dev/urandom >files/paced

# nginx takes no port 0: another port until one is free.
configure() {
	port=$(($(od -An -N2 -tu2 /dev/urandom) % 10000 + 20000))
	cat >nginx.conf <<-EOF
	daemon off;
	master_process off;
	pid $room/pid;
	error_log $room/error.log;
	events {}
	http {
		access_log off;
		client_body_temp_path $room/body;
		proxy_temp_path $room/proxy;
		fastcgi_temp_path $room/fastcgi;
		uwsgi_temp_path $room/uwsgi;
		scgi_temp_path $room/scgi;
		server {
			listen 127.0.0.1:$port;
			root $room/files;
			location = /paced { limit_rate 100k; }
			location /slow/ { alias $room/files/; limit_rate 1; }
		}
	}
	EOF
}
listens() {
	grep -q ":$(printf %04X "$port") " /proc/net/tcp
}
tries=0
while :; do
	configure
	tries=$((tries + 1))
	listens && continue
	serve server.log nginx -p "$room" -c "$room/nginx.conf" -e stderr
	until listens || ! kill -0 "$server" 2>/dev/null; do
		sleep 0.02
	done
	kill -0 "$server" 2>/dev/null && break
	[ $tries -lt 20 ] || fail 'nginx does not start' server.log error.log
done
site=http://127.0.0.1:$port

fetch() {
	SENNIT_IO=$backend $TOOL "$curl" got "$@" >out 2>err
}

for backend in epoll uring; do
	rm -f got/*
	# shellcheck disable=SC2046
	fetch 60 $(seq -f "$site/%g" 0 99) || fail "$backend: 100 files" out err
	(cd got && sha256sum -c --quiet ../sums) >differ 2>&1 ||
		fail "$backend: a file differs" differ out
	cat out

	# Seconds in which next to nothing happens.
	fetch 60 "$site/paced" || fail "$backend: a paced file" out err
	cmp -s files/paced got/paced || fail "$backend: it differs" out
	turns=$(sed -n 's/^1 files, \([0-9]*\) turns.*/\1/p' out)
	[ "$turns" -lt 1000 ] || fail "$backend: $turns turns: a busy loop" out

	# The first error ends the transfers that would take weeks.
	if fetch 600 "$site/slow/90" "$site/slow/91" "$site/none"; then
		fail "$backend: no error" out err
	fi
	grep -q "none: The requested URL returned error: 404" err ||
		fail "$backend: the reason" err
	if fetch 1 "$site/slow/90" "$site/slow/91"; then
		fail "$backend: no deadline" out err
	fi
	grep -q 'the deadline has passed' err || fail "$backend: the deadline" err
done
