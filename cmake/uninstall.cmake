# SPDX-License-Identifier: Apache-2.0
# Removes what `cmake --install` installed last: the files that it recorded in
# MANIFEST, then the folders named after sennit or gdb that are left empty.
# Honours DESTDIR.

if(NOT EXISTS ${MANIFEST})
	message(FATAL_ERROR "nothing was installed from here: no ${MANIFEST}")
endif()
file(STRINGS ${MANIFEST} files)
set(folders "")
foreach(file IN LISTS files)
	set(file $ENV{DESTDIR}${file})
	message(STATUS "Removing ${file}")
	file(REMOVE ${file})
	get_filename_component(folder ${file} DIRECTORY)
	while(folder MATCHES "/(sennit|gdb)(-[^/]*)?(/|$)")
		list(APPEND folders ${folder})
		get_filename_component(folder ${folder} DIRECTORY)
	endwhile()
endforeach()

# The longest first: what a folder contains is longer than its name.
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING)
foreach(folder IN LISTS folders)
	execute_process(COMMAND rmdir ${folder} ERROR_QUIET) # if it is empty
endforeach()
file(REMOVE ${MANIFEST})
