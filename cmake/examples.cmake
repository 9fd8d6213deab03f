# SPDX-License-Identifier: Apache-2.0
# examples/<x>.c is one program, run as the test example/<x>.
# examples/cpp/<x>.cpp is one, run as example/cpp_<x>; likewise examples/marl.
# examples/io/<x>.c is one with libsennit-io; those that need a further library
# are foreign. ares needs libcares.
# examples/calls/<x>.c shows the calls of a header that the others do not need;
# run as example/calls_<x>. diag needs libsennit-diag.
# examples/debug/<x>.c are those of docs/debugging.md: see below.
# examples/treesum/*.c are one program, sennit-treesum, which needs libcrypto.

# An example run as a test must exit with 0 without arguments.
function(sennit_example name)
	if(build_tests)
		sennit_test(example ${name} ${runner} ${ARGN})
	endif()
endfunction()

# The same with the further libraries under test; not for programs that link
# more than sennit.
function(sennit_example_twins name)
	sennit_twins(example_${name})
	foreach(twin IN LISTS twins)
		sennit_example(${name}-${twin}
			$<TARGET_FILE:example_${name}_${twin}>)
	endforeach()
endfunction()

file(GLOB files CONFIGURE_DEPENDS examples/*.c)
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	sennit_program(example_${name} ${file})
	set_target_properties(example_${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY examples OUTPUT_NAME ${name})
	sennit_example(${name} $<TARGET_FILE:example_${name}>)
	if(NOT name STREQUAL "neighbours")
		sennit_example_twins(${name})
	endif()
endforeach()

# Not in the builds that only repeat what another one tests, nor, but for one,
# in the deterministic build: there the seed lets deadlines pass early.
file(GLOB files CONFIGURE_DEPENDS examples/calls/*.c)
if(NOT build_checks)
	set(files "")
elseif(SENNIT_DETERMINISTIC)
	list(FILTER files INCLUDE REGEX "/deterministic\\.c$")
endif()
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	set(program example_calls_${name})
	if(NOT name MATCHES "^(diag|watchdog)$")
		sennit_program(${program} ${file})
	elseif(TARGET sennit_diag
		AND NOT sanitize_helgrind)
		add_executable(${program} ${file})
		target_link_libraries(${program} PRIVATE sennit::diag_static
			sennit_flags)
	else()
		continue()
	endif()
	set_target_properties(${program} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY examples/calls OUTPUT_NAME ${name})
	sennit_example(calls_${name} $<TARGET_FILE:${program}>)
endforeach()

# --- examples/io with other libraries -------------------------------------------

# Programs of examples/io that need more than sennit, or a peer:
# examples/io/<x>*.c are one, built where its library is found, and run by
# test/foreign/<x>.sh against a real peer, by epoll and by io_uring, as the test
# foreign/<x>. One without a script needs no peer, and is run as the others of
# examples/io are.
function(sennit_foreign_examples)
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
			sennit::io sennit_flags ${example_${name}_needs})
		foreach(module IN LISTS ARGN)
			target_link_libraries(example_io_${name} PRIVATE
				PkgConfig::SENNIT_${module})
		endforeach()
		set_target_properties(example_io_${name} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY examples)
		if(NOT build_tests)
			return()
		endif()
		set(script ${PROJECT_SOURCE_DIR}/test/foreign/${name}.sh)
		if((NOT builds STREQUAL ALL AND SENNIT_TEST_WRAPPER) OR
			(builds STREQUAL PLAIN AND
				(SENNIT_SANITIZE OR NOT build_checks)))
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
	if(TARGET sennit_tls)
		set(example_tls_needs sennit::tls)
		sennit_foreign(tls NATIVE)
	endif()
	sennit_foreign(curl PLAIN libcurl)
	sennit_foreign(compress ALL zlib)
	sennit_foreign(chat PLAIN)
endfunction()

# --- examples/io ---------------------------------------------------------------

# With libsennit-io, the shared and the static one, and each backend; in the
# deterministic build those that have sockets alone, and no deadlines, which the
# seed lets pass early.
set(backends epoll uring)
file(GLOB files CONFIGURE_DEPENDS examples/io/*.c)
list(FILTER files EXCLUDE REGEX "/(postgres|curl|tls|libuv|redis|compress|chat)")
if(SENNIT_DETERMINISTIC)
	set(backends simulated)
	list(FILTER files INCLUDE REGEX "/(explored|simulated)\\.c$")
elseif(TARGET sennit_io AND NOT sanitize_helgrind)
	sennit_foreign_examples()
endif()
if(NOT TARGET sennit_io OR sanitize_helgrind)
	set(files "")
endif()
find_path(SENNIT_CARES_H ares.h)
find_library(SENNIT_CARES cares)
mark_as_advanced(SENNIT_CARES_H SENNIT_CARES)
set(example_ares_needs ${SENNIT_CARES})
if(files AND NOT (SENNIT_CARES_H AND SENNIT_CARES))
	message(STATUS "c-ares not found: examples/io/ares is left out")
	list(FILTER files EXCLUDE REGEX "/ares\\.c$")
endif()
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	foreach(library IN ITEMS io io_static)
		set(program example_${library}_${name})
		add_executable(${program} ${file})
		target_link_libraries(${program} PRIVATE
			sennit::${library} sennit_flags
			${example_${name}_needs})
		set_target_properties(${program} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY examples)
		foreach(backend IN LISTS backends)
			sennit_example(${library}_${name}-${backend}
				$<TARGET_FILE:${program}>)
			if(build_tests)
				set_property(TEST
					example/${library}_${name}-${backend}
					PROPERTY ENVIRONMENT
					SENNIT_IO=${backend})
			endif()
		endforeach()
	endforeach()
endforeach()

find_path(SENNIT_HWLOC_H hwloc.h)
find_library(SENNIT_HWLOC hwloc)
mark_as_advanced(SENNIT_HWLOC_H SENNIT_HWLOC)
if(SENNIT_HWLOC_H AND SENNIT_HWLOC)
	target_compile_definitions(example_neighbours PRIVATE HAVE_HWLOC)
	target_include_directories(example_neighbours PRIVATE ${SENNIT_HWLOC_H})
	target_link_libraries(example_neighbours PRIVATE ${SENNIT_HWLOC})
else()
	message(STATUS "hwloc not found: example/neighbours uses the system's topology")
endif()

file(GLOB files CONFIGURE_DEPENDS examples/treesum/*.c)
find_package(OpenSSL QUIET COMPONENTS Crypto)
if(files AND OPENSSL_FOUND)
	sennit_program(sennit-treesum ${files})
	target_link_libraries(sennit-treesum PRIVATE OpenSSL::Crypto)
	sennit_example(treesum
		$<TARGET_FILE:sennit-treesum> ${PROJECT_SOURCE_DIR}/include)
elseif(files)
	message(STATUS "libcrypto not found: sennit-treesum is left out")
endif()

# --- examples/cpp, examples/marl: programs in C++ -------------------------------

function(sennit_cxx_examples folder standard)
	file(GLOB files CONFIGURE_DEPENDS examples/${folder}/*.cpp)
	foreach(file IN LISTS files)
		file(STRINGS ${file} uses_io REGEX "cpp/io\\.hpp")
		if(uses_io) # see above
			continue()
		endif()
		get_filename_component(name ${file} NAME_WE)
		set(name ${folder}_${name})
		sennit_cxx_program(example_${name} ${standard} ${file})
		set_target_properties(example_${name} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY examples)
		sennit_example(${name} $<TARGET_FILE:example_${name}>)
		if(NOT name STREQUAL "marl_fractal")
			sennit_example_twins(${name})
		endif()
	endforeach()
endfunction()

# Those of examples/cpp that use libsennit-io: run with each backend, or by
# test/foreign/<x>.sh.
function(sennit_cxx_io_example file)
	get_filename_component(name ${file} NAME_WE)
	set(program example_cpp_${name})
	set(standard 17)
	if(name STREQUAL "coroutines")
		set(standard 20)
	endif()
	sennit_cxx_program(${program} ${standard} ${file})
	target_link_libraries(${program} PRIVATE ${shipped_io})
	set_target_properties(${program} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY examples)
	set(script ${PROJECT_SOURCE_DIR}/test/foreign/${name}.sh)
	if(NOT build_tests)
		return()
	elseif(NOT EXISTS ${script})
		foreach(backend IN LISTS backends)
			sennit_example(cpp_${name}-${backend}
				$<TARGET_FILE:${program}>)
			set_property(TEST example/cpp_${name}-${backend}
				PROPERTY ENVIRONMENT SENNIT_IO=${backend})
		endforeach()
	elseif(build_checks AND NOT CMAKE_CROSSCOMPILING
		AND NOT SENNIT_SANITIZE AND NOT SENNIT_TEST_WRAPPER)
		sennit_test(foreign cpp_${name} sh ${script}
			$<TARGET_FILE:${program}>)
		set_tests_properties(foreign/cpp_${name} PROPERTIES
			LABELS "foreign;heavy" ENVIRONMENT TOOL=)
	endif()
endfunction()

function(sennit_cxx_io_examples)
	if(NOT TARGET sennit_io OR SENNIT_DETERMINISTIC OR sanitize_helgrind)
		return()
	endif()
	file(GLOB files CONFIGURE_DEPENDS examples/cpp/*.cpp)
	foreach(file IN LISTS files)
		file(STRINGS ${file} uses_io REGEX "cpp/io\\.hpp")
		if(uses_io)
			sennit_cxx_io_example(${file})
		endif()
	endforeach()
endfunction()

if(SENNIT_CXX AND build_cpp)
	sennit_cxx_io_examples()
	sennit_cxx_examples(cpp 17)
	sennit_cxx_examples(marl 11)
	find_package(PNG QUIET)
	if(PNG_FOUND)
		target_compile_definitions(example_marl_fractal PRIVATE HAVE_PNG)
		target_link_libraries(example_marl_fractal PRIVATE PNG::PNG)
	else()
		message(STATUS "libpng not found: example/marl_fractal writes a pixmap")
	endif()
endif()

# --- examples/debug ------------------------------------------------------------

# examples/debug/<x>.c is the program of a scenario in docs/debugging.md. The
# test debug/<x> gives the document's commands and compares what they print, in
# plain builds: under a wrapper or a sanitizer other lines are right.
function(sennit_debug_examples)
	if(NOT TARGET sennit_diag OR sanitize_helgrind)
		return()
	endif()
	file(GLOB files CONFIGURE_DEPENDS examples/debug/*.c)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		set(program example_debug_${name})
		add_executable(${program} ${file})
		target_link_libraries(${program} PRIVATE sennit::diag)
		target_compile_options(${program} PRIVATE -Wall -Wextra -Wpedantic)
		# With their exported names in backtraces (-rdynamic).
		set_target_properties(${program} PROPERTIES
			C_STANDARD 11 ENABLE_EXPORTS ON
			RUNTIME_OUTPUT_DIRECTORY examples/debug OUTPUT_NAME ${name})
		if(NOT build_tests OR NOT build_checks OR NOT SENNIT_PYTHON
			OR SENNIT_SANITIZE OR SENNIT_TEST_WRAPPER
			OR CMAKE_CROSSCOMPILING OR arch STREQUAL "portable")
			continue()
		endif()
		sennit_test(debug ${name} ${SENNIT_PYTHON}
			${PROJECT_SOURCE_DIR}/test/debug/scenario.py ${name})
		set(top "")
		if(TARGET sennit-top)
			set(top $<TARGET_FILE:sennit-top>)
		endif()
		set_property(TEST debug/${name} PROPERTY ENVIRONMENT
			SOURCE_DIR=${PROJECT_SOURCE_DIR} SENNIT_TOP=${top}
			SCENARIO_PROGRAM=$<TARGET_FILE:${program}>)
	endforeach()
endfunction()
sennit_debug_examples()

# --- examples/tutorial, cookbook, from -----------------------------------------

# The programs of the guides, compiled as a reader compiles them:
#	examples/tutorial/<x>.c    docs/tutorial.md
#	examples/cookbook/<x>.c    docs/cookbook.md; <x>.cpp in C++
#	examples/from/<peer>.c     docs/coming-from.md; <peer>.cpp in C++
#	examples/from/<peer>_before.*  the same with the peer, if it is there
# The test guides/<folder>_<x> runs one, and compares it and what it prints with
# the page (test/guides/page.py). guides/<page>_whole finds code in a page that
# is no such program, and guides/parts code in other pages that no tested file
# has. Without Python the programs alone are run.
function(sennit_guides)
	# One type of build is enough for them.
	if(sanitize_helgrind OR NOT CMAKE_BUILD_TYPE STREQUAL Debug)
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
		if(build_tests AND SENNIT_PYTHON)
			sennit_test(guides ${folder}_${name} ${page_py} check
				${PROJECT_SOURCE_DIR}/docs/${page}.md ${file} ${ARGN})
		elseif(build_tests)
			sennit_test(guides ${folder}_${name} ${ARGN})
		endif()
	endfunction()

	function(sennit_guide_program folder file)
		get_filename_component(name ${file} NAME_WE)
		set(program example_${folder}_${name})
		add_executable(${program} ${file})
		target_compile_options(${program} PRIVATE -Wall -Wextra -Wpedantic)
		set_target_properties(${program} PROPERTIES
			C_STANDARD 11 CXX_STANDARD 17 OUTPUT_NAME ${name}
			RUNTIME_OUTPUT_DIRECTORY examples/${folder})
		target_link_libraries(${program} PRIVATE ${ARGN})
		set(with "")
		if(name STREQUAL "tls")
			set(with sh
				${PROJECT_SOURCE_DIR}/test/guides/with_certificate.sh)
		endif()
		sennit_guide_test(${folder} ${file} ${with} ${runner}
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
	if(SENNIT_CXX AND build_cpp)
		set(guide_suffixes c cpp)
	endif()
	foreach(folder IN ITEMS tutorial cookbook from)
		foreach(suffix IN LISTS guide_suffixes)
			file(GLOB files CONFIGURE_DEPENDS
				${PROJECT_SOURCE_DIR}/examples/${folder}/*.${suffix})
			list(FILTER files EXCLUDE REGEX "_before\\.")
			if(SENNIT_DETERMINISTIC) # where deadlines may pass early
				list(FILTER files INCLUDE REGEX "/by_seed\\.c$")
			elseif(NOT TARGET sennit_tls)
				list(FILTER files EXCLUDE REGEX "/tls\\.c$")
			endif()
			foreach(file IN LISTS files)
				set(needs sennit::io)
				if(file MATCHES "/tls\\.c$")
					set(needs sennit::tls OpenSSL::SSL)
				endif()
				sennit_guide_program(${folder} ${file} ${needs})
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

	if(build_tests AND build_checks AND SENNIT_PYTHON AND NOT SENNIT_SANITIZE
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
		list(FILTER pages EXCLUDE REGEX
			"/(tutorial|cookbook|coming-from).md$")
		sennit_test(guides parts ${page_py} parts
			${PROJECT_SOURCE_DIR} ${pages})
	endif()
endfunction()
sennit_guides()
