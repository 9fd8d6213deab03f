#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layouts.sh - each public struct has the same size, alignment and field offsets
# in C, where its words are atomic, and in C++, where they are not.
#
# Environment: CC (cc), CXX (empty: skipped), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CXX:=}" "${SOURCE_DIR:=.}"

[ -n "$CXX" ] || skip "no C++ compiler"

# The structs and fields that the headers declare, one "struct X" or "struct
# X.field" per line.
cat >"$scratch/names.awk" <<'EOF'
FNR == 1 {
	type = ""
}
{
	split_line($0)
	line = CODE
}
line ~ /^(typedef )?struct .*[{] *$/ {
	sub(/ *[{] *$/, "", line)
	sub(/.* /, "", line)
	type = "struct " line
	print type
	next
}
line ~ /^[}]/ {
	type = ""
}
type != "" && line ~ /^\t[A-Za-z_][A-Za-z0-9_ ]*[ *]+[a-z0-9_]+(\[.*\])?; *$/ {
	sub(/(\[.*)?; *$/, "", line)
	sub(/.*[ *]/, "", line)
	print type "." line
}
EOF
# Not mpi.h, which needs an MPI, and whose structs have none of its types.
headers=$(ls "$SOURCE_DIR"/*/include/sennit/*.h | grep -v /mpi.h)
awk -f "$SOURCE_DIR/tools/split.awk" -f "$scratch/names.awk" $headers |
	sort -u >"$scratch/names"

{
	for header in $headers; do
		echo "#include <sennit/${header##*/}>"
	done
	printf '#include <stdio.h>\n'
	printf '#ifdef __cplusplus\n#define ALIGN alignof\n#else\n'
	printf '#define ALIGN _Alignof\n#endif\nint main(void)\n{\n'
	while read -r what; do
		case $what in
		*.*)
			printf '\tprintf("%s %%zu\\n", offsetof(%s, %s));\n' \
				"$what" "${what%.*}" "${what##*.}"
			;;
		*)
			printf '\tprintf("%s %%zu %%zu\\n", sizeof(%s), ' \
				"$what" "$what"
			printf 'ALIGN(%s));\n' "$what"
			;;
		esac
	done <"$scratch/names"
	printf '\treturn 0;\n}\n'
} >"$scratch/print.c"
cp "$scratch/print.c" "$scratch/print.cpp"

"$CC" -std=c11 $INCLUDES -o "$scratch/c" "$scratch/print.c"
"$CXX" -std=c++17 -Wno-invalid-offsetof $INCLUDES \
	-o "$scratch/cpp" "$scratch/print.cpp"
"$scratch/c" >"$scratch/in-c"
"$scratch/cpp" >"$scratch/in-cpp"
diff "$scratch/in-c" "$scratch/in-cpp"
lines=$(wc -l <"$scratch/in-c")
[ "$lines" -gt 100 ] || { echo "only $lines lines were looked at"; exit 1; }
echo "$lines sizes and places are the same"
