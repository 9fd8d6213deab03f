// search.js - finds pages by their titles, then by their text.
// SPDX-License-Identifier: Apache-2.0
(function () {
	var input = document.getElementById("search");
	var list = document.getElementById("found");

	function has(text, words) {
		return words.every(function (word) {
			return text.indexOf(word) >= 0;
		});
	}

	// How well a page fits: smaller is better, 0 is not at all.
	function rank(page, words, text) {
		var title = page[0].toLowerCase();
		var bare = title.replace(/^sennit_|\(\d\)$/g, "");

		if (title === text || bare === text.replace(/^sennit_/, ""))
			return page[2] === "call" ? 1 : 2;
		if (bare.indexOf(text) === 0)
			return 3;
		if (has(title, words))
			return page[2] === "call" ? 4 : 5;
		return has(page[3], words) ? 6 : 0;
	}

	function find() {
		var typed = input.value.toLowerCase().trim();
		var text = typed.replace(/\(\)?$/, "");
		var words = text.split(/\s+/);

		list.textContent = "";
		if (!text)
			return;
		pages.map(function (page) {
			return [rank(page, words, text), page];
		}).filter(function (hit) {
			return hit[0];
		}).sort(function (a, b) {
			return a[0] - b[0] || a[1][0].length - b[1][0].length;
		}).slice(0, 20).forEach(function (hit) {
			var item = document.createElement("li");
			var link = document.createElement("a");
			var kind = document.createElement("span");

			link.href = up + hit[1][1];
			link.textContent = hit[1][0];
			kind.textContent = hit[1][2];
			item.append(link, " ", kind);
			list.append(item);
		});
	}

	input.addEventListener("input", find);
	input.addEventListener("keydown", function (event) {
		var first = list.querySelector("a");

		if (event.key === "Enter" && first)
			location.href = first.href;
	});
	document.addEventListener("keydown", function (event) {
		if (event.key === "/" && document.activeElement !== input) {
			event.preventDefault();
			input.focus();
		}
	});
	// page.html?q=words searches at once.
	input.value = new URLSearchParams(location.search).get("q") || "";
	find();
})();
