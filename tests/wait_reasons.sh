#!/bin/bash
# Compares the reasons for which the installed Slurm lets jobs wait with the
# table of adapters/slurm/reasons.c: of one that is missing there lowtide does
# not know whether it passes. Prints what is missing; part of the build of the
# tests.
set -euo pipefail
cd "$(dirname "$0")/.."
header=$(echo '#include <slurm/slurm.h>' | ${CC:-cc} -E - |
    sed -nE 's/^# [0-9]+ "([^"]*slurm\/slurm\.h)".*/\1/p' | head -n 1)
slurm() { # the names of the enum; not the gaps that it keeps, nor its end
	sed -n '/^enum job_state_reason/,/^};/p' "$header" |
	    sed -E ':a; s|/\*[^*]*\*+([^/*][^*]*\*+)*/||g; /\/\*/{N; ba}' |
	    grep -oE '\b(WAIT|FAIL)_[A-Z0-9_]+' | sort -u
}
table() {
	grep -oE '^	(NEVER|NOTHING|PASSES)\([A-Z0-9_]+' adapters/slurm/reasons.c |
	    sed 's/.*(//' | sort
}
[ "$(slurm | wc -l)" -ge 150 ] || { echo "wait_reasons: $header: not understood" >&2; exit 1; }
twice=$(table | uniq -d)
missing=$(comm -23 <(slurm) <(table))
[ -z "$twice$missing" ] || {
	echo "adapters/slurm/reasons.c does not say, or says twice, of these of $header whether they pass:" >&2
	printf '%s\n' $twice $missing >&2
	exit 1
}
