#!/usr/bin/env bats
# Every source that a site may have, played by a local server: what lowtided
# makes of them, what it shows, and what stays when they break.
load helper

# The sources that ask the server.
WEB='wind sun warmth uk fraunhofer dk dkprice rte emaps wt sdk us fr frprice ec2 sky azure gcp oci cudo exchange advisor score eviction'
SECRETS='europe-key|meteo-key|example password|mix/key|catalog-key|s3cret|aws-secret-key|aws-session-token'

secrets() { # by environment and by file, as an admin may give them
	export T_EUROPE=europe-key T_WATTTIME='example password' T_CATALOG=catalog-key T_WEATHER=meteo-key
	export T_AZURE='s3cret+/= ~%&' AWS_ACCESS_KEY_ID=AKIDEXAMPLE
	export AWS_SECRET_ACCESS_KEY=aws-secret-key AWS_SESSION_TOKEN=aws-session-token
	(umask 077; echo 'mix/key+1' > "$1/mix.key")
}
series() { # series HOURS-AGO: a file whose last hour ended so long ago
	local end=$(($(date +%s) / 3600 * 3600 - $1 * 3600)) i
	echo time,value
	for i in $(seq 240 -1 1); do echo "$((end - i * 3600)),$((200 + i % 24))"; done
}
policy() { echo "
mode: observe
currency: EUR
timezone: Europe/London
exchange_rates:
  - {currency: USD, rate: 0.5}
sources:
  constant: {adapter: static, value: 230, unit: g_co2_per_kwh}
  own_file: {adapter: file, path: $1/signal.csv, quantity: carbon}
  recording: {adapter: replay, path: $PROJECT/examples/signals/carbon-california.csv, quantity: carbon, value: g_co2e_per_kwh}
  uk: {adapter: uk_carbon_intensity, region: 13, url: '$2/uk'}
  fraunhofer: {adapter: energy_charts, country: fr, url: '$2/europe', weather: [wind, sun, warmth]}
  wind: {adapter: open_meteo, places: '52.5,13.4,3; 56.3,10', variable: wind_speed_80m, key_env: T_WEATHER, url: '$2/weather'}
  sun: {adapter: open_meteo, places: '52.5,13.4', variable: shortwave_radiation, url: '$2/weather'}
  warmth: {adapter: open_meteo, places: '52.5,13.4', variable: temperature_2m, url: '$2/weather'}
  dk: {adapter: energi_data_service, area: DK1, url: '$2/europe/eds'}
  dkprice: {adapter: energi_data_service_price, area: DK2, url: '$2/europe/eds'}
  rte: {adapter: rte_eco2mix, url: '$2/europe/rte'}
  emaps: {adapter: electricity_maps, zone: DE, key_env: T_EUROPE, url: '$2/europe/em/v3'}
  wt: {adapter: watttime, region: CAISO_NORTH, username: lowtide, password_env: T_WATTTIME, url: '$2/marginal/watttime'}
  sdk: {adapter: carbon_aware_sdk, location: northeurope, url: '$2/marginal/sdk'}
  sdk_file: {adapter: carbon_aware_file, path: $1/emissions.json, location: eastus}
  us: {adapter: eia, respondent: CISO, key_file: $1/mix.key, url: '$2/mix/eia'}
  fr: {adapter: entsoe, area: FR, token_file: $1/mix.key, url: '$2/mix/entsoe'}
  frprice: {adapter: entsoe_price, area: FR, token_file: $1/mix.key, url: '$2/mix/entsoe'}
  region: {adapter: cloud_region, cloud: aws, region: eu-west-2}
  profile: {adapter: climatology, zone: DE}
  ec2: {adapter: aws_spot_price, region: eu-west-2, zone_id: euw2-az1, instance_type: p4d.24xlarge, url: '$2/aws/ec2'}
  sky: {adapter: skypilot_catalog, cloud: aws, region: us-east-2, instance_type: a1.2xlarge, url: '$2/catalog/sky'}
  azure: {adapter: azure_retail_price, region: eastus, sku: Standard_NC4as_T4_v3, url: '$2/azure'}
  gcp: {adapter: gcp_billing_sku, region: us-central1, cpu_family: A2, vcpus: 12, memory_gib: 85, key_env: T_CATALOG, url: '$2/catalog/gcp'}
  oci: {adapter: oci_price_list, ocpu_part: B93113, ocpus: 16, memory_part: B93114, memory_gb: 64, url: '$2/catalog/oci'}
  cudo: {adapter: cudo_compute, data_center: no-luster-1, machine_type: epyc-rome-rtx-a5000, vcpus: 4, memory_gib: 16, gpus: 1, key_env: T_CATALOG, url: '$2/catalog/cudo'}
  tariff: {adapter: time_of_use, rates: '0.20; mon-sun 00:00-24:00 0.40'}
  exchange: {adapter: energy_charts_price, bidding_zone: DE-LU, url: '$2/europe'}
  advisor: {adapter: aws_spot_advisor, region: us-east-1, instance_type: g5.xlarge, url: '$2/aws/advisor'}
  score: {adapter: aws_spot_placement_score, region: us-east-1, instance_types: 'p4d.24xlarge,p3.2xlarge,g5.xlarge', url: '$2/aws/ec2'}
  eviction: {adapter: azure_eviction_rate, region: eastus, sku: Standard_NC4as_T4_v3, tenant_id: 00000000-0000-0000-0000-000000000000, client_id: 00000000-0000-0000-0000-000000000001, secret_env: T_AZURE, url: '$2/azure', login_url: '$2/azure'}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: [own_file, profile], price_per_node_hour: sky, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: fraunhofer, price_per_node_hour: ec2, gpu: V100-SXM2, preemptible: {interruptions_per_hour: advisor, placement_score: score, notice: 2m, restart: 6m}}
  h100: {accepts: [gpu, cpu], carbon: emaps, electricity_price_per_kwh: exchange, price_per_node_hour: azure, owned: true}
"; }
setup_file() {
	local s=$BATS_FILE_TMPDIR
	secrets "$s"
	series 0 > "$s/signal.csv"
	for day in today tomorrow; do
		for hour in 00 12; do
			echo "{\"Location\":\"eastus\",\"Rating\":\"321.5\",\"Time\":\"$(date -u -d $day +%F)T$hour:00:00\",\"Duration\":\"12:00:00\"}"
		done
	done | jq -s '{Emissions: .}' > "$s/emissions.json"
	(cd "$PROJECT" && exec build/tests/tools/source_server 0 "$s/fault") > "$s/port" 3>&- 4>&- &
	echo $! > "$s/server"
	within 10 test -s "$s/port"
	cluster_up "$(policy "$s" "http://127.0.0.1:$(cat "$s/port")")"
}
teardown_file() {
	cluster_down
	kill "$(cat "$BATS_FILE_TMPDIR/server")"
}
setup() {
	cluster_use
	secrets "$BATS_FILE_TMPDIR"
	LOG=$(ls "$D"/log/lowtided*.out)
}
signal() { # signal NAME FIELDS...: as JSON, in one line
	lowtide signals --json | jq -c --arg n "$1" "[.sources[] | select(.name == \$n)][0] | [$2]"
}
is_signal() { # is_signal NAME FIELDS... JSON: 230 and 230.0 are the same
	[ "$(signal "$1" "$2" | jq --argjson want "$3" '. == $want')" = true ] ||
	    { echo "$1: $(signal "$1" "$2"), want $3" >&2; false; }
}
failing() { lowtide signals --json | jq -r '[.sources[] | select(.last_error != null) | .name] | sort | join(" ")'; }
waiting() { [ "$(lowtide signals --json | jq '[.sources[] | select(.fetched == null and .last_error == null)] | length')" -eq 0 ]; }
again() { # lowtided anew: all sources are asked
	part stop lowtided
	: > "$LOG"
	part start lowtided
	within 120 waiting
}

@test "every source is shown, with its value, unit and quality" {
	within 60 waiting
	[ -z "$(failing)" ] || { lowtide signals --json | jq -r '.sources[] | select(.last_error != null) | .name + ": " + .last_error' >&2; false; }
	while read -r name want; do
		is_signal "$name" '.quantity, .unit, .quality, .value_now' "$want"
	done <<-E
	constant ["carbon","g CO2e/kWh","constant",230]
	sdk_file ["carbon","g CO2e/kWh","measured",321.5]
	region ["carbon","g CO2e/kWh","constant",105.69]
	sky ["price","micros/node-h","estimated",52500]
	azure ["price","micros/node-h","measured",78900]
	oci ["price","micros/node-h","measured",248000]
	cudo ["price","micros/node-h","measured",308200]
	tariff ["tariff","micros/kWh","measured",400000]
	E
	# Those of the hour: a number in its range, in the right unit.
	while read -r name quantity least most; do
		[ "$(signal "$name" ".quantity == \"$quantity\", .value_now >= $least, .value_now <= $most")" = '[true,true,true]' ] ||
		    { echo "$name: $(signal "$name" '.quantity, .value_now')" >&2; false; }
	done <<-E
	own_file carbon 200 223
	recording carbon 50 600
	uk carbon 6 22
	fraunhofer carbon 46 65
	dk carbon 60 160
	dkprice tariff -500000 500000
	rte carbon 5 80
	emaps carbon 400 700
	wt marginal_carbon 100 500
	sdk carbon 100 500
	us carbon 100 600
	fr carbon 20 90
	profile carbon 100 900
	ec2 price 200000 280000
	gcp price 100000 200000
	exchange tariff -500000 500000
	frprice tariff -4500 73000
	advisor interruption 0.0001 0.001
	score placement_score 1 10
	wind wind 3 9
	sun sun 0 125
	warmth temperature 0 6
	eviction interruption 0.077 0.079
	E
}

@test "the table names them all; nothing secret is in it, in the log, in a title" {
	run -0 lowtide signals
	for name in $WEB constant own_file recording sdk_file region profile tariff; do
		[[ "$output" == *"$name"* ]]
	done
	{ echo "$output"; lowtide signals --json; lowtide status --json; cat "$LOG"; tr '\0' ' ' < <(cat /proc/[0-9]*/cmdline); } > seen 2>/dev/null
	run ! grep -nE "$SECRETS" seen
	for name in $WEB; do
		lowtide signals test "$name" --config "$LOWTIDE_CONFIG" >> tested 2>&1
	done
	run ! grep -nE "$SECRETS" tested
	[ "$(grep -c '^request' tested)" -ge 16 ]
}

@test "a secret that others may read is refused, and says how to mend it" {
	chmod 644 "$BATS_FILE_TMPDIR/mix.key"
	run -1 lowtide signals test us --config "$LOWTIDE_CONFIG"
	[[ "$output" == *"mode 0644 lets others read a secret, want 0600"* ]]
	run lowtide doctor
	[[ "$output" == *"source us, key_file: $BATS_FILE_TMPDIR/mix.key: mode 0644, want 0600"* ]]
	chmod 600 "$BATS_FILE_TMPDIR/mix.key"
	run lowtide doctor
	[[ "$output" == *"3 files, of mode 0600, for $(id -un) to read"* ]]
}

@test "points can be exported, and forecasts have bands from their own errors" {
	lowtide signals export uk --format csv > points.csv
	head -n 1 points.csv | grep -q '^start,end,value'
	[ "$(wc -l < points.csv)" -gt 600 ]
	lowtide signals export > all.csv
	[ "$(wc -l < all.csv)" -gt 5000 ]
	[ "$(lowtide signals --errors --json | jq '[.sources[] | select(.name == "uk") | .models[].buckets[].count] | add')" -gt 100 ]
	[ "$(signal own_file '.hours[20] | (.low != null and .low <= .value and .high >= .value)')" = '[true]' ]
}

@test "explain says what the interruption rate is made of" {
	job -A vision -p spot --no-requeue -N1 --time=10:00 --wrap 'sleep 300'
	running() { [ "$(field "$id" %T)" = RUNNING ]; }
	within 30 running
	within 10 has_run "$id"
	node=$(field "$id" %N)
	scontrol update nodename="$node" state=down reason=reclaimed
	within 120 settled "$id"
	scontrol update nodename="$node" state=resume || true # it may be back by itself
	run -0 lowtide explain "$id"
	[[ "$output" == *"from this cluster (1 in "*" node-h of 90 days)"*"source advisor"* ]]
	[[ "$output" == *"placement score"*"of 10, a hint of score"* ]]
	[ "$(lowtide signals --json | jq '.partitions[] | select(.name == "spot") | .hazard.interruptions')" -eq 1 ]
}

@test "a stale source gives way to the next, logged once and shown" {
	[ "$(signal own_file '(.used_by[] | select(.partition == "ondemand") | .in_use)')" = '[true]' ]
	series 5 > "$BATS_FILE_TMPDIR/signal.csv"
	again
	[ "$(signal own_file '.stale, (.used_by[] | select(.partition == "ondemand") | .in_use)')" = '[true,false]' ]
	[ "$(signal profile '(.used_by[] | select(.partition == "ondemand") | .in_use)')" = '[true]' ]
	switched() { grep -q 'source_switched.*partition=ondemand signal=carbon from=own_file to=profile' "$LOG"; }
	within 20 switched
	[ "$(grep -c 'source_switched.*partition=ondemand signal=carbon from=own_file to=profile' "$LOG")" -eq 1 ]
	run -0 lowtide signals
	[[ "$output" == *"own_file"*"stale"* ]]
	series 0 > "$BATS_FILE_TMPDIR/signal.csv"
}

@test "whatever a source does, jobs submit, its last good value stays, and the table says so" {
	for fault in /reset /endless-body /bomb /redirect-file /html /truncated /deep /status/401 /status/429 /status/500; do
		echo "$fault" > "$BATS_FILE_TMPDIR/fault"
		again
		[ "$(failing)" = "$(tr ' ' '\n' <<< "$WEB" | sort | tr '\n' ' ' | sed 's/ $//')" ] ||
		    { echo "$fault: $(failing)" >&2; false; }
		[ "$(lowtide signals --json | jq '[.sources[] | select(.value_now == null)] | length')" -eq 0 ]
		for name in $WEB; do # one line of the log each, no more
			[ "$(grep -c "event=fetch_failed source=$name " "$LOG")" -eq 1 ]
		done
		job -A vision --time=1 --wrap true
	done
	rm "$BATS_FILE_TMPDIR/fault"
	again
	[ -z "$(failing)" ]
}

@test "while a source hangs, lowtided answers and jobs submit" {
	echo /blackhole > "$BATS_FILE_TMPDIR/fault"
	part stop lowtided
	part start lowtided
	run -0 timeout 10 lowtide status
	job -A vision --time=1 --wrap true
	rm "$BATS_FILE_TMPDIR/fault"
	again
	[ -z "$(failing)" ]
}

@test "a site without any source moves jobs to hours that are usually cleaner" {
	# Whichever of the two has its night now.
	zone=US-CAL-CISO
	case $(date -u +%H) in 14 | 15 | 16 | 17 | 18 | 19 | 20 | 21 | 22) zone=AU-SA ;; esac
	{
		printf 'mode: enforce\ncurrency: EUR\nsources:\n  usual: {adapter: climatology, zone: %s}\n' "$zone"
		printf 'partitions:\n  ondemand: {carbon: usual, gpu: V100-SXM2}\n'
		grep ^listen_port: "$D/etc/lowtide.yaml"
	} > "$D/next.yaml"
	mv "$D/next.yaml" "$D/etc/lowtide.yaml"
	climate() { [ "$(lowtide signals --json | jq -r '.sources[0].quality')" = climatology ]; }
	within 20 climate
	# The market was compiled in the turn before that answer.
	job -A vision -N1 --gpus=8 --time=4:00:00 --expected-time=4h --carbon-aware --wrap true
	[[ "$said" == *"ondemand, from "*"(typical)"* ]]
	[ "$(field "$id" %r)" = BeginTime ]
	scancel "$id"
}
