# SPDX-License-Identifier: Apache-2.0
# test/apps/<x>.py tests the servers of programs/ by real clients, as
# apps/<x>-epoll and apps/<x>-uring. It exits with 77 if a client is missing.
# Those in `heavy` start heavy clients, in the plain builds only.
# A deterministic build has no sockets that other programs see.
function(sennit_server_tests)
	if(NOT SENNIT_TESTS OR NOT TARGET sennit-httpd OR SENNIT_DETERMINISTIC)
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
		if(name IN_LIST heavy AND (SENNIT_SANITIZE OR SENNIT_TORTURE))
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

# test/pig/<x>.py tests sennit-pig, as pig/<x>; likewise test/grep and
# test/render. It exits with 77 if a program is missing. <program>.py and
# test/program have what they share.

if(NOT SENNIT_TESTS)
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
