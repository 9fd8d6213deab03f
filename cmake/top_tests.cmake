# SPDX-License-Identifier: Apache-2.0
# test/top/<x>.py tests sennit-top with test/top/shown.c, as top/<x>. It exits
# with 77 if a program is missing.

if(NOT SENNIT_TESTS OR NOT TARGET sennit-top)
	return()
endif()
if(NOT SENNIT_PYTHON OR SENNIT_TEST_WRAPPER)
	message(STATUS "no python3, or a wrapper: test/top is left out")
	return()
endif()
sennit_program(sennit_shown test/top/shown.c
	$<TARGET_OBJECTS:sennit_diag_objects>)
target_link_libraries(sennit_shown PRIVATE ${SENNIT_DW})
set_target_properties(sennit_shown PROPERTIES
	RUNTIME_OUTPUT_DIRECTORY test/top OUTPUT_NAME shown)
sennit_python_tests(top stage SENNIT_TOP=$<TARGET_FILE:sennit-top>
	SENNIT_SHOWN=$<TARGET_FILE:sennit_shown>)
