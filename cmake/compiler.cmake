# SPDX-License-Identifier: Apache-2.0
# What the compiler and libc offer: which files are compiled, the target
# sennit_flags with what the library's own files need, and the flags of the whole
# build for sanitizers.

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckIncludeFile)
include(CheckSymbolExists)
include(GNUInstallDirs)

# --- libc ----------------------------------------------------------------------

# glibc has all of it, musl has none. Programs that are linked here test the
# calls, because musl declares some that it lacks.
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64)

# The files of core/src that are not compiled, as paths without suffix.
set(core_left_out kernel/life/${system_other_fork})

check_symbol_exists(getcontext ucontext.h SENNIT_HAS_GETCONTEXT)
if(arch STREQUAL "portable" AND NOT SENNIT_HAS_GETCONTEXT)
	message(FATAL_ERROR "the portable context switch needs getcontext(), "
		"which this libc lacks. With musl, sennit supports the "
		"processors that have a folder in core/src/arch")
endif()

# Backtraces after a stack overflow.
set(libc_link_options "") # of programs, too
check_include_file(execinfo.h SENNIT_HAS_EXECINFO_H)
if(SENNIT_HAS_EXECINFO_H)
	list(APPEND core_left_out os/linux/backtrace_unwind)
	list(APPEND core_left_out os/linux/find_object)
elseif(NOT system) # see platform.cmake
	message(STATUS "no <execinfo.h>: backtraces are those of libgcc")
	list(APPEND core_left_out os/posix/backtrace)
	# libgcc_eh of a compiler that is built for glibc calls one more
	# function of that library.
	set(unwinds "#include <unwind.h>
static _Unwind_Reason_Code see(struct _Unwind_Context *c, void *a)
{
	return c && a ? _URC_NO_REASON : _URC_END_OF_STACK;
}
int main(void)
{
	return _Unwind_Backtrace(see, 0) == _URC_NO_REASON;
}
")
	check_c_source_compiles("${unwinds}" SENNIT_UNWINDS)
	if(SENNIT_UNWINDS)
		list(APPEND core_left_out os/linux/find_object)
	else()
		check_c_source_compiles("${unwinds}
int _dl_find_object(void *pc, void *found)
{
	return pc != found;
}
"			SENNIT_UNWINDS_BY_FIND_OBJECT)
		if(NOT SENNIT_UNWINDS_BY_FIND_OBJECT)
			message(FATAL_ERROR "neither <execinfo.h> nor "
				"_Unwind_Backtrace(): no backtraces")
		endif()
		# Such a compiler does not ask the linker for the table either.
		set(libc_link_options LINKER:--eh-frame-hdr)
	endif()
endif()

# System calls of libsennit-io.
set(libc_has_linux_calls OFF)
check_symbol_exists(epoll_pwait2 sys/epoll.h SENNIT_HAS_EPOLL_PWAIT2)
check_symbol_exists(pwritev2 sys/uio.h SENNIT_HAS_PWRITEV2) # with preadv2
check_symbol_exists(statx sys/stat.h SENNIT_HAS_STATX)
if(SENNIT_HAS_EPOLL_PWAIT2 AND SENNIT_HAS_PWRITEV2 AND SENNIT_HAS_STATX)
	set(libc_has_linux_calls ON)
endif()
unset(CMAKE_REQUIRED_DEFINITIONS)

# --- flags ---------------------------------------------------------------------

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
# Sets sennit_ATOMIC_BYTES: libatomic, where the compiler calls its functions
# for atomic operations on bytes (gcc 12 on riscv64). Tests use such bytes. The
# library does not, and no processor in core/src/arch/cpu.h needs libatomic for
# words of up to 64 bits.
check_c_source_compiles("
#include <stdatomic.h>
static _Atomic(unsigned char) value;
int main(void)
{
	unsigned char no = 0;
	atomic_compare_exchange_strong(&value, &no, 1);
	return atomic_exchange(&value, 0) + atomic_fetch_add(&value, 1);
}" SENNIT_HAS_ATOMIC_BYTES)
set(sennit_ATOMIC_BYTES "")
if(NOT SENNIT_HAS_ATOMIC_BYTES)
	set(sennit_ATOMIC_BYTES atomic)
endif()

# Flags for the library's own files. Programs that use sennit do not get them.
add_library(sennit_flags INTERFACE)
target_include_directories(sennit_flags INTERFACE
	${sennit_root}/core/include ${core_src}/kernel ${core_src}/library
	${core_src})
# Offsets have 64 bits on processors with 32, too, as programs have them.
target_compile_definitions(sennit_flags INTERFACE _GNU_SOURCE
	_FILE_OFFSET_BITS=64)
target_link_libraries(sennit_flags INTERFACE Threads::Threads)

set(CMAKE_REQUIRED_FLAGS -Werror)
foreach(flag -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow
	-Wstrict-prototypes -Wmissing-prototypes -Wvla
	-fno-plt -fno-semantic-interposition -fstack-clash-protection
	-fasynchronous-unwind-tables # riscv64, mips64: not by default
	-fcf-protection=branch -mbranch-protection=bti) # x86-64, aarch64
	string(MAKE_C_IDENTIFIER "SENNIT_HAS${flag}" has)
	check_c_compiler_flag(${flag} ${has})
	if(${has})
		target_compile_options(sennit_flags INTERFACE
			$<$<COMPILE_LANGUAGE:C>:${flag}>)
	endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
sennit_system_flags(sennit_flags)

# Flags with which a program should compile the code of its tasks, exported in
# the package and for a project that contains sennit. The target processor must
# support them. A compiler that does not warns or fails.
set(sennit_TASK_COMPILE_OPTIONS "")
if(SENNIT_HAS_fstack_clash_protection)
	set(sennit_TASK_COMPILE_OPTIONS -fstack-clash-protection)
endif()
if(NOT top_level)
	set(sennit_TASK_COMPILE_OPTIONS ${sennit_TASK_COMPILE_OPTIONS}
		PARENT_SCOPE)
endif()
if(CMAKE_COMPILE_WARNING_AS_ERROR AND CMAKE_VERSION VERSION_LESS 3.24)
	target_compile_options(sennit_flags INTERFACE -Werror)
endif()

foreach(name address thread undefined)
	if(sanitize_${name})
		add_compile_options(-fsanitize=${name} -fno-omit-frame-pointer)
		add_link_options(-fsanitize=${name})
	endif()
endforeach()
# Programs are instrumented and the library is not: it calls ThreadSanitizer for
# each order that it guarantees (core/src/base/race.h).
if(sanitize_race)
	if(sanitize_thread)
		message(FATAL_ERROR "SENNIT_SANITIZE: race or thread, not both")
	endif()
	add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
	add_link_options(-fsanitize=thread)
	target_compile_definitions(sennit_flags INTERFACE SENNIT_RACE)
	set(race_options -fno-sanitize=thread -include
		${core_src}/base/race_inside.h)
	target_compile_options(sennit_flags INTERFACE
		-Wno-missing-field-initializers)
endif()
if(sanitize_fuzzer)
	add_compile_options(-fsanitize=undefined,fuzzer-no-link)
	add_link_options(-fsanitize=undefined)
endif()
if(sanitize_undefined OR sanitize_fuzzer)
	add_compile_options(-fno-sanitize-recover=all)
	add_link_options(-fno-sanitize-recover=all)
endif()
if(NOT SENNIT_FP_CONTROL)
	target_compile_definitions(sennit_flags INTERFACE
		SENNIT_NO_FP_CONTROL)
endif()
if(NOT SENNIT_DEBUG_SWITCH)
	target_compile_definitions(sennit_flags INTERFACE
		SENNIT_NO_DEBUG_SWITCH)
endif()
if(SENNIT_SPAWN_SITES AND NOT sanitize_race) # it takes the fourth word
	target_compile_definitions(sennit_flags INTERFACE SENNIT_SPAWN_SITES)
endif()
# How the end of a scheduler is detected: gate.h and those that say so choose.
if(NOT SENNIT_END MATCHES "^(gate|count)$")
	message(FATAL_ERROR "SENNIT_END: ${SENNIT_END} is not known here")
endif()
if(SENNIT_END STREQUAL "count")
	target_compile_definitions(sennit_flags INTERFACE SENNIT_END_COUNT)
endif()
if(SENNIT_DETERMINISTIC)
	target_compile_definitions(sennit_flags INTERFACE SENNIT_DETERMINISTIC)
endif()
check_include_file(valgrind/valgrind.h SENNIT_VALGRIND_H)
if(SENNIT_VALGRIND_H)
	target_compile_definitions(sennit_flags INTERFACE SENNIT_HAVE_VALGRIND)
endif()
check_include_file(sys/sdt.h SENNIT_SDT_H)
if(SENNIT_SDT_H)
	target_compile_definitions(sennit_flags INTERFACE SENNIT_HAVE_SDT)
else()
	message(STATUS "sys/sdt.h not found: probes are left out")
endif()
if(sanitize_helgrind)
	target_compile_definitions(sennit_flags INTERFACE SENNIT_HELGRIND)
endif()
