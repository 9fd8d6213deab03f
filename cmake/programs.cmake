# SPDX-License-Identifier: Apache-2.0
# Programs of this tree: tests, examples, benchmarks.

# A program that is run but not installed: it gets the internal flags and a
# library. That is the installed library, except for programs that use internal
# names.
function(sennit_program name)
	set(library ${shipped})
	if(SENNIT_DETERMINISTIC OR sanitize_helgrind)
		set(library sennit_internal) # its inline functions need it
	endif()
	foreach(file IN LISTS ARGN)
		sennit_looks_inside(${file} inside)
		if(inside)
			set(library sennit_internal)
		endif()
	endforeach()
	add_executable(${name} ${ARGN})
	# testing/, and what examples share.
	target_include_directories(${name} PRIVATE ${sennit_root}
		${sennit_root}/core/examples/calls)
	target_link_libraries(${name} PRIVATE ${library} sennit_flags m
		${sennit_ATOMIC_BYTES})
endfunction()

# The same objects linked with each further library under test, as
# name_<library>.
function(sennit_twins name)
	foreach(twin IN LISTS twins)
		set(library ${library_${twin}})
		add_executable(${name}_${twin} $<TARGET_OBJECTS:${name}>)
		target_link_libraries(${name}_${twin} PRIVATE ${library}
			Threads::Threads m ${ARGN})
		get_target_property(folder ${name} RUNTIME_OUTPUT_DIRECTORY)
		get_target_property(output ${name} OUTPUT_NAME)
		if(NOT output)
			set(output ${name})
		endif()
		set_target_properties(${name}_${twin} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY ${folder}-${twin}
			OUTPUT_NAME ${output})
		get_target_property(language ${name} LINKER_LANGUAGE)
		if(language)
			set_target_properties(${name}_${twin} PROPERTIES
				LINKER_LANGUAGE ${language})
		endif()
	endforeach()
endfunction()

set(internal_rooms "")
foreach(folder ${core_src} ${core_src}/kernel ${core_src}/library)
	file(GLOB found RELATIVE ${folder} ${folder}/*)
	list(APPEND internal_rooms ${found})
endforeach()
list(JOIN internal_rooms "|" internal_rooms)

# sennit_header(HEADER FOLDER OUT): the file that #include "HEADER" names in a
# file of that folder, if it is beside it or in testing/; else nothing.
function(sennit_header header folder out)
	set(${out} "" PARENT_SCOPE)
	if(EXISTS ${folder}/${header})
		set(${out} ${folder}/${header} PARENT_SCOPE)
	elseif(header MATCHES "^testing/" AND EXISTS ${sennit_root}/${header})
		set(${out} ${sennit_root}/${header} PARENT_SCOPE)
	endif()
endfunction()

# Whether the file, or a header beside it that it includes, includes an internal
# header. base/compiler.h and base/torture.h need nothing of the library.
function(sennit_looks_inside file out)
	set(${out} OFF PARENT_SCOPE)
	get_filename_component(file ${file} ABSOLUTE)
	if(NOT EXISTS ${file})
		return() # generated files, or objects
	endif()
	file(STRINGS ${file} lines REGEX "^#include \"")
	get_filename_component(folder ${file} DIRECTORY)
	foreach(line IN LISTS lines)
		string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1"
			header "${line}")
		set(inside OFF)
		if(header MATCHES "^(\\.\\./src|${internal_rooms})/"
			AND NOT header MATCHES "^base/(compiler|torture).h$")
			set(inside ON)
		else()
			sennit_header(${header} ${folder} found)
			if(found)
				sennit_looks_inside(${found} inside)
			endif()
		endif()
		if(inside)
			set(${out} ON PARENT_SCOPE)
		endif()
	endforeach()
endfunction()

# sennit_install_command(TARGET): a program, with its page of the manual.
function(sennit_install_command target)
	if(NOT SENNIT_INSTALL)
		return()
	endif()
	install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	if(build_manual AND SENNIT_PYTHON)
		install(FILES ${sennit_build}/manual/man1/${target}.1
			DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
	endif()
endfunction()
