# SPDX-License-Identifier: Apache-2.0
# The tools that are installed with the library, and their tests.

# --- sennit-top ----------------------------------------------------------------

# sennit-top, which shows the live view of a program (sennit/live.h): diag/top.
# It needs ncurses and jansson, and nothing of sennit but the version.
function(sennit_add_top)
	if(NOT TARGET sennit_diag)
		return()
	endif()
	find_path(SENNIT_NCURSES_H ncurses.h)
	find_library(SENNIT_NCURSES ncursesw)
	find_library(SENNIT_TINFO tinfo)
	find_path(SENNIT_JANSSON_H jansson.h)
	find_library(SENNIT_JANSSON jansson)
	mark_as_advanced(SENNIT_NCURSES_H SENNIT_NCURSES SENNIT_TINFO
		SENNIT_JANSSON_H SENNIT_JANSSON)
	if(NOT SENNIT_NCURSES_H OR NOT SENNIT_NCURSES)
		message(STATUS "ncurses not found: sennit-top is left out")
		return()
	endif()
	if(NOT SENNIT_JANSSON_H OR NOT SENNIT_JANSSON)
		message(STATUS "jansson not found: sennit-top is left out")
		return()
	endif()
	if(NOT SENNIT_TINFO)
		set(SENNIT_TINFO "") # a part of ncurses in some builds of it
	endif()

	file(GLOB files CONFIGURE_DEPENDS top/*.c)
	add_executable(sennit-top ${files})
	target_include_directories(sennit-top PRIVATE ${sennit_includes})
	target_include_directories(sennit-top SYSTEM PRIVATE ${SENNIT_NCURSES_H}
		${SENNIT_JANSSON_H})
	target_link_libraries(sennit-top PRIVATE
		sennit_flags ${SENNIT_NCURSES} ${SENNIT_TINFO} ${SENNIT_JANSSON})
	sennit_install_command(sennit-top)
endfunction()
sennit_add_top()

# test/top/<x>.py tests sennit-top with test/top/shown.c, as top/<x>. It exits
# with 77 if a program is missing.
function(sennit_test_top)
	if(NOT build_tests OR NOT TARGET sennit-top)
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
		RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test/top OUTPUT_NAME shown)
	sennit_python_tests(top stage SENNIT_TOP=$<TARGET_FILE:sennit-top>
		SENNIT_SHOWN=$<TARGET_FILE:sennit_shown>)
endfunction()
sennit_test_top()

# --- sennit-trace --------------------------------------------------------------

# sennit-trace: trace/*.c. It needs no library of sennit's. Perfetto's
# format needs protoc-c and libprotobuf-c.
function(sennit_add_trace_tool)
	find_program(SENNIT_PROTOC_C protoc-c)
	find_path(SENNIT_PROTOBUF_C_H protobuf-c/protobuf-c.h)
	find_library(SENNIT_PROTOBUF_C protobuf-c)
	mark_as_advanced(SENNIT_PROTOC_C SENNIT_PROTOBUF_C_H SENNIT_PROTOBUF_C)

	file(GLOB files CONFIGURE_DEPENDS trace/*.c)
	list(FILTER files EXCLUDE REGEX "/main\\.c$")
	add_library(sennit_trace_parts STATIC ${files} ${core_src}/base/text.c)
	target_include_directories(sennit_trace_parts PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}
		${sennit_root}/programs)
	target_link_libraries(sennit_trace_parts PUBLIC sennit_flags)

	if(SENNIT_PROTOC_C AND SENNIT_PROTOBUF_C_H AND SENNIT_PROTOBUF_C)
		set(generated ${sennit_build}/trace)
		file(MAKE_DIRECTORY ${generated})
		add_custom_command(
			OUTPUT ${generated}/perfetto.pb-c.c ${generated}/perfetto.pb-c.h
			COMMAND ${SENNIT_PROTOC_C} --c_out=${generated} perfetto.proto
			WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/trace
			DEPENDS trace/perfetto.proto)
		add_library(sennit_trace_perfetto STATIC ${generated}/perfetto.pb-c.c
			${generated}/perfetto.pb-c.h)
		target_include_directories(sennit_trace_perfetto SYSTEM
			PUBLIC ${generated} ${SENNIT_PROTOBUF_C_H})
		target_link_libraries(sennit_trace_perfetto PUBLIC ${SENNIT_PROTOBUF_C})
		target_compile_definitions(sennit_trace_parts PRIVATE HAVE_PROTOBUF_C)
		target_link_libraries(sennit_trace_parts PUBLIC sennit_trace_perfetto)
	else()
		message(STATUS "protoc-c or libprotobuf-c not found: left out: "
			"sennit-trace perfetto")
	endif()

	add_executable(sennit-trace trace/main.c 
		${sennit_root}/programs/usage/usage.c)
	target_link_libraries(sennit-trace PRIVATE sennit_trace_parts)
	sennit_install_command(sennit-trace)
endfunction()
sennit_add_trace_tool()

# test/trace_tool/<x>.py tests sennit-trace, as trace_tool/<x>. It exits with 77
# if something is missing. real.c is a program whose trace real_programs reads,
# late.c one for late_start.
function(sennit_test_trace_tool)
	if(NOT build_tests OR NOT TARGET sennit-trace)
		return()
	endif()
	if(NOT SENNIT_PYTHON OR SENNIT_TEST_WRAPPER OR CMAKE_CROSSCOMPILING)
		message(STATUS "no python3, or a wrapper: left out: test/trace_tool")
		return()
	endif()

	sennit_program(test_trace_tool_real test/trace_tool/real.c)
	sennit_program(test_trace_tool_late test/trace_tool/late.c)
	set_target_properties(test_trace_tool_real PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test/trace_tool OUTPUT_NAME real)
	set_target_properties(test_trace_tool_late PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${sennit_build}/test/trace_tool OUTPUT_NAME late)
	sennit_python_tests(trace_tool trace_file
		SENNIT_TRACE=$<TARGET_FILE:sennit-trace>
		SENNIT_TRACED=$<TARGET_FILE:test_trace_tool_real>
		SENNIT_TRACED_LATE=$<TARGET_FILE:test_trace_tool_late>)
endfunction()
sennit_test_trace_tool()
