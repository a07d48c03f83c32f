#!/bin/bash
# The story of lowtide on a private Slurm: real slurmctld, slurmdbd, MariaDB
# and munge, jobs as users submit them, recorded signals. Stops what it
# started, unless KEEP=1. What stays is the statement, in build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
cluster=tests/cluster/cluster.sh
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-demo.XXXXXX")
chmod 755 "$D"
keep=${KEEP:-}
statements=$PWD/build/demo

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m'
else bold='' dim='' off=''; fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$off"; }
see() { printf '%s# %s%s\n' "$dim" "$*" "$off"; }
run() { # show a command, run it in the folder of the jobs
	printf '$ %s\n' "$*"
	(cd "$D/jobs" && "$@" 2>&1)
}
refused() { # a command that must fail
	if run "$@"; then echo "demo: this should have been refused" >&2; return 1; fi
}
job_of() { sed -n 's/^Submitted batch job //p' "$D/last"; }
submit() { # submit and remember the job id in $job
	run "$@" | tee "$D/last"
	job=$(job_of)
	[ -n "$job" ]
}
within() { # within SECONDS WHAT COMMAND...
	local until=$((SECONDS + $1)) what=$2
	shift 2
	until "$@"; do
		[ $SECONDS -lt $until ] || { echo "demo: $what did not happen" >&2; return 1; }
		sleep .2
	done
}
finish() {
	local status=$?
	[ $status -eq 0 ] || {
		echo "demo: failed; what the daemons said last:" >&2
		tail -n 20 "$D"/log/{lowtided.out,slurmctld.log,slurmdbd.log,db.log} >&2 2>/dev/null || true
	}
	if [ "$keep" = 1 ] && [ $status -eq 0 ]; then
		cat <<-TEXT

		${bold}The cluster goes on.${off} Use it:   . $D/env
		                     squeue; lowtide status; lowtide plan -- --gpus=8 --time=8:00:00
		Stop it and remove it: $PWD/$cluster down $D && rm -rf $D
		TEXT
	else
		"$cluster" down "$D" && rm -rf "$D"
	fi
	[ $status -ne 0 ] || cat <<-TEXT

		${bold}The statement of this month${off}, for a browser and for a spreadsheet:
		$statements/statement.html
		$statements/statement.csv
	TEXT
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

step "A private Slurm with lowtide, beside whatever runs here, in $D"
. examples/demo-cluster.sh
printf '#!/bin/sh\nsleep 2\n' > "$D/jobs/short.sh"
run sinfo
run lowtide status
see "Every source with its age and quality; a replay is never taken for real."

step "1. A plain job: nothing moves; it is priced, held and charged all the same."
submit sbatch -A vision --gpus=1 --time=10 short.sh
plain=$job

step "2. --carbon-aware with a checkpoint, and no later: it may use spot, and goes there at once."
submit sbatch -A vision --carbon-aware=cost --begin=now --checkpoint=write=30s --gpus=8 --nodes=1 --time=8:00:00 train.sh
spot=$job
see "Moved to spot; the second line says what it would have cost without lowtide."

step "3. --carbon-aware on one GPU at fixed prices: it waits for the clean hours."
submit sbatch -A vision --carbon-aware --gpus=1 --time=8:00:00 train.sh
clean=$job
see "Same partition, later start: the price is the same then, the grid is cleaner ($zone)."

step "4. An array: eight tasks that share one node."
submit sbatch -A nlp --array=0-7 --gpus=1 --cpus-per-task=8 --time=10 short.sh

step "5. A job that the team can't pay."
refused sbatch -A nlp --nodes=2 --exclusive --time=3-0 train.sh
see "nlp has 100 USD a month; refused by job_submit with what was asked, spent, held and left."

step "6. More GPU memory than the default partition's V100 has."
submit sbatch -A vision --carbon-aware=fast --gpu-memory=40G --gpus=1 --time=10 short.sh
see "The H100 partition is the only one whose GPUs have 40 GiB."

step "The plan of a job that is not submitted"
run lowtide plan -- -A vision --gpus=8 --nodes=1 --time=8:00:00 train.sh
see "Each partition with its cost, carbon and start, or the reason why it is no candidate."

running() { [ "$(squeue -h -j "$spot" -o '%T %P')" = 'RUNNING spot' ]; }
within 30 "job $spot RUNNING in spot" running
settled() { [ "$(lowtide report --format json --runs | grep -c '"job_id"')" -ge 10 ]; }
within 40 "ten settled runs" settled

step "Where they are"
run squeue -o '%.6i %.10P %.10j %.9a %.9T %.20S %R'
see "Job $spot runs in the partition of its plan; $clean waits for its begin time."

step "A node is taken back: its job goes on elsewhere, from its checkpoint."
cp examples/jobs/counter.sh "$D/jobs/"
submit sbatch -A vision -p spot --time=1:00:00 counter.sh 600
counter=$job
node_of() { squeue -h -j "$counter" -t R -o %N; }
counts() { [ -n "$(node_of)" ] && [ "$(sacct -nXP -j "$counter" -o ElapsedRaw)" -ge 3 ]; }
within 30 "job $counter on a node" counts
node=$(node_of)
run lowtide notice "$node" --in 20s
see "What watches a cloud's notices says so. Drained now; the job is requeued KillWait and 5 s before the end."
resumed() { [ -n "$(node_of)" ] && [ "$(node_of)" != "$node" ] && grep -q '^resumed' "$D/jobs/slurm-$counter.out"; }
within 60 "job $counter elsewhere" resumed
run cat "slurm-$counter.out"
run squeue -j "$counter" -o '%.6i %.10P %.10j %.9T %R'
see "Lost: what it had counted since that checkpoint, less than a second."

step "Why job $clean waits"
run lowtide explain "$clean"

step "What job $plain cost, and why"
run lowtide explain "$plain"

step "What finance reads"
run lowtide budget
run lowtide report
mkdir -p "$statements"
for format in html csv; do
	run lowtide report --format $format -o "$statements/statement.$format"
done
see "Eight tasks of one node cost one node for the time they ran; nothing is claimed as saved before it ran."
