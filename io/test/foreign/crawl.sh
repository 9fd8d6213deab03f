#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# crawl.sh PROGRAM - cpp/examples/crawl.cpp against a real nginx, which serves
# 500 pages: each that is linked is visited once, over at most so many
# connections, which are used again; a missing page is visited, too; without
# kept connections likewise; the deadline ends all.
set -eu

crawl=$1
. "$(dirname "$0")/room.sh"
PATH=$PATH:/usr/sbin
needs nginx
cd "$room"

# Page i leads to 2i+1, 2i+2, back, and to one that everybody knows. One of
# three leads to a page that is not there. Nobody leads to the islands.
mkdir files files/p files/islands
pages=500
awk -v pages=$pages 'BEGIN {
	for (i = 0; i < pages; i++) {
		file = i ? "files/p/" i ".html" : "files/index.html"
		printf "<html><a href=\"/\">home</a>\n" >file
		for (k = 2 * i + 1; k <= 2 * i + 2; k++)
			if (k < pages)
				printf "<a class=\"x\" href=\"/p/%d.html#top\">%d</a>\n",
					k, k >file
		printf "<a href=\"/p/7.html\">7</a> <a href=\"http://x/\">x</a>\n" >file
		if (i % 3 == 0) {
			printf "<a href=\"/missing/%d\">none</a>\n", i >file
			print "/missing/" i
		}
		for (k = 0; k < i * 10; k++)
			printf "some text that makes it long\n" >file
		close(file)
		print i ? "/p/" i ".html" : "/"
	}
}' | LC_ALL=C sort >wanted
echo lost >files/islands/1.html

# nginx takes no port 0: another port until one is free.
configure() {
	port=$(($(od -An -N2 -tu2 /dev/urandom) % 10000 + 20000))
	cat >nginx.conf <<-EOT
	daemon off;
	master_process off;
	pid $room/pid;
	error_log $room/error.log crit;
	events {}
	http {
		log_format each '\$request_uri \$connection';
		client_body_temp_path $room/body;
		proxy_temp_path $room/proxy;
		fastcgi_temp_path $room/fastcgi;
		uwsgi_temp_path $room/uwsgi;
		scgi_temp_path $room/scgi;
		keepalive_requests 100;
		limit_conn_zone \$server_port zone=all:1m;
		server {
			listen 127.0.0.1:$port;
			access_log $room/access.log each;
			limit_conn all 8; # more at once are answered 503
			root $room/files;
		}
		server {
			listen 127.0.0.2:$port;
			access_log $room/closing.log each;
			root $room/files;
			keepalive_timeout 0;
		}
		server {
			listen 127.0.0.3:$port;
			access_log off;
			root $room/files;
			limit_rate 1;
		}
	}
	EOT
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
	[ $tries -lt 20 ] || fail 'nginx does not start' server.log
done

# visit LOG HOST: visits all pages, and compares what the program says and what
# the server has logged with the truth.
logged_all() {
	[ "$(wc -l <"$1")" -ge "$(wc -l <wanted)" ]
}
visit() {
	: >"$1"
	# shellcheck disable=SC2086 # the words of a wrapper
	SENNIT_IO=$backend $TOOL "$crawl" "$2:$port" 8 300 >out 2>err ||
		fail "with $backend" err server.log
	cmp -s out wanted || fail "$backend: other pages than there are" out
	await 'the last line' logged_all "$1"
	cut -d ' ' -f 1 "$1" | LC_ALL=C sort | cmp -s - wanted ||
		fail "$backend: not each once" "$1"
}
for backend in epoll uring; do
	visit access.log 127.0.0.1
	used=$(cut -d ' ' -f 2 access.log | sort -u | wc -l)
	# 667 requests, 100 for each connection at most.
	[ "$used" -le 20 ] || fail "$backend: $used connections" access.log
	visit closing.log 127.0.0.2
	used=$(cut -d ' ' -f 2 closing.log | sort -u | wc -l)
	[ "$used" -eq "$(wc -l <wanted)" ] || fail "$backend: $used" closing.log

	# shellcheck disable=SC2086 # the words of a wrapper
	if SENNIT_IO=$backend $TOOL "$crawl" "127.0.0.3:$port" 8 1 >out 2>err
	then
		fail "$backend: no deadline" out
	fi
	grep -q 'timed out' err || fail "$backend: no reason is given" err
done
