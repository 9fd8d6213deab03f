# SPDX-License-Identifier: Apache-2.0
# The programs of the guides, compiled as a reader compiles them:
#	examples/tutorial/<x>.c    docs/tutorial.md
#	examples/cookbook/<x>.c    docs/cookbook.md; <x>.cpp in C++
#	examples/from/<peer>.c     docs/coming-from.md; <peer>.cpp in C++
#	examples/from/<peer>_before.*  the same with the peer, if it is there
# The test guides/<folder>_<x> runs one, and compares it and what it prints with
# the page (test/guides/page.py). guides/<page>_whole finds code in a page that
# is no such program, and guides/parts code in other pages that no tested file
# has. Without Python the programs alone are run.

# One type of build is enough for them.
if(SENNIT_TORTURE OR SENNIT_HELGRIND OR NOT CMAKE_BUILD_TYPE STREQUAL Debug)
	return()
elseif(NOT TARGET sennit_io)
	message(STATUS "no libsennit-io: the programs of the guides left out")
	return()
endif()
set(page_py ${SENNIT_PYTHON} ${PROJECT_SOURCE_DIR}/test/guides/page.py)

# The test of a file that ARGN runs.
function(sennit_guide_test folder file)
	get_filename_component(name ${file} NAME_WE)
	set(page ${folder})
	if(folder STREQUAL "from")
		set(page coming-from)
	endif()
	if(SENNIT_TESTS AND SENNIT_PYTHON)
		sennit_test(guides ${folder}_${name} ${page_py} check
			${PROJECT_SOURCE_DIR}/docs/${page}.md ${file} ${ARGN})
	elseif(SENNIT_TESTS)
		sennit_test(guides ${folder}_${name} ${ARGN})
	endif()
endfunction()

function(sennit_guide_program folder file)
	get_filename_component(name ${file} NAME_WE)
	set(program example_${folder}_${name})
	add_executable(${program} ${file})
	target_compile_options(${program} PRIVATE -Wall -Wextra -Wpedantic)
	if(SENNIT_WERROR)
		target_compile_options(${program} PRIVATE -Werror)
	endif()
	set_target_properties(${program} PROPERTIES
		C_STANDARD 11 CXX_STANDARD 17 OUTPUT_NAME ${name}
		RUNTIME_OUTPUT_DIRECTORY examples/${folder})
	target_link_libraries(${program} PRIVATE ${ARGN})
	sennit_guide_test(${folder} ${file} ${runner}
		$<TARGET_FILE:${program}>)
endfunction()

# The peer's side of a page: in plain builds, as the peers are not instrumented.
function(sennit_guide_peer file found)
	get_filename_component(name ${file} NAME_WE)
	if(SENNIT_SANITIZE OR SENNIT_TEST_WRAPPER OR CMAKE_CROSSCOMPILING)
		return()
	elseif(NOT found)
		message(STATUS "its library is missing: ${name} is left out")
		return()
	endif()
	sennit_guide_program(from ${file} Threads::Threads ${ARGN})
endfunction()

set(guide_suffixes c)
if(SENNIT_CXX AND SENNIT_CPP)
	set(guide_suffixes c cpp)
endif()
foreach(folder IN ITEMS tutorial cookbook from)
	foreach(suffix IN LISTS guide_suffixes)
		file(GLOB files CONFIGURE_DEPENDS
			${PROJECT_SOURCE_DIR}/examples/${folder}/*.${suffix})
		list(FILTER files EXCLUDE REGEX "_before\\.")
		if(SENNIT_DETERMINISTIC) # where deadlines may pass early
			list(FILTER files INCLUDE REGEX "/by_seed\\.c$")
		endif()
		foreach(file IN LISTS files)
			sennit_guide_program(${folder} ${file} sennit::io)
		endforeach()
	endforeach()
endforeach()
if(SENNIT_DETERMINISTIC)
	return()
endif()

# --- the peers ----------------------------------------------------------------

set(peers ${PROJECT_SOURCE_DIR}/examples/from)
sennit_guide_peer(${peers}/pthreads_before.c ON)
find_package(OpenMP QUIET COMPONENTS C)
sennit_guide_peer(${peers}/openmp_before.c "${OpenMP_C_FOUND}"
	$<TARGET_NAME_IF_EXISTS:OpenMP::OpenMP_C>)
find_path(SENNIT_UV_H uv.h)
find_library(SENNIT_UV uv)
mark_as_advanced(SENNIT_UV_H SENNIT_UV)
sennit_guide_peer(${peers}/libuv_before.c "${SENNIT_UV}" ${SENNIT_UV})
find_library(SENNIT_BOOST_FIBER boost_fiber)
find_library(SENNIT_BOOST_CONTEXT boost_context)
mark_as_advanced(SENNIT_BOOST_FIBER SENNIT_BOOST_CONTEXT)
if("cpp" IN_LIST guide_suffixes)
	sennit_guide_peer(${peers}/boost_fiber_before.cpp
		"${SENNIT_BOOST_FIBER}" ${SENNIT_BOOST_FIBER}
		${SENNIT_BOOST_CONTEXT})
endif()

find_program(SENNIT_GO go)
mark_as_advanced(SENNIT_GO)
if(NOT SENNIT_GO)
	message(STATUS "go not found: go_before is left out")
elseif(NOT SENNIT_SANITIZE AND NOT SENNIT_TEST_WRAPPER
	AND NOT CMAKE_CROSSCOMPILING)
	sennit_guide_test(from ${peers}/go_before.go
		${SENNIT_GO} run ${peers}/go_before.go)
endif()

# --- the pages ----------------------------------------------------------------

if(SENNIT_TESTS AND SENNIT_CHECKS AND SENNIT_PYTHON AND NOT SENNIT_SANITIZE
	AND NOT SENNIT_TEST_WRAPPER AND NOT CMAKE_CROSSCOMPILING)
	foreach(page IN ITEMS tutorial cookbook)
		sennit_test(guides ${page}_whole ${page_py} whole
			${PROJECT_SOURCE_DIR}/docs/${page}.md
			${PROJECT_SOURCE_DIR}/examples/${page})
	endforeach()
	sennit_test(guides coming-from_whole ${page_py} whole
		${PROJECT_SOURCE_DIR}/docs/coming-from.md ${peers})
	file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md
		${PROJECT_SOURCE_DIR}/docs/*.md
		${PROJECT_SOURCE_DIR}/docs/design/*.md)
	list(FILTER pages EXCLUDE REGEX "/(tutorial|cookbook|coming-from).md$")
	sennit_test(guides parts ${page_py} parts ${PROJECT_SOURCE_DIR}
		${pages})
endif()
