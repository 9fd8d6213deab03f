# SPDX-License-Identifier: Apache-2.0
# Tests of WebAssembly: test/unit, test/api, test/wasm and examples, compiled
# into one program, because emscripten takes most of a minute to link one. Its
# first argument is the name of the test, such as api/mutex. test/wasm/LEFT_OUT
# says which tests and cases it does not run, and why.

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
