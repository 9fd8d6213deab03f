#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_certificate.sh COMMAND... - runs a command in a folder that has cert.pem
# and key.pem, made as docs/cookbook.md says.
set -eu
. "$(dirname "$0")/../script.sh"
needs openssl
cd "$scratch"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
	-keyout key.pem -out cert.pem -days 30 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >log 2>&1 || {
	cat log
	exit 1
}
"$@"
