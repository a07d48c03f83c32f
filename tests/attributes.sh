#!/bin/bash
# Compares what the installed Slurm tells of partitions, nodes, reservations,
# QOS and associations with attributes.txt: whether a field that is not there
# keeps a job from a node nobody has judged. Prints what is missing, there
# twice, or said to be read and is not; part of the build of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
header() {
	echo "#include <slurm/$1>" | ${CC:-cc} -E - | sed -nE "s/^# [0-9]+ \"([^\"]*slurm\/$1)\".*/\1/p" | sed -n 1p
}
slurm() { # slurm TYPE: the names of the struct's fields
	cat "$(header slurm.h)" "$(header slurmdb.h)" | perl -0777 -ne '
		s{/\*.*?\*/|//[^\n]*}{}gs;
		/typedef struct\s*\w*\s*\{([^{}]*)\}\s*'"$1"'\s*;/ or exit 1;
		$fields = $1;
		print "$1\n" while $fields =~ /(\w+)\s*(?:\[[^\]]*\])?\s*;/g'
}
table() { # table TYPE [WORD]
	sed -nE "s/^$1 ${2:-[a-z]+}: //p" tests/attributes.txt | tr ' ' '\n' | sort
}
bad=0
for type in partition_info_t node_info_t reserve_info_t slurmdb_qos_rec_t slurmdb_assoc_rec_t; do
	fields=$(slurm $type | sort) || { echo "attributes: $type: not understood" >&2; exit 1; }
	for field in $(comm -23 <(echo "$fields") <(table $type | uniq)) $(table $type | uniq -d); do
		echo "tests/attributes.txt does not say, or says twice, what $type.$field does" >&2
		bad=1
	done
	for field in $(table $type read); do
		grep -qE -- "(->|\.)$field\b" adapters/slurm/*.[ch] || {
			echo "nothing in adapters/slurm reads $type.$field" >&2
			bad=1
		}
	done
done
[ $bad -eq 0 ]
