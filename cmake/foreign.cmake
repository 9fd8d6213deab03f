# SPDX-License-Identifier: Apache-2.0
# Programs of examples/io that need more than sennit: examples/io/<x>*.c are one,
# built where its library is found, and run by test/foreign/<x>.sh against a real
# peer, by epoll and by io_uring, as the test foreign/<x>. One without a script
# needs no peer, and is run as the others of examples/io are.

if(CMAKE_CROSSCOMPILING)
	message(STATUS "cross-compiling: examples with other libraries left out")
	return()
endif()
find_package(PkgConfig QUIET)
if(SENNIT_TEST_WRAPPER)
	set(tool "${SENNIT_TEST_WRAPPER}")
	string(REPLACE ";" " " tool "${tool}")
endif()

# sennit_foreign(name builds modules of pkg-config...)
#
# builds: ALL; NATIVE: not under a wrapper (valgrind); PLAIN: with neither
# wrapper nor sanitizer, for what takes seconds or many processes.
function(sennit_foreign name builds)
	set(missing "")
	if(NOT PkgConfig_FOUND)
		set(missing pkg-config)
	else()
		foreach(module IN LISTS ARGN)
			pkg_check_modules(SENNIT_${module} QUIET
				IMPORTED_TARGET ${module})
			if(NOT SENNIT_${module}_FOUND)
				set(missing ${module})
			endif()
		endforeach()
	endif()
	if(missing)
		message(STATUS
			"${missing} not found: example io/${name} left out")
		return()
	endif()
	file(GLOB files CONFIGURE_DEPENDS examples/io/${name}*.c)
	add_executable(example_io_${name} ${files})
	target_link_libraries(example_io_${name} PRIVATE
		sennit::io sennit_flags)
	foreach(module IN LISTS ARGN)
		target_link_libraries(example_io_${name} PRIVATE
			PkgConfig::SENNIT_${module})
	endforeach()
	set_target_properties(example_io_${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY examples)
	if(NOT SENNIT_TESTS)
		return()
	endif()
	set(script ${PROJECT_SOURCE_DIR}/test/foreign/${name}.sh)
	if((NOT builds STREQUAL ALL AND SENNIT_TEST_WRAPPER) OR
		(builds STREQUAL PLAIN AND
			(SENNIT_SANITIZE OR NOT SENNIT_CHECKS)))
		return()
	endif()
	if(EXISTS ${script})
		sennit_test(foreign ${name} sh ${script}
			$<TARGET_FILE:example_io_${name}>)
		set_tests_properties(foreign/${name} PROPERTIES
			LABELS "foreign;heavy" ENVIRONMENT "TOOL=${tool}")
		return()
	endif()
	foreach(backend IN ITEMS epoll uring)
		sennit_example(io_${name}-${backend}
			$<TARGET_FILE:example_io_${name}>)
		set_property(TEST example/io_${name}-${backend} PROPERTY
			ENVIRONMENT SENNIT_IO=${backend})
	endforeach()
endfunction()

sennit_foreign(postgres PLAIN libpq)
sennit_foreign(redis ALL hiredis)
sennit_foreign(libuv ALL libuv)
sennit_foreign(tls NATIVE openssl)
sennit_foreign(curl PLAIN libcurl)
sennit_foreign(compress ALL zlib)
