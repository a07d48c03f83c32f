#!/usr/bin/env bats
# Each console block of README, docs, examples and manual pages, a command
# behind "$ " and what it says below: they run here, on a site of which that is
# true, and say the same, but for figures, times and sizes.
load helper

setup_file() {
	export LAYOUT=$BATS_FILE_TMPDIR/layout ACCOUNTS=vision
	local n partition nodes=
	for partition in ondemand spot; do
		for n in 1 2 3 4; do
			nodes=$((${nodes:-0} + 1))
			echo "NodeName=$partition$n NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+$nodes@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8"
		done
		echo "PartitionName=$partition Nodes=$partition[1-4] MaxTime=7-00:00:00"
	done > "$LAYOUT"
	sed -i '/^PartitionName=ondemand/s/$/ Default=YES/' "$LAYOUT"
	day 5 20
	# What waiting saves is worth it, and a day's job is rarely interrupted.
	cluster_up "
mode: enforce
currency: USD
timezone: Europe/London
carbon_price_per_tonne: 2000
max_delay: 24h
spot_proof: said
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {carbon: day, price_per_node_hour: 32.77, gpu: V100-SXM2, pue: 1.15}
  spot: {carbon: day, price_per_node_hour: 9.83, gpu: V100-SXM2, pue: 1.15, preemptible: {interruptions_per_hour: 0.0001, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: month, amount: 5000, on_exceed: reject}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

pages() { (cd "$PROJECT" && ls README.md docs/*.md docs/sources/*.md examples/*/README.md man/*.[1-8]); }

# What differs from run to run, and where a private cluster's files are.
normalised() {
	sed -E -e "s|$D/run/lowtide/|/run/lowtide/|g" \
	    -e 's/(now|from )?((Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?[0-9]{2}:[0-9]{2}( [A-Z]{3})?/TIME/g' \
	    -e 's/[0-9]{4}-[0-9]{2}\b/MONTH/g' \
	    -e 's/--time=[0-9:-]+/--time=LIMIT/g' \
	    -e 's/\b[0-9.,]+ k?g\b/MASS/g' \
	    -e 's/\$[0-9,.]+[0-9]/MONEY/g' \
	    -e 's/(job|at|to) [0-9]+/\1 N/g'
}

# run_block: the block on stdin anew: each command, and what it says.
run_block() {
	local line
	while read -r line; do
		[[ $line == '$ '* ]] || continue
		echo "$line"
		line=${line#'$ '}
		line=${line//'/run/lowtide/'/$D/run/lowtide/}
		# Its last line ended, as a terminal's reader sees it.
		eval "$line" < /dev/null 2>&1 3>&- 4>&- | sed '$a\'
	done
}

@test "each console block says what the programs say" {
	local blocks file from=0 failed=0
	script train.sh '#SBATCH --nodes=1 --gpus-per-node=8 --time=4:00:00
true'
	script big.sh '#SBATCH --gpus-per-node=8
true'
	cp "$PROJECT/examples/jobs/counter.sh" .
	lowtide budget adjust --team vision --amount 4100 --reason 'spent before'
	spent() { [ "$(budget_of vision spent_micros)" = 4100000000 ]; }
	within 30 spent || budget_of vision spent_micros
	mkdir blocks
	# Lines before the first command are of a file.
	(cd "$PROJECT" && tests/blocks.pl $(pages)) | awk '
		/^@ / { head = $0; begun = 0; next }
		/^\$ / && !begun { begun = 1; print head > ("blocks/" ++n) }
		begun { print > ("blocks/" n) }'
	blocks=(blocks/*)
	[ "${#blocks[@]}" -ge 5 ]
	for file in "${blocks[@]}"; do
		sed -n 's/^@ //p' "$file"
		sed '1d; /^$/d' "$file" | normalised > want
		sed 1d "$file" | run_block | tee said | normalised > got
		diff want got || { failed=$((failed + 1)); cat said; }
		scancel --user "$(id -un)"
	done
	[ "$failed" -eq 0 ]
}
