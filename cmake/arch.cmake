# SPDX-License-Identifier: Apache-2.0
# Sets `arch`, the folder of src/arch with the context switch: SENNIT_ARCH, or
# what src/arch/PROCESSORS says of the compiler's target.

set(list ${PROJECT_SOURCE_DIR}/src/arch/PROCESSORS)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
file(STRINGS ${list} lines REGEX "^[a-z]")
set(known "")
set(probe "#if defined(__x86_64__) && defined(__ILP32__)\n#define P \"x32\"\n")
foreach(line IN LISTS lines)
	string(REGEX MATCH "^([^ ]+) +(.*)$" line "${line}")
	list(APPEND known ${CMAKE_MATCH_1})
	string(APPEND probe
		"#elif ${CMAKE_MATCH_2}\n#define P \"${CMAKE_MATCH_1}\"\n")
endforeach()
string(APPEND probe "#else\n#define P \"portable\"\n#endif\n"
	"extern const char processor[];\n"
	"const char processor[] = \"sennit processor \" P \".\";\n")
set_property(CACHE SENNIT_ARCH PROPERTY STRINGS auto ${known} portable)

# What is compiled for the target cannot be run here, but read. It is not
# linked: that could need a library that is not there.
function(sennit_find_processor out)
	set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
	set(folder ${PROJECT_BINARY_DIR}/processor)
	file(WRITE ${folder}/processor.c "${probe}")
	try_compile(works ${folder} ${folder}/processor.c
		COPY_FILE ${folder}/processor OUTPUT_VARIABLE output)
	if(NOT works)
		message(FATAL_ERROR "the compiler does not work: ${output}")
	endif()
	file(STRINGS ${folder}/processor found REGEX "sennit processor ")
	string(REGEX REPLACE ".*sennit processor ([a-z0-9_]+)\\..*" "\\1"
		found "${found}")
	set(${out} ${found} CACHE INTERNAL "The compiler's target")
endfunction()

if(NOT SENNIT_PROCESSOR)
	sennit_find_processor(SENNIT_PROCESSOR)
endif()
if(SENNIT_PROCESSOR STREQUAL x32)
	message(FATAL_ERROR "x32 (-mx32) is not supported: its pointers have 32 "
		"bits and its registers 64. Build for x86-64 or, with -m32, "
		"for i386")
endif()
set(arch ${SENNIT_ARCH})
if(arch STREQUAL auto)
	set(arch ${SENNIT_PROCESSOR})
endif()
if(NOT arch IN_LIST known AND NOT arch STREQUAL portable)
	message(FATAL_ERROR "SENNIT_ARCH: ${arch} is not known here")
endif()
