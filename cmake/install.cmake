# SPDX-License-Identifier: Apache-2.0
# Installs the libraries, the headers, the files with which CMake and pkg-config
# find them, and the documentation. The target `uninstall` removes what was
# installed.

if(NOT SENNIT_INSTALL)
	return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sennit)
set(package_build ${PROJECT_BINARY_DIR}/package)

# The path from the .pc file to the prefix, so that the prefix can be moved.
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REPLACE ";" " " task_cflags "${sennit_TASK_COMPILE_OPTIONS}")

# sennit_install(PACKAGE DESCRIPTION NEEDS TARGET...): libraries, those that are
# wanted. NEEDS: the packages that programs linked to the archive need. Those
# of sennit among them are also for programs that are linked to the library.
function(sennit_install package description needs)
	set(requires ${needs})
	list(FILTER requires INCLUDE REGEX "^sennit")
	list(FILTER needs EXCLUDE REGEX "^sennit")
	list(PREPEND requires sennit)
	list(JOIN requires " " requires)
	set(targets "")
	foreach(target IN LISTS ARGN)
		if(target MATCHES "_static$")
			set(wanted ${make_static})
		else()
			set(wanted ${make_shared})
		endif()
		if(wanted)
			list(APPEND targets ${target})
		endif()
	endforeach()
	string(REPLACE - _ export ${package})
	install(TARGETS ${targets} EXPORT ${export}
		LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
		ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
		RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}) # DLLs
	install(EXPORT ${export} NAMESPACE sennit::
		FILE ${package}-targets.cmake DESTINATION ${package_dir})
	set(template sennit-component)
	set(extracted "")
	if(package STREQUAL "sennit-diag") # see libraries.cmake
		set(extracted "-Wl,-u,sennit_stacks_print ")
	endif()
	if(package STREQUAL "sennit")
		set(template sennit)
	endif()
	configure_file(cmake/${template}.pc.in ${package_build}/${package}.pc
		@ONLY)
	if(NOT make_shared) # every program is linked to the archives
		file(READ ${package_build}/${package}.pc pc)
		foreach(field Requires Libs)
			string(REGEX MATCH "\n${field}.private: *([^\n]*)" x "${pc}")
			string(REGEX REPLACE "(\n${field}:[^\n]*)"
				"\\1 ${CMAKE_MATCH_1}" pc "${pc}")
		endforeach()
		file(WRITE ${package_build}/${package}.pc "${pc}")
	endif()
	install(FILES ${package_build}/${package}.pc
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

sennit_install(sennit "" "" sennit sennit_static sennit_marl sennit_marl_static)
if(TARGET sennit_io)
	sennit_install(sennit-io "Input and output for sennit's fibers"
		"${SENNIT_URING_PC}" sennit_io sennit_io_static)
endif()
if(TARGET sennit_tls)
	sennit_install(sennit-tls "TLS for sennit's fibers"
		"sennit-io;${SENNIT_TLS_PC}" sennit_tls sennit_tls_static)
endif()
if(TARGET sennit_http)
	set(needs sennit-io)
	if(TARGET sennit_tls)
		set(needs sennit-tls)
	endif()
	sennit_install(sennit-http "HTTP/1.1 for sennit's fibers"
		"${needs}" sennit_http sennit_http_static)
endif()
if(TARGET sennit_diag)
	sennit_install(sennit-diag "Looking inside a program of sennit"
		"${SENNIT_DW_PC}" sennit_diag sennit_diag_static)
endif()
foreach(mpi IN LISTS SENNIT_MPIS)
	sennit_install(sennit-mpi-${mpi}
		"MPI calls that suspend the fiber of sennit" "" sennit_mpi-${mpi}
		sennit_mpi-${mpi}_static)
endforeach()

# Not the headers of libraries that are not built. The name is quoted: without
# that, a variable of the same name would take its place.
set(without "")
foreach(name io tls http diag mpi)
	if(NOT TARGET sennit_${name}
		AND NOT ("${name}" STREQUAL "mpi" AND SENNIT_MPIS))
		execute_process(WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
			COMMAND sh tools/list-calls --installed libsennit-${name}
			OUTPUT_VARIABLE names)
		string(REGEX REPLACE "[a-z]+/include(/[^\n]*)\\.h(pp)?\n" "\\1|"
			names "${names}")
		list(APPEND without REGEX "(${names}/none)\\.h(pp)?$" EXCLUDE)
	endif()
endforeach()
foreach(folder IN LISTS sennit_includes)
	install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
		FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" ${without})
endforeach()
install(DIRECTORY marl/include/
	DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sennit/compat
	FILES_MATCHING PATTERN "*.h")

configure_file(cmake/sennit-config.cmake.in
	${package_build}/sennit-config.cmake @ONLY)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${package_build}/sennit-config-version.cmake
	COMPATIBILITY SameMinorVersion)
install(FILES ${package_build}/sennit-config.cmake
	${package_build}/sennit-config-version.cmake
	DESTINATION ${package_dir})

# --- documentation ---------------------------------------------------------------

install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# All in the folders docs and examples, where tools/manual/installed.txt says:
# a user does not know which product has which folder in the tree.
set(doc ${PROJECT_BINARY_DIR}/doc)
if(SENNIT_PYTHON)
	install(CODE "
		file(REMOVE_RECURSE \"${doc}\")
		execute_process(RESULT_VARIABLE failed COMMAND
			\"${SENNIT_PYTHON}\" -B
			\"${PROJECT_SOURCE_DIR}/tools/manual/installed.py\"
			\"${doc}\")
		if(failed)
			message(FATAL_ERROR \"the documentation: \${failed}\")
		endif()
	")
	install(DIRECTORY ${doc}/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
else()
	message(STATUS "python3 not found: the documentation is left out")
endif()

# --- diag/debugger --------------------------------------------------------------

# Below the version in the SONAME: libraries of two versions may be installed.
install(DIRECTORY diag/debugger/
	DESTINATION ${CMAKE_INSTALL_DATADIR}/sennit/${abi_version}
	FILES_MATCHING PATTERN "sennit_*.py")
# gdb looks for a script by the real path of the library, prefix included, which
# is known when it is installed.
if(make_shared)
install(CODE "
	set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
	set(libdir \"${CMAKE_INSTALL_LIBDIR}\")
	if(NOT IS_ABSOLUTE \"\${libdir}\")
		set(libdir \"\${prefix}/\${libdir}\")
	endif()
	set(datadir \"${CMAKE_INSTALL_DATADIR}\")
	if(NOT IS_ABSOLUTE \"\${datadir}\")
		set(datadir \"\${prefix}/\${datadir}\")
	endif()
	file(INSTALL \"${PROJECT_SOURCE_DIR}/diag/debugger/libsennit-gdb.py\"
		DESTINATION \"\${datadir}/gdb/auto-load\${libdir}\"
		RENAME libsennit.so.${PROJECT_VERSION}-gdb.py)
")
endif()

# --- rust: its source ---------------------------------------------------

install(DIRECTORY rust/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sennit/rust
	OPTIONAL
	PATTERN test EXCLUDE PATTERN tests EXCLUDE PATTERN rustfmt.toml EXCLUDE)

# --- the manual ----------------------------------------------------------------

# The manual: pages that tools/manual makes from the contract comments of the
# public headers, with those of docs/man. python3 is needed to make them. With
# "html" also as HTML, with the guides, the headers and the examples, if
# mandoc and cmark-gfm are found.

function(sennit_install_manual)
	if(NOT SENNIT_PYTHON)
		message(STATUS "python3 not found: the manual is left out")
		return()
	endif()
	set(manual_build ${PROJECT_BINARY_DIR}/manual)
	file(GLOB manual_needs CONFIGURE_DEPENDS tools/manual/*.py
		tools/manual/*.txt docs/man/* */include/*.h */include/sennit/*.h
		core/src/base/check.c programs/*/*.c diag/top/*.c diag/trace/*.c)
	file(GLOB examples CONFIGURE_DEPENDS */examples/*.[ch]
		*/examples/*/*.[ch] docs/*/*.[ch])
	add_custom_command(OUTPUT ${manual_build}/made
		COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual_build}
		COMMAND ${SENNIT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/manual/pages.py
			${manual_build}
		COMMAND ${CMAKE_COMMAND} -E touch ${manual_build}/made
		DEPENDS ${manual_needs} ${examples}
		COMMENT "Making the manual" VERBATIM)
	add_custom_target(manual ALL DEPENDS ${manual_build}/made)
	install(DIRECTORY ${manual_build}/man3 ${manual_build}/man7
		DESTINATION ${CMAKE_INSTALL_MANDIR})

	set(html ${build_html})
	foreach(program mandoc cmark-gfm)
		string(MAKE_C_IDENTIFIER SENNIT_${program} found)
		find_program(${found} ${program})
		mark_as_advanced(${found})
		if(html AND NOT ${found})
			message(STATUS "left out: the manual as HTML: ${program} not found")
			set(html OFF)
		endif()
	endforeach()
	if(NOT html)
		return()
	endif()
	set(html_build ${PROJECT_BINARY_DIR}/html)
	file(GLOB html_needs CONFIGURE_DEPENDS docs/*.svg docs/*.png
		*/include/*.hpp */include/sennit/cpp/*.hpp */examples/*.cpp
		docs/*/*.cpp docs/*/*.go tools/manual/*.js tools/manual/*.css)
	file(GLOB html_guides CONFIGURE_DEPENDS *.md */docs/*.md
		*/docs/*/*.md docs/*.md)
	add_custom_command(OUTPUT ${html_build}/made
		COMMAND ${CMAKE_COMMAND} -E rm -rf ${html_build}
		COMMAND ${SENNIT_PYTHON} ${PROJECT_SOURCE_DIR}/tools/manual/site.py
			${html_build}/html
		COMMAND ${CMAKE_COMMAND} -E touch ${html_build}/made
		DEPENDS ${manual_needs} ${examples} ${html_needs} ${html_guides}
		COMMENT "Making the manual as HTML" VERBATIM)
	add_custom_target(html ALL DEPENDS ${html_build}/made)
	install(DIRECTORY ${html_build}/html DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()
if(build_manual)
	sennit_install_manual()
endif()

# --- uninstall -------------------------------------------------------------------

if(top_level)
	add_custom_target(uninstall COMMAND ${CMAKE_COMMAND}
		-DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
		-P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
endif()
