#!/usr/bin/env bats
# What a Prometheus gets of lowtided: figures equal to the report's by token, and
# counters to what jobs met, health without, and nothing that a stranger could
# hold up; the alerts by promtool, each query of the dashboard by a real
# Prometheus.
load helper

setup_file() {
	export ACCOUNTS='vision nlp robots'
	mkdir -p "$BATS_FILE_TMPDIR/spool"
	chmod 2770 "$BATS_FILE_TMPDIR/spool"
	day 12 20
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
carbon_price_per_tonne: 100
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600.123457, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 1800, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
  h100: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 36000, gpu: H100-SXM5, owned: true, electricity_price_per_kwh: 0.10}
budgets:
  - {team: vision, period: month, amount: 1000000}
  - {team: nlp, period: year, amount: 500, kg_co2e: 12.345678}
  - {team: robots, period: month, amount: 1, on_exceed: hold}
notify: {spool: $BATS_FILE_TMPDIR/spool, command: /bin/true}
"
	cluster_use
	cp "$D/etc/lowtide.yaml" "$D/base.yaml"
	# As if it had looked at spot's nodes for two days.
	part stop lowtided
	sqlite3 "$D/lowtide/signals.db" 'UPDATE rates SET start_utc_s = start_utc_s - 172800 WHERE rate = 7'
	part start lowtided
	within 60 ready
	# They run while the first tests ask.
	sbatch -A vision -p ondemand -n1 --time=5 --wrap 'sleep 4' > "$BATS_FILE_TMPDIR/jobs"
	sbatch -A nlp -p spot -n2 --time=1 --wrap 'sleep 3' >> "$BATS_FILE_TMPDIR/jobs"
	sbatch -A vision -p h100 -n1 --gpus=1 --time=5 --wrap 'sleep 4' >> "$BATS_FILE_TMPDIR/jobs"
	sbatch -A vision -p ondemand -n1 --time=5 --begin=now+1hour --wrap true
	# Decided, none of them to end before the file does: each as it was told.
	for wish in cost carbon\ --gpus=8 carbon\ --gpus=8 fast; do
		job -A vision --carbon-aware=$wish -n1 --time=1:00:00 --wrap 'sleep 3600'
		scontrol show job "$id" | grep -o 'lowtide:1 [^;]*' >> "$BATS_FILE_TMPDIR/quotes"
	done
	# Two that are refused, one that is held back, a plan that is none.
	refuses sbatch -A nlp -p ondemand -N2 --exclusive --time=10:00:00 --wrap true
	refuses srun -A robots -p ondemand -n1 --time=1:00:00 true
	job -A robots -p ondemand -n1 --time=1:00:00 --wrap true
	refuses sbatch -A vision --carbon-plan -n1 --time=10 --wrap true
	# It takes seconds to look for whom to ask.
	P=$BATS_FILE_TMPDIR/prometheus
	mkdir "$P"
	cat > "$P/prometheus.yml" <<-E
	global: {scrape_interval: 1s}
	rule_files: [$PROJECT/packaging/prometheus/lowtide.rules.yml]
	scrape_configs:
	  - job_name: lowtide
	    authorization: {credentials_file: $BATS_FILE_TMPDIR/token}
	    static_configs: [{targets: ['127.0.0.1:$((CLUSTER_BASE + 5))']}]
	E
	prometheus --config.file="$P/prometheus.yml" --storage.tsdb.path="$P/data" \
	    --web.listen-address="127.0.0.1:$((CLUSTER_BASE + 6))" --log.level=warn > "$P/log" 2>&1 3>&- 4>&- &
	echo $! > "$BATS_FILE_TMPDIR/prometheus.pid"
}
teardown_file() {
	[ ! -s "$BATS_FILE_TMPDIR/prometheus.pid" ] || kill "$(< "$BATS_FILE_TMPDIR/prometheus.pid")" || true
	cluster_down
}
setup() {
	cluster_use
	PORT=$((CLUSTER_BASE + 5))
	TOKEN=$BATS_FILE_TMPDIR/token
	LOG=$(ls "$D"/log/lowtided*.out)
}
metrics() { # metrics [MORE]: the policy with this section
	{ cat "$D/base.yaml"; [ -z "$1" ] || echo "metrics: {listen: $PORT$1}"; } > "$D/next.yaml"
	mv "$D/next.yaml" "$D/etc/lowtide.yaml"
}
refuses() { ! "$@"; } # as a command of its own, or nobody looks
ready() { [ "$(lowtide status --json | jq .budget.ready)" = true ]; }
ask() { # ask PATH [CURL'S ARGUMENTS]: the status, the text in $D/text
	curl -s -m 10 -o "$D/text" -w '%{http_code}' "${@:2}" "http://127.0.0.1:$PORT$1"
}
bearer() { ask "$1" -H "Authorization: Bearer $(< "$TOKEN")" "${@:2}"; }
serves() { [ "$(ask /health)" = 200 ]; }
is_silent() { [ "$(ask /health)" = 000 ]; }
has_money() { bearer /metrics > /dev/null && grep -q '^lowtide_account_spent{' "$D/text"; }
value() { awk -v name="$1" '$1 == name { print $2 }' "$D/text"; }

doctored() { # what doctor says of the token
	lowtide doctor --json | jq -r '.findings[] | select(.check == "secrets").found' |
		sed 's/^metrics, token_file: [^:]*: //'
}

@test "none without the section; a policy that gets it is followed, health without a token" {
	run is_silent
	[ "$status" -eq 0 ]
	metrics ''
	metrics ', token_file: /nonexistent'
	within 20 serves
	grep -q 'event=metrics_without_token .*/nonexistent' "$LOG"
	[ "$(ask /metrics)" = 200 ]
	[ "$(value lowtide_ready)" = 1 ]
	! grep -qE 'budget_|account|currency|vision' <(grep -v '^#' "$D/text" | grep -v snapshot_age)
	# Whoever has a token learns that it does not count, and of what kind it is.
	[ "$(ask /metrics -D "$D/head" -H 'Authorization: Bearer 0123456789abcdef')" = 401 ]
	tr -d '\r' < "$D/head" | grep -qx 'WWW-Authenticate: Bearer'
	[ "$(doctored)" = 'No such file or directory' ]
}

@test "a token that others may read, or a short one, opens nothing" {
	echo 0123456789abcdef0123456789abcdef > "$TOKEN"
	chmod 644 "$TOKEN"
	metrics ", token_file: $TOKEN"
	within 20 grep -q 'event=metrics_without_token .*mode 0644 lets others read' "$LOG"
	[ "$(bearer /metrics)" = 401 ]
	[ "$(doctored)" = 'mode 0644, want 0600: others can read the secret' ]
	chmod 600 "$TOKEN"
	: > "$TOKEN"
	[ "$(doctored)" = '0 bytes, want a line of 16 and more' ]
	echo short > "$TOKEN"
	metrics ",  token_file: $TOKEN"
	within 20 grep -q 'event=metrics_without_token .*16 characters' "$LOG"
	[ "$(bearer /metrics)" = 401 ]
	echo 0123456789abcdef0123456789abcdef > "$TOKEN"
	metrics ",   token_file: $TOKEN"
	opened() { [ "$(bearer /metrics)" = 200 ]; }
	within 20 opened
	[[ "$(doctored)" == '1 file, of mode 0600, for '* ]]
}

@test "with the token all figures, with another none, other requests are refused" {
	within 20 has_money
	[ "$(ask /metrics -H 'Authorization: Bearer 0123456789abcdef0123456789abcdeX')" = 401 ]
	! grep -q lowtide_ "$D/text"
	[ "$(ask /metrics -H "Authorization: Bearer $(< "$TOKEN")0")" = 401 ]
	[ "$(ask /metrics -H 'Authorization: Bearer ')" = 401 ]
	[ "$(ask /metrics -H 'Authorization: Basic YTpi')" = 401 ]
	[ "$(bearer /v1/status)" = 404 ]
	[ "$(bearer /metrics -X POST)" = 405 ]
	[ "$(ask /metrics -H "X: $(printf %70000d 0)")" != 200 ]
}

@test "the text is clean, in both formats" {
	curl -s -D "$D/head" -o "$D/text" "http://127.0.0.1:$PORT/metrics" -H "Authorization: Bearer $(< "$TOKEN")"
	tr -d '\r' < "$D/head" | grep -qx 'Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8'
	[ "$(tail -n 1 "$D/text")" = '# EOF' ]
	grep -qx '# UNIT lowtide_account_energy_joules joules' "$D/text"
	[ "$(bearer /metrics -H 'Accept: text/plain')" = 200 ]
	! grep -qE '# (EOF|UNIT)' "$D/text"
	run promtool check metrics < "$D/text"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "strangers' connections are few, and hold nobody up" {
	for i in $(seq 40); do
		exec {fd}<> "/dev/tcp/127.0.0.1/$PORT" || true
		fds+=("$fd")
	done
	lowtide budget > /dev/null
	sockets() { ls -l "/proc/$(lowtide status --json | jq .pid)/fd" | grep -c socket; }
	[ "$(sockets)" -lt 30 ]
	# Those that say nothing are gone after five seconds.
	within 12 serves
	for fd in "${fds[@]}"; do exec {fd}>&-; done
}

@test "totals are those of the report and of the budget, to the micro" {
	while read -r _ _ _ id; do
		within 40 settled "$id"
	done < "$BATS_FILE_TMPDIR/jobs"
	equal() {
		bearer /metrics > /dev/null
		lowtide report --unused --format json > "$D/report"
		lowtide budget --json > "$D/budget"
		python3 "$PROJECT/tests/cluster/metrics.py" "$D/text" "$D/report" "$D/budget"
	}
	within 30 equal
	bearer /metrics
	[ "$(grep -c '^lowtide_account_runs{account="vision",.* 2$' "$D/text")" -eq 1 ]
	[ "$(grep -c '^lowtide_account_runs{account="nlp",.* 1$' "$D/text")" -eq 1 ]
}

@test "decisions and their delays are those of the jobs' quotes" {
	bearer /metrics
	# "objective outcome" of each quote, and all their delays.
	awk '{
		for (i = 1; i <= NF; i++) { split($i, of, "="); is[of[1]] = of[2] }
		split(is["plan"], plan, "@"); split(is["base"], home, "@")
		later = plan[2] - home[2]; there = plan[1] != home[1]
		n[is["by"] " " (later > 0 ? (there ? "both" : "later") : (there ? "elsewhere" : "kept"))]++
		if (later > 0) delay += later
	} END { for (k in n) print k, n[k]; print "delay", delay }' "$BATS_FILE_TMPDIR/quotes" | sort > "$D/wanted"
	cat "$D/wanted"
	[ "$(wc -l < "$BATS_FILE_TMPDIR/quotes")" -eq 4 ]
	[ "$(awk '$1 == "delay" { print ($2 > 3600) }' "$D/wanted")" = 1 ]
	sed -nE 's/^lowtide_decided_jobs_total\{mode="enforce",objective="(\w+)",outcome="(\w+)"\} ([1-9].*)/\1 \2 \3/p
		s/^lowtide_planned_delay_seconds_total\{mode="enforce"\} /delay /p' "$D/text" | sort | diff "$D/wanted" -
	[ "$(value lowtide_plans_broken_total)" = 0 ]
}

@test "plans that are changed are counted, by why" {
	day 4 14 # the clean hours come earlier
	metrics ",  token_file: $TOKEN "
	moved() { [ "$(grep -c event=replanned "$LOG")" -ge 2 ]; }
	within 60 moved
	logged() { sed -n 's/.* event=replanned .*why=\([a-z_]*\) .*/\1/p' "$LOG" | sort | uniq -c | awk '{ print $2, $1 }'; }
	counted() {
		bearer /metrics > /dev/null
		sed -n 's/^lowtide_replans_total{why="\(.*\)"} \([1-9].*\)/\1 \2/p' "$D/text" | sort | diff <(logged) -
	}
	within 20 counted
}

@test "who was refused is counted, by account, and who is held back" {
	bearer /metrics
	refused() { value "lowtide_refused_jobs_total{account=\"$1\",action=\"$2\"}"; }
	[ "$(refused nlp reject)" = 1 ]
	[ "$(refused robots reject)" = 1 ] # srun can't be held
	[ "$(refused robots hold)" = 1 ]
	[ "$(refused vision reject)" = 0 ]
	[ "$(value 'lowtide_unknown_balance_jobs_total{action="reject"}')" = 0 ]
	[ "$(grep -c '^lowtide_refused_jobs_total{.* 1$' "$D/text")" -eq 3 ]
	[ "$(value lowtide_holds_held_back)" = 1 ]
	# One more is one more.
	refuses sbatch -A nlp -p ondemand -N2 --exclusive --time=10:00:00 --wrap true
	more() { bearer /metrics > /dev/null; [ "$(refused nlp reject)" = 2 ]; }
	within 20 more
}

@test "tries of sources, steps, and what is known of spot" {
	bearer /metrics
	of_day='{source="day",adapter="file"}'
	[ "$(value "lowtide_source_tries_total$of_day")" -ge 1 ]
	[ "$(value "lowtide_source_failed_tries_total$of_day")" = 0 ]
	[ "$(value 'lowtide_step_failures_total{step="market"}')" = 0 ]
	[ "$(value 'lowtide_partition_seen_seconds{partition="spot"}')" -ge 172800 ]
	[ "$(value 'lowtide_partition_there_ratio{partition="spot"}')" = 1.000000 ]
	[ "$(value 'lowtide_partition_interruptions_per_node_hour{partition="spot"}')" = 0.020000 ]
	[ -z "$(value 'lowtide_partition_seen_seconds{partition="ondemand"}')" ]
	mv "$BATS_FILE_TMPDIR/day.csv" "$BATS_FILE_TMPDIR/away.csv"
	metrics ", token_file: $TOKEN "
	failed() { bearer /metrics > /dev/null; [ "$(value "lowtide_source_failed_tries_total$of_day")" -ge 1 ]; }
	within 40 failed
	mv "$BATS_FILE_TMPDIR/away.csv" "$BATS_FILE_TMPDIR/day.csv"
}

@test "alerts fire where they should" {
	run promtool test rules "$PROJECT/packaging/prometheus/lowtide.rules.test.yml"
	echo "$output"
	[ "$status" -eq 0 ]
	# None of them speaks of what there is not.
	bearer /metrics
	for name in $(grep -oE '\blowtide_[a-z_]+' "$PROJECT/packaging/prometheus/lowtide.rules.yml" | sort -u); do
		grep -q "^# TYPE ${name%_total} " "$D/text"
	done
}

@test "a real Prometheus scrapes it, and answers each query of the dashboard" {
	W=127.0.0.1:$((CLUSTER_BASE + 6))
	promtool check config "$BATS_FILE_TMPDIR/prometheus/prometheus.yml"
	query() { curl -sG "http://$W/api/v1/query" --data-urlencode "query=$1"; }
	# Of nothing at all jq -e makes a yes.
	count() { query "$1" | jq '.data.result | length'; }
	scraped() { [ "$(count lowtide_account_spent)" = 2 ]; }
	within 20 scraped
	[ "$(query 'up{job="lowtide"}' | jq -r '.data.result[0].value[1]')" = 1 ]
	n=0
	while read -r expr; do
		n=$((n + 1))
		[ "$(count "$expr")" -gt 0 ] || { echo "no answer: $expr"; return 1; }
	done < <(jq -r '.panels[].targets[]?.expr' "$PROJECT/packaging/grafana/lowtide.json" | sed 's/\$account/.*/g')
	[ "$n" -gt 45 ]
	# Digits are kept: what it stored is what the report says.
	[ "$(query 'lowtide_account_spent{account="vision"}' | jq -r '.data.result[0].value[1] | tonumber * 1e6 | round')" \
	    -eq "$(lowtide report --format json | jq '.teams[] | select(.team == "vision") | .cost_micros')" ]
	[ "$(curl -s "http://$W/api/v1/rules" | jq '[.data.groups[].rules[] | select(.health != "err")] | length')" -eq 17 ]
	kill "$(< "$BATS_FILE_TMPDIR/prometheus.pid")"
	rm "$BATS_FILE_TMPDIR/prometheus.pid"
}

@test "taken out of the policy, the port is closed" {
	metrics ''
	within 20 is_silent
	lowtide budget > /dev/null
}
