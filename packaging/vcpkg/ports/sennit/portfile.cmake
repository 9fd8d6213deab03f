# SPDX-License-Identifier: Apache-2.0
# For a release, replace SOURCE_PATH by vcpkg_from_github() with the tag and its
# SHA512. In this tree it is an overlay port: vcpkg install sennit
# --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.."
	ABSOLUTE)

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic shared)
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" static static)
vcpkg_check_features(OUT_FEATURE_OPTIONS features
	FEATURES diag SENNIT_DIAG io SENNIT_IO)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
	OPTIONS
		-DSENNIT_SHARED=${shared} -DSENNIT_STATIC=${static} -DSENNIT_HTML=OFF
		-DSENNIT_LIBDW=OFF -DSENNIT_MPI=OFF -DSENNIT_TESTS=OFF -DSENNIT_CHECKS=OFF
		-DSENNIT_BENCH=OFF -DSENNIT_BINDINGS=OFF
		-DSENNIT_EXAMPLES=OFF -DSENNIT_APPS=OFF ${features})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/sennit)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include"
	"${CURRENT_PACKAGES_DIR}/debug/share"
	"${CURRENT_PACKAGES_DIR}/share/doc"
	"${CURRENT_PACKAGES_DIR}/share/gdb")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE"
	"${SOURCE_PATH}/NOTICE")
