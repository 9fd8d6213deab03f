# SPDX-License-Identifier: Apache-2.0
# test/apps/<x>.py tests the servers of programs/ by real clients, as
# apps/<x>-epoll and apps/<x>-uring. It exits with 77 if a client is missing.
# Those in `heavy` start heavy clients, in the plain builds only.
# A deterministic build has no sockets that other programs see.

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
