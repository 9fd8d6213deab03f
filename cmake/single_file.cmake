# SPDX-License-Identifier: Apache-2.0
# SENNIT_SINGLE_FILE: libsennit is compiled from the one file that
# tools/amalgamate writes for those who vendor it (docs/embedding.md). Its tests
# are then tests of that file. `sources` becomes the file.

find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(single ${PROJECT_BINARY_DIR}/single)
file(MAKE_DIRECTORY ${single})
file(GLOB_RECURSE parts CONFIGURE_DEPENDS include/*.h src/*.h src/*.c src/*.S)
add_custom_command(OUTPUT ${single}/sennit.c ${single}/sennit.h
	COMMAND ${Python3_EXECUTABLE} tools/amalgamate ${single}
	DEPENDS ${parts} src/LAYERS tools/amalgamate tools/private_names.py
		tools/list-calls
	WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM
	COMMENT "Writing sennit.c and sennit.h")
set(sources ${single}/sennit.c)
# The assembler is one string. A parameter may have the name of a function that
# is public in another file.
set_source_files_properties(${single}/sennit.c PROPERTIES COMPILE_OPTIONS
	"-Wno-overlength-strings;-Wno-shadow")
if(arch STREQUAL "portable")
	set_source_files_properties(${single}/sennit.c PROPERTIES
		COMPILE_DEFINITIONS SENNIT_PORTABLE)
endif()
