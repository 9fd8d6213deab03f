# SPDX-License-Identifier: Apache-2.0
# test/trace_tool/<x>.py tests sennit-trace, as trace_tool/<x>. It exits with 77
# if something is missing. real.c is a program whose trace real_programs reads.

if(NOT SENNIT_TESTS OR NOT TARGET sennit-trace)
	return()
endif()
if(NOT SENNIT_PYTHON OR SENNIT_TEST_WRAPPER OR CMAKE_CROSSCOMPILING)
	message(STATUS "no python3, or a wrapper: left out: test/trace_tool")
	return()
endif()

sennit_program(test_trace_tool_real test/trace_tool/real.c)
set_target_properties(test_trace_tool_real PROPERTIES
	RUNTIME_OUTPUT_DIRECTORY test/trace_tool OUTPUT_NAME real)
sennit_python_tests(trace_tool trace_file
	SENNIT_TRACE=$<TARGET_FILE:sennit-trace>
	SENNIT_TRACED=$<TARGET_FILE:test_trace_tool_real>)
