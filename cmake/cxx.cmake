# SPDX-License-Identifier: Apache-2.0
# The C++ parts: sennit.hpp and the headers with marl's names (include/compat),
# which need no build, and the programs that test, show and measure them.
#	test/compat/<x>.cpp     part of a program for the folder, run as compat/<x>
#	test/cpp/<x>.cpp        the same for sennit.hpp, run as cpp/<x>
#	examples/cpp/<x>.cpp    a program, run as example/cpp_<x>
#	examples/marl/<x>.cpp   a program, run as example/marl_<x>
#	bench/marl/<x>.cpp      rows of sennit-bench-marl

# With either library: sennit::marl belongs to sennit::sennit.
foreach(library sennit sennit_static)
	string(REPLACE sennit marl name ${library})
	add_library(sennit_${name} INTERFACE)
	set_target_properties(sennit_${name} PROPERTIES EXPORT_NAME ${name})
	target_include_directories(sennit_${name} INTERFACE
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat>
		$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sennit/compat>)
	target_link_libraries(sennit_${name} INTERFACE ${library})
endforeach()
if(make_shared)
	add_library(sennit::marl ALIAS sennit_marl)
else()
	add_library(sennit::marl ALIAS sennit_marl_static)
endif()
add_library(sennit::marl_static ALIAS sennit_marl_static)

# --- a C++ compiler: the one that belongs to the C compiler, or none ------------

if(CMAKE_C_COMPILER_ID MATCHES Clang)
	set(cxx_names clang++)
else()
	set(cxx_names g++)
endif()
get_filename_component(cc_dir ${CMAKE_C_COMPILER} DIRECTORY)
if(CMAKE_CROSSCOMPILING)
	get_filename_component(cxx_names ${CMAKE_C_COMPILER} NAME)
	string(REGEX REPLACE "gcc" "g++" cxx_names ${cxx_names})
else()
	list(APPEND cxx_names c++)
endif()
if(CMAKE_CXX_COMPILER)
	set(SENNIT_CXX ${CMAKE_CXX_COMPILER})
elseif(NOT "$ENV{CXX}" STREQUAL "")
	set(SENNIT_CXX $ENV{CXX})
endif()
find_program(SENNIT_CXX NAMES ${cxx_names} HINTS ${cc_dir})
if(NOT SENNIT_CXX)
	message(STATUS "no C++ compiler: the C++ parts are left out")
	set(SENNIT_CXX "")
	return()
elseif(NOT build_cpp
	OR NOT (build_tests OR build_examples OR build_bench))
	return()
endif()

# A compiler that cannot compile counts as missing.
if(NOT CMAKE_CXX_COMPILER AND NOT CMAKE_CROSSCOMPILING)
	include(CheckLanguage)
	set(ENV{CXX} ${SENNIT_CXX})
	check_language(CXX)
	if(NOT CMAKE_CXX_COMPILER)
		message(STATUS
			"${SENNIT_CXX} does not work: the C++ parts are left out")
		set(SENNIT_CXX "")
		return()
	endif()
endif()
set(CMAKE_CXX_COMPILER ${SENNIT_CXX})
enable_language(CXX)
set(cxx_standard ${CMAKE_CXX_STANDARD}) # of test/compat and cpp; 11 at least
if(NOT cxx_standard)
	set(cxx_standard 17)
endif()
if(top_level)
	set(CMAKE_CXX_FLAGS_DEBUG ${CMAKE_C_FLAGS_DEBUG})
	if(SENNIT_SANITIZE) # compiles in half of the time
		string(REPLACE -O1 -O0 CMAKE_CXX_FLAGS_DEBUG
			"${CMAKE_CXX_FLAGS_DEBUG}")
	endif()
	set(CMAKE_CXX_FLAGS_RELEASE ${CMAKE_C_FLAGS_RELEASE})
endif()

# --- programs ---------------------------------------------------------------------

add_library(sennit_cxx_flags INTERFACE)
foreach(flag -Wall -Wextra -Wpedantic -Wshadow -Wconversion
	-Wstrict-aliasing=2
	$<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
	target_compile_options(sennit_cxx_flags INTERFACE
		$<$<COMPILE_LANGUAGE:CXX>:${flag}>)
endforeach()

function(sennit_cxx_program name standard)
	add_executable(${name} ${ARGN})
	target_link_libraries(${name} PRIVATE ${shipped_marl}
		sennit_cxx_flags m)
	set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
		CXX_STANDARD ${standard}
		CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
endfunction()
