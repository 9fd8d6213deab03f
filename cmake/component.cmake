# SPDX-License-Identifier: Apache-2.0
# sennit_component(NAME [LIBRARY...]): libsennit-NAME, a library beside
# libsennit, from the sources in NAME_sources and linked to each LIBRARY.
#	sennit_NAME, sennit_NAME_static   what is installed
#	sennit_NAME_objects               for programs here that link the objects
# In the archive all names but sennit_* are local, as in libsennit's.

function(sennit_component name)
	set(library sennit_${name})
	add_library(${library}_objects OBJECT ${${name}_sources})
	set_target_properties(${library}_objects PROPERTIES
		POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
	target_link_libraries(${library}_objects PRIVATE sennit_flags)

	add_library(${library} SHARED $<TARGET_OBJECTS:${library}_objects>)
	target_link_libraries(${library} PUBLIC sennit PRIVATE ${ARGN})
	set_target_properties(${library} PROPERTIES OUTPUT_NAME sennit-${name}
		EXPORT_NAME ${name} LINKER_LANGUAGE C)
	# A program that calls this library alone does not name libsennit, and
	# its own path is not for what libraries need.
	set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
	target_link_options(${library} PRIVATE
		LINKER:-z,nodelete LINKER:-z,relro LINKER:-z,now)

	set(objects $<TARGET_OBJECTS:${library}_objects>)
	if(localised)
		set(whole ${PROJECT_BINARY_DIR}/sennit-${name}.o)
		add_custom_command(OUTPUT ${whole}
			COMMAND ${CMAKE_C_COMPILER} ${flags} -nostdlib -r
				-o ${whole} ${objects}
			COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
			DEPENDS ${library}_objects ${objects}
			COMMAND_EXPAND_LISTS VERBATIM
			COMMENT "Making the other names of libsennit-${name} local")
		set_source_files_properties(${whole} PROPERTIES
			EXTERNAL_OBJECT ON GENERATED ON)
		set(objects ${whole})
	endif()
	add_library(${library}_static STATIC ${objects})
	target_link_libraries(${library}_static PUBLIC sennit_static
		PRIVATE ${ARGN})
	set_target_properties(${library}_static PROPERTIES
		OUTPUT_NAME sennit-${name} EXPORT_NAME ${name}_static
		LINKER_LANGUAGE C)
	sennit_choose(${library} ${library}_static)
endfunction()
