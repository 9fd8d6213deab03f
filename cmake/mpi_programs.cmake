# SPDX-License-Identifier: Apache-2.0
# test/mpi/<x>.c with libsennit-mpi, run by test/mpi/run.sh as mpi/<x>-openmpi
# and mpi/<x>-mpich, with one to three processes each. ends_<x>.c must be ended
# by a failure. The same for the programs of examples/mpi, with one to four.
#
# No tests in the builds that only repeat what another one tests: processes that
# wait in MPI take the CPU from all others. Nor where the scheduler is slow by intent,
# nor under ThreadSanitizer or Valgrind, which know nothing of what orders the
# memory that MPI's processes share.

# sennit_mpi_program(PROGRAM MPI FOLDER FILE...)
function(sennit_mpi_program program mpi folder)
	sennit_program(${program} ${ARGN}
		$<TARGET_OBJECTS:sennit_mpi-${mpi}_objects>)
	target_include_directories(${program} SYSTEM PRIVATE
		${SENNIT_MPI_${mpi}_INCLUDE})
	target_link_libraries(${program} PRIVATE ${SENNIT_MPI_${mpi}})
	set_target_properties(${program} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${folder}/${mpi})
	# For MPI_STATUSES_IGNORE of MPICH, which is no array.
	if(CMAKE_C_COMPILER_ID STREQUAL GNU)
		target_compile_options(${program} PRIVATE
			-Wno-stringop-overflow)
	endif()
endfunction()

# bench/mpi: built, and run by hand.
if(SENNIT_BENCH)
	foreach(mpi IN LISTS SENNIT_MPIS)
		sennit_mpi_program(sennit-bench-mpi-${mpi} ${mpi} bench
			bench/mpi/main.c bench/mpi/halo.c)
		set_target_properties(sennit-bench-mpi-${mpi} PROPERTIES
			OUTPUT_NAME sennit-bench-mpi)
	endforeach()
endif()

if(NOT SENNIT_MPIS OR NOT SENNIT_TESTS OR NOT SENNIT_CHECKS OR SENNIT_TORTURE
	OR SENNIT_HELGRIND OR SENNIT_TEST_WRAPPER
	OR SENNIT_SANITIZE MATCHES thread)
	return()
endif()

# sennit_mpi_test(NAME MPI COMMAND...). One at a time, as each has more
# processes than there may be CPUs, and those of MPI wait by spinning.
function(sennit_mpi_test name mpi)
	sennit_test(mpi ${name}-${mpi} sh
		${PROJECT_SOURCE_DIR}/test/mpi/run.sh ${mpi} ${ARGN})
	set_tests_properties(mpi/${name}-${mpi} PROPERTIES
		RESOURCE_LOCK mpi COST 30 TIMEOUT 1200)
endfunction()

if(CMOCKA_INCLUDE_DIR AND CMOCKA_LIBRARY)
	file(GLOB files CONFIGURE_DEPENDS test/mpi/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		if(name STREQUAL "with_io" AND NOT TARGET sennit_io)
			continue()
		endif()
		foreach(mpi IN LISTS SENNIT_MPIS)
			set(program test_mpi_${name}_${mpi})
			sennit_mpi_program(${program} ${mpi} test/mpi ${file})
			target_include_directories(${program} SYSTEM PRIVATE
				${CMOCKA_INCLUDE_DIR})
			target_link_libraries(${program} PRIVATE
				${CMOCKA_LIBRARY})
			if(name STREQUAL "with_io")
				target_sources(${program} PRIVATE
					$<TARGET_OBJECTS:sennit_io_objects>)
				target_link_libraries(${program} PRIVATE
					${SENNIT_URING})
			endif()
			set_target_properties(${program} PROPERTIES
				OUTPUT_NAME ${name})
			sennit_mpi_test(${name} ${mpi}
				$<TARGET_FILE:${program}>)
			if(name MATCHES "^ends_")
				set_property(TEST mpi/${name}-${mpi} PROPERTY
					ENVIRONMENT ENDS=yes RANKS=2)
			endif()
			if(name STREQUAL "ends_finalize")
				set_property(TEST mpi/${name}-${mpi} APPEND
					PROPERTY ENVIRONMENT
					"SAYS=misuse of MPI_Finalize")
			endif()
		endforeach()
	endforeach()
endif()

# The tree takes long enough for all processes to get nodes.
set(mpi_arguments_uts 19 1000)
if(SENNIT_EXAMPLES)
	file(GLOB files CONFIGURE_DEPENDS examples/mpi/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		foreach(mpi IN LISTS SENNIT_MPIS)
			set(program example_mpi_${name}_${mpi})
			sennit_mpi_program(${program} ${mpi} examples/mpi
				${file})
			set_target_properties(${program} PROPERTIES
				OUTPUT_NAME ${name})
			sennit_mpi_test(example_${name} ${mpi}
				$<TARGET_FILE:${program}>
				${mpi_arguments_${name}})
			set_property(TEST mpi/example_${name}-${mpi} PROPERTY
				ENVIRONMENT "RANKS=1 2 3 4")
		endforeach()
	endforeach()

	# Over TCP. The bytes are those of the edges, in one direction.
	foreach(mpi IN LISTS SENNIT_MPIS)
		foreach(name IN ITEMS heat uts)
			sennit_test(mpi netns_${name}-${mpi} sh
				${PROJECT_SOURCE_DIR}/test/mpi/netns.sh ${mpi}
				$<TARGET_FILE:example_mpi_${name}_${mpi}>
				${mpi_arguments_${name}})
			set_tests_properties(mpi/netns_${name}-${mpi} PROPERTIES
				RESOURCE_LOCK mpi COST 30 TIMEOUT 300)
		endforeach()
		set_property(TEST mpi/netns_heat-${mpi} PROPERTY ENVIRONMENT
			"SAYS=2 processes, 0 of 9216 numbers differ"
			LEAST=38400)
		set_property(TEST mpi/netns_uts-${mpi} PROPERTY ENVIRONMENT
			"SAYS=2 processes, 17225 nodes, alone 17225")
	endforeach()
endif()
