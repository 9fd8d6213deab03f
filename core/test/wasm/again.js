// again.js - starts node once more, for again.c.
// SPDX-License-Identifier: Apache-2.0

mergeInto(LibraryManager.library, {
	// A status that is not a number, after a signal, becomes -1.
	run_node: function (file, words, text, size) {
		var run = require('child_process').spawnSync(process.execPath,
			['--no-experimental-fetch', UTF8ToString(file)]
			.concat(UTF8ToString(words).split(' ')),
			{ encoding: 'utf8' });

		stringToUTF8(run.stderr, text, size);
		return run.status === null ? -1 : run.status;
	},
});
