#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# browser.sh - `make docs` writes HTML in which no link leads nowhere. A browser
# shows the first page, the page of a call and a guide. Its search finds calls
# and headings. On a narrow screen the list of pages is behind a button. With
# $SENNIT_SCREENSHOT the first page is drawn there.
#
# Environment: SOURCE_DIR (.), SENNIT_SCREENSHOT.
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}" "${SENNIT_SCREENSHOT:=}"

needs python3 mandoc cmark-gfm chromium

width=1000

# browse PAGE OPTION...
browse()
{
	page=$1
	shift
	timeout 90 chromium --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --no-first-run \
		--disable-background-networking \
		"--user-data-dir=$scratch/home" "--window-size=$width,800" \
		--virtual-time-budget=8000 "$@" "file://$scratch/site/$page" \
		2>"$scratch/errors"
}

# has PAGE TEXT...: the page as the browser has built it, script included.
has()
{
	browse "$1" --dump-dom >"$scratch/dom" || fail "chromium ended with $?" \
		"$(tail -3 "$scratch/errors")"
	page=$1
	shift
	for text in "$@"; do
		grep -qF -e "$text" "$scratch/dom" || fail "$page lacks: $text"
	done
}

python3 "$SOURCE_DIR/tools/manual/site.py" "$scratch/site" ||
	fail "the site is not written"
has 'man/sennit_mutex_lock.3.html?q=channel_send' \
	'<title>sennit_mutex_lock(3) - sennit</title>' \
	'<a href="../man/sennit_channel_send.3.html">sennit_channel_send(3)</a>'
has 'docs/io.html?q=other%20libraries' \
	'<a href="../docs/io.html#other-libraries">'
grep -qF '<a href="man/sennit_schedule.3.html">' "$scratch/site/index.html" ||
	fail "the program on the first page has no links"

# How the list of pages is shown, before the button is used and after.
cat >>"$scratch/site/docs/io.html" <<'END'
<script>
var list = document.querySelector("nav"), shown = [];
for (var i = 0; i < 2; i++) {
	shown.push(getComputedStyle(list).display);
	document.querySelector("label[for=menu]").click();
}
document.title = "list: " + shown.join(" ");
</script>
END
has docs/io.html '<title>list: block block</title>'
width=400
has docs/io.html '<title>list: none block</title>'
width=1000

browse index.html "--screenshot=$scratch/page.png" >/dev/null
python3 - "$scratch/page.png" <<'EOP'
import struct
import sys
import zlib

data = open(sys.argv[1], "rb").read()
width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
at, pixels = 8, b""
while at < len(data):
    size, name = struct.unpack(">I4s", data[at:at + 8])
    if name == b"IDAT":
        pixels += data[at + 8:at + 8 + size]
    at += size + 12
rows = zlib.decompress(pixels)
step = len(rows) // height
# In a blank picture each row equals the one above it.
if len({rows[i * step:(i + 1) * step] for i in range(height)}) < height // 4:
    sys.exit("the picture of the page is blank")
EOP
[ -z "$SENNIT_SCREENSHOT" ] || cp "$scratch/page.png" "$SENNIT_SCREENSHOT"
echo "read by a browser"
