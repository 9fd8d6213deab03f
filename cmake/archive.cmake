# SPDX-License-Identifier: Apache-2.0
# The archives:
#	sennit_static    the installed one: a single object, in which all names
#	                 except sennit_* are local, so that none collides with
#	                 a name of the program
#	sennit_internal  the objects as compiled, for programs of this tree that
#	                 use internal names
# Link-time optimisation needs the objects as compiled. In that case, on MIPS and
# without objcopy, the first archive equals the second.

get_directory_property(flags COMPILE_OPTIONS)
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
list(APPEND flags ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}})
set(localised ON)
if("${flags}" MATCHES "-flto" OR CMAKE_INTERPROCEDURAL_OPTIMIZATION
	OR CMAKE_INTERPROCEDURAL_OPTIMIZATION_${type})
	set(localised OFF)
elseif(system)
	message(STATUS "${system}: internal names are visible in the archive")
	set(localised OFF)
elseif(NOT CMAKE_OBJCOPY)
	message(STATUS "no objcopy: internal names are visible in the archive")
	set(localised OFF)
endif()

# Calls go through tables of global names there, which no tool rewrites.
if(SENNIT_PROCESSOR STREQUAL "mips64el")
	set(localised OFF)
endif()

add_library(sennit_internal STATIC EXCLUDE_FROM_ALL
	$<TARGET_OBJECTS:sennit_objects>)
set_target_properties(sennit_internal PROPERTIES LINKER_LANGUAGE C)
if(SENNIT_UNWINDS_BY_FIND_OBJECT) # what calls it comes later: see libc.cmake
	target_link_options(sennit_internal INTERFACE
		LINKER:-u,_dl_find_object)
endif()

if(NOT localised)
	add_library(sennit_static STATIC $<TARGET_OBJECTS:sennit_objects>)
	return()
endif()

# Uses the compiler, which knows the linker and the target. The program's link
# adds the libraries of sanitizers and others.
set(whole ${PROJECT_BINARY_DIR}/sennit.o)
string(REGEX REPLACE "-f(sanitize|profile|coverage)[^ ]*" "" flags
	"${CMAKE_C_FLAGS}")
separate_arguments(flags UNIX_COMMAND "${flags}")
if(CMAKE_C_COMPILER_TARGET)
	list(APPEND flags --target=${CMAKE_C_COMPILER_TARGET})
endif()
# On i386 each object has a copy of a hidden function that finds its own address.
# The copies are groups of which a link keeps one. Were that one made local, the
# program's objects would lose theirs.
if(SENNIT_PROCESSOR STREQUAL "i386")
	list(APPEND flags -Wl,--force-group-allocation)
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
