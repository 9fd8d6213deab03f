#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# marl_warnings.sh - marl's headers cause no warning that programs may have
# turned on: g++ at each level without exceptions, clang++ with
# -Wexit-time-destructors and -Wglobal-constructors, nor sennit.hpp of the last
# two. export.h and sanitizers.h can be included from C, as marl b8406ab's can,
# whose osfiber_*.c do.
#
# Environment: CC (cc), CXX (empty: skipped), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CXX:=}" "${SOURCE_DIR:=.}"

[ -n "$CXX" ] || skip "no C++ compiler"
headers="$INCLUDES -I$SOURCE_DIR/marl/include"

cat >"$scratch/in_c.c" <<'EOS'
#include "marl/export.h"
#include "marl/sanitizers.h"

MARL_NO_EXPORT int hidden(void);
MARL_EXPORT int    shown(void);

int hidden(void)
{
	return MARL_ADDRESS_SANITIZER_ENABLED + MARL_MEMORY_SANITIZER_ENABLED +
	       MARL_THREAD_SANITIZER_ENABLED;
}

int shown(void)
{
	int code = 0;

	MARL_ADDRESS_SANITIZER_ONLY(code = hidden());
	return code;
}
EOS
for standard in c89 c11; do
	# shellcheck disable=SC2086
	"$CC" -std=$standard -Wall -Wextra -Wpedantic -Werror $headers \
		-c -o "$scratch/in_c.o" "$scratch/in_c.c"
done

cat >"$scratch/program.cpp" <<'EOS'
#include "marl/blockingcall.h"
#include "marl/conditionvariable.h"
#include "marl/containers.h"
#include "marl/dag.h"
#include "marl/defer.h"
#include "marl/event.h"
#include "marl/memory.h"
#include "marl/mutex.h"
#include "marl/parallelize.h"
#include "marl/pool.h"
#include "marl/scheduler.h"
#include "marl/thread.h"
#include "marl/ticket.h"
#include "marl/waitgroup.h"

#include <string>

static void hold()
{
	marl::containers::vector<std::string, 2> texts;
	marl::containers::list<std::string>      list;

	texts.push_back("text");
	texts.resize(100);
	auto copy = texts;
	list.emplace_front("text");
}

static void signal()
{
	marl::Event     e;
	marl::Event     both[] = { e, marl::Event() };
	marl::WaitGroup left(1);
	char            large[100] = {};

	auto any = marl::Event::any(&both[0], &both[2]);
	marl::schedule([=] {
		(void)large;
		e.signal();
		left.done();
	});
	any.wait();
	left.wait();
}

static void lend()
{
	marl::UnboundedPool<std::string, marl::PoolPolicy::Preserve> pool;
	marl::BoundedPool<std::string, 4>                            few;

	*pool.borrow() = "text";
	few.borrow(2, [](marl::Loan<std::string> &&) {});
	few.tryBorrow();
}

static void order()
{
	marl::Ticket::Queue      queue;
	marl::DAG<void>::Builder builder;

	queue.take(3, [](marl::Ticket &&t) { t.done(); });
	builder.root().then([] {}).then([] {});
	builder.build()->run();
}

static void wait()
{
	marl::mutex             m;
	marl::ConditionVariable changed;
	marl::lock              held(m);

	changed.wait(held, [] { return true; });
}

int main()
{
	marl::Scheduler s(
		marl::Scheduler::Config::allCores()
			.setWorkerThreadInitializer([](int) {})
			.setWorkerThreadAffinityPolicy(
				marl::Thread::Affinity::Policy::oneOf(
					marl::Thread::Affinity::all())));

	s.bind();
	defer(s.unbind());
	hold();
	signal();
	lend();
	order();
	wait();
	marl::parallelize([] {}, [] {});
	marl::Scheduler::Fiber::current()->notify();
	return marl::blocking_call([] { return 0; });
}
EOS
for options in "-O1 -fno-exceptions" "-O2 -fno-exceptions -DNDEBUG" -O3; do
	# shellcheck disable=SC2086
	"$CXX" -std=c++11 -Wall -Wextra -Wpedantic -Wstringop-overflow -Werror \
		-Wno-unknown-warning-option $options $headers \
		-c -o "$scratch/program.o" "$scratch/program.cpp"
done
if command -v clang++ >/dev/null; then
	# shellcheck disable=SC2086
	clang++ -std=c++11 -Wall -Wextra -Wexit-time-destructors \
		-Wglobal-constructors -Werror \
		$headers -fsyntax-only "$scratch/program.cpp"
	for header in "$SOURCE_DIR"/cpp/include/sennit.hpp \
		"$SOURCE_DIR"/cpp/include/sennit/cpp/*.hpp; do
		echo "#include \"${header#"$SOURCE_DIR"/cpp/include/}\""
	done >"$scratch/all.cpp"
	# shellcheck disable=SC2086
	clang++ -std=c++20 -Wall -Wextra -Wexit-time-destructors \
		-Wglobal-constructors -Werror \
		$headers -fsyntax-only "$scratch/all.cpp"
fi
echo "silent"
