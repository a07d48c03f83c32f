# What the cluster tests share: one private cluster per file, in a folder of
# the machine's temporary directory.
bats_require_minimum_version 1.5.0 2>/dev/null || true
PROJECT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
CLUSTER=$PROJECT/tests/cluster/cluster.sh
# Mounts and other users are root's.
ROOT=$([ "$(id -u)" -eq 0 ] && echo 1 || true)

cluster_up() { # cluster_up POLICY-TEXT; settings of cluster.sh by environment
	D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-test.XXXXXX")
	chmod 755 "$D"
	mkdir -p "$D/jobs" "$D/etc"
	chmod 1777 "$D/jobs"
	printf '%s\n' "$1" > "$D/policy.yaml"
	[ ! -s "${LUA:-}" ] || cp "$LUA" "$D/etc/job_submit.lua"
	POLICY=$D/policy.yaml "$CLUSTER" up "$D" 3>&- 4>&- || {
		tail -n 20 "$D"/log/*.out "$D"/log/slurmctld.log >&2
		"$CLUSTER" down "$D" 3>&- 4>&-
		return 1
	}
	echo "$D" > "$BATS_FILE_TMPDIR/cluster"
}
cluster_use() {
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	. "$D/env"
	cd "$D/jobs" || return 1
}
cluster_down() {
	[ -s "$BATS_FILE_TMPDIR/cluster" ] || return 0
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	"$CLUSTER" down "$D" 3>&- 4>&-
	cd / && rm -rf "$D"
}
last_words() { # a test that failed shows what lowtided said last
	[ -n "$BATS_TEST_COMPLETED" ] || tail -n 20 "$D"/log/lowtided*
}
teardown() { last_words; } # files that have their own call it, too
part() { "$CLUSTER" "$1" "$D" "${@:2}" 3>&- 4>&-; } # part stop slurmctld KILL

# within SECONDS COMMAND...: true as soon as the command is. What takes long is
# asked for less often: to ask is most of what the tests of a cluster cost.
within() { # what is asked sees these names
	local within_s=$1 within_from=$SECONDS within_pause=.2
	shift
	until "$@"; do
		case $((SECONDS - within_from)) in
		[0-2]) ;;
		[3-9]) within_pause=.5 ;;
		*) within_pause=1 ;;
		esac
		[ $((SECONDS - within_from)) -lt "$within_s" ] || { echo "not within the time: $*" >&2; return 1; }
		sleep $within_pause
	done
}
job() { # job ARGUMENTS...: sbatch; its id in $id, what it said in $said
	said=$(sbatch "$@" 2>&1) || { echo "$said" >&2; return 1; }
	id=$(sed -n 's/^Submitted batch job //p' <<< "$said")
	[ -n "$id" ]
}
# True if Slurm alone refuses such a job: lowtide is off while it is asked.
plain_refuses() { # plain_refuses ARGUMENTS...
	local taken=
	lowtide off 'a test asks Slurm alone' > /dev/null
	sleep 1.5
	taken=$(sbatch --parsable -o /dev/null "$@" --wrap true 2>/dev/null) || true
	[ -z "$taken" ] || scancel "$taken"
	lowtide on > /dev/null
	sleep 1.5
	[ -z "$taken" ]
}
script() { # script NAME LINES: an executable job script
	printf '#!/bin/sh\n%s\n' "$2" > "$1"
	chmod 755 "$1"
}
field() { squeue -h -j "$1" -o "$2"; }
state_is() { [ "$(sacct -nXP -j "$1" -o State | head -n 1 | cut -d' ' -f1)" = "$2" ]; }
# Two seconds or more: a run of no length is no line of the report.
has_run() { [ $(($(date +%s) - $(date -d "$(field "$1" %S)" +%s))) -ge 2 ]; }
done_job() { case $(sacct -nXP -j "$1" -o State | head -n 1 | cut -d' ' -f1) in
	COMPLETED | FAILED | CANCELLED | TIMEOUT) true ;; *) false ;; esac; }
runs_of() { # runs_of JOBID FIELD: the sum over its runs, tasks of its array too
	lowtide report --format json --runs | jq --argjson id "$1" \
	    "[.runs[] | select(.job_id == \$id or .array_job_id == \$id) | .$2] | add // 0"
}
settled() { # settled JOBID [RUNS]: its runs are in the report
	[ "$(lowtide report --format json --runs | jq --argjson id "$1" \
	    '[.runs[] | select(.job_id == $id or .array_job_id == $id)] | length')" -ge "${2:-1}" ]
}
money_of() { runs_of "$1" money_micros; }
# lowtided has seen a job, and job_submit's terms have it: they are written in
# the turn in which lowtided sees it, and it answers between turns.
known() { [ "$(lowtide explain --json "$1" 2>/dev/null | jq -r .hold.state)" = open ]; }
generation() { lowtide status --json | jq .budget.generation; }
newer() { [ "$(generation)" -gt "$1" ]; } # another snapshot since generation
budget_of() { # budget_of TEAM FIELD
	lowtide budget --json --team "$1" | jq -r --arg t "$1" \
	    "[.budgets[] | select(.team == \$t and .user == null)][0].$2"
}

# ---- hours to come, and the plans for them ----
# A policy names the file as a source that is called day.
# day CLEAN DIRTY: of the last hour and those to come, 100 g from hour CLEAN
# from now on until DIRTY, 400 g else.
day() {
	local now h g
	now=$(($(date +%s) / 3600 * 3600 - 3600))
	{
		echo time,g
		for h in $(seq 0 199); do
			g=400
			if [ "$h" -gt "$1" ] && [ "$h" -le "$2" ]; then g=100; fi
			echo "$((now + h * 3600)),$g"
		done
	} > "$BATS_FILE_TMPDIR/day.next"
	mv "$BATS_FILE_TMPDIR/day.next" "$BATS_FILE_TMPDIR/day.csv"
}
begin() { date -d "$(scontrol show job "$1" | sed -n 's/.*EligibleTime=\([^ ]*\).*/\1/p')" +%s; }
in_hours() { echo $(($(begin "$1") - $(date +%s) - $2 * 3600)); } # seconds beside
is_in() { [ "$(in_hours "$1" "$2")" -gt -3700 ] && [ "$(in_hours "$1" "$2")" -lt 60 ]; }
# restart: lowtided anew: the source is read, and all are decided again.
restart() {
	LOG=$(ls "$D"/log/lowtided*.out)
	: > "$LOG"
	part stop lowtided
	part start lowtided
	local fetched
	fetched() { grep -q 'event=fetched source=day' "$LOG"; }
	within 30 fetched
}
# later_market: lowtided anew, and a market that it has made since: it answers
# before that. A market's generation is the second that it was made in.
later_market() {
	local before
	part stop lowtided
	before=$(date +%s)
	sleep 1
	part start lowtided
	later() { [ "$(lowtide status --json | jq .market.generation)" -gt "$before" ]; }
	within 20 later
	sleep .3 # job_submit looks for one five times a second
}
# The most nodes that the jobs on stdin (begin seconds) take at one time.
at_once() { # at_once SECONDS
	awk -v lasts="$1" '{ print $1, 1; print $1 + lasts, -1 }' | sort -n -k1,1 -k2,2 |
		awk '{ n += $2; if (n > most) most = n } END { print most + 0 }'
}
