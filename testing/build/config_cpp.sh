#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# config_cpp.sh - the macros that make a configuration are arguments in C++ as in
# C, in each standard.
#
# Environment: CC (cc), CXX (empty: skipped), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CXX:=}" "${SOURCE_DIR:=.}"

[ -n "$CXX" ] || skip "no C++ compiler"

cat >"$scratch/program.c" <<'END'
#include <sennit.h>
#include <sennit/dag.h>
#include <sennit/http.h>
#include <sennit/parallel.h>
#include <sennit/pool.h>
#include <sennit/process.h>
#include <sennit/serve.h>
#include <sennit/simulation.h>
#include <sennit/tls.h>
#include <sennit/trace.h>
#include <sennit/watchdog.h>

int take(const sennit_config *a, const sennit_tls_config *b,
	 const sennit_simulation_config *c);
int start(const sennit_process_command *c, const sennit_pool_config *p);
int run(const sennit_dag_options *d, const sennit_parallel_options *p);
int look(const sennit_trace_options *t, const sennit_watchdog_options *w);
int ask(const sennit_http_config *h);
int serve(const sennit_serve_options *o);
int make(void);

int make(void)
{
	if (start(SENNIT_PROCESS_COMMAND(.file = "true", .fd_count = 0),
		  SENNIT_POOL_CONFIG(.item_size = 8, .count = 2)) ||
	    run(SENNIT_DAG_OPTIONS(), SENNIT_PARALLEL_OPTIONS()) ||
	    ask(SENNIT_HTTP_CONFIG(.body = 1, .name = "a")) ||
	    ask(SENNIT_HTTP_CONFIG()) ||
	    look(SENNIT_TRACE_OPTIONS(), SENNIT_WATCHDOG_OPTIONS()) ||
	    serve(SENNIT_SERVE_OPTIONS(.stop = NULL, .patience = 1)))
		return 1;
	return take(SENNIT_CONFIG(.workers = 2, .name = "some"),
		    SENNIT_TLS_CONFIG(.trusted = "ca.pem", .protocols = "h2"),
		    SENNIT_SIMULATION_CONFIG(.refusals = 1, .stalls = 2)) +
	       take(SENNIT_CONFIG(), SENNIT_TLS_CONFIG(),
		    SENNIT_SIMULATION_CONFIG());
}
END
cp "$scratch/program.c" "$scratch/program.cpp"
for macro in $(sed -nE \
	's/^#define (SENNIT_[A-Z_]*(CONFIG|OPTIONS|COMMAND))\(\.\.\..*/\1/p' \
	"$SOURCE_DIR"/*/include/sennit/*.h | grep -v MPI); do
	grep -q "[^A-Z_]$macro(" "$scratch/program.c" || fail "not tried: $macro"
done
$CC -std=c11 -Wall -Werror -fsyntax-only $INCLUDES \
	"$scratch/program.c"
for standard in c++11 c++14 c++17 c++20; do
	$CXX -std=$standard -Wall -Werror -fsyntax-only \
		$INCLUDES "$scratch/program.cpp" ||
		fail "$standard"
done
