#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# marl_plugins.sh - a program opens two libraries that use marl's headers, with
# libsennit inside each of them or shared, and of one version of the headers or
# of two; and a library that makes a scheduler while it is opened.
#
# marl b8406ab: two libraries with libmarl.a inside know nothing of each other,
# two with one libmarl.so have everything in common, and two versions of it
# have no rule. The lines of this test that name no version pass with it (MARL=
# its source tree, with libmarl.a and libmarl.so there).
#
# Environment: CXX (empty: skipped), SOURCE_DIR (.), LIB_STATIC, LIB_SHARED
# (skipped when empty), MARL.
set -eu
. "$(dirname "$0")/../script.sh"

: "${CXX:=}" "${SOURCE_DIR:=.}" "${LIB_STATIC:=}" "${LIB_SHARED:=}" "${MARL:=}"

[ -n "$CXX" ] || skip "no C++ compiler"
[ -n "$LIB_STATIC" ] && [ -n "$LIB_SHARED" ] || skip "no two libraries"

cat >"$scratch/plugin.cpp" <<'EOS'
#include "marl/memory.h"
#include "marl/mutex.h"
#include "marl/scheduler.h"
#include "marl/waitgroup.h"

#include <condition_variable>

namespace
{
marl::Scheduler *own;
int              ran;

/* As every library that may be called with and without a scheduler. */
void work()
{
	bool            bind = !marl::Scheduler::get();
	marl::WaitGroup done(100);

	if (bind)
		own->bind();
	ran = 0;
	for (int i = 0; i < 100; ++i) {
		char large[40] = {}; /* too large for the task itself */

		marl::schedule([large, done] {
			ran += 1 + large[0];
			done.done();
		});
	}
	done.wait();
	if (bind)
		marl::Scheduler::unbind();
}

} // namespace

extern "C" {
void begin()
{
	own = new marl::Scheduler(marl::Scheduler::Config());
}
void end()
{
	delete own;
}
void bind()
{
	own->bind();
}
void unbind()
{
	marl::Scheduler::unbind();
}
void *made()
{
	return own;
}
void *bound()
{
	return marl::Scheduler::get();
}
int run()
{
	work();
	return ran;
}
void *fiber()
{
	return marl::Scheduler::Fiber::current();
}
void await(void *m, void *changed, const bool *flag)
{
	marl::lock lock(*static_cast<marl::mutex *>(m));

	lock.wait(*static_cast<std::condition_variable *>(changed),
		  [=] { return *flag; });
}
void set(void *m, void *changed, bool *flag)
{
	{
		marl::lock lock(*static_cast<marl::mutex *>(m));

		*flag = true;
	}
	static_cast<std::condition_variable *>(changed)->notify_all();
}
void *make_mutex()
{
	return new marl::mutex;
}
void free_mutex(void *m)
{
	delete static_cast<marl::mutex *>(m);
}
}
EOS

cat >"$scratch/global.cpp" <<'EOS'
#include "marl/event.h"
#include "marl/scheduler.h"

#include <atomic>
#include <memory>

namespace
{
struct Owned {
	~Owned()
	{
		delete value;
	}
	int *value = nullptr;
};
thread_local Owned owned;

std::atomic<int> begun{ 0 };

/* The destructor is registered with the loader, which waits for the library's
 * constructors. */
marl::Scheduler::Config config()
{
	marl::Scheduler::Config c;

	c.setWorkerThreadCount(2);
	c.setWorkerThreadInitializer([](int) {
		owned.value = new int(1);
		begun++;
	});
#ifdef WITH_AFFINITY
	c.setWorkerThreadAffinityPolicy(
		marl::Thread::Affinity::Policy::anyOf(
			marl::Thread::Affinity::all()));
#endif
	return c;
}

std::unique_ptr<marl::Scheduler> scheduler(new marl::Scheduler(config()));
} // namespace

/* How many of 100 tasks ran on a thread that was initialised before. */
extern "C" int run()
{
	std::atomic<int> good{ 0 };
	std::atomic<int> left{ 100 };

	for (int i = 0; i < 100; ++i)
		scheduler->enqueue(marl::Task([&] {
			good += owned.value && *owned.value == 1;
			left--;
		}));
	while (left > 0)
		std::this_thread::yield();
	scheduler.reset(); /* initialises every thread that has not begun */
	return begun == 2 ? int(good) : -1;
}
EOS

cat >"$scratch/host.cpp" <<'EOS'
#include <dlfcn.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#define CHECK(holds)                                                      \
	do {                                                              \
		if (!(holds)) {                                           \
			std::fprintf(stderr, "%d: not so: %s\n", __LINE__, \
				     #holds);                             \
			std::exit(1);                                     \
		}                                                         \
	} while (0)

namespace
{
struct Library {
	explicit Library(const char *path)
	    : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL))
	{
		if (!handle)
			std::fprintf(stderr, "%s\n", dlerror());
		CHECK(handle);
	}
	template <typename F> F *find(const char *name) const
	{
		void *found = dlsym(handle, name);
		F    *function = nullptr;

		CHECK(found);
		std::memcpy(&function, &found, sizeof(found));
		return function;
	}
	void call(const char *name) const
	{
		find<void()>(name)();
	}
	void *get(const char *name) const
	{
		return find<void *()>(name)();
	}
	int run() const
	{
		return find<int()>("run")();
	}

	void *handle;
};

/* The thread is bound by both at once. */
void are_apart(const Library &a, const Library &b)
{
	a.call("bind");
	CHECK(a.get("bound") == a.get("made"));
	CHECK(!b.get("bound"));
	CHECK(!b.get("fiber"));
	CHECK(b.run() == 100);
	b.call("bind");
	CHECK(b.get("bound") == b.get("made"));
	CHECK(a.get("bound") == a.get("made"));
	CHECK(a.get("fiber") != b.get("fiber"));
	CHECK(a.run() == 100);
	CHECK(b.run() == 100);
	a.call("unbind");
	CHECK(!a.get("bound"));
	CHECK(b.get("bound") == b.get("made"));
	CHECK(b.run() == 100);
	b.call("unbind");
}

/* Waits of one library are ended by the other. */
void share_a_mutex(const Library &a, const Library &b)
{
	void *m = a.get("make_mutex");

	for (int i = 0; i < 2000; ++i) {
		std::condition_variable changed;
		bool                    flag = false;
		std::thread             other([&] {
                        b.find<void(void *, void *, bool *)>("set")(
                                m, &changed, &flag);
                });

		a.find<void(void *, void *, const bool *)>("await")(
			m, &changed, &flag);
		other.join();
	}
	a.find<void(void *)>("free_mutex")(m);
}

void have_all_in_common(const Library &a, const Library &b)
{
	a.call("bind");
	CHECK(a.get("bound") == a.get("made"));
	CHECK(b.get("bound") == a.get("made"));
	CHECK(b.get("fiber"));
	CHECK(b.get("fiber") == a.get("fiber"));
	CHECK(b.run() == 100);
	b.call("unbind");
	CHECK(!a.get("bound"));
	b.call("bind");
	CHECK(a.get("bound") == b.get("made"));
	CHECK(a.get("fiber") == b.get("fiber"));
	CHECK(a.run() == 100);
	a.call("unbind");
	share_a_mutex(a, b);
	share_a_mutex(b, a);
}

/* Two versions of the headers, one libsennit: a thread is bound to one
 * scheduler, and the other version does not take it for its own. */
void know_their_own(const Library &a, const Library &b)
{
	a.call("bind");
	CHECK(a.get("bound") == a.get("made"));
	CHECK(!b.get("bound"));
	CHECK(b.get("fiber"));
	std::thread([&] {
		CHECK(b.run() == 100);
		b.call("bind");
		CHECK(b.get("bound") == b.get("made"));
		CHECK(!a.get("bound"));
		b.call("unbind");
	}).join();
	CHECK(a.run() == 100);
	a.call("unbind");
}

} // namespace

/* host apart|common|known A B; host global A */
int main(int argc, char **argv)
{
	CHECK(argc >= 3);
	alarm(200);
	Library a(argv[2]);

	if (argc == 3) {
		CHECK(a.run() == 100);
		return 42;
	}
	Library b(argv[3]);

	a.call("begin");
	b.call("begin");
	CHECK(!a.get("bound"));
	if (!std::strcmp(argv[1], "apart"))
		are_apart(a, b);
	else if (!std::strcmp(argv[1], "common"))
		have_all_in_common(a, b);
	else
		know_their_own(a, b);
	a.call("end");
	b.call("end");
	return 42;
}
EOS

# Another version of the headers: other members, another name.
mkdir -p "$scratch/other"
cp -R "$SOURCE_DIR/marl/include/marl" "$scratch/other/marl"
sed -e 's|"marl::Scheduler/3"|"marl::Scheduler/0"|' \
	-e 's|^\tsennit_scheduler \*native_ = nullptr;|\tchar pad_[4096] = {};\n&|' \
	"$SOURCE_DIR/marl/include/marl/scheduler.h" \
	>"$scratch/other/marl/scheduler.h"
sed 's|size_t SIZE = 64;|size_t SIZE = 32;|' \
	"$SOURCE_DIR/marl/include/marl/detail/blocks.h" \
	>"$scratch/other/marl/detail/blocks.h"
for changed in scheduler.h detail/blocks.h; do
	if cmp -s "$scratch/other/marl/$changed" \
		"$SOURCE_DIR/marl/include/marl/$changed"; then
		echo "$changed of the other version is this version's"
		exit 1
	fi
done

this="-I$SOURCE_DIR/marl/include $INCLUDES"
other="-I$scratch/other $INCLUDES"
shared="$LIB_SHARED -Wl,-rpath,$(dirname "$LIB_SHARED")"
if [ -n "$MARL" ]; then
	this=-I$MARL/include
	LIB_STATIC=$MARL/libmarl.a
	shared="$MARL/libmarl.so -Wl,-rpath,$MARL"
fi

# library NAME SOURCE FLAGS LIBRARY
library() {
	# shellcheck disable=SC2086
	"$CXX" -std=c++11 -O1 -Wall -Wextra -Werror -fPIC -shared \
		-o "$scratch/$1.so" "$scratch/$2.cpp" $3 $4 -pthread
}

# goes WHAT NAME...
goes() {
	what=$1
	shift
	status=0
	(
		cd "$scratch"
		for name; do
			set -- "$@" "./$name.so"
			shift
		done
		./host "$what" "$@"
	) || status=$?
	if [ "$status" != 42 ]; then
		echo "$what $*: $status"
		exit 1
	fi
	echo "$what $*: ok"
}

"$CXX" -std=c++11 -Wall -Wextra -Werror -o "$scratch/host" \
	"$scratch/host.cpp" -pthread -ldl
inside="$LIB_STATIC -Wl,-z,nodelete"
library inside_a plugin "$this" "$inside"
library inside_b plugin "$this" "$inside"
library shared_a plugin "$this" "$shared"
library shared_b plugin "$this -fvisibility-inlines-hidden" "$shared"
goes apart inside_a inside_b
goes apart inside_a shared_b
goes common shared_a shared_b
if [ -z "$MARL" ]; then
	library inside_o plugin "$other" "$inside"
	library shared_o plugin "$other" "$shared"
	goes apart inside_a inside_o
	goes apart shared_a inside_o
	goes known shared_a shared_o
fi
library global_inside global "$this" "$inside"
library global_shared global "$this" "$shared"
library global_affine global "$this -DWITH_AFFINITY" "$shared"
for name in global_inside global_shared global_affine; do
	goes global $name
done
