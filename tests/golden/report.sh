#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The formats of one report say the same: rows of CSV and of FOCUS, summed up by
# SQLite, are the statement of the JSON to the smallest unit; JSON holds to the
# schema; FOCUS to the rules of its specification. And that the rules and the
# schema find what they are for.
set -u
cd "$(dirname "$0")/report" || exit 1
top=../../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8
n=0 bad=0
check() { # check NAME OFFENDERS: passes when there are none
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /' | head -n 20
	fi
}

# sum FILE COLUMN [WHERE]: of millionths that are printed as decimals
sum() {
	sqlite3 :memory: ".import --csv $1 rows" \
		"select coalesce(sum(cast(replace(\"$2\", '.', '') as integer)), 0) from rows where ${3:-1}"
}
same() { # same NAME GOT WANT
	check "$1" "$([ "$2" = "$3" ] || echo "got $2, want $3")"
}
of() { jq -r "$2" "$1.json"; }

for name in month closed runs names charge; do
	[ "$name" = closed ] || { # its CSV is of teams
		same "$name: cost of the rows in CSV" "$(sum $name.csv cost)" "$(of $name .total.cost_micros)"
		same "$name: carbon of the rows in CSV" "$(sum $name.csv kg_co2e)" "$(of $name .total.carbon_mg)"
		same "$name: runs and adjustments in CSV" "$(sqlite3 :memory: ".import --csv $name.csv rows" \
			'select count(*) from rows where row in ("run", "adjustment")')" \
			"$(of $name '.total.runs + (.adjustments | length)')"
	}
	same "$name: cost in FOCUS" "$(sum $name.focus EffectiveCost)" "$(of $name .total.cost_micros)"
	same "$name: carbon in FOCUS" "$(sum $name.focus x_CarbonKg)" "$(of $name .total.carbon_mg)"
	same "$name: corrections in FOCUS" "$(sum $name.focus EffectiveCost "x_Entry='Correction'")" \
		"$(of $name .total.corrections_micros)"
	same "$name: nothing is billed in FOCUS" "$(sum $name.focus BilledCost)" 0
	check "$name: the rules of FOCUS" "$(perl ../focus.pl $name.focus 2>&1)"
	while read -r team; do
		same "$name: $team in FOCUS" "$(sum $name.focus EffectiveCost "SubAccountId='$team'")" \
			"$(of $name ".teams[] | select(.team == \"$team\").cost_micros")"
	done < <(of $name '.teams[].team')
done
for name in teams cents negative; do
	same "$name: cost of the teams in CSV" "$(sum $name.csv cost)" "$(of $name .total.cost_micros)"
	same "$name: carbon of the teams in CSV" "$(sum $name.csv kg_co2e)" "$(of $name .total.carbon_mg)"
done
# Nodes, charge for carbon and discount: of the runs, of the teams, of FOCUS and
# of the statement alike, and together the cost.
for part in carbon_charge discount; do
	same "charge: $part of the runs in CSV" "$(sum charge.csv $part)" "$(of charge .total.${part}_micros)"
	same "charge: $part of the teams" "$(of charge "[.teams[].${part}_micros] | add")" "$(of charge .total.${part}_micros)"
done
same 'charge: nodes in FOCUS' "$(sum charge.focus EffectiveCost "SkuId='lowtide-node-share'")" "$(of charge .total.nodes_micros)"
same 'charge: carbon in FOCUS' "$(sum charge.focus EffectiveCost "SkuId='lowtide-carbon'")" \
	"$(of charge .total.carbon_charge_micros)"
same 'charge: discounts in FOCUS' "$(sum charge.focus EffectiveCost "ChargeCategory='Credit'")" \
	"-$(of charge .total.discount_micros)"
same 'charge: nodes + carbon charge - discount + adjustments' \
	"$(of charge '.total | .nodes_micros + .carbon_charge_micros - .discount_micros + .adjustments_micros')" \
	"$(of charge .total.cost_micros)"
same 'charge: what it is a tonne, as charged' "$(sqlite3 :memory: '.import --csv charge.focus rows' \
	"select sum(abs(round(ConsumedQuantity * 80000) - EffectiveCost * 1e6) > 0.5) from rows
	 where SkuId = 'lowtide-carbon' and x_Entry = 'Charge'")" 0
# A site that bills: own nodes cost what they cost, whoever used them; billed is
# that, and what else no cloud has. The sums are of the answer, not of the rows.
check 'billed: the rules of FOCUS' "$(perl ../focus.pl billed.focus 2>&1)"
paid=$(of billed '[.billed.owned[].paid_micros // 0] | add')
used=$(of billed '.billed.owned as $owned | [.runs[] | select([.partition] | inside([$owned[].partition])) |
	(.money_micros // 0) - (.carbon_charge_micros // 0) + (.discount_micros // 0)] | add')
same 'billed: what own nodes cost' "$(sum billed.focus EffectiveCost "SkuPriceId='lowtide-node-share-owned'")" "$paid"
same 'billed: what of them no job used' "$(sum billed.focus EffectiveCost "SubAccountId=''")" $((paid - used))
same 'billed: their hours' "$(sum billed.focus ConsumedQuantity "SkuPriceId='lowtide-node-share-owned'")" \
	"$(of billed '[.billed.owned[].paid_node_s] | add * 1000000 / 3600 | round')"
same 'billed: all that teams are charged' "$(sum billed.focus EffectiveCost "SubAccountId<>''")" "$(of billed .total.cost_micros)"
same 'billed: what nobody else bills' "$(sum billed.focus BilledCost)" \
	"$((paid + $(of billed '.total | .carbon_charge_micros - .discount_micros + .adjustments_micros')))"
same 'billed: but for its columns it is the file of who does not bill' "$(sqlite3 :memory: \
	'.import --csv billed.focus a' '.import --csv charge.focus b' "select count(*) from a join b on
	 a.ChargeDescription = b.ChargeDescription and a.ChargePeriodStart = b.ChargePeriodStart and
	 a.EffectiveCost = b.EffectiveCost and a.ConsumedQuantity = b.ConsumedQuantity and a.SkuId = b.SkuId
	 and b.BilledCost = '0'")" "$(($(wc -l <charge.focus) - 1))"
# What a run is called is in no other cell than its own, and whole in one.
same 'hostile job names come back' "$(sqlite3 :memory: '.import --csv names.focus rows' \
	"select count(*) from (select * from rows where AllocatedTags != '')
	 where ltrim(AllocatedResourceName, '''') = ltrim(json_extract(AllocatedTags, '\$.\"lowtide/name\"'), '''')")" 25
same 'hostile job names in the JSON are as they came' \
	"$(jq -c '[.runs[].name]' names.json.out)" "$(jq -c '[.runs[].name]' names.json)"
check 'no control character in a table' "$(grep -nP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]' names.table hostile.table | cat -v)"

# A rule that never fails is none: a row is broken, and the rule must say so.
broken() { # broken RULE SQL [NAME]: an expression for a column of the first run of the month
	sqlite3 :memory: ".import --csv ${3:-month}.focus rows" '.mode csv' '.headers on' \
		"update rows set $2 where AllocatedResourceId='101'" 'select * from rows' | perl -0pe 's/(^|(?<=,))""(?=,|\r\n)//gm' >"$work/broken"
	check "the rule of $1 finds $2" "$(perl ../focus.pl "$work/broken" | grep -q ": $1: " || echo 'it does not')"
}
broken NullHandling "x_GpuModel='N/A'"
broken NumericFormat "EffectiveCost='1e3'"
broken DateTimeFormat "ChargePeriodEnd='2026-10-03 11:00:00'"
broken KeyValueFormat "Tags='{\"\"a\"\":1,\"\"a\"\":2}'"
broken KeyValueFormat "Tags='{\"a\":1,\"a\":2}'"
broken KeyValueFormat "Tags='{\"a\":{}}'"
broken CurrencyFormat "BillingCurrency='usd'"
broken UnitFormat "ConsumedUnit='node hours'"
broken ChargeCategory "ChargeCategory='usage'"
broken ChargeClass "ChargeClass='Refund'"
broken BilledCost "BilledCost='1'"
broken ChargePeriodEnd "ChargePeriodEnd=ChargePeriodStart"
broken CorrectionHandling "ChargeClass='Correction'"
broken ChargePeriodStart "ChargePeriodStart='2026-09-03T00:00:00Z'"
broken SkuPriceId "SkuPriceId=''"
broken ListUnitPrice "ListUnitPrice='-1'"
broken ListCost "ListCost='1.00000100000000000001'"
broken ContractedCost "ContractedCost='1.000002'"
broken ConsumedQuantity "ConsumedQuantity=''"
broken PricingUnit "PricingUnit=''"
broken AllocatedMethodId "AllocatedResourceId=''"
broken AllocatedTags "Tags='{\"lowtide/user\":\"x\"}'"
broken BilledCost "BilledCost='0'" billed
broken PricingCategory "PricingCategory=''" billed
broken PricingCategory "PricingCategory='Spot'" billed
broken SkuPriceId "PricingCategory='Dynamic'" billed
broken SkuPriceId "SkuPriceId='lowtide-node-share'" billed
broken AllocatedMethodId "SubAccountId='', SubAccountName=''" billed
broken spreadsheets "AllocatedResourceName='=1+1'"

# The command itself, from an answer as lowtided gives it: its runs a line each.
# Answers each request alike, as often as it is asked.
serve() { # serve NAME [RUNS]: only so many of them, and then an end that says so
	cat >"$work/serve.pl" <<'PERL'
use strict; use warnings; use IO::Socket::UNIX; use Socket; use JSON::PP;
my ($path, $file, $most) = @ARGV;
open my $in, '<', $file or die; my $json = JSON::PP->new->utf8->canonical;
my $report = $json->decode(do { local $/; <$in> });
my $key = $report->{hours} ? 'hours' : 'runs';
my @runs = map { $json->encode($_) } @{delete $report->{$key} // []};
my $end = $most ? "],\"error\":\"the disk is full\"}" : "],\"next\":null}";
@runs = @runs[0 .. $most - 1] if $most;
my $head = $json->encode($report); chop $head;
my $body = "$head,\"$key\":[\n" . join(",\n", @runs) . "\n$end";
my $server = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => $path, Listen => 9) or die;
while (my $client = $server->accept) {
	sysread $client, my $asked, 65536;
	print $client "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ", length $body, "\r\nConnection: close\r\n\r\n", $body;
	close $client;
}
PERL
	mkdir -p "$work/run"
	rm -f "$work/run/lowtided.sock"
	perl "$work/serve.pl" "$work/run/lowtided.sock" "$1.json" "${2:-}" &
	server=$!
	for _ in {1..100}; do [ -S "$work/run/lowtided.sock" ] && break; sleep 0.1; done
}
golden() { # golden FILE: how it differs from what is read; UPDATE=1 writes it anew
	if [ "${UPDATE:-0}" = 1 ]; then cat >"$1"; else diff - "$1"; fi
}
unserve() { kill "$server"; wait "$server" 2>/dev/null; }
lowtide() {
	env -u LOWTIDE_SERVER SLURM_CONF=/nonexistent "${BUILD:-$top/build}/lowtide" --run "$work/run" "$@"
}
for name in month names charge; do
	serve $name
	# Of a control character JSON has two spellings.
	check "$name: the command's FOCUS" "$(lowtide report --format focus 2>&1 | sed 's/\\u001b/\\u001B/g' | cmp - $name.focus 2>&1)"
	check "$name: the command's CSV" "$(lowtide report --runs --format csv 2>&1 | cmp - $name.csv 2>&1)"
	check "$name: the command's table" "$(lowtide report --runs 2>&1 | cmp - $name.table 2>&1)"
	check "$name: the command's JSON" "$(diff <(lowtide report --runs --json 2>&1 | jq -S .) <(jq -S . $name.json.out) | head -n 5)"
	unserve
done
serve billed
check "billed: the command's FOCUS" "$(lowtide report --format focus 2>&1 | cmp - billed.focus 2>&1)"
unserve
# A team's statement says whose it is, in the file's name too.
mkdir "$work/folder"
serve charge
for team in vision 'a/<b>'; do
	lowtide report --team "$team" --period 2026-10 --format html -o "$work/folder"
done
same 'files of a folder are named by period and team' "$(cd "$work/folder" && echo *)" '2026-10-a_<b>.html 2026-10-vision.html'
check 'the team is in title and heading' "$(grep -q '<title>vision, ' "$work/folder/2026-10-vision.html" &&
	grep -q '<h1><bdi>vision</bdi>, ' "$work/folder/2026-10-vision.html" || echo no)"
check 'and is no markup' "$(grep -c '<b>' "$work/folder/2026-10-a_<b>.html" | grep -v '^0')"
check 'and in the table' "$(lowtide report --team vision | head -n 1 | grep -q '^[^,]*, team vision, 20' || echo no)"
check 'nothing names a team where all are asked for' "$(lowtide report | head -n 1 | grep team)"
unserve
# lowtide jobs: the newest first, so many at most, CO2e beside money.
jq -n '{currency: "USD", jobs: [range(1; 204) | {id: "\(.)", name: "train", user: "ada", state: "PENDING", reason: "None",
	partition: "spot", start: null, ended: false, plan: {partition: "spot", start: "2001-01-04T02:05:00Z"},
	expected: {money_micros: 1200000, carbon_mg: 310000}, saves: {money_micros: 500000, carbon_mg: 90000},
	held: (if . == 203 then {by: "budget", until: "2001-02-01T00:00:00Z"} else null end)}]}' >"$work/jobs.json"
serve "$work/jobs"
TZ=UTC lowtide jobs >"$work/jobs"
same 'jobs: the newest first, and 200' "$(awk 'NR == 2 || NR == 201 { print $1 }' "$work/jobs" | xargs)" '203 4'
same 'jobs: what is left is said' "$(tail -n 1 "$work/jobs")" 'and 3 older ones, which --json has'
check 'jobs: held by its budget, and until when' "$(sed -n 2p "$work/jobs" | grep -q 'held: budget until 01 Feb 00:00 ' || sed -n 2p "$work/jobs")"
check 'jobs: CO2e beside money' "$(sed -n 3p "$work/jobs" | grep -qE '\$1\.20 .*\$0\.50 .*310 g +90 g$' || sed -n 3p "$work/jobs")"
same 'jobs: JSON has all' "$(lowtide jobs --json | jq '.jobs | length')" 203
unserve
jq '.currency = ""' "$work/jobs.json" >"$work/no-money.json"
serve "$work/no-money"
check 'jobs: without money CO2e is in its own columns once' "$(TZ=UTC lowtide jobs | sed -n 3p | grep -qE ' 310 g .* 90 g +-$' || lowtide jobs | sed -n 3p)"
unserve
# Energy and carbon, computed again by SQLite from the hours as they are written.
serve carbon
lowtide report --carbon --format csv >"$work/hours"
check 'the table of energy and carbon' "$(lowtide report --carbon 2>&1 | golden carbon.table)"
unserve
same 'carbon of the hours' "$(sum "$work/hours" kg_co2e)" "$(of carbon '.total.carbon_mg - ([.adjustments[].carbon_mg] | add)')"
same 'location-based carbon of the hours' "$(sum "$work/hours" location_kg_co2e)" "$(of carbon .carbon.total.location_mg)"
same 'embodied carbon of the hours' "$(sum "$work/hours" embodied_kg_co2e)" "$(of carbon .carbon.total.embodied_mg)"
same 'Wh of the hours' "$(sum "$work/hours" energy_kwh)" "$(of carbon .carbon.total.energy_wh)"
same 'cost of the hours' "$(sum "$work/hours" cost)" "$(of carbon '.total.cost_micros')"
hours() { sqlite3 :memory: ".import --csv $work/hours rows" "select $1 from rows where $2"; }
same 'all hours have an intensity' "$(hours 'count(*)' "g_per_kwh != ''")" "$(of carbon '.hours | length')"
check 'each hour is kWh x g/kWh, but for rounding' "$(hours 'job_id, hour' \
	'abs(location_kg_co2e * 1e6 - energy_kwh * g_per_kwh * 1000) >= g_per_kwh + 3')"
check 'each hour of a contract is kWh x its g/kWh' "$(hours 'job_id, hour' \
	"market_g_per_kwh != '' and abs(market_kg_co2e * 1e6 - energy_kwh * market_g_per_kwh * 1000) > 0.5")"
same 'no market-based figure without a contract' "$(hours 'count(*)' "market_g_per_kwh = '' and market_kg_co2e != ''")" 0
serve unused
check 'the table of owned nodes' "$(lowtide report --unused 2>&1 | golden unused.table)"
unserve
serve tree
check 'the table of teams with those below, and by label' \
	"$(lowtide report --tree --by label:cost_centre 2>&1 | golden tree.table)"
lowtide report --tree --format csv >"$work/tree" 2>&1
check 'the same as CSV' "$(cmp "$work/tree" tree.csv 2>&1)"
lowtide report --by label:cost_centre --format csv >"$work/label" 2>&1
unserve
same 'own costs of all teams' "$(sum "$work/tree" own_cost)" "$(of tree .total.cost_micros)"
same 'own carbon of all teams' "$(sum "$work/tree" own_kg_co2e)" "$(of tree .total.carbon_mg)"
same 'teams on top with all below' "$(sum "$work/tree" cost_with_below "parent = ''")" "$(of tree .total.cost_micros)"
same 'cost by label' "$(sum "$work/label" cost)" "$(of tree .total.cost_micros)"
same 'cost without the label' "$(sum "$work/label" cost "\"label:cost_centre\" = ''")" \
	"$(of tree '[.teams[] | select(.labels.cost_centre == null).cost_micros] | add')"
serve balance
check 'the table of what lowtide did in twelve months' "$(lowtide report --balance 2>&1 | golden balance.table)"
lowtide report --balance --format csv >"$work/balance" 2>&1
check 'the same as CSV' "$(cmp "$work/balance" balance.csv 2>&1)"
unserve
same 'what twelve months saved' "$(sum "$work/balance" saved)" "$(of balance .balance.total.saved_micros)"
same 'worse jobs of twelve months' "$(sqlite3 :memory: ".import --csv $work/balance rows" 'select cast(sum(worse_jobs) as integer) from rows')" \
	"$(of balance .balance.total.worse_jobs)"
serve month
lowtide report --balance >"$work/cut" 2>"$work/said"
same 'an older lowtided has no balance' "$? $(grep -c 'has no balance: it may be an older one' "$work/said")" '1 1'
unserve
serve month 3
lowtide report --format focus >"$work/cut" 2>"$work/said"
same 'what broke off exits 1' $? 1
check 'and says so' "$(grep -q 'the rows are not all: lowtided: the disk is full' "$work/said" || cat "$work/said")"
unserve
serve no-money
lowtide report --format focus >"$work/cut" 2>"$work/said"
same 'no currency: no FOCUS' "$? $(wc -c <"$work/cut")" '1 0'
check 'and it is said why' "$(grep -q 'focus: got the currency ""' "$work/said" || cat "$work/said")"
unserve

schema() { /usr/bin/python3 ../schema.py "$top/docs/report.schema.json" "$1" 2>&1; }
for name in month closed runs names charge; do
	check "$name: JSON is of the schema" "$(schema $name.json.out)"
done
for name in carbon unused budgets billed tree balance; do
	check "$name: JSON is of the schema" "$(schema $name.json)"
done
wrong() { # wrong NAME FILTER [FILE]
	jq "$2" "${3:-month.json.out}" >"$work/wrong"
	check "the schema refuses $1" "$([ -n "$(schema "$work/wrong")" ] || echo 'it does not')"
}
wrong 'a fraction of a micro' '.total.cost_micros = 1.5'
wrong 'a missing total' 'del(.total)'
wrong 'a state that is none' '.period.state = "final"'
wrong 'a label that is no text' '.teams[0].labels.a = 1'
wrong 'a day with a time' '.period.last_day = "2026-10-31T00:00:00Z"'
wrong 'a run without its end' 'del(.runs[0].end)'
wrong 'a budget without its period' 'del(.budgets[0].label)' budgets.json
wrong 'a team of the tree without its own' 'del(.tree[0].own_micros)' tree.json
wrong 'a label that can be none' '.by = {"label:a\"b": []}' tree.json
wrong 'a balance without its refused jobs' 'del(.balance.months[3].refused_jobs)' balance.json
wrong 'nodes without their hours' 'del(.unused.partitions[0].paid_node_s)' unused.json
wrong 'an issuer that is no text' '.period.months[0].billing.issuer = 7' billed.json
wrong 'own nodes that say no price' 'del(.billed.owned[0].paid_micros)' billed.json
# shellcheck disable=SC2016 # it is jq's
wrong 'another schema' '."$schema" = "urn:lowtide:report:2"'
echo "1..$n"
[ "$bad" -eq 0 ]
