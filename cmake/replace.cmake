# SPDX-License-Identifier: Apache-2.0
# Files that take the place of others: one of <folder>/<room>/ that of the same
# name in src/<room>/. The folder also stands before src in the compiler's search
# path, for headers.

set(replaced "") # what is not built

# sennit_replace(LIST FOLDER [LEFT_OUT])
#
# Replaces the sources of one module in the list of that name; an empty folder
# replaces none. Those that match the regular expression LEFT_OUT are left out,
# and those whose module is all in a header of the folder.
function(sennit_replace sources_of folder)
	if(NOT folder)
		return()
	endif()
	set(result "")
	foreach(file IN LISTS ${sources_of})
		string(REGEX REPLACE "^src/" "" name ${file})
		string(REGEX REPLACE "\\.c$" ".h" header ${name})
		if(EXISTS ${folder}/${name})
			file(RELATIVE_PATH own ${PROJECT_SOURCE_DIR}
				${folder}/${name})
			list(APPEND result ${own})
		elseif(NOT EXISTS ${folder}/${header} AND
			NOT (ARGC GREATER 2 AND file MATCHES "${ARGV2}"))
			list(APPEND result ${file})
		endif()
		if(NOT file IN_LIST result)
			list(APPEND replaced ${file})
		endif()
	endforeach()
	set(${sources_of} ${result} PARENT_SCOPE)
	set(replaced ${replaced} PARENT_SCOPE)
endfunction()
