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
# Savings plans and reservations, amortised, by the kind of each row.
aws_cost="CASE kind
	WHEN 'SavingsPlanCoveredUsage' THEN plan
	WHEN 'SavingsPlanRecurringFee' THEN total - used
	WHEN 'DiscountedUsage' THEN reserved
	WHEN 'RIFee' THEN upfront + recurring
	WHEN 'SavingsPlanNegation' THEN 0
	WHEN 'SavingsPlanUpfrontFee' THEN 0
	WHEN 'Fee' THEN CASE reservation WHEN '' THEN billed ELSE 0 END
	ELSE billed END"
cur_rows="SELECT [lineItem/UsageStartDate] AS start, [lineItem/LineItemType] AS kind, [lineItem/UsageType] AS usage,
	[product/instanceType] AS type, [lineItem/UsageAmount] * 3600 AS s, [lineItem/UnblendedCost] AS billed,
	[savingsPlan/SavingsPlanEffectiveCost] AS plan, [savingsPlan/TotalCommitmentToDate] AS total,
	[savingsPlan/UsedCommitment] AS used, [reservation/EffectiveCost] AS reserved,
	[reservation/UnusedAmortizedUpfrontFeeForBillingPeriod] AS upfront, [reservation/UnusedRecurringFee] AS recurring,
	[reservation/ReservationARN] AS reservation FROM invoice"
cur2_rows="SELECT line_item_usage_start_date AS start, line_item_line_item_type AS kind, line_item_usage_type AS usage,
	product_instance_type AS type, line_item_usage_amount * 3600 AS s, line_item_unblended_cost AS billed,
	savings_plan_savings_plan_effective_cost AS plan, savings_plan_total_commitment_to_date AS total,
	savings_plan_used_commitment AS used, reservation_effective_cost AS reserved,
	reservation_unused_amortized_upfront_fee_for_billing_period AS upfront, reservation_unused_recurring_fee AS recurring,
	reservation_reservation_a_r_n AS reservation FROM invoice"
# Columns of all: day, type, cost, seconds.
aws() { # aws ROWS COST
	echo "SELECT substr(start, 1, 10) AS day, CASE WHEN usage GLOB '*[xt]Usage:*' AND kind GLOB '*Usage' OR kind = 'SavingsPlanNegation'
	    THEN type ELSE 'other services' END AS type, $2 AS cost,
	    CASE WHEN kind != 'SavingsPlanNegation' THEN s END AS s FROM ($1)"
}
azure="SELECT substr(Date, 7) || '-' || substr(Date, 1, 2) || '-' || substr(Date, 4, 2) AS day,
	CASE WHEN ChargeType IN ('Usage', 'UnusedReservation') AND MeterCategory = 'Virtual Machines'
	THEN json_extract(AdditionalInfo, '\$.ServiceType') ELSE 'other services' END AS type, Cost AS cost,
	CASE ChargeType WHEN 'Usage' THEN Quantity * 3600 END AS s FROM invoice"
focus() { # focus COLUMN
	echo "SELECT substr(ChargePeriodStart, 1, 10) AS day, CASE WHEN $1 LIKE '%Usage:%' AND ChargeCategory = 'Usage'
	    THEN substr($1, instr($1, ':') + 1) ELSE 'other services' END AS type, EffectiveCost AS cost,
	    CASE ConsumedUnit WHEN 'Hours' THEN ConsumedQuantity * 3600 WHEN 'Seconds' THEN ConsumedQuantity END AS s FROM invoice"
}

sample() { # sample NAME FILE ROWS
	rm -f "$work/sample.db"
	want=$(sqlite3 "$work/sample.db" -cmd ".mode csv" -cmd ".import $2.csv invoice" \
	    "SELECT day || ' ' || type || ' ' || CAST(round(sum(cost) * 1000000) AS INTEGER) ||
		CASE WHEN type = 'other services' THEN '' ELSE ' ' || CAST(round(sum(s)) AS INTEGER) END
		FROM (SELECT CASE WHEN day < '2026-10-01' THEN 'outside' ELSE day END AS day,
		CASE WHEN day < '2026-10-01' THEN 'other services' ELSE type END AS type, cost, s FROM ($3))
		GROUP BY day, type HAVING sum(cost) != 0 ORDER BY 1" | tr -d '"\r')
	got=$(jq -r '.days[] | select(.invoice_micros != 0 or .invoice_node_s != null) |
	    "\(.day // "outside") \(.instance_type // "other services" | if . == "G5.xlarge" then "g5.xlarge" else . end) \(.invoice_micros)\(
	    if .invoice_node_s then " \(.invoice_node_s)" else "" end)"' "$1.out.json" | sort)
	same "$1: each day and type as sqlite3 adds it up" "$want" "$got"
}
sample plans-cur plans-cur "$(aws "$cur_rows" "$aws_cost")"
sample plans-cur2 plans-cur2 "$(aws "$cur2_rows" "$aws_cost")"
sample azure-amortised azure-amortised "$azure"
sample azure-mca azure-mca "${azure/Cost AS/costInBillingCurrency AS}"
sample focus-1.0 focus-1.0 "$(focus x_UsageType)"
for version in 1.1 1.2 1.3 1.4; do
	sample focus-$version focus-$version "$(focus SkuMeter)"
done
# What Microsoft made public: a reservation is bought, two machines are used.
for name in actual amortised; do
	same "azure-public-$name: machines, and all of it, as sqlite3 adds them up" \
	    "$(sqlite3 "$work/azure-$name.db" -cmd ".mode csv" -cmd ".import azure-public-$name.csv invoice" \
		"SELECT CAST(round(sum(Cost) FILTER (WHERE ChargeType = 'Usage' AND MeterCategory = 'Virtual Machines' AND
		    json_extract(nullif(AdditionalInfo, ''), '\$.ServiceType') IN ('Standard_D2s_v3', 'Standard_DS2_v2')) * 1000000) AS INTEGER),
		CAST(round(sum(Cost) * 1000000) AS INTEGER) FROM invoice" | tr -d '\r')" \
	    "$(jq -r '"\(.instances.invoice_micros),\(.total.invoice_micros)"' azure-public-$name.out.json)"
done
# What Keboola made public: two reports of AWS, by the usage type of each row.
gzip -dc aws-public-cur2.csv.gz >"$work/aws-public-cur2.csv"
cp aws-public-cur.csv "$work"
for name in aws-public-cur:lineItem/UnblendedCost:lineItem/UsageType aws-public-cur2:line_item_unblended_cost:line_item_usage_type; do
	IFS=: read -r name cost usage <<< "$name"
	same "$name: machines, and all of it, as sqlite3 adds them up" \
	    "$(sqlite3 "$work/$name.db" -cmd ".mode csv" -cmd ".import $work/$name.csv invoice" \
		"SELECT CAST(round(sum([$cost]) FILTER (WHERE [$usage] LIKE 'BoxUsage:%') * 1000000) AS INTEGER),
		CAST(round(sum([$cost]) * 1000000) AS INTEGER) FROM invoice" | tr -d '\r')" \
	    "$(jq -r '"\(.instances.invoice_micros),\(.total.invoice_micros)"' $name.out.json)"
done
# 1,000 rows that four clouds sent: tests/golden/reconcile/ORIGIN.md.
gzip -dc focus-public.csv.gz >"$work/public.csv"
public() { # public SQL
	sqlite3 "$work/public.db" "$1" | tr -d '\r'
}
sqlite3 "$work/public.db" -cmd ".mode csv" -cmd ".import $work/public.csv invoice" ''
days="SELECT substr(ChargePeriodStart, 1, 10) AS day, sum(EffectiveCost) AS cost FROM invoice GROUP BY 1"
same "focus-public: each day as sqlite3 adds it up, to less than a micro" 22 \
    "$(join <(public "SELECT day || ' ' || (cost * 1000000) FROM ($days) ORDER BY 1") \
	<(jq -r '.days | group_by(.day)[] | "\(.[0].day) \(map(.invoice_micros) | add)"' focus-public.out.json) |
	awk '$2 - $3 < 1 && $3 - $2 < 1 { n++ } END { print n }')"
same "focus-public: all of it, and what was billed" \
    "$(public 'SELECT CAST(round(sum(EffectiveCost) * 1000000) AS INTEGER), CAST(round(sum(BilledCost) * 1000000) AS INTEGER) FROM invoice')" \
    "$(jq -r '"\(.total.invoice_micros)|\(.billed_micros)"' focus-public.out.json)"
echo "1..$n"
[ $bad -eq 0 ]
