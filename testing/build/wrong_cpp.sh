#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wrong_cpp.sh - a function that sennit.hpp cannot use is one error, which says
# what is wanted, and at most five lines of the compiler's answer are about
# headers of sennit.
#
# Each wrong statement below ends with what its error says. They are one
# program: the compiler reads the headers once.
#
# Environment: CXX (empty: skipped), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CXX:=}" "${SOURCE_DIR:=.}"

[ -n "$CXX" ] || skip "no C++ compiler"

cat >"$scratch/head" <<'END'
#include <sennit.hpp>
#include <sennit/cpp/dag.hpp>
#include <sennit/cpp/domain.hpp>
#include <sennit/cpp/weak.hpp>

#include <list>
#include <string>
#include <vector>

struct not_callable {
	int x;
};
struct only_moved {
	only_moved(only_moved &&) = default;
	void operator()() const;
};
struct fixed {
	explicit fixed(int);
	fixed(const fixed &) = delete;
};

void wrong(sennit::scheduler &s, sennit::group &g, sennit::wait_group &w,
	   sennit::domain &d, sennit::weak_scheduler &weak, sennit::ticket &t,
	   sennit::once &o, sennit::future<int> &f, sennit::promise<int> &p,
	   sennit::dag_builder<int> &b, sennit::condition_variable &c,
	   std::unique_lock<sennit::mutex> &lock, sennit::channel<int> &ints,
	   sennit::event &e, std::vector<int> &v, std::list<int> &list,
	   std::vector<std::string> &texts, int n, only_moved &m)
{
END
cat >"$scratch/statements" <<'END'
sennit::schedule([](int) {});	cannot be called with copies
sennit::schedule([](int &) {}, n);	cannot be called with copies
sennit::schedule(m);	std::move what cannot be copied
sennit::schedule([](const fixed &) {}, fixed(1));	what cannot be copied
sennit::schedule_here(1);	cannot be called with copies
sennit::schedule_background([](int) {});	cannot be called with copies
static_cast<void>(sennit::try_schedule(&n));	cannot be called
s.schedule([](std::string) {}, 5);	cannot be called with copies
sennit::run([](int) { return 1; });	run needs a function without arguments
s.run([](int) { return 1; });	run needs a function without arguments
sennit::async([](int) {});	cannot be called with copies
sennit::async(not_callable(), 1, "x");	cannot be called with copies
g.spawn([](int) {});	cannot be called with copies
g.spawn([] { return 1.5; });	member of a group returns nothing or an int
w.spawn([](int) {});	cannot be called with copies
d.schedule([](int) {});	cannot be called with copies
sennit::domain(s, [](int) {});	cannot be called with copies
weak.on_end([](int) {});	cannot be called with copies
t.on_call([](int) {});	cannot be called with copies
o.call([](int) {});	once cannot call this function
sennit::blocking_call([](int) {}, "x");	blocking_call cannot call this
std::move(f).then([](std::string) {});	then needs a function of the future's value
std::move(f).then(s, [] {});	then needs a function of the future's value
sennit::this_fiber::sleep_until(sennit::uncancelled);	never ends
p.set_by([] { return std::string(); });	set_by needs a function
b.add([](std::string) {});	a node is a function of the data
b.add([](int &) { return 1.5; });	a node is a function of the data
c.wait(lock, [](int) { return true; });	needs a function without arguments
sennit::select(sennit::on_receive(ints, [](int) {}));	of a received<T>
sennit::select(sennit::on_send(ints, n, [] {}));	of a channel_status
sennit::select(sennit::on_event(e, [](int) {}));	on_event needs a function
sennit::select(sennit::on_ready(f, [](int) {}));	on_ready needs a function
sennit::select(sennit::on_time(sennit::never, 1));	on_time needs a function
sennit::select(sennit::on_case(sennit_case(), not_callable()));	on_case needs
sennit::pool<fixed>(3);	T() makes no object of this pool
sennit::pool<fixed>(3, [] { return std::string(); });	a pool needs a function
sennit::fiber_local<fixed>().get();	makes its objects by T()
sennit::parallel_for(0, n, [](std::string) {});	parallel_for needs a function
sennit::parallel_for(0, n, [](int) { return 1.5; });	parallel_for needs a
sennit::parallel_for_each(v, [](std::string) {});	parallel_for_each needs
sennit::parallel_for_each(v.begin(), v.end(), [] {});	parallel_for_each needs
sennit::parallel_reduce(0, n, 0, [](int) {}, [](int &, int) {});	needs add(sum, i)
sennit::parallel_reduce(0, n, 0, [](int &, int) {}, [](int &) {});	needs join(left
sennit::parallel_reduce(v.begin(), v.end(), 0, [](int) {});	needs op(sum, element)
sennit::parallel_inclusive_scan(v.begin(), v.end(), v.begin(), [] {});	a scan needs
sennit::parallel_inclusive_scan(texts.begin(), texts.end(), texts.begin());	trivially
sennit::parallel_exclusive_scan(v.begin(), v.end(), v.begin(), 0, [] {});	a scan
sennit::parallel_sort(v, [](std::string) { return true; });	needs less(a, b)
sennit::parallel_sort(v, [](int &, int &) { return true; });	needs less(a, b)
sennit::parallel_sort(list);	needs random access iterators
END

{
	cat "$scratch/head"
	cut -f1 "$scratch/statements"
	echo "}"
} >"$scratch/program.cpp"

case $("$CXX" --version) in
*clang*) terse="-fno-caret-diagnostics -ferror-limit=0" ;;
*) terse=-fno-diagnostics-show-caret ;;
esac
# shellcheck disable=SC2086
if "$CXX" -std=c++17 -fsyntax-only $terse -Wall -Wextra \
	$INCLUDES \
	"$scratch/program.cpp" 2>"$scratch/said"; then
	fail "the wrong program compiles"
fi

# A line for each error: the statement's line, which gcc names before the error
# and clang after it, and the error.
awk '
/error:/ {
	if (line)
		early = 1
	if (error && !early)
		print "? " error
	error = $0
	if (early) {
		print line " " error
		line = error = ""
	}
}
$1 ~ /program\.cpp:[0-9]+:[0-9]+:$/ {
	split($1, part, ":")
	line = part[2]
	if (error) {
		print line " " error
		line = error = ""
	}
}' "$scratch/said" >"$scratch/errors"

errors=$(grep -c 'error:' "$scratch/said")
lines=$(grep -c 'sennit/cpp/' "$scratch/said")
count=$(wc -l <"$scratch/statements")
line=$(wc -l <"$scratch/head")

while IFS='	' read -r statement text; do
	line=$((line + 1))
	grep "^$line " "$scratch/errors" >"$scratch/of_it" || :
	[ "$(wc -l <"$scratch/of_it")" -eq 1 ] &&
		grep -qF "sennit: " "$scratch/of_it" &&
		grep -qF "$text" "$scratch/of_it" ||
		fail "$statement
is not said to be: $text
but: $(cat "$scratch/of_it")"
done <"$scratch/statements"

[ "$errors" -eq "$count" ] ||
	fail "$count wrong statements are $errors errors: $(cat "$scratch/errors")"
[ "$lines" -le $((5 * count)) ] ||
	fail "$count wrong statements are $lines lines about the headers"
echo "$count wrong statements: $errors errors, $lines lines about the headers"
