#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The golden tie-outs of tests/golden/reconcile against sums that sqlite3 makes
# of the same invoices, by rules written here once more; and table, CSV and JSON
# against each other.
set -u
cd "$(dirname "$0")/reconcile" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 bad=0
same() { # same NAME WANT GOT
	n=$((n + 1))
	if [ -n "$2" ] && [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		echo "not ok $n - $1"
		diff <(echo "$2") <(echo "$3") | sed 's/^/# /'
	fi
}

# Day, type, micros, node-seconds; "other services" have none of these.
focus="SELECT substr(ChargePeriodStart, 1, 10) AS day,
	CASE WHEN ChargeCategory = 'Usage' AND ServiceCategory = 'Compute' AND
	    SkuMeter NOT LIKE '%EBSOptimized%' AND
	    lower(json_extract(nullif(SkuPriceDetails, ''), '\$.InstanceType')) IN ('p4d.24xlarge', 'g5.xlarge')
	THEN lower(json_extract(SkuPriceDetails, '\$.InstanceType')) ELSE 'other services' END AS type,
	CAST(round(sum(BilledCost) * 1000000) AS INTEGER) AS micros,
	sum(CASE ConsumedUnit WHEN 'Hours' THEN ConsumedQuantity * 3600 WHEN 'Seconds' THEN ConsumedQuantity END) AS node_s
	FROM invoice GROUP BY 1, 2"
cur="SELECT substr([lineItem/UsageStartDate], 1, 10) AS day,
	CASE WHEN [lineItem/LineItemType] IN ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage', 'SavingsPlanNegation') AND
	    [lineItem/UsageType] GLOB '*[xt]Usage:*'
	THEN [product/instanceType] ELSE 'other services' END AS type,
	CAST(round(sum([lineItem/UnblendedCost]) * 1000000) AS INTEGER) AS micros,
	CAST(sum(CASE WHEN [lineItem/LineItemType] != 'SavingsPlanNegation' THEN [lineItem/UsageAmount] * 3600 END) AS INTEGER) AS node_s
	FROM invoice GROUP BY 1, 2"

for name in focus cur; do
	sed '1s/^\xef\xbb\xbf//' $name.csv >"$work/invoice.csv"
	sum=${!name}
	want=$(sqlite3 "$work/$name.db" -cmd ".mode csv" -cmd ".import $work/invoice.csv invoice" \
	    "SELECT day || ' ' || type || ' ' || micros || CASE WHEN type = 'other services' OR node_s IS NULL
		THEN '' ELSE ' ' || CAST(node_s AS INTEGER) END FROM ($sum) ORDER BY 1" | tr -d '"\r')
	got=$(jq -r '.days[] | select(.invoice_micros != 0 or .invoice_node_s != null) |
	    "\(.day) \(.instance_type // "other services" | ascii_downcase) \(.invoice_micros)\(
	    if .invoice_node_s then " \(.invoice_node_s)" else "" end)"' $name.out.json | sort)
	same "$name: each day and type as sqlite3 adds it up" "$want" "$got"
	same "$name: all of it" \
	    "$(sqlite3 "$work/$name.db" "SELECT sum(micros) FROM ($sum)")" \
	    "$(jq .total.invoice_micros $name.out.json)"
	same "$name: jobs + idle + unexplained = invoice, in each row and in all" '[]' \
	    "$(jq -c '[.days[], .instances, .other_services, .total |
		select(.invoice_micros != .jobs_micros + .idle_micros + .unexplained_micros)]' $name.out.json)"
	same "$name: the rows add up to the total" \
	    "$(jq -c '.total | [.invoice_micros, .jobs_micros, .idle_micros, .unexplained_micros]' $name.out.json)" \
	    "$(jq -c '[.days | map(.invoice_micros), map(.jobs_micros), map(.idle_micros), map(.unexplained_micros) | add]' $name.out.json)"
	# 901.542400 without its point is micros.
	same "$name: the CSV has the same" \
	    "$(jq -r '.days[] | [.day, .instance_type // "other services", .invoice_micros, .jobs_micros // "", .idle_micros // "",
		.unexplained_micros] | join(" ")' $name.out.json)" \
	    "$(tr -d '\r"' <$name.out.csv | awk -F, 'NR > 1 { for (i = 4; i <= 7; i++) if ($i != "") {
		negative = $i ~ /^-/; gsub(/[-.]/, "", $i); $i = (negative ? "-" : "") $i + 0 }
		print $1, $2, $4, $5, $6, $7 }')"
	same "$name: the table's total, to the cent" \
	    "$(jq -r '.total | [.invoice_micros, .jobs_micros, .idle_micros] | map((. / 10000 | round) / 100) | map(tostring) | join(" ")' $name.out.json)" \
	    "$(awk '/^TOTAL/ { for (i = 2; i <= 4; i++) { gsub(/[$,]/, "", $i); $i += 0 } print $2, $3, $4 }' $name.out.table)"
done
echo "1..$n"
[ $bad -eq 0 ]
