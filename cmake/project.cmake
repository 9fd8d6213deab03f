# SPDX-License-Identifier: Apache-2.0
# What every product builds with: the options, what the compiler, the processor
# and the system offer, and the functions of this folder. Read by the top, and by
# a product that is configured alone (cmake -S core).
#	sennit_root	the source tree
#	sennit_build	the folder of the build
#	sennit_alone	the product that is configured alone, or empty

get_filename_component(sennit_root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
if(top_level)
	if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
		set(CMAKE_BUILD_TYPE Release)
	endif()
	set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
else() # What the project above sets for its own sources stays out.
	set(CMAKE_C_STANDARD 11)
	set(CMAKE_C_EXTENSIONS ON)
	unset(CMAKE_CXX_STANDARD)
	set(CMAKE_UNITY_BUILD OFF)
endif()
set(sennit_build ${PROJECT_BINARY_DIR})
# Whatever folder makes them, libraries and programs stand at the build's top.
foreach(kind LIBRARY ARCHIVE RUNTIME)
	set(CMAKE_${kind}_OUTPUT_DIRECTORY ${sennit_build})
endforeach()

# --- options ---------------------------------------------------------------

# A list is separated by commas or semicolons.
set(libraries static,shared)
if(NOT top_level) # nothing else needs to be installed with a program
	set(libraries static)
	if(BUILD_SHARED_LIBS)
		set(libraries shared)
	endif()
endif()
set(SENNIT_LIBRARIES ${libraries} CACHE STRING
	"Libraries to build and install; tests use the first")
set(SENNIT_COMPONENTS io,tls,http,diag,mpi CACHE STRING
	"Libraries beside libsennit; tls: if OpenSSL is found; mpi: one for each MPI
that is found")
set(build "")
if(sennit_alone)
	set(build tests,examples,bench)
elseif(top_level)
	set(build tests,checks,examples,apps,bench,bindings,cpp,manual)
endif()
set(SENNIT_BUILD ${build} CACHE STRING "What is built beside the libraries: \
tests; checks (tools/check-*, testing/build and core/test/model are tests too); \
examples; tools (sennit-top, sennit-trace); apps (these and programs); \
bench; bindings (python, rust); cpp (tests, examples and bench in C++); manual; html (the \
documentation as HTML); twins (tests in C++ and examples with each library); \
peers (bench/peers, as far as they are installed)")
option(SENNIT_INSTALL "Install sennit" ${top_level})
if(NOT top_level AND NOT SENNIT_INSTALL) # what the project above links is built
	set_property(DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY EXCLUDE_FROM_ALL ON)
endif()
set(SENNIT_ARCH auto CACHE STRING
	"Context switch: auto, portable, or a folder of core/src/arch")
set(SENNIT_END gate CACHE STRING
	"How the end of a scheduler is detected: gate, count (docs/embedding.md)")
option(SENNIT_FP_CONTROL "Fibers keep their floating-point control word" ON)
set(SENNIT_SANITIZE "" CACHE STRING "A list of: address, thread, undefined; \
race: ThreadSanitizer finds races in programs, task by task (docs/reliability.md); \
helgrind: atomic operations order accesses for Valgrind's helgrind, too; \
fuzzer: clang's, with */test/fuzz")
set(sites OFF)
if(CMAKE_BUILD_TYPE STREQUAL Debug AND NOT EMSCRIPTEN)
	set(sites ON) # WebAssembly has no return addresses
endif()
option(SENNIT_SPAWN_SITES "Tasks show where they were spawned, by a word each"
	${sites})
option(SENNIT_DEBUG_SWITCH "Read the environment variable SENNIT_DEBUG" ON)
option(SENNIT_DETERMINISTIC
	"One thread at a time, in an order that SENNIT_SEED chooses" OFF)
option(SENNIT_SINGLE_FILE "libsennit is compiled from one file, as vendored" OFF)
set(SENNIT_TEST_GROUPS unit,api,stress,os,litmus,soak CACHE STRING
	"The groups of tests in C with libsennit alone that are built")
set(SENNIT_TEST_WRAPPER "" CACHE STRING
	"A command (;-list) that runs every test, such as valgrind")

# sennit_words(OPTION PREFIX WORD...): PREFIX_WORD is ON or OFF for each word
# that may stand in the list.
function(sennit_words option prefix)
	string(REPLACE "," ";" given "${${option}}")
	foreach(word IN LISTS given)
		if(NOT word IN_LIST ARGN)
			list(JOIN ARGN ", " known)
			message(FATAL_ERROR
				"${option}: ${word} is not one of ${known}")
		endif()
	endforeach()
	foreach(word IN LISTS ARGN)
		set(${prefix}_${word} OFF PARENT_SCOPE)
		if(word IN_LIST given)
			set(${prefix}_${word} ON PARENT_SCOPE)
		endif()
	endforeach()
endfunction()
sennit_words(SENNIT_LIBRARIES make static shared)
sennit_words(SENNIT_COMPONENTS with io tls http diag mpi)
sennit_words(SENNIT_BUILD build tests checks examples tools apps bench bindings
	cpp manual html twins peers)
sennit_words(SENNIT_SANITIZE sanitize address thread undefined race
	helgrind fuzzer)
if(build_apps)
	set(build_tools ON)
endif()
string(REPLACE "," ";" test_groups "${SENNIT_TEST_GROUPS}")
foreach(name TESTS CHECKS EXAMPLES APPS BENCH BINDINGS CPP MANUAL HTML PEERS IO
	DIAG MPI SHARED STATIC)
	if(DEFINED SENNIT_${name})
		message(WARNING "SENNIT_${name} is no option any more: see "
			"SENNIT_BUILD, SENNIT_COMPONENTS and SENNIT_LIBRARIES")
		unset(SENNIT_${name} CACHE) # also of an older build's folder
	endif()
endforeach()

# CTest's own option, for all projects.
if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
	set(build_tests OFF)
	set(build_checks OFF)
endif()

set_property(CACHE SENNIT_END PROPERTY STRINGS gate count)

# The folders of the public headers. marl/include has another name in it, and is
# installed elsewhere.
file(GLOB sennit_includes CONFIGURE_DEPENDS ${sennit_root}/*/include/sennit)
list(TRANSFORM sennit_includes REPLACE "/sennit$" "")

if(NOT make_shared AND NOT make_static)
	message(FATAL_ERROR "SENNIT_LIBRARIES is empty")
endif()

# What is linked says nothing of the build's folder, so that the same source
# gives the same build id in any.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

include(${CMAKE_CURRENT_LIST_DIR}/platform.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/compiler.cmake)

# The programs that are tests and examples, with "twins" also built with the
# second library.
set(library_static sennit_static)
set(library_shared sennit)
string(REPLACE "," ";" twins "${SENNIT_LIBRARIES}")
list(POP_FRONT twins first)
if(NOT build_twins)
	set(twins "")
endif()
set(shipped ${library_${first}})
string(REPLACE sennit sennit_marl shipped_marl ${shipped})
string(REPLACE sennit sennit_io shipped_io ${shipped})
string(REPLACE sennit sennit_tls shipped_tls ${shipped})
string(REPLACE sennit sennit_http shipped_http ${shipped})

# For the manual, the bindings and the tests, if it is there.
find_program(SENNIT_PYTHON python3)
mark_as_advanced(SENNIT_PYTHON)

include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/programs.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tests.cmake)
