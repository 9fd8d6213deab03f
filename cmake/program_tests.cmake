# SPDX-License-Identifier: Apache-2.0
# test/pig/<x>.py tests sennit-pig, as pig/<x>; likewise test/grep and
# test/render. It exits with 77 if a program is missing. <program>.py and
# test/program have what they share.

if(NOT SENNIT_TESTS)
	return()
endif()
if(NOT SENNIT_PYTHON OR SENNIT_TEST_WRAPPER OR CMAKE_CROSSCOMPILING)
	message(STATUS "no python3, or a wrapper: left out: test/pig, grep, render")
	return()
endif()

foreach(program pig grep render)
	if(NOT TARGET sennit-${program})
		continue()
	endif()
	string(TOUPPER SENNIT_${program} variable)
	sennit_python_tests(${program} ${program}
		PYTHONPATH=${PROJECT_SOURCE_DIR}/test/program
		${variable}=$<TARGET_FILE:sennit-${program}>)
endforeach()

# The picture by a plain loop, for test/render/same_picture.py.
if(TARGET sennit-render)
	sennit_program(test_render_serial test/render/serial.c
		programs/render/scene.c)
	target_include_directories(test_render_serial PRIVATE programs)
	set_source_files_properties(programs/render/scene.c PROPERTIES
		COMPILE_OPTIONS -ffp-contract=off)
	target_link_libraries(test_render_serial PRIVATE m)
	set_target_properties(test_render_serial PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY test/render OUTPUT_NAME serial)
	set_property(TEST render/same_picture APPEND PROPERTY ENVIRONMENT
		SENNIT_SERIAL=$<TARGET_FILE:test_render_serial>)
endif()
