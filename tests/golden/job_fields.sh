#!/bin/bash
# A field that a newer Slurm gave to job descriptions, and that nobody judged,
# pins the jobs that set it: the plugins still compile against that Slurm.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=$PWD/plugin/common/job_fields.sh
include=$(echo '#include <slurm/slurm.h>' | cc -E - | sed -nE 's/^# [0-9]+ "([^"]*)\/slurm\.h".*/\1/p' | sed -n 1p)
cp -r "$include" "$work/slurm"
sed -i 's/^typedef struct job_descriptor.*/&\n\tuint32_t burst_of_light;\n\tchar *tide_pool;/' "$work/slurm/slurm.h"
n=0
check() { # check WHAT COMMAND...
	local what=$1
	shift
	n=$((n + 1))
	if "$@" > "$work/log" 2>&1; then echo "ok $n - $what"; else
		echo "not ok $n - $what"
		sed 's/^/# /' "$work/log"
	fi
}
names_both() { grep -q 'NEW(burst_of_light) NEW(tide_pool)$' "$work/new.h"; }
compiles() {
	cp "$work/new.h" "$work/job_fields_new.h"
	cc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I"$work" -Iplugin/common \
	    -Ipolicy/core -Ipolicy/include plugin/common/job_pins.c
}
refuses() { ! CC="cc -I$work" "$table" --check; }
CC="cc -I$work" "$table" > "$work/new.h"
check "new fields are named" names_both
check "the plugins compile with them" compiles
check "the tests don't pass with them" refuses
check "the installed Slurm has none" env CC=cc "$table" --check
