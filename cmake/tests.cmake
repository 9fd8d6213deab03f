# SPDX-License-Identifier: Apache-2.0
# Tests: the functions with which a product's CMakeLists.txt adds them. To add a
# test, add a file:
#	core/test/<group>/<x>.c   part of a program for the folder, run as
#	                     <group>/<x>: `test_<group> <x>`, or `test_<group> <x>
#	                     CASE`; a program of its own if it stands in for
#	                     functions of libc. Its cases register themselves:
#	                     testing/test.h
#	core/test/explore, io/test/explore, programs/test/explore
#	                     the same, only in builds with SENNIT_DETERMINISTIC;
#	                     these leave out the other groups, whose threads do not
#	                     take turns
#	core/test/programs   one program, which makes programs by seeds: run as
#	                     explore/programs, and in the other builds as
#	                     stress/programs
#	core/test/litmus/<x>.c    a program without the library, run as litmus/<x>
#	core/test/litmus/weak     questions to herd7, all run as litmus/weak
#	core/test/soak/<x>.c      part of one program, sennit-soak, run as soak/all
#	core/test/model/<x>.pml   a protocol, with its runs in model/run.sh
#	core/test/budget     instructions per operation, run as budget/all; and
#	                     beside few and many fibers, as budget/bystanders
#	core/test/cachelines cache lines that move per operation, run as
#	                     explore/cachelines
#	io/test/<x>.c        with libsennit-io, run as io/<x>-epoll, io/<x>-uring
#	                     and, where a filter refuses io_uring, io/<x>-refused
#	io/test/foreign/<x>.sh    a script that runs an example against a real
#	                     server, as foreign/<x>
#	tls/test/<x>.c       with libsennit-tls, run as tls/<x>-epoll, tls/<x>-uring
#	diag/test/<x>.c      with libsennit-diag, run as diag/<x>; core/test/api/<x>.c
#	                     with it under SENNIT_DEBUG, run as watched/<x>
#	diag/test/top, trace_tool, debug    sennit-top on a terminal, sennit-trace,
#	                     the scenarios of diag/docs/debugging.md
#	mpi/test/<x>.c       with libsennit-mpi and each MPI, as several processes
#	cpp/test/<x>.cpp     with googletest, run as cpp/<x>
#	marl/test/<x>.cpp    likewise, run as compat/<x>
#	programs/test, python/test, rust/test    their own
#	testing/build/<x>.sh      a script, run as build/<x>; package and manual
#	                     likewise
#	tools/check-<x>      a script, run as check/<x>
# testing/script.sh is what the scripts share. A test that exits with 77 was
# skipped, and prints the reason.

include(${CMAKE_CURRENT_LIST_DIR}/platform_tests.cmake)

# Only a test that hangs takes this long, even on a busy machine.
set(timeout 600)
if(SENNIT_SANITIZE OR SENNIT_DETERMINISTIC
	OR SENNIT_TEST_WRAPPER OR CMAKE_CROSSCOMPILING)
	set(timeout 900)
endif()

# Approximate seconds. The longest tests start first, so that none runs alone at
# the end.
set(cost_model 10)
set(cost_soak 50)
set(cost_check 20)
set(cost_build 20)
set(cost_budget 20)
set(cost_package 30)
set(cost_explore 20)
set(cost_os 10)
set(cost_foreign 10)
set(cost_stress 5)
set(long api/leftovers api/loop api/memory api/process_exit
	api/report_changes)

set(runner ${SENNIT_TEST_WRAPPER})
if(CMAKE_CROSSCOMPILING AND NOT runner)
	set(runner ${CMAKE_CROSSCOMPILING_EMULATOR})
endif()
# Contexts are threads for ThreadSanitizer: it would end each child. And it sees
# memory of OpenSSL, but not what orders its accesses.
if(sanitize_race)
	set(runner ${CMAKE_COMMAND} -E env
		TSAN_OPTIONS=die_after_fork=0:ignore_noninstrumented_modules=1)
endif()

find_path(CMOCKA_INCLUDE_DIR cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)

function(sennit_test group name)
	add_test(NAME ${group}/${name} COMMAND ${ARGN})
	set_tests_properties(${group}/${name} PROPERTIES
		LABELS ${group} TIMEOUT ${timeout} SKIP_RETURN_CODE 77
		# no watch of its own in builds with assertions: programs that
		# are tested count threads and system calls
		ENVIRONMENT_MODIFICATION SENNIT_DEBUG=set:)
	if(DEFINED cost_${group})
		set_tests_properties(${group}/${name} PROPERTIES
			COST ${cost_${group}})
	elseif(${group}/${name} IN_LIST long)
		set_tests_properties(${group}/${name} PROPERTIES COST 10)
	endif()
endfunction()

# Leave these tests, as far as they exist, to the night (tools/nightly). They are
# of the folder that calls this.
function(sennit_at_night)
	foreach(test IN LISTS ARGN)
		if(TEST ${test})
			set_property(TEST ${test} APPEND PROPERTY LABELS night)
		endif()
	endforeach()
endfunction()

# sennit_python_tests(GROUP SHARED [VARIABLE=VALUE...]): test/GROUP/<x>.py, run
# as GROUP/<x> in this environment. SHARED.py is what they share.
function(sennit_python_tests group shared)
	file(GLOB files CONFIGURE_DEPENDS test/${group}/*.py ${group}/*.py)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		if(name STREQUAL "${shared}")
			continue()
		endif()
		sennit_test(${group} ${name} ${SENNIT_PYTHON} ${file})
		set_property(TEST ${group}/${name} PROPERTY ENVIRONMENT
			PYTHONDONTWRITEBYTECODE=1 ${ARGN})
	endforeach()
endfunction()

# Removes the tests of the other technique from a list of files. All other tests
# are the same for both.
set(end_tests_gate unit/gate unit/domain stress/gate_last_out litmus/gate)
set(end_tests_count unit/gate_count litmus/gate_count)
function(sennit_end_tests files_of)
	set(result ${${files_of}})
	foreach(technique gate count)
		if(technique STREQUAL SENNIT_END)
			continue()
		endif()
		foreach(test IN LISTS end_tests_${technique})
			list(FILTER result EXCLUDE REGEX "/test/${test}\\.c$")
		endforeach()
	endforeach()
	set(${files_of} ${result} PARENT_SCOPE)
endfunction()

# Removes tests from builds in which the library is not instrumented: those that
# use internal names, because ThreadSanitizer does not see what its internal
# functions order.
function(sennit_race_tests files_of)
	if(NOT sanitize_race)
		return()
	endif()
	set(result "")
	foreach(file IN LISTS ${files_of})
		sennit_looks_inside(${file} inside)
		if(NOT inside)
			list(APPEND result ${file})
		endif()
	endforeach()
	set(${files_of} ${result} PARENT_SCOPE)
endfunction()

# Whether a test must be a program of its own: it defines a function of libc or
# of a sanitizer for the whole program, or other names that several tests have.
function(sennit_test_is_alone file out)
	set(words "RTLD_NEXT|__lsan_|__tsan_|__wrap_")
	string(APPEND words "|^(int|ssize_t|long) [*]?[A-Za-z][A-Za-z0-9_]*\\(")
	sennit_mentions(${file} "${words}" found)
	if(file MATCHES "/os/(planted_bugs|races)") # they run themselves
		set(found ON)
	endif()
	set(${out} ${found} PARENT_SCOPE)
endfunction()

# sennit_test_programs(GROUP FILE...): the programs of a folder's tests. In
# `programs` are then their targets; for each of the tests, `name`,
# run_<name> is the command that runs it. There are at most two programs for
# several tests: one uses internal names.
function(sennit_test_programs group)
	set(made "")
	set(plain test_${group})
	set(inside test_${group}_inside)
	set(files_plain "")
	set(files_inside "")
	foreach(file IN LISTS ARGN)
		get_filename_component(name ${file} NAME_WE)
		sennit_test_is_alone(${file} alone)
		if(system OR SENNIT_DETERMINISTIC OR alone)
			set(program test_${group}_${name})
			sennit_program(${program} ${file} ${parts_${group}})
			sennit_system_test(${program} ${file})
			set_target_properties(${program} PROPERTIES
				RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test/${group}
				OUTPUT_NAME ${name})
			list(APPEND made ${program})
			set(run_${name} $<TARGET_FILE:${program}> PARENT_SCOPE)
			continue()
		endif()
		set(kind plain)
		sennit_looks_inside(${file} looks)
		if(looks)
			set(kind inside)
		endif()
		list(APPEND files_${kind} ${file})
		set(run_${name} $<TARGET_FILE:${${kind}}> ${name} PARENT_SCOPE)
	endforeach()
	foreach(kind plain inside)
		if(NOT files_${kind})
			continue()
		endif()
		set(program ${${kind}})
		sennit_program(${program} ${files_${kind}} ${parts_${group}})
		set_target_properties(${program} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test)
		list(APPEND made ${program})
	endforeach()
	foreach(program IN LISTS made)
		sennit_cases(${program})
	endforeach()
	set(programs ${made} PARENT_SCOPE)
endfunction()

# sennit_product_tests(GROUP [FOLDER f] PARTS p... [LIBRARIES l...]
#	[BACKENDS b...]): the tests f/<x>.c of a product, f being "test" if it is
# not given, each with the objects of the products p. They are run as GROUP/<x>;
# with backends as GROUP/<x>-<backend>, once for each. `programs` are then their
# targets.
function(sennit_product_tests group)
	cmake_parse_arguments(PARSE_ARGV 1 its "" FOLDER
		"PARTS;LIBRARIES;BACKENDS")
	set(programs "" PARENT_SCOPE)
	if(NOT build_tests OR NOT CMOCKA_INCLUDE_DIR OR NOT CMOCKA_LIBRARY)
		return()
	endif()
	if(NOT its_FOLDER)
		set(its_FOLDER test)
	endif()
	file(GLOB files CONFIGURE_DEPENDS ${its_FOLDER}/*.c)
	sennit_static_tests(files)
	sennit_race_tests(files)
	set(parts_${group} "")
	foreach(part IN LISTS its_PARTS)
		list(APPEND parts_${group} $<TARGET_OBJECTS:sennit_${part}_objects>)
	endforeach()
	sennit_test_programs(${group} ${files})
	foreach(program IN LISTS programs)
		target_link_libraries(${program} PRIVATE ${its_LIBRARIES})
	endforeach()
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		if(NOT its_BACKENDS)
			sennit_test(${group} ${name} ${runner} ${run_${name}})
		endif()
		foreach(backend IN LISTS its_BACKENDS)
			set(test ${name}-${backend})
			sennit_test(${group} ${test} ${runner} ${run_${name}})
			set_property(TEST ${group}/${test} PROPERTY ENVIRONMENT
				SENNIT_TEST_IO=${backend})
		endforeach()
	endforeach()
	set(programs ${programs} PARENT_SCOPE)
endfunction()

# The program's cases register themselves with testing/main.c.
function(sennit_cases program)
	if(NOT TARGET test_main)
		add_library(test_main OBJECT ${sennit_root}/testing/main.c)
		target_link_libraries(test_main PRIVATE sennit_flags)
		target_include_directories(test_main PRIVATE
			${sennit_root})
		target_include_directories(test_main SYSTEM PRIVATE
			${CMOCKA_INCLUDE_DIR})
	endif()
	target_sources(${program} PRIVATE $<TARGET_OBJECTS:test_main>)
	target_include_directories(${program} SYSTEM PRIVATE
		${CMOCKA_INCLUDE_DIR})
	target_link_libraries(${program} PRIVATE ${CMOCKA_LIBRARY})
endfunction()

# Scripts look at the plain build of this machine.
set(build_scripts ${build_checks})
if(SENNIT_SANITIZE OR SENNIT_DETERMINISTIC OR CMAKE_CROSSCOMPILING)
	set(build_scripts OFF)
endif()

# sennit_script(GROUP NAME COMMAND...)
function(sennit_script group name script)
	sennit_test(${group} ${name} ${script} ${ARGN})
	set_tests_properties(${group}/${name} PROPERTIES
		WORKING_DIRECTORY ${sennit_root})
	list(TRANSFORM sennit_includes PREPEND -I OUTPUT_VARIABLE includes)
	list(JOIN includes " " includes)
	set(env "CC=${CMAKE_C_COMPILER};CXX=${SENNIT_CXX}" "INCLUDES=${includes}"
		SENNIT_ARCH=${arch}
		SOURCE_DIR=${sennit_root} BUILD_DIR=${sennit_build}
		LIB_STATIC=$<TARGET_FILE:sennit_static>
		LIB_INTERNAL=$<TARGET_FILE:sennit_internal>
		LOCALISED=${localised}
		LIB_SHARED=$<TARGET_FILE:sennit>)
	if(TARGET sennit_io)
		list(APPEND env LIB_IO=$<TARGET_FILE:sennit_io>)
	endif()
	if(TARGET sennit_diag)
		list(APPEND env LIB_DIAG=$<TARGET_FILE:sennit_diag>
			"LIB_DW=$<$<BOOL:${SENNIT_DW}>:-ldw -lelf>")
	endif()
	set_property(TEST ${group}/${name} PROPERTY ENVIRONMENT "${env}")
endfunction()

# An example run as a test must exit with 0 without arguments.
function(sennit_example name)
	if(build_tests)
		sennit_test(example ${name} ${runner} ${ARGN})
	endif()
endfunction()

# The same with the further libraries under test; not for programs that link
# more than sennit.
function(sennit_example_twins name)
	sennit_twins(example_${name})
	foreach(twin IN LISTS twins)
		sennit_example(${name}-${twin}
			$<TARGET_FILE:example_${name}_${twin}>)
	endforeach()
endfunction()

# Those of libsennit-io.
set(backends epoll uring)
if(SENNIT_DETERMINISTIC)
	set(backends simulated)
endif()

# Examples that need more than sennit, or a peer: examples/<x>*.c of the product
# are one, built where its library is found, and run by io/test/foreign/<x>.sh
# against a real peer, by epoll and by io_uring, as the test foreign/<x>. One
# without a script needs no peer, and is run as the others are.
#
# sennit_foreign(name builds modules of pkg-config...)
#
# builds: ALL; NATIVE: not under a wrapper (valgrind); PLAIN: with neither
# wrapper nor sanitizer, for what takes seconds or many processes.
function(sennit_foreign name builds)
	if(CMAKE_CROSSCOMPILING)
		return()
	endif()
	find_package(PkgConfig QUIET)
	if(SENNIT_TEST_WRAPPER)
		set(tool "${SENNIT_TEST_WRAPPER}")
		string(REPLACE ";" " " tool "${tool}")
	endif()
	set(missing "")
	if(NOT PkgConfig_FOUND)
		set(missing pkg-config)
	else()
		foreach(module IN LISTS ARGN)
			pkg_check_modules(SENNIT_${module} QUIET
				IMPORTED_TARGET ${module})
			if(NOT SENNIT_${module}_FOUND)
				set(missing ${module})
			endif()
		endforeach()
	endif()
	if(missing)
		message(STATUS
			"${missing} not found: example io/${name} left out")
		return()
	endif()
	file(GLOB files CONFIGURE_DEPENDS examples/${name}*.c)
	add_executable(example_io_${name} ${files})
	target_link_libraries(example_io_${name} PRIVATE
		sennit::io sennit_flags ${example_${name}_needs})
	target_include_directories(example_io_${name} PRIVATE
		${sennit_root}/core/examples/calls)
	foreach(module IN LISTS ARGN)
		target_link_libraries(example_io_${name} PRIVATE
			PkgConfig::SENNIT_${module})
	endforeach()
	set_target_properties(example_io_${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/examples)
	if(NOT build_tests)
		return()
	endif()
	set(script ${sennit_root}/io/test/foreign/${name}.sh)
	if((NOT builds STREQUAL ALL AND SENNIT_TEST_WRAPPER) OR
		(builds STREQUAL PLAIN AND
			(SENNIT_SANITIZE OR NOT build_checks)))
		return()
	endif()
	if(EXISTS ${script})
		sennit_test(foreign ${name} sh ${script}
			$<TARGET_FILE:example_io_${name}>)
		set_tests_properties(foreign/${name} PROPERTIES
			LABELS "foreign;heavy" ENVIRONMENT "TOOL=${tool}")
		return()
	endif()
	foreach(backend IN ITEMS epoll uring)
		sennit_example(io_${name}-${backend}
			$<TARGET_FILE:example_io_${name}>)
		set_property(TEST example/io_${name}-${backend} PROPERTY
			ENVIRONMENT SENNIT_IO=${backend})
	endforeach()
endfunction()
