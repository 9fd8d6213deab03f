# SPDX-License-Identifier: Apache-2.0
# Sets `arch`, the folder of src/arch with the context switch: SENNIT_ARCH, or
# what src/arch/cpu.h says of the compiler's target.

file(GLOB known RELATIVE ${PROJECT_SOURCE_DIR}/src/arch
	${PROJECT_SOURCE_DIR}/src/arch/*/switch.[cS])
list(TRANSFORM known REPLACE "/.*" "")
set_property(CACHE SENNIT_ARCH PROPERTY STRINGS auto ${known})

# The conditions of cpu.h, with names for the headers.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
	${PROJECT_SOURCE_DIR}/src/arch/cpu.h)
file(READ ${PROJECT_SOURCE_DIR}/src/arch/cpu.h probe)
string(REGEX REPLACE "#include \"arch/([a-z0-9_]+)/cpu.h\""
	"#define NAME \"\\1\"" probe "${probe}")
string(REGEX REPLACE "#include \"[^\n]*" "" probe "${probe}")

# What is compiled for the target cannot be run here, but read. It is not
# linked, and includes nothing: that could need what is not there.
function(sennit_find_processor)
	set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
	set(folder ${PROJECT_BINARY_DIR}/processor)
	file(WRITE ${folder}/processor.c "
${probe}
#if defined(__x86_64__) && defined(__ILP32__)
#define NAME \"x32\"
#elif !defined(NAME)
#define NAME \"portable\"
#endif
extern const char processor[];
const char processor[] = \"sennit processor \" NAME \":\";
")
	try_compile(works ${folder} ${folder}/processor.c
		COPY_FILE ${folder}/processor OUTPUT_VARIABLE output)
	if(NOT works)
		message(FATAL_ERROR "the compiler does not work: ${output}")
	endif()
	file(STRINGS ${folder}/processor found REGEX "sennit processor ")
	string(REGEX MATCH "sennit processor ([a-z0-9_]+):" found "${found}")
	set(SENNIT_PROCESSOR ${CMAKE_MATCH_1} CACHE INTERNAL
		"The compiler's target")
endfunction()

if(NOT SENNIT_PROCESSOR)
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
if(NOT arch IN_LIST known)
	message(FATAL_ERROR "SENNIT_ARCH: ${arch} is not known here")
endif()
