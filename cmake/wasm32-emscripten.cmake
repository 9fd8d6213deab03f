# SPDX-License-Identifier: Apache-2.0
# Cross build for WebAssembly by emscripten, whose own file this includes; node
# runs the programs. `emcmake cmake` works as well.

find_program(SENNIT_EM_CONFIG em-config)
execute_process(COMMAND ${SENNIT_EM_CONFIG} EMSCRIPTEN_ROOT
	OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE)
include(${root}/cmake/Modules/Platform/Emscripten.cmake)

# The loader of emscripten 3 takes node 18 and later for a browser, unless node
# hides its fetch().
set(CMAKE_CROSSCOMPILING_EMULATOR "node;--no-experimental-fetch")

# The folder with what was built for the tests, such as cmocka.
set(SENNIT_SYSROOT "" CACHE PATH "Libraries for WebAssembly")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SENNIT_SYSROOT)
if(SENNIT_SYSROOT)
	list(PREPEND CMAKE_FIND_ROOT_PATH ${SENNIT_SYSROOT})
endif()
