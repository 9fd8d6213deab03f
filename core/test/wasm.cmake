# SPDX-License-Identifier: Apache-2.0
# --- WebAssembly ---------------------------------------------------------------

# Tests of WebAssembly: core/test/unit, test/api, core/test/wasm and examples, compiled
# into one program, because emscripten takes most of a minute to link one. Its
# first argument is the name of the test, such as api/mutex. core/test/wasm/LEFT_OUT
# says which tests and cases it does not run, and why.
function(sennit_wasm_tests)
	set(SENNIT_WASM_TESTS "" CACHE STRING "Those to build (a ;-list); empty: all")

	set(list ${sennit_root}/core/test/wasm/LEFT_OUT)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
	file(STRINGS ${list} left_out REGEX "^[a-z]")
	list(TRANSFORM left_out REPLACE " .*" "")
	foreach(entry IN LISTS left_out)
		string(REGEX REPLACE ":.*" "" name ${entry})
		if(NOT EXISTS ${sennit_root}/core/test/${name}.c
			AND NOT EXISTS ${sennit_root}/core/${name}.c)
			message(FATAL_ERROR "core/test/wasm/LEFT_OUT: no test ${name}")
		endif()
	endforeach()

	add_executable(sennit-tests ${sennit_root}/testing/main.c wasm/again.c
		wasm/fork.c wasm/programs.c)
	target_link_libraries(sennit-tests PRIVATE sennit_internal ${CMOCKA_LIBRARY} m)

	# cmocka.h would declare uintptr_t once more, as another type.
	add_library(test_flags INTERFACE)
	target_compile_definitions(test_flags INTERFACE _UINTPTR_T_DEFINED)
	target_include_directories(test_flags SYSTEM INTERFACE ${CMOCKA_INCLUDE_DIR})
	target_include_directories(test_flags INTERFACE ${sennit_root}) # testing/
	target_link_libraries(test_flags INTERFACE sennit_flags)
	target_link_libraries(sennit-tests PRIVATE test_flags)
	# The memory does not grow: programs with threads access it more slowly if it
	# may. malloc() returns NULL when it is used up, as elsewhere.
	target_link_options(sennit-tests PRIVATE -sINITIAL_MEMORY=1024MB
		-sABORTING_MALLOC=0 -sDEFAULT_PTHREAD_STACK_SIZE=256KB -Wl,--wrap=fork
		"SHELL:--js-library ${sennit_root}/core/test/wasm/again.js")

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
		target_include_directories(${part} PRIVATE unit/without_ucontext
			wasm ${sennit_root})
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
			AND NOT "${options}" MATCHES "testing/again/misuse.h")
			set(in_browser ${in_browser} ${group}/${name} PARENT_SCOPE)
		endif()
		target_sources(sennit-tests PRIVATE $<TARGET_OBJECTS:${part}>)
		sennit_test(${group} ${name} ${runner} $<TARGET_FILE:sennit-tests>
			${group}/${name})
	endfunction()

	foreach(group unit api wasm)
		file(GLOB files CONFIGURE_DEPENDS ${group}/*.c)
		list(FILTER files EXCLUDE REGEX "/wasm/(again|fork|programs).c$")
		sennit_end_tests(files)
		foreach(file IN LISTS files)
			get_filename_component(name ${file} NAME_WE)
			sennit_wasm_test(${group} ${name} ${file})
		endforeach()
	endforeach()
	file(GLOB files CONFIGURE_DEPENDS ../examples/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_wasm_test(examples ${name} ${file})
	endforeach()
	file(GENERATE OUTPUT ${sennit_build}/wasm/programs.inc
		CONTENT "${programs}")
	target_include_directories(sennit-tests PRIVATE ${sennit_build}/wasm)

	sennit_test(wasm installed sh ${sennit_root}/core/test/wasm/installed.sh
		${sennit_build})
	set(timeout 900)
	if(SENNIT_PYTHON)
		sennit_test(wasm browser ${SENNIT_PYTHON} core/test/wasm/browser.py
			$<TARGET_FILE:sennit-tests> ${in_browser})
		set_property(TEST wasm/browser PROPERTY
			WORKING_DIRECTORY ${sennit_root})
		set_property(TEST wasm/browser PROPERTY COST 100)
	endif()
endfunction()
