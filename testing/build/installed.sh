#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed.sh - programs can use the installed library: by CMake and by
# pkg-config, in C and C++, with the archive and the shared library. The compile
# options for task code, which both provide, make a frame that is larger than
# the stack and its guard end the program with a message, instead of reaching
# the memory behind the guard.
#
# Environment: BUILD_DIR (a build), CC (cc), CXX (empty: no C++), SENNIT_ARCH.
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CXX:=}" "${BUILD_DIR:=build/dev}" "${SENNIT_ARCH:=}"

prefix=$scratch/prefix

installed "$prefix"
package=$(find "$prefix" -name sennit-config.cmake)
pc=$(find "$prefix" -name sennit.pc)
pc_io=$(find "$prefix" -name sennit-io.pc) # where it is built
pc_tls=$(find "$prefix" -name sennit-tls.pc)
pc_http=$(find "$prefix" -name sennit-http.pc)
pc_diag=$(find "$prefix" -name sennit-diag.pc)
# The one that sennit::mpi is for.
mpi=$(find "$prefix" -name 'sennit-mpi-*.pc' | sort -r | head -1 |
	sed 's/.*sennit-mpi-//; s/\.pc//')

mkdir "$scratch/source"
cat >"$scratch/source/program.c" <<'END'
#include <sennit.h>
#include <sys/resource.h>

/* Touches only the far end of its frame, some pages behind the guard. */
static void large_frame(void *size)
{
	volatile char frame[(size_t)size];

	frame[0] = 1;
}

/* program [large]: with a large frame it does not get to its end. */
int main(int argc, char **argv)
{
	struct rlimit     none = { 0, 0 };
	sennit_scheduler *s;

	(void)argv;
	setrlimit(RLIMIT_CORE, &none);
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_thread_bind(s))
		return 1;
	if (sennit_schedule(large_frame, (void *)(size_t)(argc > 1 ? 1 << 20
								   : 4096)))
		return 1;
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
END
cat >"$scratch/source/program.cpp" <<'END'
#include <sennit.hpp>

int main()
{
	sennit::scheduler s{ sennit::config().with_workers(1) };
	sennit::binding   bound(s);
	const int         n = 42;

	return sennit::async([n] { return n; }).get() - 42;
}
END
cat >"$scratch/source/io.c" <<'END'
#include <sennit.h>
#include <sennit/io.h>
#include <unistd.h>

int main(void)
{
	sennit_scheduler *s;
	char              byte;
	int               fds[2];

	if (pipe(fds) ||
	    sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_thread_bind(s))
		return 1;
	if (sennit_write(fds[1], "x", 1, SENNIT_NEVER) != 1 ||
	    sennit_read(fds[0], &byte, 1, SENNIT_NEVER) != 1 || byte != 'x')
		return 1;
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
END
cat >"$scratch/source/tls.c" <<'END'
#include <sennit/tls.h>
#include <stdio.h>
#include <sys/socket.h>

/* Its own end of a connection on which nobody answers. */
int main(void)
{
	char                text[200];
	sennit_tls_context *context;
	sennit_tls         *tls;
	int                 fds[2], err;

	if (sennit_tls_context_create(&context, NULL, text, sizeof(text)))
		return puts(text), 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) ||
	    sennit_tls_create(&tls, context, fds[0]))
		return 1;
	sennit_tls_context_destroy(context);
	err = sennit_tls_connect(tls, "localhost", 0);
	if (!err || sennit_tls_connect(tls, "localhost", 0) != err)
		return 1;
	sennit_tls_destroy(tls);
	return 0;
}
END
cp "$SOURCE_DIR/http/examples/http_memory.c" "$scratch/source/http.c"
cat >"$scratch/source/diag.c" <<'END'
#include <sennit.h>
#include <sennit/dump.h>
#include <unistd.h>

/* The stacks of its own frames. */
int main(void)
{
	sennit_scheduler *s;
	char              text[64];
	int               fds[2];

	if (pipe(fds) ||
	    sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_thread_bind(s))
		return 1;
	if (sennit_stacks_print(s, fds[1], SENNIT_STACKS_TEXT) ||
	    read(fds[0], text, sizeof(text)) != sizeof(text) ||
	    sennit_dump_start(SENNIT_DUMP_ENVIRONMENT, 2, SENNIT_STACKS_TEXT))
		return 1;
	sennit_dump_stop();
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
END
cat >"$scratch/source/mpi.c" <<'END'
#include <sennit.h>
#include <sennit/mpi.h>

/* A barrier in a task. */
static void meet(void *unused)
{
	(void)unused;
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               level;

	if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) ||
	    sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 1,
				      .stack_size = SENNIT_MPI_STACK_SIZE)) ||
	    sennit_mpi_start(s, NULL) || sennit_thread_bind(s) ||
	    sennit_schedule(meet, NULL))
		return 1;
	sennit_thread_unbind();
	if (sennit_mpi_stop(s, SENNIT_NEVER) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return MPI_Finalize();
}
END
cat >"$scratch/source/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(programs C)
set(CMAKE_BUILD_TYPE Release)
find_package(sennit ${VERSION} REQUIRED COMPONENTS ${IO} ${TLS} ${HTTP}
	${DIAG} ${MPI})
if(IO)
	foreach(library io io_static)
		add_executable(io_${library} io.c)
		target_link_libraries(io_${library} PRIVATE sennit::${library})
	endforeach()
endif()
if(TLS)
	foreach(library tls tls_static)
		add_executable(tls_${library} tls.c)
		target_link_libraries(tls_${library} PRIVATE sennit::${library})
	endforeach()
endif()
if(HTTP)
	foreach(library http http_static)
		add_executable(http_${library} http.c)
		target_link_libraries(http_${library} PRIVATE sennit::${library})
	endforeach()
endif()
if(DIAG)
	foreach(library diag diag_static)
		add_executable(diag_${library} diag.c)
		target_link_libraries(diag_${library} PRIVATE sennit::${library})
	endforeach()
endif()
if(MPI)
	find_package(MPI REQUIRED COMPONENTS C)
	foreach(library mpi mpi_static)
		add_executable(mpi_${library} mpi.c)
		target_link_libraries(mpi_${library}
			PRIVATE sennit::${library} MPI::MPI_C)
	endforeach()
endif()
foreach(library static sennit)
	add_executable(c_${library} program.c)
	target_compile_options(c_${library} PRIVATE
		${sennit_TASK_COMPILE_OPTIONS})
	target_link_libraries(c_${library} PRIVATE sennit::${library})
endforeach()
if(CXX)
	set(CMAKE_CXX_COMPILER ${CXX})
	enable_language(CXX)
	set(CMAKE_CXX_STANDARD 17)
	foreach(library static sennit)
		add_executable(cxx_${library} program.cpp)
		target_link_libraries(cxx_${library} PRIVATE sennit::${library})
	endforeach()
endif()
END

# runs PROGRAM...: it must exit normally.
runs() {
	status=0
	LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$@" || status=$?
	[ "$status" = 0 ] || { echo "$* ended with $status"; exit 1; }
}

# names_the_overflow PROGRAM: it must report the overflow of a large frame.
names_the_overflow() {
	[ "$SENNIT_ARCH" != portable ] || return 0
	status=0
	LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$1" large \
		2>"$scratch/said" || status=$?
	if [ "$status" = 0 ] || ! grep -q 'stack overflow' "$scratch/said"; then
		echo "$1 large: ended with $status, having said:"
		cat "$scratch/said"
		exit 1
	fi
}

cmake -S "$scratch/source" -B "$scratch/build" -DCMAKE_C_COMPILER="$CC" \
	-DCXX="$CXX" -DIO="${pc_io:+io}" -DTLS="${pc_tls:+tls}" \
	-DHTTP="${pc_http:+http}" \
	-DDIAG="${pc_diag:+diag}" \
	-DMPI="${mpi:+mpi}" -DMPI_EXECUTABLE_SUFFIX=".$mpi" \
	-Dsennit_DIR="$(dirname "$package")" \
	-DVERSION="$(sh "$SOURCE_DIR/tools/abi" version)" \
	>"$scratch/log" 2>&1 && cmake --build "$scratch/build" \
	>>"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
for program in "$scratch"/build/c_* "$scratch"/build/cxx_* \
	"$scratch"/build/io_io* "$scratch"/build/tls_tls* \
	"$scratch"/build/http_http* \
	"$scratch"/build/diag_diag* "$scratch"/build/mpi_mpi*; do
	[ -e "$program" ] || continue
	runs "$program"
	case $program in */c_*) names_the_overflow "$program" ;; esac
done

if command -v pkg-config >/dev/null; then
	PKG_CONFIG_PATH=$(dirname "$pc")
	export PKG_CONFIG_PATH
	for static in '' --static; do
		# shellcheck disable=SC2046,SC2086 # flags are words
		"$CC" -O2 -o "$scratch/program" "$scratch/source/program.c" \
			$(pkg-config --variable=task_cflags sennit) \
			${static:+-static -Wl,--fatal-warnings} \
			$(pkg-config --cflags --libs $static sennit)
		runs "$scratch/program"
		names_the_overflow "$scratch/program"
		for part in ${pc_io:+io} ${pc_tls:+tls} ${pc_http:+http} \
			${pc_diag:+diag}; do
			# shellcheck disable=SC2046,SC2086
			"$CC" -O2 -o "$scratch/program" \
				"$scratch/source/$part.c" ${static:+-static} \
				$(pkg-config --cflags --libs $static \
					"sennit-$part")
			runs "$scratch/program"
		done
	done
fi
echo "programs find it and run"
