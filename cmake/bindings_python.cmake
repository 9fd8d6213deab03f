# SPDX-License-Identifier: Apache-2.0
# bindings/python: the package `sennit` in the build folder bindings/python.

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

set(from ${PROJECT_SOURCE_DIR}/bindings/python)
set(to ${PROJECT_BINARY_DIR}/bindings/python)
add_custom_command(OUTPUT ${to}/native.c
	COMMAND ${CMAKE_COMMAND} -E make_directory ${to}
	COMMAND ${SENNIT_PYTHON} ${from}/build.py ${to}/native.c
	DEPENDS ${from}/build.py ${from}/glue.c)
add_library(sennit_python MODULE ${to}/native.c)
target_include_directories(sennit_python SYSTEM PRIVATE ${include})
target_link_libraries(sennit_python PRIVATE sennit::sennit)
set_target_properties(sennit_python PROPERTIES
	PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so
	LIBRARY_OUTPUT_DIRECTORY ${to}/sennit)
file(GLOB files CONFIGURE_DEPENDS ${from}/sennit/*.py)
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

if(NOT SENNIT_TESTS)
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
