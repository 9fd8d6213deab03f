# SPDX-License-Identifier: Apache-2.0
# Programs that use libsennit alone and one further library each. apps/file and
# apps/usage are compiled once, for all of them.
#	sennit-pig      apps/pig/*.c      zlib
#	sennit-grep     apps/grep/*.c     PCRE2
#	sennit-render   apps/render/*.c   libpng

if(NOT SENNIT_APPS)
	return()
endif()
file(GLOB files CONFIGURE_DEPENDS apps/file/*.c apps/usage/*.c)
add_library(sennit_file STATIC EXCLUDE_FROM_ALL ${files})
target_include_directories(sennit_file PUBLIC apps)
target_link_libraries(sennit_file PRIVATE sennit_flags)

# The libraries are those that the other programs of the tree use.
function(sennit_installed_program name)
	file(GLOB files CONFIGURE_DEPENDS apps/${name}/*.c)
	sennit_program(sennit-${name} ${files})
	target_link_libraries(sennit-${name} PRIVATE sennit_file ${ARGN})
	sennit_install_command(sennit-${name})
endfunction()

find_package(ZLIB QUIET)
if(ZLIB_FOUND)
	sennit_installed_program(pig ZLIB::ZLIB)
else()
	message(STATUS "zlib not found: left out: sennit-pig")
endif()

find_path(SENNIT_PCRE2_H pcre2.h)
find_library(SENNIT_PCRE2 pcre2-8)
mark_as_advanced(SENNIT_PCRE2_H SENNIT_PCRE2)
if(SENNIT_PCRE2_H AND SENNIT_PCRE2)
	sennit_installed_program(grep ${SENNIT_PCRE2})
	target_include_directories(sennit-grep SYSTEM PRIVATE ${SENNIT_PCRE2_H})
else()
	message(STATUS "PCRE2 not found: left out: sennit-grep")
endif()

find_package(PNG QUIET)
if(PNG_FOUND)
	sennit_installed_program(render PNG::PNG m)
	# A picture is the same to the last bit on every machine.
	set_source_files_properties(apps/render/scene.c PROPERTIES
		COMPILE_OPTIONS -ffp-contract=off)
else()
	message(STATUS "libpng not found: left out: sennit-render")
endif()
