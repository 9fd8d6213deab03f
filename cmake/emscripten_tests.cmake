# SPDX-License-Identifier: Apache-2.0
# Tests of WebAssembly: test/unit, test/api and examples, compiled into one
# program, because emscripten takes most of a minute to link one. Its first
# argument is the name of the test. test/wasm/LEFT_OUT says which tests it does
# not have, and why.

set(list ${PROJECT_SOURCE_DIR}/test/wasm/LEFT_OUT)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
file(STRINGS ${list} left_out REGEX "^[a-z]")
list(TRANSFORM left_out REPLACE " .*" "")
foreach(name IN LISTS left_out)
	if(NOT EXISTS ${PROJECT_SOURCE_DIR}/test/${name}.c
		AND NOT EXISTS ${PROJECT_SOURCE_DIR}/${name}.c)
		message(FATAL_ERROR "test/wasm/LEFT_OUT: no test ${name}")
	endif()
endforeach()

add_executable(sennit-tests test/wasm/main.c)
target_link_libraries(sennit-tests PRIVATE sennit_internal ${CMOCKA_LIBRARY} m)

# cmocka.h would declare uintptr_t once more, as another type.
add_library(test_flags INTERFACE)
target_compile_definitions(test_flags INTERFACE _UINTPTR_T_DEFINED)
target_include_directories(test_flags SYSTEM INTERFACE ${CMOCKA_INCLUDE_DIR})
target_link_libraries(test_flags INTERFACE sennit_flags)
target_link_libraries(sennit-tests PRIVATE test_flags)
# Tests have several schedulers with some threads each.
target_link_options(sennit-tests PRIVATE -sINITIAL_MEMORY=768MB
	-Wl,--wrap=fork)

# One test: its main() gets another name, which a table lists.
set(table "")
function(sennit_wasm_test group name file)
	string(MAKE_C_IDENTIFIER "main_${group}_${name}" main)
	file(STRINGS ${file} with_arguments REGEX "^int main\\(int ")
	set(kind PLAIN)
	if(with_arguments)
		set(kind WITH_ARGUMENTS)
	endif()
	set(table "${table}${kind}(\"${group}/${name}\", ${main})\n"
		PARENT_SCOPE)
	add_library(${main} OBJECT ${file})
	target_link_libraries(${main} PRIVATE test_flags)
	target_compile_definitions(${main} PRIVATE main=${main})
	target_compile_options(${main} PRIVATE -Wno-missing-prototypes)
	target_include_directories(${main} PRIVATE test/unit/without_ucontext)
	target_sources(sennit-tests PRIVATE $<TARGET_OBJECTS:${main}>)
	sennit_test(${group} ${name} ${runner} $<TARGET_FILE:sennit-tests>
		${group}/${name})
endfunction()

foreach(group unit api)
	file(GLOB files CONFIGURE_DEPENDS test/${group}/*.c)
	sennit_end_tests(files)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		if(NOT ${group}/${name} IN_LIST left_out)
			sennit_wasm_test(${group} ${name} ${file})
		endif()
	endforeach()
endforeach()
file(GLOB files CONFIGURE_DEPENDS examples/*.c)
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	if(NOT examples/${name} IN_LIST left_out)
		sennit_wasm_test(example ${name} ${file})
	endif()
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/wasm/tests.inc CONTENT "${table}")
target_include_directories(sennit-tests PRIVATE ${PROJECT_BINARY_DIR}/wasm)
