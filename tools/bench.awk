# SPDX-License-Identifier: GPL-2.0
#
# Tables of what tools/bench and its like measured: each cell is the median of the
# rounds and half of their range in percent. A column is one of tool:transport, or
# of two of them
#
#	A/B		how many times as much, or, of what is a time, as fast
#	A/first		the same, next to the first row of the table
#	A-B		how much more
#
# which are medians of what that is within each round, since the load of the machine
# changes from one to the next.
#
# Set all to the tests, separated by blanks. Call add() for each figure, and table()
# in the end.

function add(figure, round, test, run, x,    key) {
	if (x == "")
		return
	key = figure " " test " " run
	insert(key, x + 0)
	at[key, round] = x
	if (round > rounds)
		rounds = round
}

function insert(key, x,    i) {
	for (i = ++n[key]; i > 1 && v[key, i - 1] > x; i--)
		v[key, i] = v[key, i - 1]
	v[key, i] = x
}

function median(key) {
	if (n[key] % 2)
		return v[key, (n[key] + 1) / 2]
	return (v[key, n[key] / 2] + v[key, n[key] / 2 + 1]) / 2
}

function cell(key,    m) {
	if (!n[key])
		return "-"
	m = median(key)
	return sprintf("%.*f %3.0f%%", m && m < 0.1 ? 5 : m < 10 ? 3 : 1, m,
		m ? (v[key, n[key]] - v[key, 1]) * 50 / m : 0)
}

function is_time(key) {
	return key ~ / ping/
}

function ratio(key, a, b,    i) {
	for (i = 1; i <= rounds; i++)
		if (at[a, i] && at[b, i])
			insert(key, is_time(a) ? at[b, i] / at[a, i] : at[a, i] / at[b, i])
	return n[key] ? sprintf("%.2f", median(key)) : "-"
}

function difference(key, a, b,    i) {
	for (i = 1; i <= rounds; i++)
		if ((a, i) in at && (b, i) in at)
			insert(key, at[a, i] - at[b, i])
	return cell(key)
}

# What is in the columns is separated by ";"
function line(columns, name, texts,    i, count, c, t) {
	count = split(columns, c, " ")
	split(texts, t, ";")
	printf "  %-16s", name
	for (i = 1; i <= count; i++)
		printf c[i] ~ /\// ? " %6s  " : " %13s", t[i]
	print ""
}

function row(columns, figure, test, first,    i, count, c, ab, texts, key) {
	count = split(columns, c, " ")
	key = figure " " test " "
	for (i = 1; i <= count; i++) {
		split(c[i], ab, /[\/-]/)
		if (c[i] ~ /\/first$/)
			texts = texts ratio(key c[i], key ab[1], figure " " first " " ab[1])
		else if (c[i] ~ /\//)
			texts = texts ratio(key c[i], key ab[1], key ab[2])
		else if (c[i] ~ /-/)
			texts = texts difference(key c[i], key ab[1], key ab[2])
		else
			texts = texts cell(key c[i])
		texts = texts ";"
	}
	line(columns, name(test), texts)
}

function name(test) {
	if (sub(/^requests-/, "requests, ", test) || test == "connects")
		return test
	if (sub(/^(maps|idle|processes)-/, "", test))
		return test
	sub(/^(place|ping)-/, "", test)
	test += 0
	return test < 1024 ? test " B" : test < 1048576 ? test / 1024 " KiB" : test / 1048576 " MiB"
}

# Of those tests that are asked for, if any
function table(tests, columns, figure, title, head1, head2,    i, count, t, first) {
	count = split(all, t, " ")
	for (i = 1; i <= count; i++) {
		if (t[i] !~ tests)
			continue
		if (!first) {
			first = t[i]
			print ""
			line(columns, "", head1)
			line(columns, title, head2)
		}
		row(columns, figure, t[i], first)
	}
}
