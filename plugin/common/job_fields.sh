#!/bin/bash
# Compares the fields of Slurm's job description with the table of
# job_fields.h. Prints a header with the fields that the table lacks, by
# which each pins a job that sets it: nothing that a newer Slurm added moves a
# job unseen. With --check prints nothing, and fails if there is one: then the
# table has to be brought up to date.
#
#   CC="cc -I..." job_fields.sh [--check]
set -euo pipefail
cd "$(dirname "$0")"
header=$(echo '#include <slurm/slurm.h>' | ${CC:-cc} -E - |
    sed -nE 's/^# [0-9]+ "([^"]*slurm\/slurm\.h)".*/\1/p' | sed -n 1p)
slurm() { # the names of the struct's fields
	sed -n '/^typedef struct job_descriptor/,/job_desc_msg_t;/p' "$header" |
	    sed -E ':a; s|/\*[^*]*\*+([^/*][^*]*\*+)*/||g; /\/\*/{N; ba}' |
	    grep -oE '[a-z0-9_]+;' | tr -d ';' | grep -vx 'job_desc_msg_t' | sort -u
}
table() { # a row may go over two lines
	tr '\\\n\t' '   ' < job_fields.h |
	    grep -oE '\b(NUMBER|TEXT|TIME|KEEPS|PINS_NUMBER|PINS_TEXT)\( *[a-z0-9_]+' |
	    sed 's/.*( *//' | sort -u
}
missing=$(comm -23 <(slurm) <(table))
[ "$(slurm | wc -l)" -ge 100 ] || { echo "job_fields: $header: not understood" >&2; exit 1; }
if [ "${1:-}" != --check ]; then
	echo "/* Fields of $header that job_fields.h lacks. */"
	echo "#define LT_JOB_FIELDS_NEW(NEW)" $(sed '/^$/d; s/.*/NEW(&)/' <<< "$missing")
elif [ -n "$missing" ]; then
	echo "plugin/common/job_fields.h does not judge these fields of $header:" >&2
	printf '%s\n' "$missing" >&2
	exit 1
fi
