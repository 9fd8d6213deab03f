# SPDX-License-Identifier: Apache-2.0
# The bindings (docs/bindings.md), and their tests as bindings/<x>. They use the
# shared library and run no sanitizer: neither Python nor Rust is built with one.

if(NOT SENNIT_BINDINGS)
	return()
endif()
if(NOT SENNIT_SHARED OR SENNIT_SANITIZE OR SENNIT_DETERMINISTIC OR SENNIT_TORTURE
	OR SENNIT_HELGRIND OR SENNIT_FUZZ OR SENNIT_TEST_WRAPPER
	OR CMAKE_CROSSCOMPILING)
	message(STATUS "left out: bindings: no plain shared library to run with")
	return()
endif()
include(cmake/bindings_python.cmake)
include(cmake/bindings_rust.cmake)
