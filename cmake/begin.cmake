# SPDX-License-Identifier: Apache-2.0
# Before project(): the version, and the flags of a type of build.

# The version stands once, in the public header.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../core/include/sennit/base.h version_lines
	REGEX "^#define SENNIT_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" version "${version_lines}")
string(REPLACE ";" "." version "${version}")

set(top_level OFF)
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
	set(top_level ON)
	set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer" CACHE STRING
		"Flags of a build with assertions")
	set(CMAKE_C_FLAGS_RELEASE "-O2 -g -DNDEBUG" CACHE STRING
		"Flags of what is shipped and measured")
endif()
