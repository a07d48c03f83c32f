#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `lowtide check` on each case of tests/golden/policy: exit status and text
# must be expected.txt, byte for byte. A case has input.yaml, or input.sh that
# prints it. UPDATE=1 writes expected.txt anew: read the difference.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
lowtide=${BUILD:-$top/build}/lowtide
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C TZ=UTC
n=0 bad=0
for dir in "$top"/tests/golden/policy/*/; do
	name=$(basename "$dir")
	n=$((n + 1))
	if [ -e "$dir/input.sh" ]; then
		bash "$dir/input.sh" >"$work/input.yaml"
	else
		cp "$dir/input.yaml" "$work/input.yaml"
	fi
	(
		cd "$work" || exit 1
		timeout 60 "$lowtide" check input.yaml >text 2>&1
		echo "exit $?" >got
		cat text >>got
	)
	[ "${UPDATE:-0}" = 1 ] && cp "$work/got" "$dir/expected.txt"
	if diff -u "$dir/expected.txt" "$work/got" >"$work/diff"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' "$work/diff"
		bad=$((bad + 1))
	fi
done

# Warnings are in --json, too, and the file is good.
n=$((n + 1))
if said=$("$lowtide" check --json "$top/tests/golden/policy/gpu-power-unknown/input.yaml" |
    jq -r '.ok, (.warnings[] | "\(.line) \(.text | sub(".*warning: "; ""))")') &&
    [[ $said == $'true\n11 burst: node: 8 GPUs, '*node_gpu_w:*$'\n12 tariff: '* ]]; then
	echo "ok $n - check --json has the warnings"
else
	echo "not ok $n - check --json has the warnings: $said"
	bad=$((bad + 1))
fi

# Every key of the tables has its entry in the manual page.
n=$((n + 1))
missing=$(grep -oE '\{?"[a-z0-9_]+", lt_read|TFLOPS\("[a-z0-9]+"' \
    "$top/policy/file/keys.c" | grep -oE '"[^"]+"' | tr -d '"' | sort -u |
    while read -r key; do
	grep -qE "(\\\\fB|^\\.BR? )$key(\\\\fR| |$)" "$top/man/lowtide.yaml.5" || echo "$key"
    done)
if [ -z "$missing" ]; then
	echo "ok $n - man 5 lowtide.yaml has every key"
else
	echo "not ok $n - man 5 lowtide.yaml lacks:" $missing
	bad=$((bad + 1))
fi

# Every adapter is in the manual page and has a page of its own.
n=$((n + 1))
missing=$("$lowtide" signals adapters | sed '1d; s/ .*//' | while read -r name; do
	grep -qE "^$name	" "$top/man/lowtide.yaml.5" || echo "$name (man page)"
	[ -s "$top/docs/sources/$name.md" ] || echo "$name (docs/sources)"
done)
if [ -z "$missing" ]; then
	echo "ok $n - each adapter is in man 5 lowtide.yaml and in docs/sources"
else
	echo "not ok $n - not described:" $missing
	bad=$((bad + 1))
fi

# The first example of the manual page, a whole policy, is a good one.
n=$((n + 1))
sed -n '/^\.SH EXAMPLES/,/^\.EE/p' "$top/man/lowtide.yaml.5" | sed '1,/^\.EX/d; /^\.EE/d; s/\\-/-/g' \
    >"$work/example.yaml"
if said=$("$lowtide" check "$work/example.yaml" 2>&1) && [[ $said == *'2 partitions'* ]]; then
	echo "ok $n - the example of man 5 lowtide.yaml"
else
	echo "not ok $n - the example of man 5 lowtide.yaml: $said"
	bad=$((bad + 1))
fi
echo "1..$n"
[ "$bad" -eq 0 ]
