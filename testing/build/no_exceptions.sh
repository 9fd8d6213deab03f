#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# no_exceptions.sh - sennit.hpp in a program built without exceptions: values
# are returned, errors can be told apart, a cancelled wait with a deadline counts
# as timed out, and one without a deadline ends the program with a line.
#
# Environment: LIB_STATIC (libsennit.a), CXX (c++; empty: skipped), SOURCE_DIR
# (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CXX:=}" "${SOURCE_DIR:=.}"

[ -n "$CXX" ] || skip "no C++ compiler"

cat >"$scratch/program.cpp" <<'END'
#include <sennit.hpp>
#include <sennit/cpp/dag.hpp>

#include <cstdio>
#include <string>

static int wrong;

static void expect(bool claim, const char *what)
{
	if (claim)
		return;
	std::fprintf(stderr, "not so: %s\n", what);
	wrong++;
}

#define EXPECT(claim) expect(claim, #claim)

int main(int argc, char **)
{
	sennit::scheduler s(sennit::config().with_workers(2));
	sennit::scheduler none;
	{
		sennit::binding              bound(s);
		sennit::event                never_set;
		sennit::group                g;
		sennit::channel<std::string> c(1);
		sennit::once                 once;
		sennit::future<int>          broken;
		int                          calls = 0;

		auto answer = sennit::async([] { return 6 * 7; });
		EXPECT(answer.get() == 42);
		broken = sennit::promise<int>().get_future();
		EXPECT(broken.is_ready() && !broken.has_value());
		EXPECT(sennit::blocking_call([] { return 5; }) == 5);
		EXPECT(c.send("text") && *c.receive() == "text");
		once.call([&] { calls++; });
		once.call([&] { calls++; });
		EXPECT(calls == 1);
		g.spawn([&] {
			EXPECT(!never_set.wait_until(sennit::never));
			EXPECT(!never_set.wait_until(
				std::chrono::system_clock::now() +
				std::chrono::hours(1)));
			EXPECT(c.receive_until(sennit::never).status() ==
			       sennit::channel_status::timeout);
			if (argc > 1)
				never_set.wait();
		});
		g.cancel();
		EXPECT(g.wait(std::nothrow) == std::errc::operation_canceled);

		int             sum = 0;
		std::error_code code;
		std::string     texts[] = { "c", "a", "b" };
		auto            late = sennit::parallel_options().error_to(code);

		sennit::parallel_sort(texts);
		EXPECT(texts[0] == "a" && texts[2] == "c");
		sum = sennit::parallel_reduce(texts, texts + 3, std::string())
			      .size();
		EXPECT(sum == 3);
		late.until(std::chrono::steady_clock::now());
		sennit::parallel_for(0, 9, [](int) {}, late);
		EXPECT(code == std::errc::timed_out);

		sennit::dag_builder<int> b;

		b.order(b.add([](int &i) { i++; }), b.add([] { return -EIO; }));
		b.build().run(sum, sennit::dag_options().error_to(code));
		EXPECT(sum == 4 && code.value() == EIO);
	}
	EXPECT(sennit::scheduler::try_create(
		       none, sennit::config().with_workers(
				     SENNIT_WORKERS_MAX + 1)) ==
	       std::errc::invalid_argument);
	s.shutdown();
	return wrong;
}
END

"$CXX" -std=c++17 -fno-exceptions -Wall -Wextra -Wpedantic -Werror \
	$INCLUDES -o "$scratch/program" "$scratch/program.cpp" \
	"$LIB_STATIC" -pthread -ldl -lm
"$scratch/program"
if ("$scratch/program" wait) 2>"$scratch/said"; then
	fail "a cancelled wait without a deadline returned"
fi
grep -q '^sennit: wait: ' "$scratch/said" || fail "$(cat "$scratch/said")"
