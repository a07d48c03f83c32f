#!/bin/bash
# Chaos on a real private Slurm: jobs of several users, and each part killed,
# the disk full, the clock set, months ending; after each cycle a model of what
# must be true. See README.md. The last lines are `goal NAME VALUE WANT
# met|missed`; not 0, and the cluster's folder stays, when one is missed.
#
#   storm.sh [CYCLES]    default 2; SEED (default: of the day); BUILD: a folder
#                        of built products, instead of building them
set -euo pipefail
cd "$(dirname "$0")/../.."
cycles=${1:-2} seed=${SEED:-$(date +%Y%m%d)}
here=$PWD/tests/storm cluster=$PWD/tests/cluster/cluster.sh
[ -n "${BUILD:-}" ] ||
    make --no-print-directory all build/tests/tools/clock_shift.so >&2
export BUILD=${BUILD:-$PWD/build}
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-storm.XXXXXX")
chmod 755 "$D"
mkdir "$D/jobs"
finish() {
	local status=$?
	"$cluster" down "$D" >&2
	[ $status -ne 0 ] || { rm -rf "$D"; exit 0; }
	echo "storm: the cluster's folder stays: $D" >&2
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

# Of the first two hours of each month, five minutes are dear, then five cheap;
# of spot it is the other way round.
for month in $(seq 0 47); do
	begin=$(date -ud "2027-01-01 +$month months" +%s)
	echo "$begin,0.072" >> "$D/main.csv"
	echo "$begin,1.80" >> "$D/spot.csv"
	for at in $(seq 150 600 6600); do
		printf '%s\n' "$((begin + at)),7.20" "$((begin + at + 300)),0.072" >> "$D/main.csv"
		printf '%s\n' "$((begin + at)),0.018" "$((begin + at + 300)),1.80" >> "$D/spot.csv"
	done
done
sed -i '1i time,value' "$D"/*.csv
sed "s#CLUSTER_DIR#$D#" "$here/policy.yaml" > "$D/policy.yaml"
# Ten seconds before a month ends, by the cluster's own clock.
shift=$(($(date -d 2027-01-31T23:58:30Z +%s) - $(date +%s)))
printf '%16d' "$shift" > "$D/clock"
export CLOCK_SHIFT=$D/clock LD_PRELOAD=$BUILD/tests/tools/clock_shift.so TZ=UTC
users=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
	users='nobody games daemon'
	export USERS=$users
else
	echo 'storm: without root there is one user, who is Slurm, too: no strangers' >&2
fi
# Full disks are a limit on file sizes, which the signal must not end.
export WITH='env --ignore-signal=XFSZ'
LAYOUT=$here/layout.conf POLICY=$D/policy.yaml \
    ACCOUNTS='rich kid:rich tiny later capped free' EXTRA='SlurmdTimeout=30
KillWait=2
UnkillableStepTimeout=600' "$cluster" up "$D" >&2 || {
	tail -n 20 "$D"/log/*.out "$D"/log/slurmctld.log >&2
	exit 1
}
. "$D/env"
export CLUSTER_SH=$cluster STORM_USERS=$users
perl -I"$here" "$here/storm.pl" "$seed" "$cycles"
