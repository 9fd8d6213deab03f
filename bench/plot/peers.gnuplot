# SPDX-License-Identifier: Apache-2.0
# peers.gnuplot - the plot for draw: a column per workload and number of
# workers, a mark per peer, and bars for sennit; lower is better. Needs the
# variables points, names and output, and a terminal.

set output output
set datafile separator "\t"
set logscale y
set format y "%.0s %cs"
set ylabel "time per operation"
set grid ytics linecolor rgb "#dddddd"
set xtics rotate by 60 right font ",9" nomirror
set xrange [0.3 : *]
set key outside top center horizontal
set style fill solid 0.6 noborder
set boxwidth 0.8
set lmargin 14

# A logarithmic scale has no zero, so bars begin at the lower edge of the
# picture.
mark(name) = sprintf("<awk -F'\t' '$3 == \"%s\"' %s", name, points)
plot mark("sennit") using 1:($4 * 1e-9):xtic(2) with boxes \
		linecolor rgb "#d62728" title "sennit", \
	for [i = 1 : words(names)] mark(word(names, i)) \
		using 1:($4 * 1e-9) with points pointtype i + 3 \
		pointsize 0.9 linewidth 1.2 linetype i + 1 \
		title word(names, i)
