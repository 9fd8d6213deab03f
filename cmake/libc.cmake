# SPDX-License-Identifier: Apache-2.0
# What libc has decides which of two files is compiled, and which files stand in
# for calls that it lacks. glibc has all of it, musl has none. Programs that are
# linked here test the calls, because musl declares some that it lacks.

include(CheckCSourceCompiles)
include(CheckIncludeFile)
include(CheckSymbolExists)
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)

# sennit_leave_out(LIST MODULE): the file of that module is not compiled.
macro(sennit_leave_out list module)
	list(REMOVE_ITEM ${list} src/${module}.c)
endmacro()

check_symbol_exists(getcontext ucontext.h SENNIT_HAS_GETCONTEXT)
if(arch STREQUAL "portable" AND NOT SENNIT_HAS_GETCONTEXT)
	message(FATAL_ERROR "the portable context switch needs getcontext(), "
		"which this libc lacks. With musl, sennit supports the "
		"processors that have a folder in src/arch")
endif()

# Backtraces after a stack overflow.
set(libc_link_options "") # of programs, too
check_include_file(execinfo.h SENNIT_HAS_EXECINFO_H)
if(SENNIT_HAS_EXECINFO_H)
	sennit_leave_out(sources os/linux/backtrace_unwind)
	sennit_leave_out(sources os/linux/find_object)
elseif(NOT system) # see system.cmake
	message(STATUS "no <execinfo.h>: backtraces are those of libgcc")
	sennit_leave_out(sources os/posix/backtrace)
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
		sennit_leave_out(sources os/linux/find_object)
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
check_symbol_exists(epoll_pwait2 sys/epoll.h SENNIT_HAS_EPOLL_PWAIT2)
check_symbol_exists(pwritev2 sys/uio.h SENNIT_HAS_PWRITEV2) # with preadv2
check_symbol_exists(statx sys/stat.h SENNIT_HAS_STATX)
if(SENNIT_HAS_EPOLL_PWAIT2 AND SENNIT_HAS_PWRITEV2 AND SENNIT_HAS_STATX)
	sennit_leave_out(io_sources io/engine/linux_calls)
endif()

# The folder of test/unit with the tests' portable switch.
set(ucontext_tests test/unit/with_ucontext)
if(NOT SENNIT_HAS_GETCONTEXT)
	set(ucontext_tests test/unit/without_ucontext)
endif()

# sennit_static_tests(FILES): removes from the list of that name the tests that
# make no sense if programs are linked statically. Some take the place of
# functions of shared libraries: they, or a header beside them, use RTLD_NEXT.
# Others are named here: io/limits, io/watched and io/late_listener do so by other
# means, and musl has no names of functions then (diag/symbol).
function(sennit_static_tests files_of)
	if(NOT CMAKE_EXE_LINKER_FLAGS MATCHES "(^| )-static")
		return()
	endif()
	set(named "/test/(io/(late_listener|limits|watched)|diag/symbol)\\.c$")
	set(result "")
	set(left_out "")
	foreach(file IN LISTS ${files_of})
		sennit_mentions(${file} RTLD_NEXT replaces)
		if(replaces OR file MATCHES "${named}")
			get_filename_component(name ${file} NAME_WE)
			list(APPEND left_out ${name})
		else()
			list(APPEND result ${file})
		endif()
	endforeach()
	if(left_out)
		list(JOIN left_out " " left_out)
		message(STATUS "static: left out: ${left_out}")
	endif()
	set(${files_of} ${result} PARENT_SCOPE)
endfunction()

# Whether the word stands in the file or in a header beside it that it includes.
function(sennit_mentions file word out)
	set(${out} OFF PARENT_SCOPE)
	file(STRINGS ${file} lines REGEX "^#include \"|${word}")
	get_filename_component(folder ${file} DIRECTORY)
	foreach(line IN LISTS lines)
		set(found OFF)
		string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1"
			header "${line}")
		if(line MATCHES "${word}")
			set(found ON)
		elseif(EXISTS ${folder}/${header})
			sennit_mentions(${folder}/${header} ${word} found)
		endif()
		if(found)
			set(${out} ON PARENT_SCOPE)
		endif()
	endforeach()
endfunction()
unset(CMAKE_REQUIRED_DEFINITIONS)
