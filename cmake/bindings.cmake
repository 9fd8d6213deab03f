# SPDX-License-Identifier: Apache-2.0
# The bindings (docs/bindings.md), and their tests as bindings/<x>. They use the
# shared library and run no sanitizer: neither Python nor Rust is built with one.

if(NOT build_bindings)
	return()
endif()
if(NOT make_shared OR SENNIT_SANITIZE OR SENNIT_DETERMINISTIC
	OR sanitize_helgrind OR sanitize_fuzzer OR SENNIT_TEST_WRAPPER
	OR CMAKE_CROSSCOMPILING)
	message(STATUS "left out: bindings: no plain shared library to run with")
	return()
endif()

# --- a header for generators -----------------------------------------------------

# share/sennit/sennit_flat.h: see tools/flat-header.
if(SENNIT_PYTHON AND TARGET sennit::io)
	set(flat ${PROJECT_BINARY_DIR}/bindings/sennit_flat.h)
	file(GLOB headers CONFIGURE_DEPENDS include/*.h include/sennit/*.h)
	add_custom_command(OUTPUT ${flat}
		COMMAND ${CMAKE_COMMAND} -E make_directory
			${PROJECT_BINARY_DIR}/bindings
		COMMAND ${SENNIT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/flat-header
			${PROJECT_SOURCE_DIR}/include ${CMAKE_C_COMPILER} ${flat}
		DEPENDS tools/flat-header ${headers} VERBATIM)
	add_custom_target(sennit_flat_header ALL DEPENDS ${flat})
	if(SENNIT_INSTALL)
		install(FILES ${flat} DESTINATION ${CMAKE_INSTALL_DATADIR}/sennit)
	endif()
endif()

# --- Python --------------------------------------------------------------------

# bindings/python: the package `sennit` in the build folder bindings/python.
function(sennit_bind_python)
	if(NOT SENNIT_PYTHON)
		message(STATUS "left out: bindings/python: python3 not found")
		return()
	endif()
	execute_process(COMMAND ${SENNIT_PYTHON} -c
		"import cffi, sysconfig; print(sysconfig.get_path('include'))"
		OUTPUT_VARIABLE include OUTPUT_STRIP_TRAILING_WHITESPACE
		RESULT_VARIABLE failed ERROR_QUIET)
	if(failed)
		message(STATUS "left out: bindings/python: python3-cffi not found")
		return()
	endif()
	if(NOT EXISTS ${include}/Python.h)
		message(STATUS "left out: bindings/python: python3-dev not found")
		return()
	endif()

	if(NOT TARGET sennit::io)
		message(STATUS "left out: bindings/python: no libsennit-io")
		return()
	endif()

	set(from ${PROJECT_SOURCE_DIR}/bindings/python)
	set(to ${PROJECT_BINARY_DIR}/bindings/python)
	add_custom_command(OUTPUT ${to}/native.c
		COMMAND ${CMAKE_COMMAND} -E make_directory ${to}
		COMMAND ${SENNIT_PYTHON} ${from}/native_source.py ${to}/native.c
		DEPENDS ${from}/native_source.py ${from}/glue.c)
	add_library(sennit_python MODULE ${to}/native.c)
	target_include_directories(sennit_python SYSTEM PRIVATE ${include})
	target_link_libraries(sennit_python PRIVATE sennit::io sennit::sennit)
	set_target_properties(sennit_python PROPERTIES
		PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so
		LIBRARY_OUTPUT_DIRECTORY ${to}/sennit)
	file(GLOB files CONFIGURE_DEPENDS ${from}/sennit/*.py
		${from}/sennit/*.pyi ${from}/sennit/py.typed)
	add_custom_command(TARGET sennit_python POST_BUILD
		COMMAND ${CMAKE_COMMAND} -E copy ${files} ${to}/sennit)
	set_property(TARGET sennit_python APPEND PROPERTY LINK_DEPENDS ${files})

	# Installed below the prefix, as compiled code: it finds the library from there.
	execute_process(COMMAND ${SENNIT_PYTHON} -c "import sysconfig
print(sysconfig.get_path('platlib', 'posix_prefix',
		{'base': '', 'platbase': ''})[1:])"
		OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
	set(SENNIT_PYTHON_DIR ${folder} CACHE STRING
		"Where the Python package is installed, below the prefix")
	if(SENNIT_INSTALL)
		file(RELATIVE_PATH up /prefix/${SENNIT_PYTHON_DIR}/sennit
			/prefix/${CMAKE_INSTALL_LIBDIR})
		set_target_properties(sennit_python PROPERTIES
			INSTALL_RPATH "$ORIGIN/${up}")
		install(TARGETS sennit_python
			LIBRARY DESTINATION ${SENNIT_PYTHON_DIR}/sennit)
		install(FILES ${files} DESTINATION ${SENNIT_PYTHON_DIR}/sennit)
		# By which pip and importlib.metadata know it.
		configure_file(${from}/METADATA.in ${to}/METADATA @ONLY)
		install(FILES ${to}/METADATA
			DESTINATION ${SENNIT_PYTHON_DIR}/sennit-${PROJECT_VERSION}.dist-info)
	endif()

	if(NOT build_tests)
		return()
	endif()
	add_library(sennit_python_callbacks MODULE ${from}/test/callbacks.c)
	target_link_libraries(sennit_python_callbacks PRIVATE
		sennit::sennit sennit_flags ${CMAKE_DL_LIBS})
	set_target_properties(sennit_python_callbacks PROPERTIES
		PREFIX "" OUTPUT_NAME callbacks LIBRARY_OUTPUT_DIRECTORY ${to})
	file(GLOB files CONFIGURE_DEPENDS ${from}/test/test_*.py)
	foreach(file IN LISTS files)
		get_filename_component(name ${file} NAME_WE)
		string(REPLACE test_ python_ name ${name})
		sennit_test(bindings ${name} ${SENNIT_PYTHON} -W error ${file})
		set_property(TEST bindings/${name} PROPERTY ENVIRONMENT
			PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${to}
			SENNIT_README=${from}/README.md
			SENNIT_CALLBACKS=$<TARGET_FILE:sennit_python_callbacks>)
	endforeach()
endfunction()
sennit_bind_python()

# --- Rust ----------------------------------------------------------------------

# bindings/rust: cargo builds it in the build folder bindings/rust, without
# network: it needs no other crates.
function(sennit_bind_rust)
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
	set(features "")
	if(NOT TARGET sennit::io)
		set(features --no-default-features)
	endif()
	set(build build)
	if(build_tests)
		set(build test --no-run)
	endif()
	# cargo knows what is to be done.
	add_custom_target(sennit_rust ALL
		COMMAND ${CMAKE_COMMAND} -E env ${env}
			${SENNIT_CARGO} ${build} --offline --locked --quiet ${features}
		COMMAND ${CMAKE_COMMAND} -E env ${env}
			${SENNIT_CARGO} build --offline --locked --quiet ${features}
		WORKING_DIRECTORY ${from})
	add_dependencies(sennit_rust sennit)
	if(TARGET sennit::io)
		add_dependencies(sennit_rust sennit_io)
	endif()

	if(NOT build_tests)
		return()
	endif()
	sennit_test(bindings rust_calls
		${SENNIT_CARGO} test --offline --locked --tests ${features})
	sennit_test(bindings rust_readme
		${SENNIT_CARGO} test --offline --locked --doc -p sennit ${features})
	sennit_test(bindings rust_doc
		${SENNIT_CARGO} doc --offline --locked --no-deps ${features})
	set(warnings "RUSTDOCFLAGS=-D warnings")
	sennit_test(bindings rust_layouts sh ${from}/test/layouts.sh)
	sennit_test(bindings rust_refused sh ${from}/test/refused.sh)
	set_tests_properties(bindings/rust_calls bindings/rust_readme
		bindings/rust_doc bindings/rust_layouts bindings/rust_refused PROPERTIES
		WORKING_DIRECTORY ${from}
		ENVIRONMENT "${env};${warnings};CC=${CMAKE_C_COMPILER};SOURCE_DIR=${PROJECT_SOURCE_DIR};TARGET_DIR=${to};LAYOUTS=${to}/debug/examples/layouts")
endfunction()
sennit_bind_rust()
