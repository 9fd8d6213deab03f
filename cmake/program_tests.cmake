# SPDX-License-Identifier: Apache-2.0
# --- the servers of programs/ --------------------------------------------------

# test/apps/<x>.py tests the servers of programs/ by real clients, as
# apps/<x>-epoll and apps/<x>-uring. It exits with 77 if a client is missing.
# Those in `heavy` start heavy clients, in the plain builds only.
# A deterministic build has no sockets that other programs see.
function(sennit_server_tests)
	if(NOT build_tests OR NOT TARGET sennit-httpd OR SENNIT_DETERMINISTIC)
		return()
	endif()
	if(NOT SENNIT_PYTHON OR SENNIT_TEST_WRAPPER)
		message(STATUS "no python3, or a wrapper: test/apps is left out")
		return()
	endif()

	set(heavy browser)
	file(GLOB files CONFIGURE_DEPENDS test/apps/*.py)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		if(name MATCHES "^(server|upstream)$")
			continue() # what they share
		endif()
		if(name IN_LIST heavy AND SENNIT_SANITIZE)
			continue()
		endif()
		foreach(backend IN ITEMS epoll uring)
			set(test apps/${name}-${backend})
			sennit_test(apps ${name}-${backend} ${SENNIT_PYTHON} ${file})
			set(env SENNIT_IO=${backend} PYTHONDONTWRITEBYTECODE=1
				SENNIT_HTTPD=$<TARGET_FILE:sennit-httpd>)
			if(TARGET sennit-proxy)
				list(APPEND env
					SENNIT_PROXY=$<TARGET_FILE:sennit-proxy>)
			endif()
			set_property(TEST ${test} PROPERTY ENVIRONMENT "${env}")
			set_tests_properties(${test} PROPERTIES COST 10)
			if(name IN_LIST heavy)
				set_tests_properties(${test} PROPERTIES
					LABELS "apps;heavy")
			endif()
		endforeach()
	endforeach()
endfunction()
sennit_server_tests()

# --- the other programs --------------------------------------------------------

# test/pig/<x>.py tests sennit-pig, as pig/<x>; likewise test/grep and
# test/render. It exits with 77 if a program is missing. <program>.py and
# test/program have what they share.
function(sennit_program_tests)
	if(NOT build_tests)
		return()
	endif()
	if(NOT SENNIT_PYTHON OR SENNIT_TEST_WRAPPER OR CMAKE_CROSSCOMPILING)
		message(STATUS "no python3, or a wrapper: left out: test/pig, grep, render")
		return()
	endif()

	foreach(program pig grep render)
		if(NOT TARGET sennit-${program})
			continue()
		endif()
		string(TOUPPER SENNIT_${program} variable)
		sennit_python_tests(${program} ${program}
			PYTHONPATH=${PROJECT_SOURCE_DIR}/test/program
			${variable}=$<TARGET_FILE:sennit-${program}>)
	endforeach()

	# The picture by a plain loop, for test/render/same_picture.py.
	if(TARGET sennit-render)
		sennit_program(test_render_serial test/render/serial.c
			programs/render/scene.c)
		target_include_directories(test_render_serial PRIVATE programs)
		set_source_files_properties(programs/render/scene.c PROPERTIES
			COMPILE_OPTIONS -ffp-contract=off)
		target_link_libraries(test_render_serial PRIVATE m)
		set_target_properties(test_render_serial PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY test/render OUTPUT_NAME serial)
		set_property(TEST render/same_picture APPEND PROPERTY ENVIRONMENT
			SENNIT_SERIAL=$<TARGET_FILE:test_render_serial>)
	endif()
endfunction()
sennit_program_tests()

# --- test/mpi, examples/mpi, bench/mpi -----------------------------------------

# test/mpi/<x>.c with libsennit-mpi, run by test/mpi/run.sh as mpi/<x>-openmpi
# and mpi/<x>-mpich, with one to three processes each. ends_<x>.c must be ended
# by a failure. The same for the programs of examples/mpi, with one to four.
# test/mpi/others/others.sh runs MPI programs of Debian's packages, as
# mpi/others_<package>-<mpi>.
#
# No tests in the builds that only repeat what another one tests: processes that
# wait in MPI take the CPU from all others. Nor where the scheduler is slow by intent,
# nor under ThreadSanitizer or Valgrind, which know nothing of what orders the
# memory that MPI's processes share.
function(sennit_mpi_programs)
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
	if(build_bench)
		foreach(mpi IN LISTS SENNIT_MPIS)
			sennit_mpi_program(sennit-bench-mpi-${mpi} ${mpi} bench
				bench/mpi/main.c bench/mpi/halo.c)
			set_target_properties(sennit-bench-mpi-${mpi} PROPERTIES
				OUTPUT_NAME sennit-bench-mpi)
		endforeach()
	endif()

	if(NOT SENNIT_MPIS OR NOT build_tests OR NOT build_checks
		OR sanitize_helgrind OR SENNIT_TEST_WRAPPER
		OR sanitize_thread)
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
		if(NOT TARGET sennit_io)
			list(FILTER files EXCLUDE REGEX "/with_io.c$")
		endif()
		set(together "")
		foreach(file IN LISTS files)
			get_filename_component(name ${file} NAME_WE)
			sennit_test_is_alone(${file} alone)
			if(alone)
				set(run_${name} test_mpi_${name})
			else()
				set(run_${name} test_mpi)
				list(APPEND together ${file})
			endif()
			set(files_${run_${name}} ${file})
		endforeach()
		set(files_test_mpi ${together})
		set(mpi_says_ends_finalize "misuse of MPI_Finalize")
		set(mpi_says_ends_in_fiber "misuse of MPI_Finalize in a fiber")
		set(mpi_says_ends_serialized "misuse of MPI_Comm_split: a fiber")
		foreach(mpi IN LISTS SENNIT_MPIS)
			set(made "")
			foreach(file IN LISTS files)
				get_filename_component(name ${file} NAME_WE)
				set(program ${run_${name}}-${mpi})
				if(NOT program IN_LIST made)
					list(APPEND made ${program})
					sennit_mpi_program(${program} ${mpi} test/mpi
						${files_${run_${name}}})
					sennit_cases(${program})
				endif()
				sennit_mpi_test(${name} ${mpi}
					$<TARGET_FILE:${program}> ${name})
				if(name MATCHES "^ends_")
					set_property(TEST mpi/${name}-${mpi} PROPERTY
						ENVIRONMENT ENDS=yes RANKS=2)
				endif()
				if(DEFINED mpi_says_${name})
					set_property(TEST mpi/${name}-${mpi} APPEND
						PROPERTY ENVIRONMENT
						"SAYS=${mpi_says_${name}}")
				endif()
			endforeach()
			set_property(TEST mpi/late-${mpi} PROPERTY ENVIRONMENT RANKS=2)
			string(TOUPPER ${mpi} upper)
			sennit_test(mpi table-${mpi} sh
				${PROJECT_SOURCE_DIR}/test/mpi/table.sh
				${SENNIT_MPI_${upper}_H}
				"$<FILTER:$<TARGET_OBJECTS:test_mpi-${mpi}>,INCLUDE,/late.c.o>"
				$<TARGET_OBJECTS:sennit_mpi-${mpi}_objects>
				COMMAND_EXPAND_LISTS)
			if(TARGET sennit_io) # for with_io
				target_sources(test_mpi-${mpi} PRIVATE
					$<TARGET_OBJECTS:sennit_io_objects>)
				target_link_libraries(test_mpi-${mpi} PRIVATE
					${SENNIT_URING})
			endif()
		endforeach()
	endif()

	# Programs that others wrote, which preload ours. A sanitizer would have to be
	# loaded first.
	set(mpi_packages_openmpi scalapack hpcc)
	set(mpi_packages_mpich scalapack)
	if(NOT SENNIT_SANITIZE)
		foreach(mpi IN LISTS SENNIT_MPIS)
			set(in_fiber test_mpi_in_fiber-${mpi})
			add_library(${in_fiber} MODULE test/mpi/others/in_fiber.c)
			target_include_directories(${in_fiber} SYSTEM PRIVATE
				${SENNIT_MPI_${mpi}_INCLUDE})
			target_link_libraries(${in_fiber} PRIVATE sennit_flags
				sennit_mpi-${mpi} ${SENNIT_MPI_${mpi}})
			set_target_properties(${in_fiber} PROPERTIES PREFIX ""
				OUTPUT_NAME in_fiber
				LIBRARY_OUTPUT_DIRECTORY test/mpi/${mpi})
			foreach(package IN LISTS mpi_packages_${mpi})
				sennit_test(mpi others_${package}-${mpi} sh
					${PROJECT_SOURCE_DIR}/test/mpi/others/others.sh
					${mpi} $<TARGET_FILE:${in_fiber}>
					$<TARGET_FILE:sennit_mpi-${mpi}> ${package})
				set_tests_properties(mpi/others_${package}-${mpi}
					PROPERTIES RESOURCE_LOCK mpi COST 30 TIMEOUT 1200)
			endforeach()
		endforeach()
	endif()

	# The tree takes long enough for all processes to get nodes.
	set(mpi_arguments_uts 19 1000)
	if(build_examples)
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
endfunction()
sennit_mpi_programs()

# --- test/fuzz -----------------------------------------------------------------

# test/fuzz/<x>.c is one program, fuzz_<x>, run by tools/fuzz.
function(sennit_fuzzers)
	file(GLOB files CONFIGURE_DEPENDS test/fuzz/*.c)
	if(NOT SENNIT_HTTP_PARSER_H OR NOT SENNIT_HTTP_PARSER)
		message(STATUS "libhttp-parser not found: fuzz_http is left out")
		list(FILTER files EXCLUDE REGEX "/http\\.c$")
	endif()
	if(NOT TARGET sennit_trace_parts)
		message(STATUS "no sennit-trace: fuzz_trace_file is left out")
		list(FILTER files EXCLUDE REGEX "/trace_file\\.c$")
	endif()
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_program(fuzz_${name} ${file})
		target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
	endforeach()
	target_link_options(fuzz_quota PRIVATE LINKER:--wrap=fopen)

	# sennit-httpd without its input and output, which libsennit-io has.
	if(TARGET fuzz_http)
		foreach(part http/body http/date http/head http/host http/reader http/reason
			http/select http/target httpd/answer httpd/serve httpd/static)
			target_sources(fuzz_http PRIVATE programs/${part}.c)
		endforeach()
		target_include_directories(fuzz_http PRIVATE
			programs ${SENNIT_HTTP_PARSER_H})
		target_link_libraries(fuzz_http PRIVATE ${SENNIT_HTTP_PARSER})
	endif()

	if(TARGET fuzz_trace_file)
		target_link_libraries(fuzz_trace_file PRIVATE sennit_trace_parts)
	endif()
endfunction()
if(sanitize_fuzzer)
	sennit_fuzzers()
endif()
