# SPDX-License-Identifier: Apache-2.0
# sennit-top, which shows the live view of a program (sennit/live.h): apps/top.
# It needs ncurses and jansson, and nothing of sennit but the version.

if(NOT SENNIT_APPS OR NOT TARGET sennit_diag)
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

file(GLOB files CONFIGURE_DEPENDS apps/top/*.c)
add_executable(sennit-top ${files})
target_include_directories(sennit-top PRIVATE include)
target_include_directories(sennit-top SYSTEM PRIVATE ${SENNIT_NCURSES_H}
	${SENNIT_JANSSON_H})
target_link_libraries(sennit-top PRIVATE
	sennit_flags ${SENNIT_NCURSES} ${SENNIT_TINFO} ${SENNIT_JANSSON})
sennit_install_command(sennit-top)

# --- tests ---------------------------------------------------------------------

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
