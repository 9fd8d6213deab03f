# SPDX-License-Identifier: Apache-2.0
# The system that the library is built for: `system`, empty for Linux; and
# `system_sources`, the files of src/os and src/arch for it.

set(system "")
set(system_files posix/backtrace posix/cxx_exceptions posix/memory_libc
	posix/posix posix/threads) # of src/os, beside its own folder's
set(system_folder linux) # of src/os: all its files
set(system_other_fork fork_windows) # of src/life: not for this system
# How the shared library is linked: it stays loaded after dlclose(), because
# threads may still run its code, and what the loader fills in is read-only
# afterwards.
set(system_loaded LINKER:-z,nodelete LINKER:-z,relro LINKER:-z,now)
# What sennit.pc says beside what is the same everywhere.
set(system_pc_flags "")
set(system_pc_libraries "-lm -ldl")

if(WIN32)
	set(system windows)
	set(system_files "")
	set(system_folder windows)
	set(system_other_fork fork)
	if(NOT arch STREQUAL "x86_64_windows" OR NOT MINGW)
		message(FATAL_ERROR "Windows: only x86-64, by mingw-w64")
	endif()
	# gcc 12 fails with it here; the ABI has probes of its own.
	set(SENNIT_HAS_fstack_clash_protection OFF)
	set(system_pc_flags " -DESHUTDOWN=10058")
	set(system_pc_libraries -lsynchronization)
	set(system_loaded -static-libgcc) # one DLL less to carry along
	message(STATUS "Windows: libsennit-io, -diag and -mpi left out")
	set(SENNIT_IO OFF)
	set(SENNIT_MPI OFF)
	set(SENNIT_DIAG OFF)
	set(SENNIT_APPS OFF)
elseif(arch STREQUAL "x86_64_windows")
	message(FATAL_ERROR "SENNIT_ARCH: ${arch} is of Windows alone")
elseif(EMSCRIPTEN)
	set(system emscripten)
	set(system_files bsd/absent posix/cxx_exceptions posix/memory_libc
		posix/threads)
	set(system_folder emscripten)
	include(cmake/emscripten.cmake)
elseif(APPLE)
	set(system darwin)
elseif(CMAKE_SYSTEM_NAME STREQUAL FreeBSD)
	set(system freebsd)
endif()
if(system MATCHES "darwin|freebsd")
	set(system_files bsd/absent bsd/bsd bsd/${system} posix/backtrace
		posix/memory_libc posix/posix posix/threads)
	set(system_folder "")
	if(system STREQUAL "freebsd")
		list(APPEND system_files posix/cxx_exceptions)
	endif()
	message(STATUS "${system}: this port was never run. libsennit-io, "
		"-diag and -mpi left out")
	if(NOT arch MATCHES "^(x86_64|aarch64)$")
		message(FATAL_ERROR "${system}: only x86-64 and aarch64")
	endif()
	set(SENNIT_IO OFF)
	set(SENNIT_MPI OFF)
	set(SENNIT_DIAG OFF)
	set(SENNIT_APPS OFF)
	if(APPLE)
		set(system_loaded "") # ld64 has other options
	endif()
endif()
set(system_sources "")
if(system_folder)
	file(GLOB system_sources RELATIVE ${PROJECT_SOURCE_DIR}
		CONFIGURE_DEPENDS src/os/${system_folder}/*.c)
endif()
list(APPEND system_files deterministic_threads print)
foreach(file IN LISTS system_files)
	list(APPEND system_sources src/os/${file}.c)
endforeach()
file(GLOB switch RELATIVE ${PROJECT_SOURCE_DIR} src/arch/${arch}/switch.[cS])
set(saved ${arch}/saved)
if(APPLE)
	set(saved saved_none)
endif()
list(APPEND system_sources ${switch} src/arch/${saved}.c src/arch/interrupted.c)

# The library's own files. Windows 10 is the oldest that has what they call.
# winpthreads hides its format attributes' kind behind the C library's: the
# compiler would check formats as those of another printf().
function(sennit_system_flags target)
	set(first ${PROJECT_SOURCE_DIR}/src/os/windows/posix.h)
	if(WIN32)
		target_compile_definitions(${target} INTERFACE
			_WIN32_WINNT=0x0A00 __USE_MINGW_ANSI_STDIO=1
			ESHUTDOWN=10058)
		target_compile_options(${target} INTERFACE
			"SHELL:$<$<COMPILE_LANGUAGE:C>:-include ${first}>"
			-Wno-attributes -Wno-format -Wno-conversion)
	endif()
endfunction()

# What programs need too. The value is that of Winsock, WSAESHUTDOWN.
function(sennit_system_library target)
	if(WIN32)
		target_compile_definitions(${target} PUBLIC ESHUTDOWN=10058)
		target_link_libraries(${target} PUBLIC synchronization)
	elseif(EMSCRIPTEN)
		target_link_options(${target} PUBLIC
			${emscripten_link_options})
		if(target STREQUAL "sennit") # would be an archive of that name
			set_target_properties(sennit PROPERTIES
				OUTPUT_NAME sennit-shared)
		endif()
	elseif(system STREQUAL "freebsd")
		target_link_libraries(${target} PUBLIC execinfo)
	endif()
endfunction()

# --- tests -----------------------------------------------------------------------

# Windows runs test/unit, api, stress, windows, cpp, compat. A test is left out that
# needs what only Linux has: its file, or a header beside it, includes one of
# these, or is on the list.
string(CONCAT system_headers "<(dlfcn|elf|execinfo|glob|poll|spawn|ucontext|"
	"sys/(epoll|mman|prctl|resource|socket|syscall|wait))\\.h>")
set(system_not_there
	api/affinity compat/thread # cpu_set_t
	compat/fp_control # flushing to zero
	compat/scheduler # a thread's own CPUs
	api/blocking api/blocking_queue # sigset_t
	api/trim # sysconf
	api/fork api/misuse_blocking # fork
	api/metrics_write # a pipe that does not block
	stress/finalisation unit/quota unit/quota_mounts unit/topology # /proc, /sys
	unit/switch unit/switch_fp unit/switch_x87) # see windows/switch

function(sennit_system_needs file out)
	set(${out} OFF PARENT_SCOPE)
	file(STRINGS ${file} lines REGEX "^#include ")
	get_filename_component(folder ${file} DIRECTORY)
	foreach(line IN LISTS lines)
		if(line MATCHES "${system_headers}")
			set(${out} ON PARENT_SCOPE)
			return()
		endif()
		string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1"
			header "${line}")
		if(NOT header STREQUAL "${line}" AND NOT header STREQUAL "misuse.h"
			AND EXISTS ${folder}/${header})
			sennit_system_needs(${folder}/${header} needs)
			if(needs)
				set(${out} ON PARENT_SCOPE)
				return()
			endif()
		endif()
	endforeach()
endfunction()

function(sennit_system_groups groups_of)
	if(WIN32)
		set(${groups_of} unit api stress windows PARENT_SCOPE)
	endif()
endfunction()

# Removes those tests from a list of files.
function(sennit_system_tests files_of)
	if(NOT WIN32)
		return()
	endif()
	set(result "")
	set(without "")
	foreach(file IN LISTS ${files_of})
		file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/test ${file})
		string(REGEX REPLACE "\\.c(pp)?$" "" name ${name})
		sennit_system_needs(${file} needs)
		if(needs OR name IN_LIST system_not_there)
			list(APPEND without ${name})
		else()
			list(APPEND result ${file})
		endif()
	endforeach()
	if(without)
		message(STATUS "Windows: left out: ${without}")
	endif()
	set(${files_of} ${result} PARENT_SCOPE)
endfunction()

# Where there is no fork(), tests of misuse get another misuse.h: it is included
# first, and both have the same guard.
function(sennit_runs_again target file)
	file(STRINGS ${file} lines REGEX "^#include \"(misuse|wills)\\.h\"")
	if(lines)
		target_compile_options(${target} PRIVATE "SHELL:-include \
${PROJECT_SOURCE_DIR}/test/again/misuse.h")
	endif()
endfunction()

# What a test needs beside its own file; likewise one in C++.
function(sennit_system_posix target)
	if(NOT WIN32)
		return()
	endif()
	if(NOT TARGET test_posix)
		add_library(test_posix STATIC test/windows/posix/posix.c
			test/windows/posix/again.c)
		target_compile_options(test_posix INTERFACE "SHELL:-include \
${PROJECT_SOURCE_DIR}/test/windows/posix/posix.h")
	endif()
	target_link_libraries(${target} PRIVATE test_posix)
endfunction()

function(sennit_system_test target file)
	if(NOT WIN32)
		return()
	endif()
	sennit_system_posix(${target})
	target_include_directories(${target} PRIVATE test/windows/posix)
	sennit_runs_again(${target} ${file})
endfunction()
