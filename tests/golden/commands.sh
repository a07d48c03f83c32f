#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the pages have a reader type: each command of lowtide in their blocks and
# in `code` is one that `lowtide help` has, with options that it has, and so are
# those of its other programs.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
bin=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 bad=0
check() { # check NAME OFFENDERS: passes when there are none
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /' | head -n 20
	fi
}

# "FILE:LINE PROGRAM WORDS", a line each, of the text on stdin; a command ends
# where the shell ends it, its options where sbatch's begin.
commands() {
	perl -ne '
		if (/^@ (.*)/) { $at = $1; next }
		s/^\$ //;
		while (/(?:^|[|;&(`]|sudo|env)\s*((?:-u \w+ |[A-Z_]+=\S+ )*)(lowtide(?:d|-kube|-node|-notify)?) ([^|;&`#)]*)/g) {
			my ($program, $words) = ($2, $3);
			$words =~ s/(^| )-- .*//;
			print "$at $program $words\n";
		}'
}
inline() { perl -ne 'print "@ $ARGV:$.\n$1\n" while /(`lowtide[^`]*`)/g; close ARGV if eof' "$@"; }
pages=(README.md CONTRIBUTING.md docs/*.md docs/sources/*.md examples/*/README.md)
{ tests/blocks.pl "${pages[@]}" man/*.[1-8]; inline "${pages[@]}"; } | commands > "$work/all"

# help PROGRAM [COMMAND]: its text, asked once
help() {
	[ -s "$work/$1 ${2:-}" ] || "$bin/$1" ${2:-} --help > "$work/$1 ${2:-}" 2>&1
	cat "$work/$1 ${2:-}"
}
unknown=
while read -r at program words; do
	command=${words%% *}
	[[ $command =~ ^[a-z]+$ ]] || command=
	if [ "$program" = lowtide ]; then
		case $command in
		help | '') continue ;;
		plan) words= ;; # what follows is sbatch's
		esac
		"$bin/lowtide" help | grep -qE "^  $command( |\$)" || {
			unknown+="$at: lowtide $command"$'\n'
			continue
		}
	fi
	for word in $words; do
		[[ $word =~ ^\[?(--[a-z][a-z-]*) ]] || continue
		help "$program" "$command" | grep -qE -- "${BASH_REMATCH[1]}\b" ||
		    unknown+="$at: $program $words: ${BASH_REMATCH[1]}"$'\n'
	done
done < "$work/all"
check 'the pages have a reader type commands' "$([ "$(wc -l < "$work/all")" -ge 60 ] || cat "$work/all")"
check 'that there are, with options that there are' "$unknown"
# What would be found.
check 'a command that is not there would be told' "$(printf '@ x:1\n$ sudo TZ=UTC lowtide init --output - | less\n' | commands |
	grep -vxE 'x:1 lowtide init --output - ')"
echo "1..$n"
[ $bad -eq 0 ]
