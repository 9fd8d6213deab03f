# SPDX-License-Identifier: Apache-2.0
# examples/<x>.c is one program, run as the test example/<x>.
# examples/cpp/<x>.cpp is one, run as example/cpp_<x>; likewise examples/marl.
# examples/io/<x>.c is one with libsennit-io; those that need a further library
# stand in foreign.cmake. ares needs libcares.
# examples/calls/<x>.c shows the calls of a header that the others do not need;
# run as example/calls_<x>. diag needs libsennit-diag.
# examples/debug/<x>.c are those of docs/debugging.md: debug.cmake.
# examples/treesum/*.c are one program, sennit-treesum, which needs libcrypto.

# An example run as a test must exit with 0 without arguments.
function(sennit_example name)
	if(SENNIT_TESTS)
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

file(GLOB files CONFIGURE_DEPENDS examples/*.c)
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	sennit_program(example_${name} ${file})
	set_target_properties(example_${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY examples OUTPUT_NAME ${name})
	sennit_example(${name} $<TARGET_FILE:example_${name}>)
	if(NOT name STREQUAL "neighbours")
		sennit_example_twins(${name})
	endif()
endforeach()

# Not in the builds that only repeat what another one tests, nor, but for one,
# in the deterministic build: there the seed lets deadlines pass early.
file(GLOB files CONFIGURE_DEPENDS examples/calls/*.c)
if(NOT SENNIT_CHECKS)
	set(files "")
elseif(SENNIT_DETERMINISTIC)
	list(FILTER files INCLUDE REGEX "/deterministic\\.c$")
endif()
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	set(program example_calls_${name})
	if(NOT name STREQUAL "diag")
		sennit_program(${program} ${file})
	elseif(TARGET sennit_diag AND NOT SENNIT_TORTURE
		AND NOT SENNIT_HELGRIND)
		add_executable(${program} ${file})
		target_link_libraries(${program} PRIVATE sennit::diag_static
			sennit_flags)
	else()
		continue()
	endif()
	set_target_properties(${program} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY examples/calls OUTPUT_NAME ${name})
	sennit_example(calls_${name} $<TARGET_FILE:${program}>)
endforeach()

# With libsennit-io, the shared and the static one, and each backend; in the
# deterministic build those that have sockets alone, and no deadlines, which the
# seed lets pass early.
set(backends epoll uring)
file(GLOB files CONFIGURE_DEPENDS examples/io/*.c)
list(FILTER files EXCLUDE REGEX "/(postgres|curl|tls|libuv|redis|compress)")
if(SENNIT_DETERMINISTIC)
	set(backends simulated)
	list(FILTER files INCLUDE REGEX "/(explored|simulated)\\.c$")
elseif(TARGET sennit_io AND NOT SENNIT_TORTURE AND NOT SENNIT_HELGRIND)
	include(cmake/foreign.cmake)
endif()
if(NOT TARGET sennit_io OR SENNIT_TORTURE OR SENNIT_HELGRIND)
	set(files "")
endif()
find_path(SENNIT_CARES_H ares.h)
find_library(SENNIT_CARES cares)
mark_as_advanced(SENNIT_CARES_H SENNIT_CARES)
set(example_ares_needs ${SENNIT_CARES})
if(files AND NOT (SENNIT_CARES_H AND SENNIT_CARES))
	message(STATUS "c-ares not found: examples/io/ares is left out")
	list(FILTER files EXCLUDE REGEX "/ares\\.c$")
endif()
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	foreach(library IN ITEMS io io_static)
		set(program example_${library}_${name})
		add_executable(${program} ${file})
		target_link_libraries(${program} PRIVATE
			sennit::${library} sennit_flags
			${example_${name}_needs})
		set_target_properties(${program} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY examples)
		foreach(backend IN LISTS backends)
			sennit_example(${library}_${name}-${backend}
				$<TARGET_FILE:${program}>)
			if(SENNIT_TESTS)
				set_property(TEST
					example/${library}_${name}-${backend}
					PROPERTY ENVIRONMENT
					SENNIT_IO=${backend})
			endif()
		endforeach()
	endforeach()
endforeach()

find_path(SENNIT_HWLOC_H hwloc.h)
find_library(SENNIT_HWLOC hwloc)
mark_as_advanced(SENNIT_HWLOC_H SENNIT_HWLOC)
if(SENNIT_HWLOC_H AND SENNIT_HWLOC)
	target_compile_definitions(example_neighbours PRIVATE HAVE_HWLOC)
	target_include_directories(example_neighbours PRIVATE ${SENNIT_HWLOC_H})
	target_link_libraries(example_neighbours PRIVATE ${SENNIT_HWLOC})
else()
	message(STATUS "hwloc not found: example/neighbours uses the system's topology")
endif()

file(GLOB files CONFIGURE_DEPENDS examples/treesum/*.c)
find_package(OpenSSL QUIET COMPONENTS Crypto)
if(files AND OPENSSL_FOUND)
	sennit_program(sennit-treesum ${files})
	target_link_libraries(sennit-treesum PRIVATE OpenSSL::Crypto)
	sennit_example(treesum
		$<TARGET_FILE:sennit-treesum> ${PROJECT_SOURCE_DIR}/include)
elseif(files)
	message(STATUS "libcrypto not found: sennit-treesum is left out")
endif()

# --- examples/cpp, examples/marl: programs in C++ -------------------------------

function(sennit_cxx_examples folder standard)
	file(GLOB files CONFIGURE_DEPENDS examples/${folder}/*.cpp)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		set(name ${folder}_${name})
		sennit_cxx_program(example_${name} ${standard} ${file})
		set_target_properties(example_${name} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY examples)
		sennit_example(${name} $<TARGET_FILE:example_${name}>)
		if(NOT name STREQUAL "marl_fractal")
			sennit_example_twins(${name})
		endif()
	endforeach()
endfunction()

if(SENNIT_CXX AND SENNIT_CPP)
	sennit_cxx_examples(cpp 17)
	sennit_cxx_examples(marl 11)
	find_package(PNG QUIET)
	if(PNG_FOUND)
		target_compile_definitions(example_marl_fractal PRIVATE HAVE_PNG)
		target_link_libraries(example_marl_fractal PRIVATE PNG::PNG)
	else()
		message(STATUS "libpng not found: example/marl_fractal writes a pixmap")
	endif()
endif()
