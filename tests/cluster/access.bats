#!/usr/bin/env bats
# Who sees what, on a real Slurm: its users, coordinators and PrivateData, and
# real Unix groups; by the Unix socket and by TCP.
# bats file_tags=long
load helper

policy() { # policy VIEWERS
	cat <<-E
	mode: enforce
	currency: USD
	timezone: UTC
	hold_margin: 0
	$1
	partitions:
	  ondemand: {carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
	  h100: {carbon: 300, price_per_node_hour: 36, gpu: H100-SXM5}
	budgets:
	  - {team: vision, period: month, amount: 1000, per_user: {amount: 500}}
	E
}
setup_file() {
	[ "$(id -u)" -eq 0 ] || skip 'wants other users'
	export USERS='daemon mail' ACCOUNTS='vision nlp'
	cluster_up "$(policy 'viewers: [games]')"
	cluster_use
	export SBATCH_OUTPUT=/dev/null
	job -A vision -J roots --time=1 --wrap 'sleep 2'
	echo "$id" > "$D/roots"
	job -A nlp -J others --time=1 --wrap 'sleep 2'
	echo "$id" > "$D/others"
	id=$(as daemon sbatch --parsable -A vision -J daemons --time=1 --wrap 'sleep 2')
	echo "$id" > "$D/daemons"
	for id in $(cat "$D/roots" "$D/others" "$D/daemons"); do within 90 settled "$id"; done
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

as() { setpriv --reuid="$1" --regid="$(id -g "$1")" --init-groups "${@:2}"; }
ids() { jq -c '[.runs[].job_id] | sort'; }
all() { cat "$D/roots" "$D/others" "$D/daemons" | sort -n | jq -sc .; }
of() { jq -sc 'sort' <(cat "${@/#/$D/}"); }
report() { as "$1" lowtide report --format json --runs "${@:2}"; }
fresh() { # fresh: lowtided, and what it reads
	part stop lowtided
	part start lowtided
}

@test "a member sees his team's sums and his own runs, a viewer all, by either way" {
	for LOWTIDE_SERVER in '' "127.0.0.1:$LOWTIDE_PORT"; do
		[ -z "$LOWTIDE_SERVER" ] && unset LOWTIDE_SERVER || export LOWTIDE_SERVER
		[ "$(report daemon | ids)" = "$(of daemons)" ]
		[ "$(report games | ids)" = "$(all)" ]
		[ "$(report root | ids)" = "$(all)" ]
		[ "$(report daemon | jq -c '[.own_runs, .total.runs]')" = '[true,3]' ]
		[ "$(report games | jq -c '[.own_runs, .total.runs]')" = '[false,3]' ]
	done
	as daemon lowtide explain "$(cat "$D/daemons")" > /dev/null
	run ! as daemon lowtide explain "$(cat "$D/roots")"
	as games lowtide explain "$(cat "$D/roots")" > /dev/null
	[ "$(as daemon lowtide budget --json | jq -c '[.budgets[].user]')" = '[null,"daemon"]' ]
}

@test "who sees nothing is told so, and a team that is not his is none" {
	for what in report budget; do
		run -1 as news lowtide $what
		[[ "$output" == *"you see no team's figures"* ]]
		run -1 lowtide $what --team nothing
		[[ "$output" == *'team nothing: no '*'that you may see'* ]]
		run -1 as news lowtide $what --team nlp
		[[ "$output" == *"you see no team's figures"* ]]
	done
	run -1 as news lowtide budget adjust --team nlp --amount=1 --reason x
	run -1 as games lowtide budget adjust --team nlp --amount=1 --reason x
	[[ "$output" == *'only for root and SlurmUser'* ]]
}

@test "users are left out of each format, and of no figure" {
	as games lowtide report --runs --format csv > "$D/with"
	as games lowtide report --runs --no-users --format csv > "$D/without"
	grep -q daemon "$D/with"
	run ! grep -qE 'daemon|root' "$D/without"
	[ "$(wc -l < "$D/with")" -eq "$(wc -l < "$D/without")" ]
	run ! grep -qE 'daemon|root' <(as games lowtide report --runs --no-users)
	[ "$(report games --no-users | jq -c '[.runs[].user] | unique')" = '[null]' ]
	cmp <(report games | jq .total) <(report games --no-users | jq .total)
}

@test "a member has the HTML statement, without the names of others" {
	as daemon lowtide report --format html > "$D/member.html"
	as games lowtide report --format html > "$D/viewer.html"
	grep -q '<h2 id="teams">' "$D/member.html"
	run ! grep -qE '<h2 id="users">|>(root|daemon)<' "$D/member.html"
	grep -q '<h2 id="users">' "$D/viewer.html"
}

@test "an adjustment of root lifts no cap of root's" {
	before=$(lowtide budget --json | jq -c '[.budgets[] | select(.user == "root").spent_micros]')
	lowtide budget adjust --team vision --amount=-7 --reason credit
	credited() { [ "$(budget_of vision spent_micros)" -lt 0 ]; }
	within 30 credited
	[ "$(lowtide budget --json | jq -c '[.budgets[] | select(.user == "root").spent_micros]')" = "$before" ]
	grep -q 'uid=0' "$D/lowtide/adjustments"
	lowtide budget adjust --team vision --amount=7 --reason back
}

@test "a coordinator sees all of his account, an operator all" {
	sacctmgr -i add coordinator account=vision names=mail > /dev/null
	sees_vision() { [ "$(report mail --team vision | ids)" = "$(of roots daemons)" ]; }
	[ "$(report mail | ids)" = '[]' ]
	within 90 sees_vision
	run ! as mail lowtide explain "$(cat "$D/others")"
	sacctmgr -i modify user mail set adminlevel=operator > /dev/null
	sees_all() { [ "$(report mail | ids)" = "$(all)" ]; }
	within 90 sees_all
	sacctmgr -i modify user mail set adminlevel=none > /dev/null
	sacctmgr -i delete coordinator account=vision names=mail > /dev/null
}

@test "never more than PrivateData, of slurmdbd.conf or slurm.conf, allows" {
	own=$(report daemon | jq '[.runs[].money_micros] | add')
	echo 'PrivateData=usage' >> "$D/etc/slurmdbd.conf"
	part stop slurmdbd
	part start slurmdbd
	fresh
	private() { [ "$(report daemon | jq -c '[.own_figures, .total.charges_micros]')" = "[true,$own]" ]; }
	within 60 private
	[ "$(as daemon lowtide budget --json | jq -c '[.budgets[].user]')" = '["daemon"]' ]
	[ "$(report games | ids)" = "$(all)" ]
	# slurmdbd is away, and lowtided starts: it knows what it said.
	part stop slurmdbd
	fresh
	within 60 private
	sed -i '/PrivateData/d' "$D/etc/slurmdbd.conf"
	part start slurmdbd
	public() { [ "$(report daemon | jq .own_figures)" = false ]; }
	within 90 public
	echo 'PrivateData=usage,jobs' >> "$D/etc/slurm.conf"
	scontrol reconfigure
	within 90 private
	run ! as daemon lowtide explain "$(cat "$D/roots")"
	[[ "$output" == *'not known here'* ]]
}

@test "an owner sees what mails to him name, an address alone nothing" {
	# news and uucp have no association; PrivateData=usage,jobs is set.
	mkdir -p -m 2770 "$BATS_FILE_TMPDIR/spool"
	run -1 as news lowtide report --team vision
	policy "$(printf '%s\n' 'notify:' "  spool: $BATS_FILE_TMPDIR/spool" \
	    "  mail: {server: 'smtp://127.0.0.1:9', from: lowtide@hpc.example.org}" \
	    '  owners: {vision: [{user: news, mail: pi@example.org}, uucp@example.org]}')" > "$D/policy.new"
	grep '^listen_port' "$D/etc/lowtide.yaml" >> "$D/policy.new"
	mv "$D/policy.new" "$D/etc/lowtide.yaml"
	run -0 lowtide check "$D/etc/lowtide.yaml"
	[[ "$output" == *'warning: notify: owners: 1 of them by address alone'*'as uucp@example.org: '* ]]
	sees_vision() { [ "$(report news --team vision | ids)" = "$(of roots daemons)" ]; }
	within 60 sees_vision
	for LOWTIDE_SERVER in '' "127.0.0.1:$LOWTIDE_PORT"; do
		[ -z "$LOWTIDE_SERVER" ] && unset LOWTIDE_SERVER || export LOWTIDE_SERVER
		[ "$(report news | ids)" = "$(of roots daemons)" ] # of no other team
		as news lowtide budget --team vision > /dev/null
		as news lowtide report --team vision --by user | grep -q daemon
		as news lowtide report --team vision --format html | grep -q '<h2 id="users">'
		as news lowtide explain "$(cat "$D/daemons")" > /dev/null
		run ! as news lowtide explain "$(cat "$D/others")"
		run -1 as news lowtide report --team nlp
		run -1 as uucp lowtide report --team vision
		[[ "$output" == *"you see no team's figures"* ]]
	done
	unset LOWTIDE_SERVER
	# To see is not to change.
	run -1 as news lowtide budget adjust --team vision --amount=1 --reason x
	[[ "$output" == *'only for root and SlurmUser'* ]]
}

@test "without the key nobody is a viewer" {
	policy '' > "$D/policy.new"
	grep '^listen_port' "$D/etc/lowtide.yaml" >> "$D/policy.new"
	mv "$D/policy.new" "$D/etc/lowtide.yaml"
	refused() { ! as games lowtide report > /dev/null 2>&1; }
	within 30 refused
	run -1 as games lowtide report
	[[ "$output" == *'names no groups of viewers'* ]]
}
