# SPDX-License-Identifier: Apache-2.0
# How a library is made: one set of objects, of which a shared library and an
# archive are made.

# Declares the names that programs link to: sennit::<name> and
# sennit::<name>_static; for the two of libsennit itself sennit::sennit and
# sennit::static. A library that SENNIT_LIBRARIES leaves out is built
# only if a program here links to it. sennit::<name> is then the other one.
function(sennit_explore_choose shared static)
	string(REPLACE sennit_ "" name ${shared})
	string(REPLACE sennit_ "" name_static ${static})
	if(make_shared)
		add_library(sennit::${name} ALIAS ${shared})
	else()
		add_library(sennit::${name} ALIAS ${static})
		set_target_properties(${shared} PROPERTIES
			EXCLUDE_FROM_ALL ON)
	endif()
	add_library(sennit::${name_static} ALIAS ${static})
	if(NOT make_static)
		set_target_properties(${static} PROPERTIES EXCLUDE_FROM_ALL ON)
	endif()
endfunction()

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

# The command that links objects into one, of which only sennit_* is visible.
string(REGEX REPLACE "-f(sanitize|profile|coverage)[^ ]*" "" whole_flags
	"${CMAKE_C_FLAGS}")
separate_arguments(whole_flags UNIX_COMMAND "${whole_flags}")
if(CMAKE_C_COMPILER_TARGET)
	list(APPEND whole_flags --target=${CMAKE_C_COMPILER_TARGET})
endif()
# On i386 each object has a copy of a hidden function that finds its own address.
# The copies are groups of which a link keeps one. Were that one made local, the
# program's objects would lose theirs.
if(SENNIT_PROCESSOR STREQUAL "i386")
	list(APPEND whole_flags -Wl,--force-group-allocation)
endif()

# sennit_archive(TARGET OBJECTS): the archive TARGET of the object library. The
# compiler links them, as it knows the linker and the target. The program's link
# adds the libraries of sanitizers and others.
#
# The base of the static probes is in a group, of which the program's link keeps
# one copy, maybe not this one. So its name stays weak: a note that refers to a
# local name of a dropped copy is an error (bfd, gold).
function(sennit_archive target objects)
	if(NOT localised)
		add_library(${target} STATIC $<TARGET_OBJECTS:${objects}>)
		return()
	endif()
	string(REGEX REPLACE "_static$" "" whole ${target})
	set(whole ${sennit_build}/${whole}.o)
	add_custom_command(OUTPUT ${whole}
		COMMAND ${CMAKE_C_COMPILER} ${whole_flags} -nostdlib -r -o ${whole}
			$<TARGET_OBJECTS:${objects}>
		COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
		COMMAND ${CMAKE_OBJCOPY} --globalize-symbol=_.stapsdt.base
			${whole}
		COMMAND ${CMAKE_OBJCOPY} --weaken-symbol=_.stapsdt.base ${whole}
		DEPENDS ${objects} $<TARGET_OBJECTS:${objects}>
		COMMAND_EXPAND_LISTS VERBATIM
		COMMENT "Making all names of ${target} but sennit_* local")
	set_source_files_properties(${whole} PROPERTIES
		EXTERNAL_OBJECT ON GENERATED ON)
	add_library(${target} STATIC ${whole})
endfunction()

# --- what programs link to -----------------------------------------------------

# What programs link to, for every shared library of this folder: the file name
# that the linker records (SONAME), and the version of each symbol. Until 1.0
# each minor version has its own: programs of another one do not start with it.
# docs/versioning.md has the policy, tools/check-abi enforces it.

set(abi_version ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
	set(abi_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set(minor_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(stable_version ${minor_version})
if(PROJECT_VERSION_MAJOR GREATER 0)
	set(stable_version ${PROJECT_VERSION_MAJOR}.0)
endif()
set(map ${sennit_build}/symbols.map)
configure_file(${sennit_root}/cmake/symbols.map.in ${map} @ONLY)

# sennit_versions(TARGET MAP): a shared library.
function(sennit_versions target symbol_map)
	set_target_properties(${target} PROPERTIES
		VERSION ${PROJECT_VERSION} SOVERSION ${abi_version})
	set_property(TARGET ${target} APPEND PROPERTY
		LINK_DEPENDS ${symbol_map})
	target_link_options(${target} PRIVATE
		LINKER:--version-script=${symbol_map})
endfunction()

# --- components ----------------------------------------------------------------

# sennit_component(NAME [LIBRARY...]): libsennit-NAME, a library beside
# libsennit, from src/*.c of this folder and linked to each LIBRARY.
#	sennit_NAME, sennit_NAME_static   what is installed
#	sennit_NAME_objects               for programs here that link the objects
# In the archive all names but sennit_* are local, as in libsennit's.

function(sennit_component name)
	set(library sennit_${name})
	if(NOT sources)
		file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.c)
	endif()
	add_library(${library}_objects OBJECT ${sources})
	set_target_properties(${library}_objects PROPERTIES
		POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
	target_link_libraries(${library}_objects PRIVATE sennit_flags)
	target_include_directories(${library}_objects PRIVATE
		${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/include)
	if(sanitize_race)
		target_compile_options(${library}_objects PRIVATE
			${race_options})
	endif()

	add_library(${library} SHARED $<TARGET_OBJECTS:${library}_objects>)
	target_link_libraries(${library} PUBLIC sennit PRIVATE ${ARGN})
	set_target_properties(${library} PROPERTIES OUTPUT_NAME sennit-${name}
		EXPORT_NAME ${name} LINKER_LANGUAGE C)
	# A program that calls this library alone does not name libsennit, and
	# its own path is not for what libraries need.
	set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
	target_link_options(${library} PRIVATE
		LINKER:-z,nodelete LINKER:-z,relro LINKER:-z,now)

	sennit_archive(${library}_static ${library}_objects)
	target_link_libraries(${library}_static PUBLIC sennit_static
		PRIVATE ${ARGN})
	set_target_properties(${library}_static PROPERTIES
		OUTPUT_NAME sennit-${name} EXPORT_NAME ${name}_static
		LINKER_LANGUAGE C)
	sennit_explore_choose(${library} ${library}_static)
	if(name MATCHES "^mpi")
		sennit_versions(${library} ${mpi_map})
	else()
		sennit_versions(${library} ${map})
	endif()
endfunction()
