# SPDX-License-Identifier: Apache-2.0
# Installs the libraries, the headers, and the files with which CMake and
# pkg-config find them.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sennit)
set(package_build ${PROJECT_BINARY_DIR}/package)

install(TARGETS sennit sennit_static sennit_marl sennit_marl_static
	EXPORT sennit
	LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
	ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN compat EXCLUDE)
install(DIRECTORY include/compat
	DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sennit
	FILES_MATCHING PATTERN "*.h")
install(EXPORT sennit NAMESPACE sennit:: FILE sennit-targets.cmake
	DESTINATION ${package_dir})

file(WRITE ${package_build}/sennit-config.cmake
"include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/sennit-targets.cmake)
# For task code: no stack frame can skip a stack's guard.
set(sennit_TASK_COMPILE_OPTIONS ${sennit_TASK_COMPILE_OPTIONS})
")
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${package_build}/sennit-config-version.cmake
	COMPATIBILITY SameMinorVersion)
install(FILES ${package_build}/sennit-config.cmake
	${package_build}/sennit-config-version.cmake
	DESTINATION ${package_dir})

string(REPLACE ";" " " task_cflags "${sennit_TASK_COMPILE_OPTIONS}")

# The path from the .pc file to the prefix, so that the prefix can be moved.
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/sennit.pc.in ${package_build}/sennit.pc @ONLY)
install(FILES ${package_build}/sennit.pc
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
