# SPDX-License-Identifier: Apache-2.0
# The libraries: libsennit, and the components libsennit-io, -tls, -diag and -mpi. Each
# is one set of objects, of which a shared library and an archive are made.

# --- libsennit -----------------------------------------------------------------

add_library(sennit_objects OBJECT ${sources})
set_target_properties(sennit_objects PROPERTIES
	POSITION_INDEPENDENT_CODE ON
	C_VISIBILITY_PRESET hidden)
target_link_libraries(sennit_objects PRIVATE sennit_flags)
if(sanitize_race)
	target_compile_options(sennit_objects PRIVATE ${race_options})
endif()
# Not for the tests: they use dlsym() as POSIX says, which this option warns
# about.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
	target_compile_options(sennit_objects PRIVATE
		$<$<COMPILE_LANGUAGE:C>:-Wstrict-aliasing=2>)
endif()

# Declares the names that programs link to: sennit::<name> and
# sennit::<name>_static; for the two of libsennit itself sennit::sennit and
# sennit::static. A library that SENNIT_LIBRARIES leaves out is built
# only if a program here links to it. sennit::<name> is then the other one.
function(sennit_choose shared static)
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

add_library(sennit_internal STATIC EXCLUDE_FROM_ALL
	$<TARGET_OBJECTS:sennit_objects>)
set_target_properties(sennit_internal PROPERTIES LINKER_LANGUAGE C)
if(SENNIT_UNWINDS_BY_FIND_OBJECT) # what calls it comes later: see compiler.cmake
	target_link_options(sennit_internal INTERFACE
		LINKER:-u,_dl_find_object)
endif()

if(NOT localised)
	add_library(sennit_static STATIC $<TARGET_OBJECTS:sennit_objects>)
else()
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
endif()

add_library(sennit SHARED $<TARGET_OBJECTS:sennit_objects>)
sennit_choose(sennit sennit_static)
foreach(library sennit sennit_static sennit_internal)
	target_include_directories(${library} PUBLIC
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
		$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
	target_link_libraries(${library} PUBLIC Threads::Threads
		${CMAKE_DL_LIBS}) # dladdr
	sennit_system_library(${library})
	target_link_options(${library} PUBLIC ${libc_link_options})
	if(arch STREQUAL "portable")
		target_link_libraries(${library} PUBLIC m) # fenv
	endif()
endforeach()
set_target_properties(sennit PROPERTIES LINKER_LANGUAGE C)
set_target_properties(sennit_static PROPERTIES
	OUTPUT_NAME sennit EXPORT_NAME static LINKER_LANGUAGE C)
if(NOT SENNIT_SANITIZE)
	target_link_options(sennit PRIVATE LINKER:--no-undefined)
endif()
# The library stays loaded after dlclose(), because threads may still run its
# code. What the loader fills in is read-only afterwards.
target_link_options(sennit PRIVATE ${system_loaded})

# --- components ----------------------------------------------------------------

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

# --- libsennit-io --------------------------------------------------------------

# libsennit-io: input and output for fibers, on the seam of sennit/poller.h.
# It needs epoll, and uses io_uring where liburing is there when it is built. In
# a deterministic build it has neither, but a network in memory.

set(SENNIT_URING "")
set(SENNIT_URING_PC "")
if(with_io)
	set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)

	find_path(SENNIT_LIBURING_H liburing.h)
	find_library(SENNIT_LIBURING uring)
	mark_as_advanced(SENNIT_LIBURING_H SENNIT_LIBURING)
	if(SENNIT_LIBURING_H AND SENNIT_LIBURING)
		set(CMAKE_REQUIRED_INCLUDES ${SENNIT_LIBURING_H})
		set(CMAKE_REQUIRED_LIBRARIES ${SENNIT_LIBURING})
		check_symbol_exists(IORING_SETUP_DEFER_TASKRUN liburing.h
			SENNIT_HAS_DEFER_TASKRUN)
		check_symbol_exists(io_uring_submit_and_get_events liburing.h
			SENNIT_HAS_SUBMIT_AND_GET_EVENTS)
		unset(CMAKE_REQUIRED_INCLUDES)
		unset(CMAKE_REQUIRED_LIBRARIES)
	endif()
	unset(CMAKE_REQUIRED_DEFINITIONS)

	if(SENNIT_DETERMINISTIC)
		message(STATUS "deterministic: the kernel takes no turns, libsennit-io "
			"has a simulated network")
	elseif(SENNIT_HAS_DEFER_TASKRUN AND SENNIT_HAS_SUBMIT_AND_GET_EVENTS)
		set(SENNIT_URING uring)
		set(SENNIT_URING_PC liburing)
	else()
		message(STATUS "liburing 2.3 is not there: the ring left out, "
			"libsennit-io waits by epoll")
	endif()

	sennit_component(io ${SENNIT_URING})
	if(SENNIT_URING)
		target_compile_definitions(sennit_io_objects PRIVATE SENNIT_HAVE_URING)
	endif()
endif()

# --- libsennit-tls -------------------------------------------------------------

# libsennit-tls: TLS by OpenSSL over the sockets of libsennit-io. A deterministic
# build has none: OpenSSL draws random numbers.

set(SENNIT_TLS_PC "")
if(with_tls AND NOT with_io)
	message(STATUS "no libsennit-io: libsennit-tls left out")
elseif(with_tls AND SENNIT_DETERMINISTIC)
	message(STATUS "deterministic: libsennit-tls left out")
elseif(with_tls)
	find_package(OpenSSL 3.0 QUIET COMPONENTS SSL Crypto)
	if(NOT OPENSSL_FOUND)
		message(STATUS "OpenSSL 3.0 not found: libsennit-tls left out")
	else()
		set(SENNIT_TLS_PC openssl)
		sennit_component(tls ssl crypto)
		target_include_directories(sennit_tls_objects SYSTEM PRIVATE
			${OPENSSL_INCLUDE_DIR})
		target_link_libraries(sennit_tls PUBLIC sennit_io)
		target_link_libraries(sennit_tls_static PUBLIC sennit_io_static)
	endif()
endif()

# --- libsennit-diag ------------------------------------------------------------

# libsennit-diag: looking inside a running program.
# A deterministic build has none: its threads would take no turns.

set(SENNIT_DW "")
set(SENNIT_DW_PC "")
if(with_diag AND NOT SENNIT_DETERMINISTIC)
	# libdw finds the callers of frames and the names of functions;
	# SENNIT_LIBDW_LIBRARY=OFF leaves it out.
	find_path(SENNIT_LIBDW_H elfutils/libdwfl.h)
	find_library(SENNIT_LIBDW_LIBRARY dw)
	find_library(SENNIT_LIBELF_LIBRARY elf) # of the same package
	mark_as_advanced(SENNIT_LIBDW_H SENNIT_LIBDW_LIBRARY
		SENNIT_LIBELF_LIBRARY)
	if(SENNIT_LIBDW_H AND SENNIT_LIBDW_LIBRARY AND SENNIT_LIBELF_LIBRARY)
		set(SENNIT_DW dw elf)
		set(SENNIT_DW_PC "libdw libelf")
		list(FILTER diag_sources EXCLUDE REGEX unwind_none)
	else()
		message(STATUS "libdw left out: in libsennit-diag a stack is its first "
			"frame")
		list(FILTER diag_sources EXCLUDE REGEX unwind_libdw)
	endif()

	# As libsennit has it, for names that the program chose. It has another name, so
	# that a program may contain both libraries' objects.
	list(APPEND diag_sources src/base/text.c)
	sennit_component(diag ${SENNIT_DW})
	target_compile_definitions(sennit_diag_objects PRIVATE sn_escape=sn_diag_escape)
	# SENNIT_DEBUG finds it in programs that do not call it, too.
	target_link_options(sennit_diag_static INTERFACE
		LINKER:-u,sennit_stacks_print)
endif()

# --- libsennit-mpi -------------------------------------------------------------

# libsennit-mpi: MPI calls that suspend the fiber. One library for each MPI that
# is found, as the MPIs differ in their types:
#	sennit_mpi-openmpi, sennit_mpi-mpich
# An MPI is found by its compiler, mpicc.openmpi or mpicc.mpich as Debian names
# them; elsewhere -DSENNIT_MPICC_OPENMPI=PATH or -DSENNIT_MPICC_MPICH=PATH. A
# deterministic build has none: the processes of MPI take no turns.

set(SENNIT_MPIS "")

# sennit_find_mpi(NAME LIBRARY OPTIONS...): SENNIT_MPI_<NAME>, the library, and
# SENNIT_MPI_<NAME>_INCLUDE. OPTIONS have the compiler print its command.
function(sennit_find_mpi name library)
	string(TOUPPER ${name} upper)
	find_program(SENNIT_MPICC_${upper} mpicc.${name})
	mark_as_advanced(SENNIT_MPICC_${upper})
	if(NOT SENNIT_MPICC_${upper})
		return()
	endif()
	set(said "")
	foreach(option IN LISTS ARGN)
		execute_process(COMMAND ${SENNIT_MPICC_${upper}} ${option}
			OUTPUT_VARIABLE line ERROR_QUIET
			OUTPUT_STRIP_TRAILING_WHITESPACE)
		separate_arguments(line UNIX_COMMAND "${line}")
		list(APPEND said ${line})
	endforeach()
	foreach(letter I L)
		set(folders_${letter} ${said})
		list(FILTER folders_${letter} INCLUDE REGEX "^-${letter}.")
		list(TRANSFORM folders_${letter} REPLACE "^-${letter}" "")
	endforeach()
	find_path(SENNIT_MPI_${upper}_H mpi.h PATHS ${folders_I}
		NO_DEFAULT_PATH)
	find_library(SENNIT_MPI_${upper}_LIBRARY ${library} PATHS ${folders_L}
		NO_DEFAULT_PATH)
	mark_as_advanced(SENNIT_MPI_${upper}_H SENNIT_MPI_${upper}_LIBRARY)
	if(NOT SENNIT_MPI_${upper}_H OR NOT SENNIT_MPI_${upper}_LIBRARY)
		return()
	endif()
	set(SENNIT_MPI_${name} ${SENNIT_MPI_${upper}_LIBRARY} PARENT_SCOPE)
	set(SENNIT_MPI_${name}_INCLUDE ${folders_I} PARENT_SCOPE)
endfunction()

if(with_mpi AND NOT SENNIT_DETERMINISTIC AND NOT CMAKE_CROSSCOMPILING)
	sennit_find_mpi(openmpi mpi -showme:compile -showme:link)
	sennit_find_mpi(mpich mpich -compile_info -link_info)

	foreach(mpi IN ITEMS openmpi mpich)
		if(NOT SENNIT_MPI_${mpi})
			continue()
		endif()
		list(APPEND SENNIT_MPIS ${mpi})
		set(mpi-${mpi}_sources ${mpi_sources})
		sennit_component(mpi-${mpi} ${SENNIT_MPI_${mpi}})
		target_include_directories(sennit_mpi-${mpi}_objects SYSTEM PRIVATE
			${SENNIT_MPI_${mpi}_INCLUDE})
	endforeach()
	if(NOT SENNIT_MPIS)
		message(STATUS "mpicc.openmpi and mpicc.mpich not found: libsennit-mpi "
			"left out")
	endif()
endif()

# --- what programs link to -----------------------------------------------------

# What programs link to, for every shared library of this folder: the file name
# that the linker records (SONAME), and the version of each symbol. Until 1.0
# each minor version has its own: programs of another one do not start with it.
# docs/versioning.md has the policy, tools/check-abi enforces it.

set(abi_version ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
	set(abi_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set(map ${PROJECT_BINARY_DIR}/symbols.map)
configure_file(cmake/symbols.map.in ${map} @ONLY)
# libsennit-mpi also defines calls of MPI.
set(mpi_map ${PROJECT_BINARY_DIR}/symbols-mpi.map)
file(READ ${map} names)
string(REPLACE "sennit_*" "sennit_*;\n\tMPI_*" names "${names}")
file(WRITE ${mpi_map} "${names}")

get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS targets)
	get_target_property(type ${target} TYPE)
	if(NOT type STREQUAL SHARED_LIBRARY)
		continue()
	endif()
	set(symbol_map ${map})
	if(target MATCHES "^sennit_mpi-")
		set(symbol_map ${mpi_map})
	endif()
	set_target_properties(${target} PROPERTIES
		VERSION ${PROJECT_VERSION} SOVERSION ${abi_version})
	set_property(TARGET ${target} APPEND PROPERTY
		LINK_DEPENDS ${symbol_map})
	target_link_options(${target} PRIVATE
		LINKER:--version-script=${symbol_map})
endforeach()
