# SPDX-License-Identifier: Apache-2.0
# The tests and examples of libsennit-diag.

# --- test: as core/test/api, with libsennit-diag -------------------------------------

sennit_product_tests(diag PARTS diag LIBRARIES ${CMAKE_DL_LIBS} ${SENNIT_DW})
if(SENNIT_DW)
	foreach(program IN LISTS programs)
		target_compile_definitions(${program} PRIVATE
			SENNIT_HAVE_LIBDW)
	endforeach()
endif()

# core/test/api once more, with the switches of SENNIT_DEBUG that look into a process:
# a healthy program does not notice. The tests that need a program of their own
# are left out.
if(TARGET test_api AND TARGET test_diag AND NOT SENNIT_SANITIZE)
	add_executable(test_api_watched $<TARGET_OBJECTS:test_api>
		$<TARGET_OBJECTS:test_main>
		$<TARGET_OBJECTS:sennit_diag_objects>)
	target_link_libraries(test_api_watched PRIVATE sennit_flags m
		${CMOCKA_LIBRARY} ${shipped} ${CMAKE_DL_LIBS} ${SENNIT_DW})
	set_target_properties(test_api_watched PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test)
	file(GLOB files CONFIGURE_DEPENDS ${sennit_root}/core/test/api/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_looks_inside(${file} inside)
		sennit_test_is_alone(${file} alone)
		# What counts threads or memory counts the watchdog's, too.
		sennit_mentions(${file}
			"\"testing/(counting_allocator|proc_self).h\"" counts)
		if(inside OR alone OR counts OR name STREQUAL "trim")
			continue()
		endif()
		sennit_test(watched ${name} ${runner}
			$<TARGET_FILE:test_api_watched> ${name})
		set_tests_properties(watched/${name} PROPERTIES
			ENVIRONMENT SENNIT_DEBUG=stall,watchdog=1
			ENVIRONMENT_MODIFICATION
				SENNIT_DEBUG=set:stall,watchdog=1
			FAIL_REGULAR_EXPRESSION "sennit: stall:")
	endforeach()
endif()

# examples/calls/<x>.c, run as example/calls_<x>.
if(build_examples AND build_checks AND NOT sanitize_helgrind)
	file(GLOB files CONFIGURE_DEPENDS examples/calls/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		set(program example_calls_${name})
		add_executable(${program} ${file})
		target_link_libraries(${program} PRIVATE sennit::diag_static
			sennit_flags)
		target_include_directories(${program} PRIVATE
			${sennit_root}/core/examples/calls)
		set_target_properties(${program} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/examples/calls OUTPUT_NAME ${name})
		sennit_example(calls_${name} $<TARGET_FILE:${program}>)
	endforeach()
endif()

# --- diag/examples/debug ------------------------------------------------------------

# diag/examples/debug/<x>.c is the program of a scenario in diag/docs/debugging.md. The
# test debug/<x> gives the document's commands and compares what they print, in
# plain builds: under a wrapper or a sanitizer other lines are right.
function(sennit_debug_examples)
	if(NOT TARGET sennit_diag OR sanitize_helgrind)
		return()
	endif()
	file(GLOB files CONFIGURE_DEPENDS examples/debug/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		set(program example_debug_${name})
		add_executable(${program} ${file})
		target_link_libraries(${program} PRIVATE sennit::diag)
		target_compile_options(${program} PRIVATE -Wall -Wextra -Wpedantic)
		# With their exported names in backtraces (-rdynamic).
		set_target_properties(${program} PROPERTIES
			C_STANDARD 11 ENABLE_EXPORTS ON
			RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/examples/debug OUTPUT_NAME ${name})
		if(NOT build_tests OR NOT build_checks OR NOT SENNIT_PYTHON
			OR SENNIT_SANITIZE OR SENNIT_TEST_WRAPPER
			OR CMAKE_CROSSCOMPILING OR arch STREQUAL "portable")
			continue()
		endif()
		sennit_test(debug ${name} ${SENNIT_PYTHON}
			${sennit_root}/diag/test/debug/scenario.py ${name})
		set(top "")
		if(TARGET sennit-top)
			set(top $<TARGET_FILE:sennit-top>)
		endif()
		set_property(TEST debug/${name} PROPERTY ENVIRONMENT
			SOURCE_DIR=${sennit_root} SENNIT_TOP=${top}
			SCENARIO_PROGRAM=$<TARGET_FILE:${program}>)
	endforeach()
endfunction()
if(build_examples)
	sennit_debug_examples()
endif()
