#!/usr/bin/env bats
# lowtide web: whom it answers, what, and what Chromium makes of it.
load helper

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	local s=$BATS_FILE_TMPDIR i now
	day 3 9
	now=$(($(date +%s) / 3600 * 3600))
	{ # days that are not quite alike: the forecast has a band
		echo time,value
		for i in $(seq -600 0); do echo "$((now + i * 3600)),$((200 + (i + 1200) % 24 * 8 + i * i % 37))"; done
	} > "$s/grid.csv"
	cluster_up "
mode: enforce
currency: HUF
timezone: Pacific/Auckland
hold_margin: 0
sources:
  grid: {adapter: file, path: $s/grid.csv, quantity: carbon}
  day: {adapter: file, path: $s/day.csv, quantity: carbon, value: g}
  gone: {adapter: file, path: $s/gone.csv, quantity: carbon}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: [gone, grid], price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 1.20, gpu: V100-SXM2}
  h100: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 9.60, gpu: H100-SXM5}
budgets:
  - {team: vision, period: month, amount: 1000, kg_co2e: 40, per_user: {amount: 500}}
  - {team: nlp, period: quarter, amount: 2000}
"
	cluster_use
	export SBATCH_OUTPUT=/dev/null
	planned() { # as soon as the plugin's market has these hours
		job -A vision -J '<b>wait & see</b>' -p spot --gpus=1 --time=2:00:00 --carbon-aware=carbon --wrap 'sleep 1'
		[ "$(begin "$id")" -gt $(($(date +%s) + 600)) ] || { scancel "$id"; return 1; }
	}
	for i in 1 2; do
		within 30 planned
		within 30 known "$id"
	done
	lowtide budget adjust --team vision --amount=212.5 --kg-co2e 9 --reason x > /dev/null
	charged() { [ "$(budget_of vision spent_micros)" -gt 0 ]; }
	within 30 charged
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() {
	last_words
	[ -z "${web-}" ] || kill "$web" 2>/dev/null || true
}

as() { setpriv --reuid="$1" --regid="$(id -g "$1")" --init-groups "${@:2}"; }
serve() { # serve COMMAND...: it runs in $web, and $url is what it says first
	rm -f said
	"$@" > said 2> failed 3>&- 4>&- &
	web=$!
	within 10 grep -q Ctrl-C said
	url=$(head -n 1 said)
}
ended() { # ended STATUS: of $web; in a subshell, as run has it, it is nobody's child
	local status=0
	wait "$web" || status=$?
	[ "$status" -eq "$1" ]
}
get() { curl -sS -o got "$@" -w '%{http_code}' 2> /dev/null; }
nothing() { # nothing CURL-ARGUMENTS...: not one byte
	run -52 get "$@"
	[ "$output" = 000 ]
}

@test "without the token, or by another name, nothing is answered" {
	serve lowtide web
	port=${url#http://127.0.0.1:} port=${port%%/*} token=${url%/} token=${token##*/}
	[[ "$token" =~ ^[0-9a-f]{32}$ ]]
	grep -qF "ssh -L $port:127.0.0.1:$port $(hostname)" said
	[ "$(get "$url")" = 200 ]
	[ "$(get "http://localhost:$port/$token/v1/status")" = 200 ]
	nothing "http://127.0.0.1:$port/"
	nothing "http://127.0.0.1:$port/v1/status"
	nothing "http://127.0.0.1:$port/${token%?}x/"
	nothing "http://127.0.0.1:$port/$token"
	nothing "$url" -H "Host: evil.example:$port"
	nothing "$url" -H 'Host: localhost'
	nothing "$url" -H "Host: 127.0.0.1.evil.example:$port"
	[ "$(get "${url}v1/explain/1")" = 404 ]
	[ ! -s got ]
	for method in POST PUT DELETE; do
		[ "$(get -X $method "${url}v1/status")" = 405 ]
		[ ! -s got ]
	done
	[ "$(get "${url}v1/report?team=nobody")" = 404 ]
	jq -re .error got
	curl -sSD head -o /dev/null "$url"
	for line in "content-security-policy: default-src 'none'; script-src 'self'" 'cache-control: no-store' \
		'x-content-type-options: nosniff' 'referrer-policy: no-referrer' 'x-frame-options: DENY'; do
		grep -qi "^$line" head
	done
	# No other address of this host, which has one besides.
	ss -Hltn "sport = :$port" | awk '{print $4}' > at
	[ "$(cat at)" = "127.0.0.1:$port" ]
}

@test "what is answered is what lowtide says to that user" {
	[ "$ROOT" ] || skip 'wants another user'
	chmod 777 .
	# Not by as(): that is a shell, which would be ended in its place.
	serve setpriv --reuid=daemon --regid="$(id -g daemon)" --init-groups lowtide web
	[ "$(get "${url}v1/budget")" = 200 ]
	cmp <(jq -S . got) <(as daemon lowtide budget --json | jq -S .)
	[ "$(jq -c '[.budgets[].user]' got)" != "$(lowtide budget --json | jq -c '[.budgets[].user]')" ]
	[ "$(get "${url}v1/jobs")" = 200 ]
	[ "$(jq '.jobs | length' got)" -eq 0 ]
	[ "$(get "${url}v1/jobs?user=root&all=1")" = 200 ]
	[ "$(jq '.jobs | length' got)" -eq 0 ]
	[ "$(lowtide jobs --all --json | jq '[.jobs[] | select(.ended | not)] | length')" -eq 2 ]
}

@test "its Unix socket is its user's alone, and goes with it" {
	export XDG_RUNTIME_DIR=$PWD/run
	mkdir -p -m 700 run
	serve lowtide web --socket
	[ "$url" = "$PWD/run/lowtide-web.sock" ]
	[ "$(stat -c '%a %F' "$url")" = '600 socket' ]
	[ "$(get --unix-socket "$url" http://localhost/v1/status)" = 200 ]
	[ "$(get --unix-socket "$url" http://localhost:8017/)" = 200 ]
	nothing --unix-socket "$url" http://evil.example/
	run -1 lowtide web --socket
	[[ "$output" == *'another one listens there'* ]]
	kill "$web"
	ended 143
	[ ! -e "$url" ]
	serve lowtide web --socket=here
	kill -KILL "$web"
	ended 137
	[ -S here ]
	serve lowtide web --socket=here
	[ "$(get --unix-socket here http://localhost/)" = 200 ]
}

@test "where it can't begin it says why" {
	run -1 env -u LOWTIDE_RUN_DIR SLURM_CONF=/nonexistent lowtide --run "$PWD" web
	[[ "$output" == *"$PWD/lowtided.sock"* ]]
	run -1 env -u XDG_RUNTIME_DIR lowtide web --socket
	[[ "$output" == *'want --socket=PATH'* ]]
	run -1 lowtide web --port "$LOWTIDE_PORT"
	[[ "$output" == *"127.0.0.1:$LOWTIDE_PORT: Address already in use"* ]]
	run -2 lowtide web --port 80
	run -2 lowtide web --port 8017 --socket
	run -1 lowtide web --socket=/"$(printf '%0120d' 0)"
	touch file
	run -1 lowtide web --socket=file
	[ -f file ]
}

@test "Chromium shows it at three widths, by keys and to a screen reader" {
	chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
	    skip 'no Chromium is installed'
	serve lowtide web
	HOME=$PWD LC_ALL=C.UTF-8 TZ=UTC SERVER=$web timeout 120 "$PROJECT/tests/cluster/browser.py" "$chromium" "$PWD" "$url" \
	    360 794 1280 > all 3>&- 4>&-
	sed \$d all > shown
	# Without its server it says so, and what it had stays.
	jq -se '.[-1] | (.errors | length == 4 and all(contains("`lowtide web` does not answer"))) and
		(.time | startswith("Tried at")) and .tables > 5' all
	[ "$(jq -sc 'map([.width, .page, .wide, .console, .opens])' shown)" = \
		'[[360,360,[],[],true],[794,794,[],[],true],[1280,1280,[],[],true]]' ]
	for role in banner main navigation contentinfo status alert; do
		jq -se --arg r $role 'all(.[]; [.roles[][0]] | index($r) != null)' shown
	done
	jq -se 'all(.[]; [.roles[] | select(.[0] == "region")[1]] == ["Budgets", "Partitions", "Waiting jobs", "Sources"])' shown
	jq -se 'all(.[]; all(.roles[]; (.[0] | IN("image", "table", "button", "article", "link") | not) or .[1] != ""))' shown
	jq -se 'all(.[]; ([.roles[] | select(.[0] == "image")] | length) == 5)' shown
	# All of it by Tab, and each place is seen.
	jq -se 'all(.[]; ([.stops[][0]] | index("BUTTON", "SUMMARY", "A") != null) and all(.stops[]; .[2]))' shown
	jq -se 'all(.[]; .stops[0][1] == "Skip to the figures")' shown
	# The figures are lowtide's, hour by hour; names are text.
	lowtide signals --json > signals
	for of in ondemand:grid 'spot, h100:day'; do # a curve of two partitions is there once
		want=$(jq -c --arg s "${of#*:}" '[.sources[] | select(.name == $s).hours[] | values | [.value, .low, .high]]' signals)
		jq -se --arg p "Carbon of ${of%:*}, " --argjson want "$want" 'all(.[]; .figures | to_entries |
			map(select(.key | startswith($p)).value)[0] | map(.[1:4] | map(if . == "-" then null else . end)) == $want)' shown
	done
	# Hours, days and months are the site's, and a period ends on its last day.
	want=$(jq -r '[.sources[] | select(.name == "grid").hours[] | values | .start][1]' signals)
	want=$(TZ=Pacific/Auckland date -d "$want" '+%a %H:%M')
	jq -se --arg want "$want" 'all(.[]; (.figures | to_entries |
		map(select(.key | startswith("Carbon of ondemand,")).value)[0][1][0]) == $want)' shown
	month=$(TZ=Pacific/Auckland date +%Y-%m-01)
	for want in "$(date -d "$month" '+%b %-d')" "$(date -d "$month +1 month -1 day" '+%b %-d')"; do
		jq -se --arg want "$want" 'all(.[]; .text | contains($want))' shown
	done
	lowtide report --format json > report
	want=$(jq -c '[.teams[] | select(.cost_micros != 0) | [.team, .cost_micros, .carbon_mg]] | sort_by(-.[1])' report)
	[ "$want" != '[]' ]
	jq -se --argjson want "$want" 'all(.[]; .figures | to_entries |
		map(select(.key | startswith("Spent by team, ")).value)[0] | map(.[:3]) == $want)' shown
	jq -e '[.sources[] | select(.name == "grid").hours[] | values | .low | values] | length > 5' signals
	jq -se 'all(.[]; (.text | contains("HUF\u00a01.20/node-h") and contains("<b>wait & see</b>") and contains("gone.csv: No such file")))' shown
	jq -se 'all(.[]; [.charts[] | select(.[0] // "" | startswith("Carbon of spot, h100"))[2]] == [["2"]])' shown
	for unit in Money:micros Carbon:mg; do
		want=$(lowtide budget --json | jq -c --arg u "${unit#*:}" '.budgets[] | select(.team == "vision" and .user == null) |
			[."limit_\($u)", ."spent_\($u)", ."held_\($u)", ."available_\($u)"]')
		jq -se --arg p "${unit%:*} of vision, " --argjson want "$want" 'all(.[]; .figures | to_entries |
			map(select(.key | startswith($p))) | (.[0].value == [$want]) and
			(.[1].value[-1][2] == $want[0] - $want[1]))' shown
	done
}
