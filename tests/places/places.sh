#!/bin/bash
# What plain sbatch takes, lowtide may not lose: random sites, each brought up
# as a private Slurm, and random jobs on them, given to sbatch plain and with
# --carbon-aware. The last lines are `goal NAME VALUE WANT met|missed` and
# `N passed, N failed`; not 0 when one is missed.
#
#   places.sh [FILE.site...]    with files: these, and no random sites
#
# SITES (10), JOBS (50) on each, SEED (of the day), FIRST (0): the first site;
# LANES (2): sites at once; KEEP=DIR: what fails is shrunk and written there;
# PATIENCE (60): seconds in which a moved job starts where a plain one does;
# BUILD: a folder of built products, instead of building them;
# GOALS=few: no goal for how much moves. What is in kept/ is replayed first.
# Files kept as *.open are known and not mended: give them as FILE.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -n "${BUILD:-}" ] || make --no-print-directory all >&2
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-test.XXXXXX")
chmod 755 "$D"
finish() {
	local c
	for c in "$D"/*/s*/env; do
		[ ! -e "$c" ] || tests/cluster/cluster.sh down "${c%/env}"
	done
	rm -rf "$D"
}
trap finish EXIT
trap 'exit 130' INT TERM
PATH=$PATH:/usr/sbin:/sbin
files=("$@") sites=${SITES:-10}
if [ $# -gt 0 ]; then
	sites=0
else
	for f in tests/places/kept/*.site; do [ ! -e "$f" ] || files+=("$f"); done
fi
goals=(--least-options 60 --least-moved 60)
[ "${GOALS:-all}" = all ] && [ $# -eq 0 ] || goals=()
lanes=${LANES:-2}
[ -z "${PORT_LANE:-}" ] || lanes=1
perl tests/places/places.pl --seed "${SEED:-$(date +%Y%m%d)}" --first "${FIRST:-0}" \
    --sites "$sites" --jobs "${JOBS:-50}" --lanes "$lanes" --folder "$D" \
    ${KEEP:+--keep "$KEEP"} "${goals[@]}" "${files[@]}"
