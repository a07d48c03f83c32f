#!/bin/bash
# make reports: reports on a ledger of RUNS, a list of sizes (default 1000000),
# of twelve whole months, 200 accounts and 2000 users, on a private cluster each.
# Of several sizes, the last lines say what grows faster than its work.
#
# LEDGERS: a folder that keeps the ledgers, for the next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/scale/common.sh
STREAMS=3 # at once, beside the command's

months_ago() { # months_ago MONTHS FORMAT: the first second of that month
	date -u -d "$(date -u +%Y-%m-01) -$1 months" "$2"
}
months() { for i in {12..1}; do months_ago "$i" +%Y-%m; done; }
years() { months | cut -c 1-4 | uniq; }

make_ledger() { # make_ledger STATE RUNS
	local i times=()
	for i in {12..0}; do times+=("$(months_ago "$i" +%s)"); done
	build/tests/tools/make_ledger "$1" "$2" "${times[@]}"
}
take_ledger() { # take_ledger RUNS: lowtided's
	local began kept
	began=$(now_ms)
	if [ -z "${LEDGERS:-}" ]; then
		make_ledger "$D/c/lowtide" "$1"
	else
		kept=$LEDGERS/$1.$(months_ago 1 +%Y-%m)
		if [ ! -e "$kept" ]; then
			mkdir -p -m 700 "$kept.new"
			make_ledger "$kept.new" "$1"
			mv "$kept.new" "$kept"
		fi
		# What lowtided had settled until now, it has.
		sqlite3 "$D/c/lowtide/ledger.db" ".dump named" > "$D/named"
		rm -f "$D"/c/lowtide/ledger.db*
		cp --reflink=auto "$kept/ledger.db" "$D/c/lowtide/"
		sqlite3 "$D/c/lowtide/ledger.db" 'DROP TABLE named' ".read $D/named"
	fi
	echo "# ${size}made in $(calc "($(now_ms) - $began) / 1000" 0) s, $(($(stat -c %s "$D/c/lowtide/ledger.db") >> 20)) MiB"
}

report() { build/lowtide report --period "$@"; }
stream() { # stream PERIOD: as it comes; how long it took to the standard error
	curl -sSfN --unix-socket "$D/c/run/lowtide/lowtided.sock" \
	    -w '%{stderr}%{time_starttransfer} %{time_total}\n' \
	    "http://lowtided/v1/report?runs=all&period=$1"
}

statements() { # statements RUNS
	local i took worst=0 own
	own=$(own_ticks lowtided)
	for i in 1 2 3 4 5; do
		took=$(seconds report "$(months_ago 1 +%Y-%m)")
		worst=$(calc "($took > $worst) ? $took : $worst")
	done
	own=$(($(own_ticks lowtided) - own))
	goal 'report of a month, worst of 5, s' "$worst" 1
	echo "# ${size}report of a month, CPU of lowtided: $(calc "$own / 500") s"
	grew 'CPU of statements of a month' "$1" $own
	own=$(own_ticks lowtided)
	took=$(seconds report "$(years | tail -n 1)")
	echo "# ${size}report of the year $(years | tail -n 1): $took s"
	grew 'CPU of the statement of a year' "$1" $(($(own_ticks lowtided) - own))
}

streams() { # streams RUNS
	local year began took=0 rows=0 own
	own=$(own_ticks lowtided)
	for year in $(years); do
		# The first line ends behind the statement.
		rows=$((rows + $(stream "$year" 2>> "$D/took" | wc -l) - 1))
	done
	took=$(awk '{ t += $2 } END { print t }' "$D/took")
	own=$(($(own_ticks lowtided) - own))
	grew 'CPU of a stream' "$1" $own
	goal "first byte of a stream, ms" "$(awk '$1 > w { w = $1 } END { printf "%.1f", w * 1000 }' "$D/took")" 100
	goal 'stream, rows a second' "$(calc "$rows / $took" 0)" 200000 '>='
	echo "# ${size}stream, rows a second of lowtided's CPU: $((rows * 100 / (own + 1)))"
	goal 'rows of the streams, and runs, apart' $((rows > $1 ? rows - $1 : $1 - rows)) 0
	echo "# ${size}first row of the year $(years | tail -n 1): $(seconds first_row "$(years | tail -n 1)") s"
	began=$(now_ms)
	rows=0
	for year in $(years); do
		rows=$((rows + $(report "$year" --runs --format csv | wc -l) - 1))
	done
	goal 'report --runs --format csv, rows a second' $((rows * 1000 / ($(now_ms) - began + 1))) 200000 '>='
}
first_row() { stream "$1" 2>/dev/null | head -n 2 | tail -n 1; }

# The sums of all, "MICROS MG WH RUNS", four ways.
sum() { awk '{ for (i = 1; i <= 4; i++) s[i] += $i } END { printf "%.0f %.0f %.0f %.0f\n", s[1], s[2], s[3], s[4] }'; }
of_statements() { # of_statements PERIOD...
	local period
	for period; do
		report "$period" --json |
		    jq -r '.total | "\(.charges_micros) \(.charges_mg) \(.energy_wh) \(.runs)"'
	done | sum
}
of_rows() { # of_rows PERIOD...
	local period
	for period; do
		report "$period" --runs --format csv | awk -F, '
			function millionths(text, n) { n = split(text, part, ".")
				return part[1] * 1000000 + (n > 1 ? substr(part[2] "000000", 1, 6) : 0) }
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ a += millionths($at["cost"]); b += millionths($at["kg_co2e"]); c += $at["energy_wh"]; n++ }
			END { printf "%.0f %.0f %.0f %d\n", a, b, c, n }'
	done | sum
}
of_ledger() {
	ledger 'SELECT sum(money_micros), sum(carbon_mg), sum(energy_wh),
	    (SELECT count(*) FROM runs) FROM entries' | tr '|' ' '
}

# While streams are read, statements made, and somebody asks.
sums() { # sums RUNS
	local i year readers=()
	ask
	for ((i = 0; i < STREAMS; i++)); do
		for year in $(years); do stream "$year"; done > /dev/null 2>&1 &
		readers+=($!)
	done
	{
		of_ledger
		of_rows $(years)
		of_statements $(years)
		of_statements $(months)
	} > "$D/sums"
	wait "${readers[@]}"
	answered 'reports stream'
	echo "# ${size}micros, mg, Wh and runs: $(head -n 1 "$D/sums")"
	goal report_sums_apart "$(awk 'NR == 1 { for (i = 1; i <= 4; i++) s[i] = $i; w = ($4 != '"$1"') }
		{ for (i = 1; i <= 4; i++) w += $i > s[i] ? $i - s[i] : s[i] - $i }
		END { printf "%.0f", NR == 4 ? w : 1 }' "$D/sums")" 0
}

reports() { # reports RUNS
	size="$1 runs: "
	up 0
	"$cluster" stop "$D/c" lowtided
	take_ledger "$1"
	"$cluster" start "$D/c" lowtided >&2
	until report "$(date +%Y)" >/dev/null 2>&1; do sleep .2; done
	statements "$1"
	streams "$1"
	sums "$1"
	goal 'lowtided, resident at most, MiB' "$(memory VmHWM)" 64
	echo "# ${size}others meanwhile, load of the last 1, 5, 15 minutes: $(cut -d ' ' -f 1-3 /proc/loadavg)"
	"$cluster" down "$D/c"
}

echo "# $(nproc) cores, SQLite $(sqlite3 --version | awk '{print $1}')"
for n in ${RUNS-1000000}; do reports "$n"; done
curve
cat "$D/goals"
