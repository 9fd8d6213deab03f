#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layouts_cpp.sh - one program has files with exceptions and files without, which
# give some classes another layout. Each uses its own classes, and neither can
# pass an object of them to the other: the linker refuses. Every header puts its
# classes into the namespace that tells them apart.
#
# Environment: LIB_STATIC (libsennit.a), CXX (c++; empty: skipped), SOURCE_DIR
# (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CXX:=}" "${SOURCE_DIR:=.}"

! grep -n '^namespace sennit' "$SOURCE_DIR"/cpp/include/sennit/cpp/*.hpp \
	"$SOURCE_DIR/cpp/include/sennit.hpp" ||
	fail "a header does not open the namespace by SENNIT_CPP_BEGIN"
[ -n "$CXX" ] || skip "no C++ compiler"

# A group, a future and a promise: what differs without exceptions.
cat >"$scratch/part.cpp" <<'END_OF_PART'
#include <sennit.hpp>

#include <cstdio>
#include <string>
#include <vector>

int PART(int n)
{
	sennit::group                    g;
	sennit::channel<std::string>     c(static_cast<std::size_t>(n));
	std::vector<sennit::future<int>> all;
	int                              sum = 0;

	for (int i = 0; i < n; i++) {
		g.spawn([&c] { c.send("text"); });
		all.push_back(sennit::async([i] { return i; }));
	}
	g.wait();
	for (auto &f : all)
		sum += f.get();
	std::printf("%zu %zu\n", sizeof(g), sizeof(sennit::promise<int>));
	return sum + static_cast<int>(c.length());
}

void TAKE(sennit::group &) {}
END_OF_PART
cat >"$scratch/main.cpp" <<'END_OF_MAIN'
#include <sennit.hpp>

int  with(int n);
int  without(int n);
void take_with(sennit::group &g);
void take_without(sennit::group &g);

int main()
{
	return sennit::run([] {
#ifdef PASS
		sennit::group g;
		PASS(g);
#endif
		return with(100) == without(100) ? 0 : 1;
	});
}
END_OF_MAIN

# compile SOURCE OBJECT OPTION...
compile() {
	from=$1 to=$2
	shift 2
	# shellcheck disable=SC2086
	quietly "$CXX" -std=c++17 "$@" $INCLUDES -c "$scratch/$from.cpp" \
		-o "$scratch/$to.o"
}
link() {
	"$CXX" -o "$scratch/program" "$scratch/$1.o" "$scratch/with.o" \
		"$scratch/without.o" "$LIB_STATIC" -pthread -ldl -lm \
		>"$scratch/said" 2>&1
}

compile part with -DPART=with -DTAKE=take_with
compile part without -DPART=without -DTAKE=take_without -fno-exceptions
compile main main
link main || fail "does not link: $(cat "$scratch/said")"
"$scratch/program" >"$scratch/out" || fail "status $?"
[ "$(sort -u "$scratch/out" | wc -l)" = 2 ] ||
	fail "the layouts do not differ: the test shows nothing"

compile main right -DPASS=take_with
link right || fail "does not link: $(cat "$scratch/said")"
compile main wrong -DPASS=take_without
! link wrong || fail "a group of another layout is passed"
grep -q 'undefined.*take_without' "$scratch/said" ||
	fail "$(cat "$scratch/said")"
echo "two layouts in one program"
