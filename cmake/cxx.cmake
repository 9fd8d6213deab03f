# SPDX-License-Identifier: Apache-2.0
# The compiler of the C++ parts, and the functions for their programs.

# --- a C++ compiler: the one that belongs to the C compiler, or none ------------

if(CMAKE_C_COMPILER_ID MATCHES Clang)
	set(cxx_names clang++)
else()
	set(cxx_names g++)
endif()
get_filename_component(cc_dir ${CMAKE_C_COMPILER} DIRECTORY)
if(CMAKE_CROSSCOMPILING)
	get_filename_component(cxx_names ${CMAKE_C_COMPILER} NAME)
	string(REGEX REPLACE "gcc" "g++" cxx_names ${cxx_names})
else()
	list(APPEND cxx_names c++)
endif()
if(CMAKE_CXX_COMPILER)
	set(SENNIT_CXX ${CMAKE_CXX_COMPILER})
elseif(NOT "$ENV{CXX}" STREQUAL "")
	set(SENNIT_CXX $ENV{CXX})
endif()
find_program(SENNIT_CXX NAMES ${cxx_names} HINTS ${cc_dir})
if(NOT SENNIT_CXX)
	message(STATUS "no C++ compiler: the C++ parts are left out")
	set(SENNIT_CXX "")
	return()
elseif(NOT build_cpp
	OR NOT (build_tests OR build_examples OR build_bench))
	return()
endif()

# A compiler that cannot compile counts as missing.
if(NOT CMAKE_CXX_COMPILER AND NOT CMAKE_CROSSCOMPILING)
	include(CheckLanguage)
	set(ENV{CXX} ${SENNIT_CXX})
	check_language(CXX)
	if(NOT CMAKE_CXX_COMPILER)
		message(STATUS
			"${SENNIT_CXX} does not work: the C++ parts are left out")
		set(SENNIT_CXX "")
		return()
	endif()
endif()
set(CMAKE_CXX_COMPILER ${SENNIT_CXX})
enable_language(CXX)
set(cxx_standard ${CMAKE_CXX_STANDARD}) # of marl/test and cpp; 11 at least
if(NOT cxx_standard)
	set(cxx_standard 17)
endif()
if(top_level)
	set(CMAKE_CXX_FLAGS_DEBUG ${CMAKE_C_FLAGS_DEBUG})
	if(SENNIT_SANITIZE) # compiles in half of the time
		string(REPLACE -O1 -O0 CMAKE_CXX_FLAGS_DEBUG
			"${CMAKE_CXX_FLAGS_DEBUG}")
	endif()
	set(CMAKE_CXX_FLAGS_RELEASE ${CMAKE_C_FLAGS_RELEASE})
endif()

# --- programs ---------------------------------------------------------------------

add_library(sennit_cxx_flags INTERFACE)
foreach(flag -Wall -Wextra -Wpedantic -Wshadow -Wconversion
	-Wstrict-aliasing=2
	$<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
	target_compile_options(sennit_cxx_flags INTERFACE
		$<$<COMPILE_LANGUAGE:CXX>:${flag}>)
endforeach()

function(sennit_cxx_program name standard)
	add_executable(${name} ${ARGN})
	target_include_directories(${name} PRIVATE ${sennit_root})
	target_link_libraries(${name} PRIVATE ${shipped_marl}
		sennit_cxx_flags m)
	set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
		CXX_STANDARD ${standard}
		CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
endfunction()

find_path(GTEST_INCLUDE_DIR gtest/gtest.h)
find_library(GTEST_LIBRARY gtest)

# A program of these files of test/<group>, as C++<standard>; and its tests.
function(sennit_cxx_tests program group standard)
	set(suffix "")
	if(NOT standard EQUAL 17)
		set(suffix -c++${standard})
	endif()
	string(APPEND program ${suffix})
	sennit_cxx_program(${program} ${standard} ${sennit_root}/testing/main.cpp ${ARGN})
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
		RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test)
	sennit_twins(${program} ${GTEST_LIBRARY})
	if(ARGN MATCHES "/own_locks.cpp$") # inside which it acts
		list(TRANSFORM twins PREPEND ${program}_ OUTPUT_VARIABLE all)
		foreach(one IN LISTS all ITEMS ${program})
			target_link_options(${one} PRIVATE
				LINKER:--wrap=pthread_mutex_unlock
				LINKER:--wrap=sennit_mutex_unlock)
		endforeach()
	endif()
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
	sennit_cxx_program(${program} ${standard} ${sennit_root}/testing/main.cpp ${file})
	target_include_directories(${program} SYSTEM PRIVATE
		${GTEST_INCLUDE_DIR})
	target_link_libraries(${program} PRIVATE ${shipped_io}
		${GTEST_LIBRARY})
	get_property(first GLOBAL PROPERTY sennit_precompiled_${standard})
	target_precompile_headers(${program} REUSE_FROM ${first})
	set_target_properties(${program} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test)
	foreach(backend IN ITEMS epoll uring)
		sennit_test(cpp ${name}-${backend}
			${runner} $<TARGET_FILE:${program}>)
		set_property(TEST cpp/${name}-${backend} PROPERTY
			ENVIRONMENT SENNIT_IO=${backend})
	endforeach()
endfunction()

# sennit_cxx_test_folder(GROUP): the tests of test/*.cpp, as GROUP/<x>.
function(sennit_cxx_test_folder group)
	if(NOT (GTEST_INCLUDE_DIR AND GTEST_LIBRARY))
		message(STATUS "googletest not found: ${group} tests are left out")
		return()
	endif()
	file(GLOB files CONFIGURE_DEPENDS test/*.cpp)
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
		# These include the headers with other definitions, or
		# define what all would have.
		if(system OR name MATCHES "^(macros|ndebug|own_locks)$")
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
endfunction()

# sennit_cxx_examples(FOLDER STANDARD): examples/*.cpp, run as
# example/FOLDER_<x>.
function(sennit_cxx_examples folder standard)
	file(GLOB files CONFIGURE_DEPENDS examples/*.cpp)
	foreach(file IN LISTS files)
		file(STRINGS ${file} uses_io REGEX "cpp/(io|http)\\.hpp")
		if(uses_io) # see above
			continue()
		endif()
		get_filename_component(name ${file} NAME_WE)
		set(name ${folder}_${name})
		sennit_cxx_program(example_${name} ${standard} ${file})
		set_target_properties(example_${name} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/examples)
		sennit_example(${name} $<TARGET_FILE:example_${name}>)
		if(NOT name STREQUAL "marl_fractal")
			sennit_example_twins(${name})
		endif()
	endforeach()
endfunction()
