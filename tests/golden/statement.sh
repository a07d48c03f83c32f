#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML statement of made-up months: drawn, then read and compared with the
# reports that they are of.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C TZ=UTC
names=(month open hostile many one empty money-less bare year large runs charge)
for name in "${names[@]}"; do
	"$top/tests/fixtures/statement/make.pl" $name >"$work/$name.json" &&
	    "$build/tests/tools/draw_statement" <"$work/$name.json" >"$work/$name.html" &&
	    "$build/tests/tools/draw_statement" csv <"$work/$name.json" >"$work/$name.csv" ||
	    { echo "not ok 1 - $name can't be drawn"; exit 1; }
done
"$top/tests/golden/statement.pl" "$work" "${names[@]}"
