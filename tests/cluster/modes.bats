#!/usr/bin/env bats
# observe writes quotes and holds and touches nothing; advise tells everyone;
# the plan is the same in all three.
load helper

policy() { echo "
mode: $1
spot_proof: said # proof.bats has what proves it
currency: USD
timezone: UTC
hold_margin: 0
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
classes:
  large: {account: vision, require_smoke: {above_node_hours: 12, within: 7d}}
budgets:
  - {team: tiny, period: month, amount: 0.50}
"; }
mode() { # mode MODE [LINE]: a further line of the policy
	{ policy "$1"; echo "${2:-}"; grep ^listen_port: "$D/etc/lowtide.yaml"; } > "$D/next.yaml"
	mv "$D/next.yaml" "$D/etc/lowtide.yaml"
	loaded() { [ "$(lowtide status --json | jq -r .mode)" = "$2" ]; }
	within 20 loaded _ "$1"
	# The plugin reads the market that is compiled from it.
	compiled() { [ "$(market_mode)" = "$2" ]; }
	within 20 compiled _ "$1"
}
# The mode of the market on disk: the u32 after cluster and currency in its
# first section, which begins where its table says (docs/formats.md).
market_mode() {
	local at names=(observe advise enforce)
	at=$(od -An -tu8 -j $((64 + 8)) -N 8 "$D/run/lowtide/market") || return 1
	echo "${names[$(od -An -tu4 -j $((at + 72)) -N 4 "$D/run/lowtide/market")]}"
}
setup_file() { export ACCOUNTS='vision tiny'; cluster_up "$(policy observe)"; }
teardown_file() { cluster_down; }
setup() { cluster_use; }

@test "observe: nothing moves, nothing is refused, the quote is there" {
	job -A tiny --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 --hold --wrap true
	[ "$(field "$id" %P)" = ondemand ]
	[[ "$said" == *"lowtide: over the budget, not enforced: "* ]]
	[[ "$(scontrol show job "$id")" == *"lowtide:1 q="* ]]
	within 20 known "$id"
	before=$(generation)
	within 40 newer "$before" # and lowtided has gone on since
	[ "$(field "$id" %r)" = JobHeldUser ]
	scancel "$id"
	job -A tiny --gpus=8 -N1 --time=8:00:00 --wrap true
	[[ "$said" != *lowtide* ]]
	within 30 done_job "$id"
}

@test "observe: what wants a smoke run is counted" {
	job -A vision --gpus=8 -N1 --time=13:00:00 --hold --wrap true
	counted() { lowtide status | grep -q '1 of the jobs of the last 30 days had no smoke run: mode enforce would have refused'; }
	within 20 counted
	[ "$(lowtide status --json | jq .no_smoke)" = 1 ]
	[[ "$(lowtide explain "$id")" == *"It had no smoke run when it was submitted"* ]]
	scancel "$id"
}

@test "advise: everyone is told, nothing moves" {
	mode advise
	job -A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 --hold --wrap true
	[[ "$said" == *spot* ]]
	[ "$(field "$id" %P)" = ondemand ]
	scancel "$id"
}

@test "enforce: it acts" {
	mode enforce
	job -A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 --hold --wrap true
	[ "$(field "$id" %P)" = spot ]
	scancel "$id"
	run ! sbatch -A tiny --gpus=8 -N1 --time=8:00:00 --wrap true
}

@test "a holdout of all: what would move stays, and is told why" {
	mode enforce "holdout: 100%"
	asked=(-A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00)
	# job_submit has it from the budget snapshot.
	kept() { run sbatch "${asked[@]}" --carbon-aware=plan --wrap true; [[ "$output" == *"Kept for comparison, as one of 100 % (holdout)"* ]]; }
	within 20 kept
	job "${asked[@]}" --hold --wrap true
	[ "$(field "$id" %P)" = ondemand ]
	[[ "$said" == *"Kept for comparison"* ]]
	within 20 known "$id"
	[[ "$(lowtide explain "$id")" == *"kept for comparison (holdout)"* ]]
	[ "$(lowtide explain --json "$id" | jq -r .quote.compared)" = kept ]
	scancel "$id"
	# It could not stay: nothing is held back that needs the move.
	job "${asked[@]}" --max-cost=20 --hold --wrap true
	[ "$(field "$id" %P)" = spot ]
	scancel "$id"
}

@test "the report counts what was kept, and says that it is too little" {
	job -A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 --wrap 'sleep 2'
	[ "$(field "$id" %P)" = ondemand ]
	within 60 settled "$id"
	measured() { lowtide report --json | jq -r ".measured.$1"; }
	[ "$(measured kept_jobs)" = 1 ]
	[ "$(measured moved_jobs)" = 0 ]
	[ "$(measured micros.saved)" = null ]
	[ "$(measured micros.kept_user_days)" = 1 ] # and its work has a price
	[ "$(measured quotes.jobs)" = 1 ]
	[[ "$(lowtide report)" == *"compared: 0 moved jobs with 1 that were kept (holdout) on 1 user-days: too few to tell what moving saved"* ]]
}
