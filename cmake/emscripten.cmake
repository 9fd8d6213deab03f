# SPDX-License-Identifier: Apache-2.0
# WebAssembly, by emscripten with threads: included by system.cmake.

if(NOT arch STREQUAL "wasm")
	message(FATAL_ERROR "emscripten: SENNIT_ARCH must be wasm")
endif()

# What the checks of flags.cmake and libc.cmake would find: a
# program takes emscripten several seconds to link.
foreach(flag -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow
	-Wstrict-prototypes -Wmissing-prototypes -Wvla)
	string(MAKE_C_IDENTIFIER "SENNIT_HAS${flag}" has)
	set(${has} ON)
endforeach()
foreach(flag -fno-plt -fno-semantic-interposition -fstack-clash-protection
	-fasynchronous-unwind-tables -fcf-protection=branch
	-mbranch-protection=bti)
	string(MAKE_C_IDENTIFIER "SENNIT_HAS${flag}" has)
	set(${has} OFF)
endforeach()
foreach(has GETCONTEXT EXECINFO_H EPOLL_PWAIT2 PWRITEV2 STATX)
	set(SENNIT_HAS_${has} OFF)
endforeach()
set(SENNIT_HAS_ATOMIC_BYTES ON)
set(SENNIT_VALGRIND_H OFF)
set(SENNIT_SDT_H OFF)
set(CMAKE_HAVE_LIBC_PTHREAD ON)

# Threads share one memory, so every file must be compiled for that.
add_compile_options(-pthread)
add_link_options(-pthread)
set(system_loaded "")
set(SENNIT_SHARED OFF)
message(STATUS "emscripten: libsennit-io, -diag and -mpi left out")
set(SENNIT_IO OFF)
set(SENNIT_MPI OFF)
set(SENNIT_DIAG OFF)
set(SENNIT_APPS OFF)

# What programs need. main() runs in a thread of its own, because the first one
# must not block: it starts the others. See src/os/emscripten/pages.c for
# --wrap.
set(emscripten_link_options -pthread -sASYNCIFY -sPROXY_TO_PTHREAD
	-sEXIT_RUNTIME "SHELL:-Wl,--wrap=pthread_create"
	"SHELL:-Wl,--wrap=__call_main")
