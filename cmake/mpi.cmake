# SPDX-License-Identifier: Apache-2.0
# libsennit-mpi: MPI calls that suspend the fiber. One library for each MPI that
# is found, as the MPIs differ in their types:
#	sennit_mpi-openmpi, sennit_mpi-mpich
# An MPI is found by its compiler, mpicc.openmpi or mpicc.mpich as Debian names
# them; elsewhere -DSENNIT_MPICC_OPENMPI=PATH or -DSENNIT_MPICC_MPICH=PATH. A
# deterministic build has none: the processes of MPI take no turns.

set(SENNIT_MPIS "")
if(NOT SENNIT_MPI OR SENNIT_DETERMINISTIC OR CMAKE_CROSSCOMPILING)
	return()
endif()

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
