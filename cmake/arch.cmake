# SPDX-License-Identifier: Apache-2.0
# Sets `arch`, the folder of src/arch with the context switch: SENNIT_ARCH, or
# what src/arch/PROCESSORS says of the compiler's target; and `arch_folders`,
# where `#include "processor/..."` is searched. A switch by libc has the headers
# of the processor too.

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
	"const char processor[] = \"sennit processor \" P \":\"\n")
file(STRINGS ${list} lines REGEX "^\t[a-z]")
foreach(line IN LISTS lines)
	string(REGEX MATCH "^\t([^ ]+) +(.*)$" line "${line}")
	string(APPEND probe
		"#if ${CMAKE_MATCH_2}\n\"${CMAKE_MATCH_1}:\"\n#endif\n")
endforeach()
string(APPEND probe "\".\";\n")
set_property(CACHE SENNIT_ARCH PROPERTY STRINGS auto ${known} portable)

# What is compiled for the target cannot be run here, but read. It is not
# linked: that could need a library that is not there.
function(sennit_find_processor)
	set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
	set(folder ${PROJECT_BINARY_DIR}/processor)
	file(WRITE ${folder}/processor.c "${probe}")
	try_compile(works ${folder} ${folder}/processor.c
		COPY_FILE ${folder}/processor OUTPUT_VARIABLE output)
	if(NOT works)
		message(FATAL_ERROR "the compiler does not work: ${output}")
	endif()
	file(STRINGS ${folder}/processor found REGEX "sennit processor ")
	string(REGEX MATCH "sennit processor ([a-z0-9_]+):([a-z0-9_:]*):\\."
		found "${found}")
	string(REPLACE ":" ";" families "${CMAKE_MATCH_2}")
	set(SENNIT_PROCESSOR ${CMAKE_MATCH_1} CACHE INTERNAL
		"The compiler's target")
	set(SENNIT_FAMILIES ${families} CACHE INTERNAL "Its families")
endfunction()

if(NOT SENNIT_PROCESSOR OR NOT SENNIT_FAMILIES)
	sennit_find_processor()
endif()
if(SENNIT_PROCESSOR STREQUAL "x32")
	message(FATAL_ERROR "x32 (-mx32) is not supported: its pointers have 32 "
		"bits and its registers 64. Build for x86-64 or, with -m32, "
		"for i386")
endif()
set(arch ${SENNIT_ARCH})
if(arch STREQUAL "auto")
	set(arch ${SENNIT_PROCESSOR})
endif()
if(NOT arch IN_LIST known AND NOT arch STREQUAL "portable")
	message(FATAL_ERROR "SENNIT_ARCH: ${arch} is not known here")
endif()
set(arch_folders ${SENNIT_FAMILIES})
if(arch STREQUAL "portable")
	if(NOT SENNIT_PROCESSOR STREQUAL "portable") # the last one
		list(PREPEND arch_folders ${SENNIT_PROCESSOR})
	endif()
else()
	list(PREPEND arch_folders ${arch})
endif()
list(REMOVE_DUPLICATES arch_folders)
list(TRANSFORM arch_folders PREPEND ${PROJECT_SOURCE_DIR}/src/arch/)
