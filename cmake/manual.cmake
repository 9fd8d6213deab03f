# SPDX-License-Identifier: Apache-2.0
# The manual: pages that tools/manual makes from the contract comments of the
# public headers, with those of docs/man. python3 is needed to make them. With
# SENNIT_HTML also as HTML, with the guides, the headers and the examples, if
# mandoc and cmark-gfm are found.

if(NOT SENNIT_PYTHON)
	message(STATUS "python3 not found: the manual is left out")
	return()
endif()
set(manual_build ${PROJECT_BINARY_DIR}/manual)
file(GLOB manual_needs CONFIGURE_DEPENDS tools/manual/*.py docs/man/*
	include/*.h include/sennit/*.h)
file(GLOB_RECURSE examples CONFIGURE_DEPENDS examples/*.c)
add_custom_command(OUTPUT ${manual_build}/made
	COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual_build}
	COMMAND ${SENNIT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/manual/pages.py
		${manual_build}
	COMMAND ${CMAKE_COMMAND} -E touch ${manual_build}/made
	DEPENDS ${manual_needs} ${examples}
	COMMENT "Making the manual" VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual_build}/made)
install(DIRECTORY ${manual_build}/man3 ${manual_build}/man7
	DESTINATION ${CMAKE_INSTALL_MANDIR})

if(NOT SENNIT_HTML)
	return()
endif()
foreach(program mandoc cmark-gfm)
	string(MAKE_C_IDENTIFIER SENNIT_${program} found)
	find_program(${found} ${program})
	mark_as_advanced(${found})
	if(NOT ${found})
		message(STATUS "left out: the manual as HTML: ${program} not found")
		return()
	endif()
endforeach()
set(html_build ${PROJECT_BINARY_DIR}/html)
file(GLOB_RECURSE html_needs CONFIGURE_DEPENDS docs/*.md docs/*.svg docs/*.png
	include/*.h* examples/*.cpp tools/manual/*.js tools/manual/*.css)
file(GLOB html_guides CONFIGURE_DEPENDS *.md)
add_custom_command(OUTPUT ${html_build}/made
	COMMAND ${CMAKE_COMMAND} -E rm -rf ${html_build}
	COMMAND ${SENNIT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/manual/site.py
		${html_build}/html
	COMMAND ${CMAKE_COMMAND} -E touch ${html_build}/made
	DEPENDS ${manual_needs} ${examples} ${html_needs} ${html_guides}
	COMMENT "Making the manual as HTML" VERBATIM)
add_custom_target(html ALL DEPENDS ${html_build}/made)
install(DIRECTORY ${html_build}/html DESTINATION ${CMAKE_INSTALL_DOCDIR})
