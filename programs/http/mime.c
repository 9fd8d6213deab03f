/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mime.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *end;
	const char *type;
} types[] = {
	{ "html", "text/html; charset=utf-8" },
	{ "htm", "text/html; charset=utf-8" },
	{ "css", "text/css; charset=utf-8" },
	{ "js", "text/javascript; charset=utf-8" },
	{ "mjs", "text/javascript; charset=utf-8" },
	{ "json", "application/json" },
	{ "map", "application/json" },
	{ "txt", "text/plain; charset=utf-8" },
	{ "md", "text/plain; charset=utf-8" },
	{ "csv", "text/csv; charset=utf-8" },
	{ "xml", "application/xml" },
	{ "svg", "image/svg+xml" },
	{ "png", "image/png" },
	{ "jpg", "image/jpeg" },
	{ "jpeg", "image/jpeg" },
	{ "gif", "image/gif" },
	{ "webp", "image/webp" },
	{ "avif", "image/avif" },
	{ "ico", "image/vnd.microsoft.icon" },
	{ "woff", "font/woff" },
	{ "woff2", "font/woff2" },
	{ "ttf", "font/ttf" },
	{ "otf", "font/otf" },
	{ "mp3", "audio/mpeg" },
	{ "ogg", "audio/ogg" },
	{ "wav", "audio/wav" },
	{ "mp4", "video/mp4" },
	{ "webm", "video/webm" },
	{ "pdf", "application/pdf" },
	{ "wasm", "application/wasm" },
	{ "zip", "application/zip" },
	{ "gz", "application/gzip" },
	{ "zst", "application/zstd" },
	{ "tar", "application/x-tar" },
};

const char *http_mime_type(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcasecmp(dot + 1, types[i].end))
			return types[i].type;
	return "application/octet-stream";
}
