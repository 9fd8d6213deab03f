#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dangling_cpp.sh - an object that refers to another one is not made of a
# temporary, nor of one that is moved from, and no temporary lends what goes with
# it. Each statement below is right with the words between the marks @, and an
# error of the compiler with std::move() around them.
#
# Environment: CXX (empty: skipped), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CXX:=}" "${SOURCE_DIR:=.}"

[ -n "$CXX" ] || skip "no C++ compiler"

cat >"$scratch/head" <<'END'
#include <sennit.hpp>
#include <sennit/cpp/dag.hpp>
#include <sennit/cpp/io.hpp>

#include <string>
#include <vector>

namespace io = sennit::io;

void refer(sennit::scheduler &s, io::descriptor &d, io::socket &c, io::file &f,
	   io::pipe &p, io::listener &l, io::command &command, io::reader &r,
	   io::stream &stream, sennit::pool<int> &pool, std::string &text,
	   std::vector<char> &bytes, sennit::future<int> &one,
	   sennit::shared_future<int> &each, sennit::group &g,
	   sennit::channel<int> &ints, sennit::event &e, int &n,
	   sennit::ticket_queue &queue, sennit::wait_group &w,
	   std::error_code &code)
{
	const auto hear = [](io::socket) {};
END
cat >"$scratch/statements" <<'END'
io::reader x(@d@);
io::reader x(@c@, 256);
io::reader x(@f@);
io::reader x{ @p.in@ };
io::stream x(@c@);
io::stream x(@c@, code);
command.in(@d@);
command.in(@f@);
command.out(@p.out@);
command.err(@c@);
command.fd(7, @c@);
@l@.accept_each(g, g, hear);
l.accept_each(@g@, g, hear);
l.accept_each(g, @g@, hear);
static_cast<void>(@r@.read_line());
static_cast<void>(@r@.read_delimited('x', code));
static_cast<void>(@r@.peek(1));
static_cast<void>(@stream@.next());
d.read(@text@);
static_cast<void>(d.read_exactly(@bytes@));
io::mutable_buffer x(@text@);
sennit::group x(@s@);
sennit::group x(@s@, sennit::never);
sennit::parallel_options x; x.on(@s@);
sennit::dag_options x; x.on(@s@);
std::move(one).then(@s@, [](int) {});
auto x = sennit::on_ready(@one@, [] {});
auto x = sennit::on_ready(@each@, [] {});
auto x = sennit::on_receive(@ints@, [](auto) {});
auto x = sennit::on_send(@ints@, n, [](auto) {});
auto x = sennit::on_send(ints, @n@, [](auto) {});
auto x = sennit::on_event(@e@, [] {});
auto x = @pool@.borrow();
auto x = @pool@.try_borrow();
auto x = @pool@.borrow_for(std::chrono::seconds(1));
auto x = @pool@.borrow_until(sennit::never);
sennit::ticket x(@queue@);
sennit::wait_group::share x(@w@);
END

# program SCRIPT: the statements, each in a block and changed by sed.
program() {
	cat "$scratch/head"
	sed -e "$1" -e 's/^/{ /; s/$/ }/' "$scratch/statements"
	echo "}"
}
case $("$CXX" --version) in
*clang*) all="-ferror-limit=0" ;;
*) all="" ;;
esac
compile() {
	# shellcheck disable=SC2086
	"$CXX" -std=c++17 -fsyntax-only $all $INCLUDES \
		"$scratch/program.cpp" 2>"$scratch/said"
}

program 's/@//g' >"$scratch/program.cpp"
compile || fail "right statements do not compile: $(cat "$scratch/said")"

program 's/@\([^@]*\)@/std::move(\1)/' >"$scratch/program.cpp"
! compile || fail "statements with temporaries compile"
line=$(wc -l <"$scratch/head")
while IFS= read -r statement; do
	line=$((line + 1))
	grep -q "program\.cpp:$line:.*error:" "$scratch/said" ||
		fail "compiles with a temporary: $statement"
done <"$scratch/statements"
echo "$(wc -l <"$scratch/statements") statements are errors with temporaries"
