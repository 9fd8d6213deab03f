# SPDX-License-Identifier: Apache-2.0
# Which tests run where: Windows and WebAssembly lack what some need, and programs
# that are linked statically cannot take the place of functions of shared
# libraries.

# --- libc ----------------------------------------------------------------------

# The folder of core/test/unit with the tests' portable switch.
set(ucontext_tests ${sennit_root}/core/test/unit/with_ucontext)
if(NOT SENNIT_HAS_GETCONTEXT)
	set(ucontext_tests ${sennit_root}/core/test/unit/without_ucontext)
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
	set(named "/(io/test/(late_listener|limits|watched)|diag/test/symbol)\\.c$")
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
		sennit_header("${header}" ${folder} beside)
		if(line MATCHES "${word}")
			set(found ON)
		elseif(beside)
			sennit_mentions(${beside} ${word} found)
		endif()
		if(found)
			set(${out} ON PARENT_SCOPE)
		endif()
	endforeach()
endfunction()

# --- Windows -------------------------------------------------------------------

# Windows runs core/test/unit, api, stress, windows, cpp, compat. A test is left out that
# needs what only Linux has: its file, or a header beside it, includes one of
# these, or is on the list.
string(CONCAT system_headers "<(dlfcn|elf|execinfo|glob|poll|spawn|ucontext|"
	"sys/(epoll|mman|prctl|resource|socket|syscall|wait))\\.h>")
set(system_not_there
	api/affinity compat/thread # cpu_set_t
	compat/fp_control # flushing to zero
	compat/own_locks # its linker puts functions around those of others
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
		sennit_header("${header}" ${folder} beside)
		if(beside AND NOT beside MATCHES "/misuse.h$")
			sennit_system_needs(${beside} needs)
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
		get_filename_component(name ${file} NAME_WE)
		get_filename_component(folder ${file} DIRECTORY)
		get_filename_component(folder ${folder} NAME)
		if(file MATCHES "/(cpp|marl)/test/")
			set(folder ${CMAKE_MATCH_1})
			string(REPLACE marl compat folder ${folder})
		endif()
		set(name ${folder}/${name})
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
	file(STRINGS ${file} lines REGEX "^#include \"(testing/misuse|wills)\\.h\"")
	if(lines)
		target_compile_options(${target} PRIVATE "SHELL:-include \
${sennit_root}/testing/again/misuse.h")
	endif()
endfunction()

# What a test needs beside its own file; likewise one in C++.
function(sennit_system_posix target)
	if(NOT WIN32)
		return()
	endif()
	if(NOT TARGET test_posix)
		add_library(test_posix STATIC
			${sennit_root}/core/test/windows/posix/posix.c
			${sennit_root}/core/test/windows/posix/again.c)
		target_compile_options(test_posix INTERFACE "SHELL:-include \
${sennit_root}/core/test/windows/posix/posix.h")
	endif()
	target_link_libraries(${target} PRIVATE test_posix)
endfunction()

function(sennit_system_test target file)
	if(NOT WIN32)
		return()
	endif()
	sennit_system_posix(${target})
	target_include_directories(${target} PRIVATE
		${sennit_root}/core/test/windows/posix)
	sennit_runs_again(${target} ${file})
endfunction()
