# SPDX-License-Identifier: Apache-2.0
# To add a test, add a file:
#	test/<group>/<x>.c   part of a program for the folder, run as <group>/<x>:
#	                     `test_<group> <x>`, or `test_<group> <x> CASE`; a
#	                     program of its own if it stands in for functions of
#	                     libc. Its cases register themselves: test/test.h
#	test/io/<x>.c        the same with libsennit-io, run as io/<x>-epoll,
#	                     io/<x>-uring and, where a filter refuses io_uring,
#	                     io/<x>-refused
#	test/tls/<x>.c       the same with libsennit-tls, run as tls/<x>-epoll and
#	                     tls/<x>-uring
#	test/diag/<x>.c      the same with libsennit-diag, run as diag/<x>
#	test/mpi/<x>.c       the same with libsennit-mpi and each MPI, as several
#	                     processes: program_tests.cmake
#	test/top/<x>.py      sennit-top on a terminal: tools.cmake
#	test/debug           the scenarios of docs/debugging.md: examples.cmake
#	test/guides          the programs of the guides: examples.cmake
#	test/litmus/<x>.c    a program without the library, run as litmus/<x>
#	test/litmus/weak     questions to herd7, all run as litmus/weak
#	test/compat/<x>.cpp  the same in C++, with googletest
#	test/cpp/<x>.cpp     likewise
#	test/explore/<x>.c   the same, only in builds with
#	                     SENNIT_DETERMINISTIC; these leave out the other
#	                     groups, whose threads do not take turns;
#	                     network*.c need libsennit-io
#	test/soak/<x>.c      part of one program, sennit-soak, run as soak/all
#	test/foreign/<x>.sh  a script that runs a program of examples/io
#	                     against a real server: examples.cmake
#	test/build/<x>.sh    a script, run as build/<x>
#	test/package/<x>.sh  a script, run as package/<x>; of CI's builds, by one
#	bindings             their own: bindings.cmake
#	test/manual/<x>.sh   likewise, run as manual/<x>
#	test/model/<x>.pml   a protocol, with its runs in test/model/run.sh
#	test/budget          instructions per operation, run as budget/all
#	test/cachelines      cache lines that move per operation, run as
#	                     explore/cachelines
#	tools/check-<x>      a script, run as check/<x>
# test/script.sh is what the scripts share. A test that exits with 77 was
# skipped, and prints the reason.

include(cmake/platform_tests.cmake)

# Only a test that hangs takes this long, even on a busy machine.
set(timeout 600)
if(SENNIT_SANITIZE OR SENNIT_DETERMINISTIC
	OR SENNIT_TEST_WRAPPER OR CMAKE_CROSSCOMPILING)
	set(timeout 900)
endif()

# Its bugs are for AddressSanitizer, which would be the second to report.
if(sanitize_undefined)
	set_source_files_properties(test/os/planted_bugs.c PROPERTIES
		COMPILE_OPTIONS -fno-sanitize=undefined)
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
	api/report_changes api/wait)

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

function(sennit_test group name)
	add_test(NAME ${group}/${name} COMMAND ${ARGN})
	set_tests_properties(${group}/${name} PROPERTIES
		LABELS ${group} TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
	if(DEFINED cost_${group})
		set_tests_properties(${group}/${name} PROPERTIES
			COST ${cost_${group}})
	elseif(${group}/${name} IN_LIST long)
		set_tests_properties(${group}/${name} PROPERTIES COST 10)
	endif()
endfunction()

# sennit_python_tests(GROUP SHARED [VARIABLE=VALUE...]): test/GROUP/<x>.py, run
# as GROUP/<x> in this environment. SHARED.py is what they share.
function(sennit_python_tests group shared)
	file(GLOB files CONFIGURE_DEPENDS test/${group}/*.py)
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
# use internal names, because it does not tell what its own functions order.
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
				RUNTIME_OUTPUT_DIRECTORY test/${group}
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
			RUNTIME_OUTPUT_DIRECTORY test)
		list(APPEND made ${program})
	endforeach()
	foreach(program IN LISTS made)
		sennit_cases(${program})
	endforeach()
	set(programs ${made} PARENT_SCOPE)
endfunction()

# The program's cases register themselves with test/main.c.
function(sennit_cases program)
	if(NOT TARGET test_main)
		add_library(test_main OBJECT test/main.c)
		target_link_libraries(test_main PRIVATE sennit_flags)
		target_include_directories(test_main SYSTEM PRIVATE
			${CMOCKA_INCLUDE_DIR})
	endif()
	target_sources(${program} PRIVATE $<TARGET_OBJECTS:test_main>)
	target_include_directories(${program} SYSTEM PRIVATE
		${CMOCKA_INCLUDE_DIR})
	target_link_libraries(${program} PRIVATE ${CMOCKA_LIBRARY})
endfunction()

# --- test/unit, test/api, test/stress, test/os --------------------------------------

find_path(CMOCKA_INCLUDE_DIR cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)
if(build_tests AND NOT (CMOCKA_INCLUDE_DIR AND CMOCKA_LIBRARY))
	message(STATUS "cmocka not found: test/unit, api, stress, os are left out")
elseif(build_tests AND EMSCRIPTEN)
	sennit_wasm_tests()
elseif(build_tests)
	set(groups ${test_groups})
	list(REMOVE_ITEM groups litmus soak) # see below
	if(SENNIT_DETERMINISTIC)
		set(groups explore)
	endif()
	sennit_system_groups(groups)
	foreach(group IN LISTS groups)
		file(GLOB files CONFIGURE_DEPENDS test/${group}/*.c)
		if(NOT TARGET sennit_io)
			list(FILTER files EXCLUDE REGEX "/network[^/]*$")
		elseif(NOT TARGET sennit-httpd)
			list(FILTER files EXCLUDE REGEX "/network_httpd.c$")
		endif()
		sennit_end_tests(files)
		sennit_system_tests(files)
		sennit_static_tests(files)
		sennit_race_tests(files)
		set(parts_${group} "")
		if(TARGET sennit_io AND SENNIT_DETERMINISTIC)
			set(parts_${group} $<TARGET_OBJECTS:sennit_io_objects>)
		endif()
		sennit_test_programs(${group} ${files})
		foreach(program IN LISTS programs)
			if(group STREQUAL "unit")
				target_include_directories(${program} PRIVATE
					${ucontext_tests})
			endif()
			if(program STREQUAL "test_unit_inside")
				file(GLOB portable ${ucontext_tests}/*.c)
				target_sources(${program} PRIVATE ${portable})
			endif()
			if(program MATCHES "network_httpd")
				file(GLOB httpd programs/http/*.c
					programs/httpd/*.c)
				list(FILTER httpd EXCLUDE REGEX "/main.c$")
				target_sources(${program} PRIVATE ${httpd})
				target_include_directories(${program} PRIVATE
					programs
					${SENNIT_HTTP_PARSER_H})
				target_link_libraries(${program} PRIVATE
					${SENNIT_HTTP_PARSER})
			endif()
		endforeach()
		foreach(file IN LISTS files)
			get_filename_component(name ${file} NAME_WE)
			sennit_test(${group} ${name} ${runner} ${run_${name}})
		endforeach()
	endforeach()
endif()

# --- test/cachelines: in the build with SENNIT_DETERMINISTIC ------------------------

# test/cachelines: the library once more, compiled so that each access to memory
# calls a function (-fsanitize=thread, without the sanitizer's library) and for
# one thread at a time. It counts cache lines that move between processors.
# gcc only: clang offers no way to be asked without saying that the sanitizer is
# there, which changes the library.
function(sennit_cachelines)
	if(NOT CMAKE_C_COMPILER_ID STREQUAL GNU OR SENNIT_SANITIZE OR system
		OR CMAKE_CROSSCOMPILING)
		message(STATUS "not gcc for this machine: left out: test/cachelines")
		return()
	endif()

	set(traced ${sources})
	list(FILTER traced EXCLUDE REGEX "base/determinism")
	add_library(sennit_traced OBJECT ${traced}
		test/cachelines/operations.c test/cachelines/waits.c)
	file(GLOB files CONFIGURE_DEPENDS test/cachelines/*.c)
	list(FILTER files EXCLUDE REGEX "/(operations|waits).c$")
	add_executable(test_cachelines ${files} $<TARGET_OBJECTS:sennit_traced>)
	foreach(target sennit_traced test_cachelines)
		target_link_libraries(${target} PRIVATE sennit_flags)
		target_compile_definitions(${target} PRIVATE SENNIT_DETERMINISTIC
			SENNIT_USUAL_LIMITS NDEBUG)
		# as in a release
		target_compile_options(${target} PRIVATE -O2 -fno-pie
			-USENNIT_SPAWN_SITES)
	endforeach()
	target_compile_options(sennit_traced PRIVATE $<$<COMPILE_LANGUAGE:C>:
		-fsanitize=thread -U__SANITIZE_THREAD__ -Wno-tsan>)
	target_link_options(test_cachelines PRIVATE -no-pie)
	target_link_libraries(test_cachelines PRIVATE Threads::Threads m
		${CMAKE_DL_LIBS})
	set_target_properties(test_cachelines PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY test OUTPUT_NAME cachelines)
endfunction()
if(build_tests AND SENNIT_DETERMINISTIC)
	sennit_cachelines()
	if(TARGET test_cachelines)
		sennit_test(explore cachelines
			$<TARGET_FILE:test_cachelines> --check)
	endif()
endif()

# --- test/io: as test/api, with libsennit-io, once with each backend -----------------

if(build_tests AND NOT SENNIT_DETERMINISTIC AND TARGET sennit_io
	AND CMOCKA_INCLUDE_DIR AND CMOCKA_LIBRARY)
	file(GLOB files CONFIGURE_DEPENDS test/io/*.c)
	sennit_static_tests(files)
	sennit_race_tests(files)
	set(parts_io $<TARGET_OBJECTS:sennit_io_objects>)
	sennit_test_programs(io ${files})
	foreach(program IN LISTS programs)
		target_link_libraries(${program} PRIVATE ${SENNIT_URING})
		if(program STREQUAL "test_io_steps") # between which it acts
			target_link_options(${program} PRIVATE
				LINKER:--wrap=epoll_ctl
				LINKER:--wrap=sennit_yield
				LINKER:--wrap=sennit_sleep_until
				LINKER:--wrap=sennit_poller_wait
				LINKER:--wrap=sennit_blocking_call_until)
		endif()
	endforeach()
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		foreach(backend IN ITEMS epoll uring refused)
			sennit_test(io ${name}-${backend}
				${runner} ${run_${name}})
			set_property(TEST io/${name}-${backend} PROPERTY
				ENVIRONMENT SENNIT_TEST_IO=${backend})
		endforeach()
	endforeach()
endif()

# --- test/tls: as test/io, with libsennit-tls ----------------------------------------

if(build_tests AND TARGET sennit_tls AND CMOCKA_INCLUDE_DIR
	AND CMOCKA_LIBRARY)
	file(GLOB files CONFIGURE_DEPENDS test/tls/*.c)
	sennit_static_tests(files)
	sennit_race_tests(files)
	set(parts_tls $<TARGET_OBJECTS:sennit_tls_objects>
		$<TARGET_OBJECTS:sennit_io_objects>)
	sennit_test_programs(tls ${files})
	foreach(program IN LISTS programs)
		target_link_libraries(${program} PRIVATE ${SENNIT_URING}
			OpenSSL::SSL OpenSSL::Crypto)
	endforeach()
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		foreach(backend IN ITEMS epoll uring)
			sennit_test(tls ${name}-${backend}
				${runner} ${run_${name}})
			set_property(TEST tls/${name}-${backend} PROPERTY
				ENVIRONMENT SENNIT_TEST_IO=${backend})
		endforeach()
	endforeach()
endif()

# --- test/diag: as test/api, with libsennit-diag -------------------------------------

if(build_tests AND TARGET sennit_diag AND CMOCKA_INCLUDE_DIR
	AND CMOCKA_LIBRARY)
	file(GLOB files CONFIGURE_DEPENDS test/diag/*.c)
	sennit_static_tests(files)
	sennit_race_tests(files)
	set(parts_diag $<TARGET_OBJECTS:sennit_diag_objects>)
	sennit_test_programs(diag ${files})
	foreach(program IN LISTS programs)
		target_link_libraries(${program} PRIVATE
			${CMAKE_DL_LIBS} ${SENNIT_DW})
		if(SENNIT_DW)
			target_compile_definitions(${program} PRIVATE
				SENNIT_HAVE_LIBDW)
		endif()
	endforeach()
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_test(diag ${name} ${runner} ${run_${name}})
	endforeach()
endif()

# --- test/litmus: each includes what it is about ------------------------------------

if(build_tests AND NOT SENNIT_HAS_GETCONTEXT)
	message(STATUS "no getcontext(): left out: test/litmus")
elseif(build_tests AND NOT SENNIT_DETERMINISTIC AND NOT sanitize_race
	AND litmus IN_LIST test_groups)
	file(GLOB files CONFIGURE_DEPENDS test/litmus/*.c)
	sennit_end_tests(files)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		set(program test_litmus_${name})
		add_executable(${program} ${file})
		target_compile_definitions(${program} PRIVATE
			LITMUS_ROUNDS=100000)
		target_link_libraries(${program} PRIVATE sennit_flags)
		set_target_properties(${program} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY test/litmus
			OUTPUT_NAME ${name})
		sennit_test(litmus ${name} ${runner} $<TARGET_FILE:${program}>)
	endforeach()
endif()

# --- test/soak: sennit-soak, for ten seconds ----------------------------------------

if(build_tests AND NOT SENNIT_DETERMINISTIC AND NOT system
	AND soak IN_LIST test_groups)
	file(GLOB files CONFIGURE_DEPENDS test/soak/*.c)
	sennit_program(sennit-soak ${files})
	sennit_test(soak all ${runner} $<TARGET_FILE:sennit-soak> --seconds 10)
endif()

# --- test/compat, test/cpp --------------------------------------------------------

find_path(GTEST_INCLUDE_DIR gtest/gtest.h)
find_library(GTEST_LIBRARY gtest)

# A program of these files of test/<group>, as C++<standard>; and its tests.
function(sennit_cxx_tests program group standard)
	set(suffix "")
	if(NOT standard EQUAL 17)
		set(suffix -c++${standard})
	endif()
	string(APPEND program ${suffix})
	sennit_cxx_program(${program} ${standard} test/main.cpp ${ARGN})
	target_include_directories(${program} SYSTEM PRIVATE
		${GTEST_INCLUDE_DIR})
	target_link_libraries(${program} PRIVATE ${GTEST_LIBRARY})
	sennit_system_posix(${program})
	# The headers that all of them include, compiled once per standard.
	get_property(first GLOBAL PROPERTY sennit_precompiled_${standard})
	if(first)
		target_precompile_headers(${program} REUSE_FROM ${first})
	else()
		set_property(GLOBAL PROPERTY sennit_precompiled_${standard}
			${program})
		target_precompile_headers(${program} PRIVATE <gtest/gtest.h>
			<atomic> <chrono> <functional> <memory> <string>
			<thread> <vector>)
	endif()
	set_target_properties(${program} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY test)
	sennit_twins(${program} ${GTEST_LIBRARY})
	foreach(file IN LISTS ARGN)
		get_filename_component(name ${file} NAME_WE)
		sennit_test(${group} ${name}${suffix}
			${runner} $<TARGET_FILE:${program}> ${name})
		foreach(twin IN LISTS twins)
			sennit_test(${group} ${name}${suffix}-${twin}
				${runner} $<TARGET_FILE:${program}_${twin}>
				${name})
		endforeach()
	endforeach()
endfunction()

# The same with libsennit-io, run once with each backend.
function(sennit_cxx_io_tests standard file)
	get_filename_component(name ${file} NAME_WE)
	set(program test_cpp_${name})
	sennit_cxx_program(${program} ${standard} test/main.cpp ${file})
	target_include_directories(${program} SYSTEM PRIVATE
		${GTEST_INCLUDE_DIR})
	target_link_libraries(${program} PRIVATE ${shipped_io}
		${GTEST_LIBRARY})
	get_property(first GLOBAL PROPERTY sennit_precompiled_${standard})
	target_precompile_headers(${program} REUSE_FROM ${first})
	set_target_properties(${program} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY test)
	foreach(backend IN ITEMS epoll uring)
		sennit_test(cpp ${name}-${backend}
			${runner} $<TARGET_FILE:${program}>)
		set_property(TEST cpp/${name}-${backend} PROPERTY
			ENVIRONMENT SENNIT_IO=${backend})
	endforeach()
endfunction()

if(build_tests AND NOT (GTEST_INCLUDE_DIR AND GTEST_LIBRARY AND SENNIT_CXX))
	message(STATUS "googletest not found: test/compat, cpp are left out")
elseif(build_tests AND build_cpp AND NOT SENNIT_DETERMINISTIC)
	foreach(group compat cpp)
		file(GLOB files CONFIGURE_DEPENDS test/${group}/*.cpp)
		sennit_system_tests(files)
		set(standard ${cxx_standard})
		if(group STREQUAL "cpp" AND standard MATCHES "^1[14]$")
			set(standard 17) # needed
		endif()
		foreach(kind IN ITEMS ${standard} 20)
			set(together_${kind} "")
		endforeach()
		foreach(file IN LISTS files)
			get_filename_component(name ${file} NAME_WE)
			set(standards ${standard})
			if(name STREQUAL "coroutine")
				set(standards 20)
			elseif(name STREQUAL "destroyed_first")
				# Coroutines are among its ways to start.
				list(APPEND standards 20)
				list(REMOVE_DUPLICATES standards)
			endif()
			# These need libsennit-io: see below.
			if(name MATCHES "^io")
				continue()
			endif()
			# These include the headers with other definitions.
			if(system OR name MATCHES "^(macros|ndebug)$")
				foreach(one IN LISTS standards)
					sennit_cxx_tests(test_${group}_${name}
						${group} ${one} ${file})
				endforeach()
			else()
				foreach(one IN LISTS standards)
					list(APPEND together_${one} ${file})
				endforeach()
			endif()
		endforeach()
		set(kinds ${standard} 20)
		list(REMOVE_DUPLICATES kinds)
		foreach(kind IN LISTS kinds)
			if(together_${kind})
				sennit_cxx_tests(test_${group} ${group} ${kind}
					${together_${kind}})
			endif()
		endforeach()
	endforeach()
	if(TARGET sennit_io AND NOT system AND NOT sanitize_helgrind)
		sennit_cxx_io_tests(17 test/cpp/io.cpp)
		sennit_cxx_io_tests(20 test/cpp/io_coroutine.cpp)
	endif()
endif()

# --- scripts: they look at the plain build of this machine --------------------------

if(NOT build_checks OR SENNIT_SANITIZE OR SENNIT_DETERMINISTIC
	OR CMAKE_CROSSCOMPILING)
	return()
endif()

if(SENNIT_PYTHON)
	sennit_test(litmus weak
		${SENNIT_PYTHON} ${PROJECT_SOURCE_DIR}/test/litmus/weak.py)
endif()

function(sennit_script group name script)
	sennit_test(${group} ${name} ${script} ${ARGN})
	set_tests_properties(${group}/${name} PROPERTIES
		WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
	set(env "CC=${CMAKE_C_COMPILER};CXX=${SENNIT_CXX}"
		SENNIT_ARCH=${arch}
		SOURCE_DIR=${PROJECT_SOURCE_DIR} BUILD_DIR=${PROJECT_BINARY_DIR}
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

foreach(group build package manual)
	file(GLOB files CONFIGURE_DEPENDS test/${group}/*.sh)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_script(${group} ${name} sh ${file})
	endforeach()
endforeach()
# It compiles hundreds of programs, and runs those of MPI.
if(TEST package/clean_room)
	set_tests_properties(package/clean_room PROPERTIES TIMEOUT 1800 COST 120
		RESOURCE_LOCK mpi)
endif()
# Each builds all of the library again: tools/nightly runs them.
foreach(test package/debian package/rpm package/wheel
		build/helgrind build/races)
	if(TEST ${test})
		set_property(TEST ${test} APPEND PROPERTY LABELS night)
		set_tests_properties(${test} PROPERTIES TIMEOUT 1200 COST 150)
	endif()
endforeach()
if(TEST build/races) # it runs the tests of five folders, too
	set_tests_properties(build/races PROPERTIES TIMEOUT 3600)
endif()

file(GLOB files CONFIGURE_DEPENDS tools/check-*)
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME)
	string(REPLACE check- "" name ${name})
	sennit_script(check ${name} sh ${file})
endforeach()

find_program(SPIN spin)
if(SPIN)
	file(GLOB files CONFIGURE_DEPENDS test/model/*.pml)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_script(model ${name} sh test/model/run.sh ${name})
		set_property(TEST model/${name} APPEND PROPERTY ENVIRONMENT
			SENNIT_MODEL_JOBS=1)
	endforeach()
elseif(NOT SPIN)
	message(STATUS "spin not found: test/model is left out")
endif()

# --- test/budget: only the release build's counts have budgets -----------------------

if(build_tests AND CMAKE_BUILD_TYPE STREQUAL Release)
	sennit_program(test_budget_operations test/budget/operations.c)
	set_target_properties(test_budget_operations PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY test/budget OUTPUT_NAME operations)
	string(REGEX MATCH "^[0-9]+" major ${CMAKE_C_COMPILER_VERSION})
	set(build "${CMAKE_C_COMPILER_ID} ${major} ${arch} Release")
	if(NOT SENNIT_END STREQUAL "gate")
		string(APPEND build " END=${SENNIT_END}")
	endif()
	foreach(option SANITIZE TEST_WRAPPER)
		if(SENNIT_${option})
			string(APPEND build " ${option}")
		endif()
	endforeach()
	sennit_script(budget all sh test/budget/run.sh)
	set_property(TEST budget/all APPEND PROPERTY ENVIRONMENT
		"BUILD=${build}"
		OPERATIONS=$<TARGET_FILE:test_budget_operations>)
endif()
