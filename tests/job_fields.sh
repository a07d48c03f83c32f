#!/bin/bash
# Compares the fields of the installed Slurm's job description with the table
# of plugin/common/job_fields.h: what Slurm adds must be judged before it can raise a
# job's price unseen. Prints what is missing; part of the build of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
header=$(echo '#include <slurm/slurm.h>' | ${CC:-cc} -E - |
    sed -nE 's/^# [0-9]+ "([^"]*slurm\/slurm\.h)".*/\1/p' | head -n 1)
slurm() { # the names of the struct's fields
	sed -n '/^typedef struct job_descriptor/,/job_desc_msg_t;/p' "$header" |
	    sed -E ':a; s|/\*[^*]*\*+([^/*][^*]*\*+)*/||g; /\/\*/{N; ba}' |
	    grep -oE '[a-z0-9_]+;' | tr -d ';' | grep -vx 'job_desc_msg_t' | sort -u
}
table() {
	grep -oE '\b(NUMBER|TEXT|TIME|KEEPS)\([a-z0-9_]+' plugin/common/job_fields.h |
	    sed 's/.*(//' | sort -u
}
missing=$(comm -23 <(slurm) <(table))
[ "$(slurm | wc -l)" -ge 100 ] || { echo "job_fields: $header: not understood" >&2; exit 1; }
[ -z "$missing" ] || {
	echo "plugin/common/job_fields.h does not say how these fields of $header are priced:" >&2
	printf '%s\n' "$missing" >&2
	exit 1
}
