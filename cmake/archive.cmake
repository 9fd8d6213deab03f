# SPDX-License-Identifier: Apache-2.0
# The archives.
#	sennit_static    what is installed: one object, in which all names but
#	                 sennit_* are local, so that none meets a program's own
#	sennit_internal  the objects as they are, for programs here that look
#	                 inside
# Link-time optimisation needs the objects as the compiler left them: then, and
# without objcopy, the first is the same as the second.

get_directory_property(flags COMPILE_OPTIONS)
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
list(APPEND flags ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}})
set(localised ON)
if("${flags}" MATCHES "-flto" OR CMAKE_INTERPROCEDURAL_OPTIMIZATION
	OR CMAKE_INTERPROCEDURAL_OPTIMIZATION_${type})
	set(localised OFF)
elseif(NOT CMAKE_OBJCOPY)
	message(STATUS "no objcopy: internal names are visible in the archive")
	set(localised OFF)
endif()

add_library(sennit_internal STATIC EXCLUDE_FROM_ALL
	$<TARGET_OBJECTS:sennit_objects>)
set_target_properties(sennit_internal PROPERTIES LINKER_LANGUAGE C)

if(NOT localised)
	add_library(sennit_static STATIC $<TARGET_OBJECTS:sennit_objects>)
	return()
endif()

# By the compiler, as it knows the linker and the machine. Sanitizers' and other
# libraries are for whoever links the program.
set(whole ${PROJECT_BINARY_DIR}/sennit.o)
string(REGEX REPLACE "-f(sanitize|profile|coverage)[^ ]*" "" flags
	"${CMAKE_C_FLAGS}")
separate_arguments(flags UNIX_COMMAND "${flags}")
if(CMAKE_C_COMPILER_TARGET)
	list(APPEND flags --target=${CMAKE_C_COMPILER_TARGET})
endif()
add_custom_command(OUTPUT ${whole}
	COMMAND ${CMAKE_C_COMPILER} ${flags} -nostdlib -r -o ${whole}
		$<TARGET_OBJECTS:sennit_objects>
	COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
	DEPENDS sennit_objects $<TARGET_OBJECTS:sennit_objects>
	COMMAND_EXPAND_LISTS VERBATIM
	COMMENT "Making all names but sennit_* local")
set_source_files_properties(${whole} PROPERTIES
	EXTERNAL_OBJECT ON GENERATED ON)
add_library(sennit_static STATIC ${whole})
