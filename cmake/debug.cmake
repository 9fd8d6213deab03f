# SPDX-License-Identifier: Apache-2.0
# examples/debug/<x>.c is the program of a scenario in docs/debugging.md. The
# test debug/<x> gives the document's commands and compares what they print, in
# plain builds: under a wrapper or a sanitizer other lines are right.

if(NOT TARGET sennit_diag OR SENNIT_TORTURE OR SENNIT_HELGRIND)
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
		RUNTIME_OUTPUT_DIRECTORY examples/debug OUTPUT_NAME ${name})
	if(NOT SENNIT_TESTS OR NOT SENNIT_CHECKS OR NOT SENNIT_PYTHON
		OR SENNIT_SANITIZE OR SENNIT_TEST_WRAPPER
		OR CMAKE_CROSSCOMPILING OR arch STREQUAL "portable")
		continue()
	endif()
	sennit_test(debug ${name} ${SENNIT_PYTHON}
		${PROJECT_SOURCE_DIR}/test/debug/scenario.py ${name})
	set(top "")
	if(TARGET sennit-top)
		set(top $<TARGET_FILE:sennit-top>)
	endif()
	set_property(TEST debug/${name} PROPERTY ENVIRONMENT
		SOURCE_DIR=${PROJECT_SOURCE_DIR} SENNIT_TOP=${top}
		SCENARIO_PROGRAM=$<TARGET_FILE:${program}>)
endforeach()
