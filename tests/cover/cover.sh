#!/bin/bash
# Holds that cover: random requests to a real private Slurm, first without
# lowtide, then the same with it; each job's AllocTRES is priced by oracle.pl
# and compared with what was held. The last lines are `goal NAME VALUE WANT
# met|missed`; not 0 when one is missed.
#
#   cover.sh [N]    requests for each SelectTypeParameters (default 300)
#
# SEED (default: of the day), FIRST (0): the first of its requests, SELECT
# ("CR_CPU CR_Core CR_Core_Memory CR_Socket_Memory"), VERBOSE=1: the loosest
# holds too; KEEP=DIR: the files of the runs stay there, and a run without
# lowtide that is there is not repeated.
set -euo pipefail
cd "$(dirname "$0")/../.."
count=${1:-300}
seed=${SEED:-$(date +%Y%m%d)}
read -ra selects <<< "${SELECT:-CR_CPU CR_Core CR_Core_Memory CR_Socket_Memory}"
here=tests/cover cluster=tests/cluster/cluster.sh
if [ "${1:-}" = --restart ]; then # slurmctld, after a crash: some requests do that
	"$cluster" stop "$CLUSTER_DIR" slurmctld
	"$cluster" start "$CLUSTER_DIR" slurmctld
	scancel -A cover
	scancel -A bg
	while [ -n "$(squeue -h)" ] ||
	    sinfo -h -N -o %T | grep -qvxE 'idle|mixed|allocated'; do sleep .2; done
	exit
fi
make --no-print-directory all build/tests/cover/client >&2
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-test.XXXXXX")
chmod 755 "$D"
out=${KEEP:-$D}
mkdir -p "$out"
trap '"$cluster" down "$D"; rm -rf "$D"' EXIT
trap 'exit 130' INT TERM

# In some partitions half an hour in five is a hundred times dearer.
export HOURS=$D/hours.csv
now=$(date +%s)
for ((t = now - now % 1800 - 7200, i = 0; i < 1000; i++, t += 1800)); do
	[ "$i" -gt 0 ] || echo time,value
	echo "$t,$((i * 7919 % 5 == 0 ? 5300 : 53))"
done > "$HOURS"
sed "s#path: HOURS#path: $HOURS#" $here/policy.yaml > "$D/policy.yaml"

# Root's own requests pass some of Slurm's checks.
uid=
if [ "$(id -u)" -eq 0 ]; then
	uid=$(id -u daemon)
	export USERS=daemon
fi
LAYOUT=$here/layout.conf GRES=$here/gres.conf POLICY=$D/policy.yaml \
    ACCOUNTS='cover bg' EXTRA="GresTypes=gpu,shard
AccountingStorageTRES=gres/gpu,gres/shard
Licenses=sim:1000
MinJobAge=2
SelectTypeParameters=CR_Core
AllowSpecResourcesUsage=NO" "$cluster" up "$D" >&2 || {
	tail -n 20 "$D"/log/*.out "$D"/log/slurmctld.log >&2
	exit 1
}
. "$D/env"

# again SELECT '#'|'': slurmctld with this, without or with lowtide; where memory
# counts, users may also choose the cores that the system keeps
again() {
	"$cluster" stop "$D" lowtided
	"$cluster" stop "$D" slurmctld
	case $1 in *Memory) spec=YES ;; *) spec=NO ;; esac
	sed -i -E "s/^SelectTypeParameters=.*/SelectTypeParameters=$1/;
	    s/^(AllowSpecResourcesUsage=).*/\1$spec/;
	    s/^#?(JobSubmitPlugins=)/$2\1/" "$SLURM_CONF"
	"$cluster" start "$D" slurmctld
	"$cluster" stop "$D" slurmd
	"$cluster" start "$D" slurmd
	[ -n "$2" ] || "$cluster" start "$D" lowtided
	# Not before lowtided has loaded all jobs.
	until sbatch --test-only -A cover -p plain -n1 --time=1 --wrap true 2>/dev/null; do
		sleep .2
	done
}

requests() { # requests SELECT-NAME ARGUMENTS...
	local name=$1
	shift
	perl "$PWD/$here/cover.pl" --policy "$D/policy.yaml" --seed "$seed" --count "$count" \
	    --first "${FIRST:-0}" \
	    --client "$BUILD/tests/cover/client $uid" --restart "$here/cover.sh --restart" "$@" 2>>"$out/$name.log"
}

status=0
for select in "${selects[@]}"; do
	if [ ! -e "$out/$select.without" ]; then
		again "$select" '#'
		requests "$select" --without --out "$out/$select.part"
		mv "$out/$select.part" "$out/$select.without"
	fi
	again "$select" ''
	requests "$select" --before "$out/$select.without" --out "$out/$select.with" \
	    --kept $here/kept.txt ${VERBOSE:+--verbose} || status=1
	cp "$D/run/lowtide/market" "$out/$select.market"
done
exit $status
