# SPDX-License-Identifier: Apache-2.0
# What programs link to, for every shared library of this folder: the file name
# that the linker records (SONAME), and the version of each symbol. Until 1.0
# each minor version has its own: programs of another one do not start with it.
# docs/versioning.md has the policy, tools/check-abi enforces it.

set(abi_version ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
	set(abi_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set(map ${PROJECT_BINARY_DIR}/symbols.map)
configure_file(${CMAKE_CURRENT_LIST_DIR}/symbols.map.in ${map} @ONLY)
# libsennit-mpi also defines calls of MPI.
set(mpi_map ${PROJECT_BINARY_DIR}/symbols-mpi.map)
file(READ ${map} names)
string(REPLACE "sennit_*" "sennit_*;\n\tMPI_*" names "${names}")
file(WRITE ${mpi_map} "${names}")

get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS targets)
	get_target_property(type ${target} TYPE)
	if(NOT type STREQUAL SHARED_LIBRARY)
		continue()
	endif()
	set(symbol_map ${map})
	if(target MATCHES "^sennit_mpi-")
		set(symbol_map ${mpi_map})
	endif()
	set_target_properties(${target} PROPERTIES
		VERSION ${PROJECT_VERSION} SOVERSION ${abi_version})
	set_property(TARGET ${target} APPEND PROPERTY
		LINK_DEPENDS ${symbol_map})
	target_link_options(${target} PRIVATE
		LINKER:--version-script=${symbol_map})
endforeach()
