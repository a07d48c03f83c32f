#!/bin/bash
# Draws session.svg, the session that README shows: what the commands said just
# now on a private Slurm with real jobs and recorded signals (`make pictures`).
set -euo pipefail
cd "$(dirname "$0")/../.."
cluster=tests/cluster/cluster.sh
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-pictures.XXXXXX")
chmod 755 "$D"
trap '"$cluster" down "$D"; rm -rf "$D"' EXIT
trap 'exit 130' INT TERM

. examples/demo-cluster.sh

remark() { printf '%s# %s\n' "$between" "$*"; }
run() { # show a command line and what it says
	printf '$ %s\n' "$1"
	(cd "$D/jobs" && COLUMNS=100 bash -c "$1" 2>&1)
}
refused() { # a command line that must fail
	if run "$1"; then echo "session: this should have been refused: $1" >&2; return 1; fi
}
session() {
	local between=
	remark 'It can go on from a checkpoint: where is it cheapest?'
	run 'sbatch -A vision --carbon-aware --checkpoint=write=30s -N1 --gpus=8 --time=8:00:00 train.sh'
	between=$'\n'
	remark 'Prices are fixed where this one runs: when is the grid clean?'
	run 'sbatch -A vision --carbon-aware --gpus=1 --time=8:00:00 train.sh'
	remark 'More than the team has left'
	refused 'sbatch -A nlp -N2 --exclusive --time=3-0 train.sh'
	remark 'Why does the second one wait, and what is left?'
	run 'lowtide explain 2 | head -n 6'
	run 'lowtide budget'
}
session > "$D/session.txt"
# What README says of the picture.
for shown in 'lowtide: spot, now' 'lowtide: ondemand, from ' 'error: lowtide: nlp has'; do
	grep -q "$shown" "$D/session.txt" || { echo "session: not shown: $shown" >&2; exit 1; }
done
docs/pictures/terminal.pl "A private Slurm $(slurmctld -V | grep -o '[0-9].*'), recorded signals, $(date -u +%F)" \
    < "$D/session.txt" > "$D/session.svg"
cp "$D/session.svg" docs/pictures/session.svg
