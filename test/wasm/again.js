// again.js - starts node once more, for again.c.
// SPDX-License-Identifier: Apache-2.0

mergeInto(LibraryManager.library, {
	// A status that is not a number, after a signal, becomes -1.
	run_node: function (file, name, offence, text, size) {
		var run = require('child_process').spawnSync(process.execPath,
			['--no-experimental-fetch', UTF8ToString(file),
			 UTF8ToString(name), UTF8ToString(offence)],
			{ encoding: 'utf8' });

		stringToUTF8(run.stderr, text, size);
		return run.status === null ? -1 : run.status;
	},
});
