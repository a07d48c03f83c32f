#!/usr/bin/env bats
# The facts that charges rest on, when they change or are missing, and the
# ways past a budget that never worked. AccountingStorageTRES is Slurm's
# default here: slurmdbd knows no GPUs.
load tricks

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='rich poor free parent child:parent purged nine waits arr shape bridge many'
	export LAYOUT=$BATS_TEST_DIRNAME/tricks_facts.conf
	export EXTRA='AccountingStorageTRES=cpu
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SlurmctldParameters=enable_user_top'
	# 1000 micros a second: a node for a minute is held at 0.09, for
	# slurmctld ends it up to 30 s late.
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
partitions:
  ondemand: {carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  gone: {carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  mixed: {price_per_node_hour: 3.60}
  forever: {price_per_node_hour: 3.60}
budgets:
  - {team: rich, period: year, amount: 10000}
  - {team: poor, period: year, amount: 10000}
  - {team: parent, period: year, amount: 10000}
  - {team: purged, period: year, amount: 10000}
  - {team: nine, period: year, amount: 0.82}
  - {team: waits, period: year, amount: 0.05, on_exceed: hold}
  - {team: arr, period: year, amount: 0.19}
  - {team: shape, period: year, amount: 10000}
  - {team: bridge, period: year, amount: 10000}
  - {team: many, period: year, amount: 10000}
'
	cluster_use
	act >&2 || echo 'not all of what the tests look at was done' >&2
}
teardown_file() { cluster_down; }
ONE='--exclusive -N1 --time=1 -o /dev/null' # one node for a minute: 0.09
PRICES='ondemand=1000 gone=1000 mixed=1000 forever=1000 mark=0'
setup() { cluster_use; }
teardown() { last_words; scancel -A rich,poor,free,nine,waits,arr,shape,bridge 2>/dev/null || true; }
saved() { cat "$D/id.$1"; }
# The runs whose charges the tests look at, all at once.
act() {
	local name
	script two 'sleep 2'
	job -A child -n1 --time=1 -o /dev/null two && echo "$id" > "$D/id.child"
	job -A purged -n1 --time=1 -o /dev/null two && echo "$id" > "$D/id.purged"
	job -A rich -n1 --gpus=8 --time=1 -o /dev/null two && echo "$id" > "$D/id.gpus"
	job -A free -p gone $ONE two && echo "$id" > "$D/id.before"
	for name in child purged gpus before; do
		within 120 settled "$(saved $name)"
	done
}

@test "the default account changes: priced for the account that the job runs in" {
	local user=daemon
	[ -n "$ROOT" ] || user=$(id -un)
	sacctmgr -iQ modify user "$user" set defaultaccount=poor
	said=$(as_user sbatch --time=1 -n1 --hold -o /dev/null --wrap true 2>&1)
	sacctmgr -iQ modify user "$user" set defaultaccount=rich
	id=${said##* }
	[ "$(field "$id" %a)" = "$(show "$id" | sed -n 's/.*lowtide:1 .* team=\([^ ]*\) .*/\1/p')" ]
}
@test "a deleted account keeps its charges with its parent, its runs in the report" {
	local spent
	spent=$(spent_micros parent)
	[ "$spent" -gt 0 ]
	[ "$spent" -eq "$(money_of "$(saved child)")" ]
	for user in $USERS "$(id -un)"; do
		sacctmgr -iQ delete user "$user" account=child >/dev/null
	done
	sacctmgr -iQ delete account child >/dev/null
	part stop lowtided
	part start lowtided
	[ "$(spent_micros parent)" -eq "$spent" ]
	[ "$(money_of "$(saved child)")" -eq "$spent" ]
	lowtide rebuild
	[ "$(spent_micros parent)" -eq "$spent" ]
}
@test "a rebuild keeps what slurmdbd has purged, and says so" {
	local spent
	spent=$(money_of "$(saved purged)")
	[ "$spent" -gt 0 ]
	# What PurgeJobAfter does.
	mysql --no-defaults -uroot -S "$D/run/db.sock" slurm_acct_db \
	    -e "delete from tide_job_table where id_job = $(saved purged)"
	run -0 lowtide rebuild
	[[ "$output" == *purged* ]] || [[ "$output" == *kept* ]]
	[ "$(money_of "$(saved purged)")" -eq "$spent" ]
	[ "$(spent_micros purged)" -eq "$spent" ]
}
@test "another currency is refused while the ledger has amounts in the old one" {
	cp "$D/etc/lowtide.yaml" "$D/good.yaml"
	sed -i 's/^currency: USD/currency: EUR/' "$D/etc/lowtide.yaml"
	refused() { lowtide status | grep -q 'EUR'; }
	within 20 refused
	[ "$(lowtide report --format json | jq -r .currency)" = USD ]
	# Not at the next start either.
	part stop lowtided
	part start lowtided || true
	lowtide report --format json > "$D/report" || true
	[ "$(jq -r '.currency // "USD"' "$D/report")" = USD ] || [ ! -s "$D/report" ]
	cp "$D/good.yaml" "$D/etc/lowtide.yaml"
	part stop lowtided
	part start lowtided
}
@test "a partition dropped from the policy keeps its rates for what runs there" {
	local first gone seconds
	first=$(saved before)
	[ "$(runs_of "$first" carbon_mg)" -gt 0 ]
	sleeper -A free -p gone --exclusive -N1
	gone=$id
	within 10 is "$gone" RUNNING
	within 15 told "$gone"
	cp "$D/etc/lowtide.yaml" "$D/good.yaml"
	loads=$(grep -c event=policy_loaded "$D/log/lowtided.out" || true)
	sed -i '/^  gone:/d' "$D/etc/lowtide.yaml"
	dropped() { [ "$(grep -c event=policy_loaded "$D/log/lowtided.out")" -gt "$loads" ]; }
	within 20 dropped
	marker
	end "$gone"
	within 120 settled "$gone"
	cp "$D/good.yaml" "$D/etc/lowtide.yaml"
	seconds=$(sacct -nXP -j "$gone" -o ElapsedRaw)
	[ "$(money_of "$gone")" -eq $((seconds * 1000)) ]
	# As much carbon a second as before, rounded.
	[ $(($(runs_of "$gone" carbon_mg) / seconds)) -ge $(($(runs_of "$first" carbon_mg) / ($(sacct -nXP -j "$first" -o ElapsedRaw) + 1))) ]
}
@test "GPUs that slurmdbd does not know are charged; report and doctor say so" {
	[ "$(money_of "$(saved gpus)")" -eq $(($(sacct -nXP -j "$(saved gpus)" -o ElapsedRaw) * 1000)) ]
	lowtide rebuild
	[ "$(money_of "$(saved gpus)")" -eq $(($(sacct -nXP -j "$(saved gpus)" -o ElapsedRaw) * 1000)) ]
	run lowtide doctor
	[ "$status" -ne 0 ]
	[[ "$output" == *AccountingStorageTRES* ]]
	[[ "$(lowtide report)" == *'slurmdbd does not count'* ]]
}
@test "slurm-bridge's admin_comment stays JSON, and whose it is" {
	[ -n "$ROOT" ] || skip 'needs root: only SlurmUser writes it'
	id=$("$RPC" submit account=bridge time_limit=1 priority=0 \
	    'admin_comment={"pods":["default/p1"],"node":"v1"}')
	within 15 told "$id"
	local text
	text=$(show "$id" | sed -n 's/^ *AdminComment=//p')
	[ "$(jq -r '.pods[0]' <<< "$text")" = default/p1 ]
	[ "$(jq -r '.node' <<< "$text")" = v1 ]
	[[ "$(jq -r .lowtide <<< "$text")" == *'q='* ]]
	[ "$(held_micros bridge)" -gt 0 ]
	scancel "$id"
}
@test "admin_comment replaced at a job's end, as jobstats does: a rebuild is the same" {
	[ -n "$ROOT" ] || skip 'needs root: only SlurmUser writes it'
	job -A bridge -n1 --time=1 -o /dev/null --wrap 'sleep 3'
	within 10 told "$id"
	local runs=1 # with this one: its id may have been another's
	while settled "$id" "$runs"; do runs=$((runs + 1)); done
	scontrol update jobid="$id" admincomment='JS1:H4sIAA=='
	within 20 ended "$id"
	sacctmgr -iQ modify job where jobid="$id" set admincomment='JS1:H4sIAA==' >/dev/null || true
	within 120 settled "$id" "$runs"
	charge_told > "$D/before"
	local spent
	spent=$(money_of "$id")
	lowtide rebuild
	[ "$(money_of "$id")" -eq "$spent" ]
	charge_told | diff "$D/before" - >&2
}
charge_told() { lowtide explain "$id" | grep -E '(money|carbon) = '; }

# What held.
@test "held: eight clients at once, room for nine" {
	local pids=() n i
	for n in 1 2 3 4 5 6 7 8; do
		(for i in $(seq 12); do as_user sbatch -A nine --hold $ONE --wrap true; done) >>"$D/nine" 2>/dev/null &
		pids+=($!)
	done
	wait "${pids[@]}" || true
	# Those that came before lowtided saw the first are held back until then.
	nine_held() { [ $(($(budget_of nine held_micros) / 90000)) -eq 9 ]; }
	within 120 nine_held || { lowtide budget --json --team nine; false; } >&2
	sleep 6 # three passes more
	nine_held
}
@test "held: release, top, nice, priority, uhold, qos, begin of a job that is held back" {
	[ -n "$ROOT" ] || skip 'needs a user who is not SlurmUser'
	said=$(as_user sbatch -A waits $ONE --wrap 'exec sleep 60' 2>/dev/null)
	id=${said##* }
	for twice in 1 2; do # before lowtided saw it, and after
		for change in "release $id" "top $id" "uhold $id" "update jobid=$id nice=1" "update jobid=$id priority=100" \
		    "update jobid=$id qos=normal" "update jobid=$id starttime=now" "release $id"; do
			as_user scontrol $change 2>/dev/null || true
		done
		marker
		is "$id" PENDING
	done
}
@test "held: arrays with a throttle are held for all their tasks" {
	run ! as_user sbatch -A arr --array=0-9%1 --hold $ONE --wrap true
	[[ "$output" == *'arr has'* ]]
	run -0 as_user sbatch -A arr --array=0-1%1 --hold $ONE --wrap true
	run ! as_user sbatch -A arr --hold $ONE --wrap true
}
@test "held: a heterogeneous job is its sum" {
	run ! as_user sbatch -A arr --hold $ONE : -A arr $ONE : -A arr $ONE --wrap true
	[[ "$output" == *'arr has'* ]]
}
@test "held: steps that overlap in an allocation cost what it costs" {
	said=$(salloc --no-shell -A shape -n2 --time=2 2>&1)
	id=$(grep -oE 'Granted job allocation [0-9]+' <<< "$said" | grep -oE '[0-9]+$')
	srun --jobid="$id" --overlap -n2 sleep 1 &
	srun --jobid="$id" --overlap -n2 sleep 1
	wait $!
	covered "$id"
	end "$id"
	within 120 settled "$id"
	[ "$(money_of "$id")" -le $((($(sacct -nXP -j "$id" -o ElapsedRaw) * 1000 * 2 + 63) / 64)) ]
}
@test "held: --mem=0, node shapes, --exclusive=user, ranges of nodes" {
	for wish in '--mem=0 -n1' '-p mixed -n33' '-p mixed -n1 --mem=100000' '--exclusive=user -n3' '-N1-2 -n70' '-N1-3 --exclusive'; do
		starts -A shape $wish
		covered "$id"
		end "$id"
	done
}
@test "held: no limit, no account, no price" {
	run ! as_user sbatch -A nine -p forever --time=UNLIMITED -n1 --hold --wrap true
	[[ "$output" == *'nine has'* ]]
	run ! as_user sbatch -A shape -p forever -n1 --hold --wrap true
	[[ "$output" == *lowtide* ]]
	run ! as_user sbatch -A nosuch -n1 --time=1 --hold --wrap true
	run as_user sbatch -A nine -p unpriced -n1 --time=1 -o /dev/null --wrap 'exec sleep 60'
	marker
	[ "$(squeue -h -t R -A nine -o %i | wc -l)" -eq 0 ]
}
@test "held: hostile job descriptions" {
	! newer 24.11 || skip "Slurm $SLURM itself crashes on some"
	local field value n=0
	for field in num_tasks min_nodes max_nodes min_cpus cpus_per_task ntasks_per_node pn_min_cpus \
	    pn_min_memory time_limit sockets_per_node shared core_spec ntasks_per_tres; do
		for value in 0 1 0x7ffffffe 0xfffffffd 0xffffffff 0xfffe 0xffffffffffffffff; do
			as_user "$RPC" submit account=nine time_limit=1 priority=0 "$field=$value" >/dev/null 2>&1 || true
		done
	done
	for field in tres_per_job tres_per_node tres_per_task tres_per_socket cpus_per_tres mem_per_tres array_inx \
	    partition features req_nodes licenses dependency account; do
		for value in gres:gpu:18446744073709551615 gres:gpu:-1 gpu:: ,,, 0-4294967295 '%' "$(printf 'x%.0s' $(seq 5000))" '[' 'v[1-99999]' $'\x1b[31m'; do
			as_user "$RPC" submit account=nine time_limit=1 priority=0 "$field=$value" >/dev/null 2>&1 || true
		done
	done
	scontrol ping | grep -q 'is UP'
	kill -0 "$(cat "$D/run/slurmctld.shpid")"
	marker
	[ "$(budget_of nine available_micros)" -ge 0 ]
}
@test "held: others' adjust, explain and now" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	sleeper -A rich -n1 --hold --begin=now+1hour
	within 15 told "$id"
	run ! as_stranger lowtide explain "$id"
	run ! as_user lowtide explain "$id"
	run ! as_user lowtide now "$id"
	[[ "$output" == *'not yours'* ]]
	run ! as_user lowtide budget adjust --team rich --amount -1 --reason mine
	run ! as_user lowtide rebuild
}
@test "held: no byte of an attacker reaches the terminal or begins a CSV cell's formula" {
	lowtide budget adjust --team rich --amount 0.01 --reason $'\x1b]0;x\x07=1+1' || true
	lowtide report > "$D/out"
	lowtide report --format csv >> "$D/out"
	lowtide report --format csv --runs >> "$D/out"
	lowtide explain "$(saved gpus)" >> "$D/out"
	! grep -q $'[\x1b\x07]' "$D/out"
	! grep -qE '(^|,)"?[=+@]' "$D/out"
}
# Last: from here on an id is no longer one job's.
@test "job ids begin again: the new owner sees nothing of the old one" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	squeue -h -o %F | sort -u | xargs -r scancel
	drained() { [ -z "$(squeue -h -t PD,R,CG -o %i)" ]; }
	within 20 drained
	part stop slurmctld
	rm -f "$D"/state/job_state* "$D"/state/last_*
	part start slurmctld
	script two 'sleep 2'
	id=0
	until [ "$id" -ge "$(saved child)" ]; do
		said=$(as_user sbatch -A free -n1 --time=1 -o /dev/null two)
		id=${said##* }
	done
	[ "$id" -eq "$(saved child)" ]
	within 40 ended "$id"
	mine_is_in() { [ "$(lowtide explain --json "$id" | jq '[.runs[]] | length')" -ge 2 ]; }
	within 40 mine_is_in # root sees both
	run -0 as_user lowtide explain --json "$id"
	[ "$(jq '[.runs[]] | length' <<< "$output")" -eq 1 ]
	[ "$(jq -r '[.runs[].account] | unique | join(",")' <<< "$output")" = free ]
}
