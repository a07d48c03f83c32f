#!/usr/bin/env bats
# What lowtide and its plugins say on terminals of 80 and 60 columns: no line is
# longer, no figure is lost, and a terminal that knows no escapes gets none.
load helper

LONG=climate-and-weather-modelling-group
ONDEMAND=ondemand-europe-west-a100-80gb
SPOT=preemptible-europe-west-a100-80gb

setup_file() {
	command -v script > /dev/null || skip 'wants script(1)'
	export LAYOUT=$BATS_TEST_DIRNAME/widths.conf ACCOUNTS="$LONG nlp rich poor"
	day 5 15
	cluster_up "
mode: enforce
spot_proof: said
currency: SEK
timezone: Europe/Stockholm
carbon_price_per_tonne: 100
hold_margin: 0
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
  electricity-of-the-northern-zone: {adapter: static, value: 0.0123, unit: per_kwh}
  not-there: {adapter: uk_carbon_intensity, url: 'http://127.0.0.1:9'}
partitions:
  $ONDEMAND: {carbon: day, price_per_node_hour: 36000, gpu: A100-SXM4-80GB}
  $SPOT: {carbon: day, price_per_node_hour: 90, gpu: A100-SXM4-80GB, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
  tiny: {carbon: 0, price_per_node_hour: 0.01}
budgets:
  - {team: $LONG, period: month, amount: 4321000, kg_co2e: 98765}
  - {team: nlp, period: quarter, amount: 1000}
  - {team: rich, period: year, amount: 987654321, kg_co2e: 4000000}
  - {team: poor, period: month, amount: 0.50}
"
	cluster_use
	local i
	for i in 1 2; do
		job -A "$LONG" -J "a_long_name_for_a_job_$i" -N1 --exclusive --time=10 --wrap "sleep $((60 + i))" # long enough for the history
		all+=("$id")
	done
	job -A nlp -p tiny --time=10 --array=0-2 --wrap 'sleep 2'
	all+=("$id")
	job -A rich --carbon-aware --time=8:00:00 -J moved --wrap 'sleep 600'
	echo "$id" > "$BATS_FILE_TMPDIR/moved"
	job -A rich -p "$SPOT" --exclusive -N1 --checkpoint=write=30s --time=2-0 -J runs --wrap 'sleep 600'
	echo "$id" > "$BATS_FILE_TMPDIR/runs"
	job -A "$LONG" --hold --time=1-0 -N2 --exclusive -J held --wrap 'sleep 600'
	echo "$id" > "$BATS_FILE_TMPDIR/held"
	for i in "${all[@]}"; do within 150 done_job "$i"; done
	echo "${all[0]}" > "$BATS_FILE_TMPDIR/ended"
	within 60 settled "${all[0]}"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# on COLUMNS COMMAND...: what it shows on a terminal of so many; its standard
# error too. What is drawn over is taken away.
on() {
	local columns=$1
	shift
	timeout 60 script -qec "stty cols $columns; $*" "$BATS_TEST_TMPDIR/tty" < /dev/null > /dev/null || true
	sed -E 's/^Script (started|done).*//; s/\r+$//; s/.*\r//' "$BATS_TEST_TMPDIR/tty"
}
plain() { sed -E 's/\x1b\[[0-9;]*[A-Za-z]//g'; }
# One word that is longer is left to the terminal: a path in two could not be copied.
too_long() { awk -v most="$1" '{ line = $0; sub(/^ */, "", line) } length($0) > most && line ~ / /'; }

commands() { # a line each
	local moved runs held ended f=$PROJECT/tests/fixtures/simulate
	moved=$(< "$BATS_FILE_TMPDIR/moved") runs=$(< "$BATS_FILE_TMPDIR/runs")
	held=$(< "$BATS_FILE_TMPDIR/held") ended=$(< "$BATS_FILE_TMPDIR/ended")
	cat <<-C
	lowtide jobs
	lowtide jobs --all
	lowtide explain $moved
	lowtide explain $runs
	lowtide explain $held
	lowtide explain $ended
	lowtide explain 99999
	lowtide watch $ended
	timeout -s INT 3 lowtide watch $runs
	lowtide now $held
	lowtide plan -- -A rich --carbon-aware --checkpoint --time=8:00:00 --wrap true
	lowtide plan --compare -- -A rich --checkpoint --time=8:00:00 --wrap true
	lowtide plan -- -A poor --time=1:00:00 --wrap true
	SLURM_CONF=$D/etc/alone.conf sbatch -A rich --carbon-plan --time=8:00:00 --wrap true
	lowtide budget
	lowtide budget --team poor
	lowtide history
	lowtide report
	lowtide report --runs
	lowtide report --by account,partition
	lowtide report --carbon
	lowtide report --tcto
	lowtide report --unused
	lowtide reconcile $PROJECT/tests/golden/reconcile/focus.csv --map $ONDEMAND=p4d.24xlarge
	lowtide close
	lowtide status
	lowtide signals
	lowtide signals --errors
	lowtide signals adapters
	lowtide signals adapters electricity_maps
	lowtide signals test day
	lowtide signals test not-there
	lowtide notice
	lowtide doctor
	lowtide check $LOWTIDE_CONFIG
	lowtide check $D/wrong.yaml
	lowtide simulate --from-slurm --last 1d
	lowtide simulate $f/pai_1k.csv --carbon $f/au-sa.csv --at 2022-10-19T16:00Z
	lowtide simulate $f/spot.json --deadline-factor 2
	lowtide help
	lowtide help simulate
	lowtide reprot
	lowtide report --taem x
	C
}

@test "no line is longer than the terminal" {
	local columns command bad=0 long count=0
	sed '/^JobSubmitPlugins/d' "$D/etc/slurm.conf" > "$D/etc/alone.conf"
	sed 's/^mode: enforce/mode: enforced/' "$LOWTIDE_CONFIG" > "$D/wrong.yaml"
	for columns in 80 60; do
		while read -r command; do
			on "$columns" "$command" | plain > "$BATS_TEST_TMPDIR/shown"
			grep -q . "$BATS_TEST_TMPDIR/shown" || { echo "$command: nothing" >&2; bad=1; }
			long=$(too_long "$columns" < "$BATS_TEST_TMPDIR/shown")
			[ -z "$long" ] || { printf '%s, %s:\n%s\n' "$columns" "$command" "$long" >&2; bad=1; }
			count=$((count + 1))
		done < <(commands)
	done
	[ "$bad" -eq 0 ]
	[ "$count" -ge 80 ]
}

@test "TERM=dumb and NO_COLOR get no escape, another terminal does" {
	local command with
	for with in TERM=dumb TERM= 'TERM=xterm NO_COLOR=1'; do
		while read -r command; do
			on 80 "export $with; $command" > /dev/null
			! grep -q $'\033' "$BATS_TEST_TMPDIR/tty" || { echo "$with $command" >&2; return 1; }
		done < <(commands | grep -E 'jobs$|watch|doctor|signals$|signals test|status|report$|simulate')
	done
	on 80 'export TERM=xterm; unset NO_COLOR; lowtide budget' > /dev/null
	grep -q $'\033\[1m' "$BATS_TEST_TMPDIR/tty"
}

@test "figures and ids are whole at 60 columns" {
	local shown runs
	runs=$(< "$BATS_FILE_TMPDIR/runs")
	shown=$(on 60 lowtide budget | plain)
	[[ "$shown" == *4,321,000.00\ SEK* ]]
	[[ "$shown" == *987,654,321.00\ SEK* ]]
	[[ "$shown" == *98.77\ t* ]]
	[[ "$shown" == *"$LONG"* ]]
	shown=$(on 60 lowtide report | plain)
	[[ "$shown" == *4,321,000.00\ SEK* ]]
	shown=$(on 60 lowtide jobs | plain)
	grep -qE "^$runs +RUNNING .* SEK" <<< "$shown"
	grep -qE ' 1,728,000.00 SEK' <<< "$shown"
	shown=$(on 60 lowtide plan -- -A rich --carbon-aware --time=8:00:00 --wrap true | plain)
	grep -qx "PARTITION *$SPOT" <<< "$shown"
	grep -qE '^COST +[0-9,.]+ SEK$' <<< "$shown"
	# Broken or not: the words of both are the same.
	lowtide explain "$runs" | sed 's/2m [0-9]*s old\|[0-9]*s old//' > "$BATS_TEST_TMPDIR/whole"
	on 60 lowtide explain "$runs" | sed 's/2m [0-9]*s old\|[0-9]*s old//' > "$BATS_TEST_TMPDIR/broken"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/whole")" -lt "$(wc -l < "$BATS_TEST_TMPDIR/broken")" ]
}

@test "a pipe, a file and what programs read have whole lines, on a terminal too" {
	local runs
	runs=$(< "$BATS_FILE_TMPDIR/runs")
	lowtide budget | grep -q "^$LONG  *2026\|^$LONG .* 4,321,000.00 SEK .* reject$"
	lowtide budget --json > "$BATS_TEST_TMPDIR/want"
	on 60 lowtide budget --json | jq -S .budgets > "$BATS_TEST_TMPDIR/got"
	diff <(jq -S .budgets "$BATS_TEST_TMPDIR/want") "$BATS_TEST_TMPDIR/got"
	on 60 lowtide report --format csv | grep -q '^.\{100\}'
	on 60 lowtide init --output - | grep -q '^.\{70\}'
}

@test "each screen has one time zone" {
	local zones screen runs
	runs=$(< "$BATS_FILE_TMPDIR/runs")
	export TZ=America/New_York
	for screen in jobs status history "signals test day" "watch $(< "$BATS_FILE_TMPDIR/ended")"; do
		zones=$(on 200 "export TZ=$TZ; lowtide $screen" | plain | grep -oE '\b(UTC|GMT|CES?T|E[SD]T)\b' | sort -u)
		[[ "$zones" == E[SD]T ]] || { echo "$screen: $zones" >&2; return 1; }
	done
	# What lowtided and the plugins word has the site's.
	for screen in "explain $runs" 'plan -- -A rich --carbon-aware --time=1:00:00 --wrap true'; do
		zones=$(on 200 "export TZ=$TZ; lowtide $screen" | plain | grep -oE '\b(UTC|GMT|CES?T|E[SD]T)\b' | sort -u)
		[[ "$zones" == CE*T ]] || { echo "$screen: $zones" >&2; return 1; }
	done
}

@test "completion knows this site's jobs, teams and sources" {
	complete_words() {
		COMP_WORDS=(lowtide "$@") COMP_CWORD=$# COMPREPLY=()
		_lowtide
		printf '%s\n' "${COMPREPLY[@]}"
	}
	. "$PROJECT/packaging/completion/lowtide.bash"
	complete_words explain '' | grep -qx "$(< "$BATS_FILE_TMPDIR/runs")"
	diff <(complete_words report --team = '') <(printf '%s\n' "$LONG" nlp poor rich)
	diff <(complete_words signals test '') <(printf '%s\n' day electricity-of-the-northern-zone not-there)
	[ "$(complete_words budget --team = po)" = poor ]
	[ "$(complete_words --run "$D/nowhere" report --team = '')" = '' ]
}
