#!/bin/bash
# make bench-submit: how long slurmctld's locks wait for one job_submit(), with
# --carbon-aware beside the plain call in the same run, and what that is of the
# time at 500 submissions a second (SchedMD's figure for a large site). Goals
# are ratios, as machines differ and others use them. Instructions are those of
# callgrind, where that is installed: they don't depend on load.
set -euo pipefail
cd "$(dirname "$0")/../.."
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-submit.XXXXXX")
trap 'rm -rf "$D"' EXIT
mkdir "$D/fake"
fake=build/tests/fake_slurm/fake_slurm

lscpu | sed -n 's/^Model name: */# /p'
echo '# job_submit(): partitions, kind, us: median, 99 of 100, mean'
"$fake" "$PWD/build" "$D/fake" bench | tee "$D/times"

# Of CALLS submissions, the first of which loads the snapshots.
instructions() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=job_submit \
	    "$fake" "$PWD/build" "$D/fake" bench "$1" "$3" "$2" 2>&1 |
	    awk '/Collected/ {print $NF}'
}
if command -v valgrind >/dev/null; then
	for partitions in 64 256; do
		for kind in plain carbon-aware; do
			few=$(instructions "$partitions" "$kind" 50)
			many=$(instructions "$partitions" "$kind" 100)
			echo "$partitions $kind instructions $(((many - few) / 50))"
		done
	done
else
	echo '# no valgrind: instructions are not counted'
fi

awk 'function goal(name, value, want) {
	printf "goal %-52s %-8.2f <= %-5s %s\n", name, value, want, value <= want ? "met" : "missed"
}
{median[$1, $2] = $3; p99[$1, $2] = $4; mean[$1, $2] = $5}
END {
	c = "carbon-aware"; p = "plain"
	goal("--carbon-aware / plain, 64 partitions, median", median[64, c] / median[64, p], 4)
	goal("--carbon-aware / plain, 64 partitions, 99 of 100", p99[64, c] / p99[64, p], 8)
	goal("--carbon-aware / plain, 256 partitions, median", median[256, c] / median[256, p], 8)
	goal("--carbon-aware / plain, 256 partitions, 99 of 100", p99[256, c] / p99[256, p], 16)
	goal("lock at 500 a second, 64 partitions, plain, %", mean[64, p] * 500 / 1e4, 1)
	goal("lock at 500 a second, all --carbon-aware, %", mean[64, c] * 500 / 1e4, 2.5)
	goal("plain call, 64 partitions, 99 of 100, us", p99[64, p], 50)
}' "$D/times"
