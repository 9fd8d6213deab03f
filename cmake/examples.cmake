# SPDX-License-Identifier: Apache-2.0
# examples/<x>.c is one program, run as the test example/<x>.
# examples/marl/<x>.cpp is one, run as example/marl_<x>.
# examples/treesum/*.c are one program, sennit-treesum, which needs libcrypto.

# As a test an example must end with 0 on its defaults.
function(sennit_example name)
	if(SENNIT_TESTS)
		sennit_test(example ${name} ${runner} ${ARGN})
	endif()
endfunction()

file(GLOB files CONFIGURE_DEPENDS examples/*.c)
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	sennit_program(example_${name} ${file})
	set_target_properties(example_${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY examples OUTPUT_NAME ${name})
	sennit_example(${name} $<TARGET_FILE:example_${name}>)
endforeach()

file(GLOB files CONFIGURE_DEPENDS examples/treesum/*.c)
find_package(OpenSSL QUIET COMPONENTS Crypto)
if(files AND OPENSSL_FOUND)
	sennit_program(sennit-treesum ${files})
	target_link_libraries(sennit-treesum PRIVATE OpenSSL::Crypto)
	sennit_example(treesum
		$<TARGET_FILE:sennit-treesum> ${PROJECT_SOURCE_DIR}/include)
elseif(files)
	message(STATUS "libcrypto is not there: sennit-treesum left out")
endif()

# --- examples/marl: programs in C++, with marl's names -------------------------

file(GLOB files CONFIGURE_DEPENDS examples/marl/*.cpp)
if(files AND SENNIT_CXX)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		sennit_cxx_program(example_marl_${name} 11 ${file})
		set_target_properties(example_marl_${name} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY examples/marl
			OUTPUT_NAME ${name})
		sennit_example(marl_${name}
			$<TARGET_FILE:example_marl_${name}>)
	endforeach()
endif()
