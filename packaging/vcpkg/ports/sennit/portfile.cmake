# SPDX-License-Identifier: Apache-2.0
# For a release, replace SOURCE_PATH by vcpkg_from_github() with the tag and its
# SHA512. In this tree it is an overlay port: vcpkg install sennit
# --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.."
	ABSOLUTE)

string(REPLACE dynamic shared library "${VCPKG_LIBRARY_LINKAGE}")
set(components "")
foreach(feature diag http io tls)
	if(feature IN_LIST FEATURES)
		string(APPEND components ",${feature}")
	endif()
endforeach()
string(REGEX REPLACE "^," "" components "${components}")
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
	OPTIONS
		-DSENNIT_LIBRARIES=${library} -DSENNIT_COMPONENTS=${components}
		-DSENNIT_BUILD=manual -DSENNIT_LIBDW_LIBRARY=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/sennit)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include"
	"${CURRENT_PACKAGES_DIR}/debug/share"
	"${CURRENT_PACKAGES_DIR}/share/doc"
	"${CURRENT_PACKAGES_DIR}/share/gdb")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE"
	"${SOURCE_PATH}/NOTICE")
