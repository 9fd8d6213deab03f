# SPDX-License-Identifier: Apache-2.0
# Which tests run where: Windows and WebAssembly lack what some need, and programs
# that are linked statically cannot take the place of functions of shared
# libraries.

# --- libc ----------------------------------------------------------------------

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

# --- Windows -------------------------------------------------------------------

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

# --- WebAssembly ---------------------------------------------------------------

# Tests of WebAssembly: test/unit, test/api, test/wasm and examples, compiled
# into one program, because emscripten takes most of a minute to link one. Its
# first argument is the name of the test, such as api/mutex. test/wasm/LEFT_OUT
# says which tests and cases it does not run, and why.
function(sennit_wasm_tests)
	set(SENNIT_WASM_TESTS "" CACHE STRING "Those to build (a ;-list); empty: all")

	set(list ${PROJECT_SOURCE_DIR}/test/wasm/LEFT_OUT)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
	file(STRINGS ${list} left_out REGEX "^[a-z]")
	list(TRANSFORM left_out REPLACE " .*" "")
	foreach(entry IN LISTS left_out)
		string(REGEX REPLACE ":.*" "" name ${entry})
		if(NOT EXISTS ${PROJECT_SOURCE_DIR}/test/${name}.c
			AND NOT EXISTS ${PROJECT_SOURCE_DIR}/${name}.c)
			message(FATAL_ERROR "test/wasm/LEFT_OUT: no test ${name}")
		endif()
	endforeach()

	add_executable(sennit-tests test/main.c test/wasm/again.c test/wasm/fork.c
		test/wasm/programs.c)
	target_link_libraries(sennit-tests PRIVATE sennit_internal ${CMOCKA_LIBRARY} m)

	# cmocka.h would declare uintptr_t once more, as another type.
	add_library(test_flags INTERFACE)
	target_compile_definitions(test_flags INTERFACE _UINTPTR_T_DEFINED)
	target_include_directories(test_flags SYSTEM INTERFACE ${CMOCKA_INCLUDE_DIR})
	target_link_libraries(test_flags INTERFACE sennit_flags)
	target_link_libraries(sennit-tests PRIVATE test_flags)
	# The memory does not grow: programs with threads access it more slowly if it
	# may. malloc() returns NULL when it is used up, as elsewhere.
	target_link_options(sennit-tests PRIVATE -sINITIAL_MEMORY=1024MB
		-sABORTING_MALLOC=0 -sDEFAULT_PTHREAD_STACK_SIZE=256KB -Wl,--wrap=fork
		"SHELL:--js-library ${PROJECT_SOURCE_DIR}/test/wasm/again.js")

	set(timeout 300) # a worker of node that hangs may take much memory

	# The examples, with other names for their main().
	set(programs "")
	# Those that a browser runs too. Tests of misuse start node, and the clock that a
	# browser's threads share is not CLOCK_MONOTONIC.
	set(in_browser "")
	function(sennit_wasm_test group name file)
		if(${group}/${name} IN_LIST left_out OR SENNIT_WASM_TESTS AND
			NOT ${group}/${name} IN_LIST SENNIT_WASM_TESTS)
			return()
		endif()
		set(but ${left_out})
		list(FILTER but INCLUDE REGEX "^${group}/${name}:")
		string(REGEX REPLACE "^[^:]*:" "" but "${but}")
		set(part part_${group}_${name})
		add_library(${part} OBJECT ${file})
		target_link_libraries(${part} PRIVATE test_flags)
		target_include_directories(${part} PRIVATE test/unit/without_ucontext
			test/wasm)
		if(but)
			target_compile_definitions(${part} PRIVATE
				TEST_LEFT_OUT="${but}")
		endif()
		if(group STREQUAL "examples")
			file(STRINGS ${file} with_arguments REGEX "^int main\\(int ")
			set(form PLAIN)
			if(with_arguments)
				set(form WITH_ARGUMENTS)
			endif()
			set(programs "${programs}${form}(${name})\n" PARENT_SCOPE)
			target_compile_definitions(${part} PRIVATE
				main=main_examples_${name})
			target_compile_options(${part} PRIVATE
				-Wno-missing-prototypes)
		endif()
		sennit_runs_again(${part} ${file})
		get_target_property(options ${part} COMPILE_OPTIONS)
		if(NOT group STREQUAL "examples" AND NOT name STREQUAL "time"
			AND NOT "${options}" MATCHES "test/again/misuse.h")
			set(in_browser ${in_browser} ${group}/${name} PARENT_SCOPE)
		endif()
		target_sources(sennit-tests PRIVATE $<TARGET_OBJECTS:${part}>)
		sennit_test(${group} ${name} ${runner} $<TARGET_FILE:sennit-tests>
			${group}/${name})
	endfunction()

	foreach(group unit api wasm)
		file(GLOB files CONFIGURE_DEPENDS test/${group}/*.c)
		list(FILTER files EXCLUDE REGEX "/wasm/(again|fork|programs).c$")
		sennit_end_tests(files)
		foreach(file IN LISTS files)
			get_filename_component(name ${file} NAME_WE)
			sennit_wasm_test(${group} ${name} ${file})
		endforeach()
	endforeach()
	file(GLOB files CONFIGURE_DEPENDS examples/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_wasm_test(examples ${name} ${file})
	endforeach()
	file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/wasm/programs.inc
		CONTENT "${programs}")
	target_include_directories(sennit-tests PRIVATE ${PROJECT_BINARY_DIR}/wasm)

	sennit_test(wasm installed sh ${PROJECT_SOURCE_DIR}/test/wasm/installed.sh
		${PROJECT_BINARY_DIR})
	set(timeout 900)
	if(SENNIT_PYTHON)
		sennit_test(wasm browser ${SENNIT_PYTHON} test/wasm/browser.py
			$<TARGET_FILE:sennit-tests> ${in_browser})
		set_property(TEST wasm/browser PROPERTY
			WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
		set_property(TEST wasm/browser PROPERTY COST 100)
	endif()
endfunction()
