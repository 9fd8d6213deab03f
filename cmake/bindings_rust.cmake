# SPDX-License-Identifier: Apache-2.0
# bindings/rust: cargo builds it in the build folder bindings/rust, without
# network: it needs no other crates.

set(missing "")
foreach(program cargo rustc rustdoc)
	string(TOUPPER SENNIT_${program} variable)
	find_program(${variable} ${program})
	mark_as_advanced(${variable})
	if(NOT ${variable} AND NOT missing)
		set(missing ${program})
	endif()
endforeach()
if(missing)
	message(STATUS "left out: bindings/rust: ${missing} not found")
	return()
endif()
execute_process(COMMAND ${SENNIT_RUSTC} --version OUTPUT_VARIABLE version)
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${version}")
if(version VERSION_LESS 1.63)
	message(STATUS "left out: bindings/rust: rustc ${version}, not 1.63")
	return()
endif()

set(from ${PROJECT_SOURCE_DIR}/bindings/rust)
set(to ${PROJECT_BINARY_DIR}/bindings/rust)
set(env RUSTC=${SENNIT_RUSTC} RUSTDOC=${SENNIT_RUSTDOC}
	CARGO_HOME=${to}/home CARGO_TARGET_DIR=${to}
	SENNIT_LIB_DIR=${PROJECT_BINARY_DIR} RUST_BACKTRACE=1
	LD_LIBRARY_PATH=${PROJECT_BINARY_DIR})
set(build build)
if(SENNIT_TESTS)
	set(build test --no-run)
endif()
# cargo knows what is to be done.
add_custom_target(sennit_rust ALL
	COMMAND ${CMAKE_COMMAND} -E env ${env}
		${SENNIT_CARGO} ${build} --offline --locked --quiet
	COMMAND ${CMAKE_COMMAND} -E env ${env}
		${SENNIT_CARGO} build --offline --locked --quiet
	WORKING_DIRECTORY ${from})
add_dependencies(sennit_rust sennit)

if(NOT SENNIT_TESTS)
	return()
endif()
sennit_test(bindings rust_calls
	${SENNIT_CARGO} test --offline --locked --tests)
sennit_test(bindings rust_readme
	${SENNIT_CARGO} test --offline --locked --doc -p sennit)
sennit_test(bindings rust_layouts sh ${from}/test/layouts.sh)
sennit_test(bindings rust_refused sh ${from}/test/refused.sh)
set_tests_properties(bindings/rust_calls bindings/rust_readme
	bindings/rust_layouts bindings/rust_refused PROPERTIES
	WORKING_DIRECTORY ${from}
	ENVIRONMENT "${env};CC=${CMAKE_C_COMPILER};SOURCE_DIR=${PROJECT_SOURCE_DIR};TARGET_DIR=${to};LAYOUTS=${to}/debug/examples/layouts")
