# SPDX-License-Identifier: Apache-2.0
# help.sh - the scripts of tools/ read this before they do anything. It prints
# the comment at the head of the script, and ends it, for --help:
#	. "$(dirname "$0")/help.sh"
# shellcheck shell=sh
case ${1-} in
-h | --help)
	sed -n '3,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0"
	exit
	;;
esac
