#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What people read of the command agrees: the table of subcommands with
# lowtide(1), with the completion and with both ways to ask for help; and what
# wrong usage and an absent Slurm give. A stand-in for sbatch prints what the
# real one does for a plan.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
lowtide=${BUILD:-$top/build}/lowtide
page=$top/man/lowtide.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C TZ=UTC
unset LOWTIDE_SERVER SLURM_CONF
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
gives() { # gives NAME STATUS TEXT COMMAND...: exit status, and TEXT somewhere
	local name=$1 status=$2 text=$3 got
	shift 3
	got=$(timeout 60 "$@" 2>&1 </dev/null)
	set -- $?
	if [ "$1" = "$status" ] && [[ $got == *"$text"* ]]; then
		check "$name" ''
	else
		check "$name" "exit status $1, want $status; want \"$text\" in: $got"
	fi
}

commands=$("$lowtide" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
options_of() { "$lowtide" help "$1" | sed -nE 's/^  --([a-z0-9-]+).*/\1/p'; }
check 'the table has subcommands' "$([ "$(wc -w <<<"$commands")" -ge 10 ] || echo "got: $commands")"

# The page without its roff escapes.
plain=$(sed -E 's/\\f[BIPR]//g; s/\\-/-/g' "$page")
missing=
for c in $commands; do
	grep -qE "^\.BR? \"?$c( |\"|\$)" <<<"$plain" || missing+="$c "
	for o in $(options_of "$c"); do
		grep -qE -- "--$o\\b" <<<"$plain" || missing+="$c --$o "
	done
done
check 'lowtide(1) has every subcommand and option' "$missing"
check 'lowtide(1) has no other subcommand' "$(sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' <<<"$plain" |
	sed -nE 's/^\.BR "([a-z]+) .*/\1/p' | while read -r c; do
	grep -qx "$c" <<<"$commands" || echo "$c"; done)"
check 'lowtide(1) has every variable that is read' "$(
	grep -hoE 'getenv\("[A-Z_]+"' "$top"/cli/{,*/}*.c "$top"/adapters/lib/s{ervers,lurm_conf}.c | grep -oE '[A-Z_]{2,}' | sort -u |
	while read -r v; do grep -qE "^\.B $v$" "$page" || echo "$v"; done)"
node=${BUILD:-$top/build}/lowtide-node
check 'lowtide-node(8) has every option' "$("$node" --help | sed -nE 's/^  (--[a-z]+) .*/\1/p' |
	while read -r o; do sed 's/\\-/-/g' "$top/man/lowtide-node.8" | grep -q -- "$o" || echo "$o"; done)"
gives 'a cloud that is not known' 2 'want aws, gcp, azure, command' "$node" --source oci
gives 'a source that wants a program' 2 'command with --command FILE' "$node" --source command
gives 'a notice of no length' 2 'want a duration such as 2m' "$node" --source gcp --notice 120
gives 'words that are no options' 2 'want options only' "$node" --source gcp spot-1
for section in 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES CAVEATS; do
	check "lowtide(1) has $section" "$(grep -qx ".SH $section" "$page" || echo missing)"
done

differing=
for c in $commands; do
	[ "$("$lowtide" help "$c")" = "$("$lowtide" "$c" --help)" ] || differing+="$c "
done
check '"help CMD" and "CMD --help" are one text' "$differing"

. "$top/packaging/completion/lowtide.bash"
complete_words() { # complete_words WORD...: what completes the last one
	COMP_WORDS=(lowtide "$@") COMP_CWORD=$# COMPREPLY=()
	_lowtide
	printf '%s\n' "${COMPREPLY[@]}"
}
check 'completion has every subcommand' "$(
	diff <(sort <<<"$commands") <(complete_words '' | grep -vE '^(-|help$)' | sort))"
differing=
for c in $commands; do
	[ "$c" = plan ] && continue # sbatch's own arguments
	d=$(diff <(options_of "$c" | sort) <(complete_words "$c" -- | sed 's/^--//' | sort)) ||
	    differing+="$c: $d "
done
check 'completion has every option' "$differing"
check 'completion of a value' "$(diff <(echo csv) <(complete_words report --format = c))"
check 'completion of a folder to close into' "$(cd "$top" && diff <(echo packaging) <(complete_words close -o pack))"
check 'completion after --run' "$(diff <(echo report) <(complete_words --run /tmp rep))"
. "$top/packaging/completion/lowtide-slurm.bash"
complete_slurm() { # complete_slurm WORD...: what completes the last one
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_lowtide_slurm "$1"
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}
options=$top/policy/core/options.c
check "completion has each option of sbatch's" "$(diff <(sed -nE 's/^[[:space:]]+\.name = "(.*)",/--\1/p' "$options" | sort) \
    <(complete_slurm srun -- | sed 's/=$//' | sort))"
words_of() { grep -A3 "\.name = \"$1\"" "$options" | sed -nE 's/.*\.argument = "(.*)",/\1/p' | tr '|' '\n' | sort; }
for o in carbon-aware amp; do
	check "and the words of --$o" "$([ -n "$(words_of $o)" ] || echo none; diff <(words_of $o) <(complete_slurm sbatch --$o = '' | sort))"
done
check 'of --checkpoint' "$(diff <(echo signal=) <(complete_slurm salloc --checkpoint = sig))"
check 'an option that wants "=" takes no word behind it' "$(complete_slurm sbatch --carbon-aware c)"
others() { COMPREPLY=(--others); }
check 'what completed sbatch before still does' "$(complete -o filenames -F others sbatch
	_lowtide_take sbatch
	diff <(printf '%s\n' --others --amp=) <(complete_slurm sbatch --am)
	complete -p sbatch | grep -v 'filenames.*_lowtide_slurm')"
check 'and alone where nothing is ours' "$(complete -F others srun; _lowtide_take srun; diff <(echo --others) <(complete_slurm srun x))"
check 'completion of an invoice' "$(cd "$top/tests/golden/reconcile" && diff <(echo focus.csv) <(complete_words reconcile focus.c))"

gives 'no command' 2 'usage: lowtide' "$lowtide"
gives 'a slip of a command' 2 'did you mean report?' "$lowtide" reprot
gives 'help of no command' 2 'no command "nothing"' "$lowtide" help nothing
gives 'a slip of an option' 2 'did you mean --team?' "$lowtide" report --taem x
gives 'an option without its value' 2 '--team wants a value' "$lowtide" report --team
gives 'an option of another command' 2 'no option --json' "$lowtide" init --json
gives 'an operand too many' 2 'one argument too many' "$lowtide" status now
gives 'an operand too few' 2 'an argument is missing' "$lowtide" explain
gives 'a period that is none' 2 'want 2026-11, 2026-Q4 or 2026' "$lowtide" report --period 2026-13
gives 'reconcile without lowtided' 1 "$work/lowtided.sock" env SLURM_CONF=/nonexistent "$lowtide" --run "$work" reconcile x.csv
gives 'reconcile without an invoice' 2 'an argument is missing' "$lowtide" reconcile
gives 'a format that is none' 2 'want table, csv, json, html, focus or ood' "$lowtide" report --format xml
gives 'all runs in a statement for people' 2 'csv and json have all' "$lowtide" report --format html --runs
gives 'groups in a statement for people' 2 'html has groups of its own' "$lowtide" report --format html --by user
gives 'what belongs to no team among rows of teams' 2 'table, json and html have it' "$lowtide" report --format csv --unused
gives 'a folder that is not there' 1 '/nowhere/x.html.new' "$lowtide" report --format html -o /nowhere/x.html
gives 'two periods to close' 2 'PERIOD and --last are two of them' "$lowtide" close 2026-10 --last
gives 'a close of no period' 2 'want 2026-11, 2026-Q4 or 2026' "$lowtide" close last
gives 'a folder without a period' 2 'a folder wants --period' "$lowtide" report --format html -o "$work"
gives 'files of no period' 2 '--output wants PERIOD or --last' "$lowtide" close --output "$work"
gives 'users of no files' 2 '--no-users belongs to --output' "$lowtide" close --last --no-users
gives 'a close without lowtided' 1 "$work/lowtided.sock" env SLURM_CONF=/nonexistent "$lowtide" --run "$work" close --last
gives 'a job id that is none' 2 'want a job id such as 1234' "$lowtide" explain 12x
gives 'an adjustment without a reason' 2 'wants --team and --reason' "$lowtide" budget adjust --team a --amount 1
gives 'an adjustment of nothing' 2 'wants --amount or --kg-co2e' "$lowtide" budget adjust --team a --reason b
gives 'an amount that is none' 2 '--amount' "$lowtide" budget adjust --team a --reason b --amount 1e3
gives 'an option of adjust alone' 2 'belongs to "budget adjust"' "$lowtide" budget --reason x
gives 'a part of what is erased whole' 2 'erases all of that user' "$lowtide" history --forget a --name b
gives 'a form of signals that is none' 2 'want export, test, adapters or nothing' "$lowtide" signals exprot
gives 'signals test without a source' 2 "test wants a source's name" "$lowtide" signals test
gives 'an operand too many for a form' 2 '"b" is one argument too many' "$lowtide" signals adapters file b
gives 'an option of another form' 2 'export takes no --errors' "$lowtide" signals export --errors
gives 'an option without its form' 2 '--from comes after export' "$lowtide" signals --from 2026-11-21
gives 'no adapter at all' 2 'signals adapters lists them' "$lowtide" signals adapters zzzzzzzz
gives 'a page at two places' 2 '--port and --socket are two places' "$lowtide" web --port 8017 --socket=x
gives 'a port that is none of a user' 2 '--port' "$lowtide" web --port 80
gives 'a page without lowtided' 1 "$work/lowtided.sock" env SLURM_CONF=/nonexistent "$lowtide" --run "$work" web
gives 'kube without a word' 2 'an argument is missing' "$lowtide" kube
gives 'another word of kube' 2 'got "apply", want manifest' "$lowtide" kube apply
gives 'a version before admission policies' 2 'want 1.30 or later' "$lowtide" kube manifest --kubernetes-version 1.29
gives 'a version that is none' 2 'got "v2", want one such as 1.36' "$lowtide" kube manifest --kubernetes-version v2
gives 'a namespace that is none' 2 'want a name such as lowtide' "$lowtide" kube manifest --namespace Green
gives 'an image that would end its line' 2 'want one such as registry' "$lowtide" kube manifest --image 'a: b'
gives 'a label that would end its text' 2 'want a label such as' "$lowtide" kube manifest --team-label "a'b"
gives 'a word on unknown balances that is none' 2 'want admit or refuse' "$lowtide" kube manifest --on-unknown hold
gives 'the version as kubectl tells it' 0 'name: lowtide-suspended' "$lowtide" kube manifest --kubernetes-version v1.33.4-gke.1200
for word in admit refuse; do
	"$lowtide" kube manifest --on-unknown $word | sed -n '/^  lowtide.yaml: |$/,/^---$/s/^    //p' >"$work/kube.yaml"
	gives "the policy in the manifests is good ($word)" 0 'ok' "$lowtide" check "$work/kube.yaml"
done
check 'kustomization.yaml has what kube manifest writes' "$(cd "$top/packaging/kubernetes" && diff \
    <(sed -n 's/^  - //p' kustomization.yaml) \
    <("$lowtide" kube manifest | sed -n 's|^# packaging/kubernetes/||p'))"
check 'each manifest is in the command or kustomize' "$(cd "$top/packaging/kubernetes" && diff \
    <(ls ./*.yaml | sed 's|^./||') \
    <({ echo kustomization.yaml; for v in 1.35 1.36; do "$lowtide" kube manifest --dry-run-pods --kubernetes-version $v; done |
	sed -n 's|^# packaging/kubernetes/||p'; } | LC_ALL=C sort -u))"
rm -f "$work/kube.yaml"
gives 'an export as a table' 2 'want csv or json' "$lowtide" signals export --format table
gives 'adapters' 0 'uk_carbon_intensity' "$lowtide" signals adapters
gives 'the options of an adapter' 0 'outward code' "$lowtide" signals adapters uk_carbon_intensity
gives 'a slip of an adapter' 2 'did you mean file' "$lowtide" signals adapters fiel
gives 'signals without lowtided' 1 "$work/lowtided.sock" env SLURM_CONF=/nonexistent "$lowtide" --run "$work" signals
check 'adapters as JSON' "$("$lowtide" signals adapters --json |
    jq -r '[.adapters[].name] | select(index("static") == null) | "got \(.)"' 2>&1)"
gives 'no lowtided' 1 "$work/lowtided.sock" env SLURM_CONF=/nonexistent "$lowtide" --run "$work" status
gives 'doctor with nothing there' 1 '4 errors' env SLURM_CONF=/nonexistent \
    LOWTIDED=/nonexistent LOWTIDE_MUNGE_SOCKET=/nonexistent "$lowtide" --run "$work" doctor
# What a delayed job loses by Slurm's own priorities.
mkdir "$work/conf"
age() { # age FLAGS...: lines of slurm.conf; what doctor says of priority
	printf '%s\n' 'SlurmctldHost=localhost' "$@" >"$work/conf/slurm.conf"
	SLURM_CONF=$work/conf/slurm.conf LOWTIDED=/nonexistent "$lowtide" --run "$work" doctor 2>&1 | grep -c ACCRUE_ALWAYS
}
check 'doctor on jobs that collect no age' "$([ "$(age PriorityType=priority/multifactor PriorityWeightAge=1000)" -gt 0 ] || echo silent)"
check 'not where they do' "$([ "$(age PriorityType=priority/multifactor PriorityWeightAge=1000 PriorityFlags=MAX_TRES,ACCRUE_ALWAYS)" -eq 0 ] || echo told)"
check 'nor where age is nothing' "$([ "$(age PriorityType=priority/multifactor PriorityWeightAge=0)" -eq 0 ] || echo told)"
check 'nor without priorities' "$([ "$(age PriorityType=priority/basic PriorityWeightAge=1000)" -eq 0 ] || echo told)"
rm -r "$work/conf"
gives 'a wait worth less than nothing' 2 '--waiting: got "-1", want 0 to 1e+06' "$lowtide" simulate \
    "$top/tests/fixtures/simulate/pai_1k.csv" --carbon "$top/tests/fixtures/simulate/au-sa.csv" --waiting=-1
gives 'init without lowtided' 1 '/nonexistent' env LOWTIDED=/nonexistent "$lowtide" init --output "$work/new.yaml"
check 'and it leaves no file' "$(ls "$work")"

# One fetch of a source, and what was understood.
cat >"$work/policy.yaml" <<'P'
currency: EUR
sources:
  day: {adapter: static, value: 231, unit: g_co2_per_kwh}
  tariff: {adapter: file, quantity: tariff, path: WORK/tariff.csv}
  late: {adapter: file, quantity: carbon, path: WORK/late.csv}
  gone: {adapter: uk_carbon_intensity, url: "http://127.0.0.1:9"}
  wrong: {adapter: static, valeu: 1, unit: per_kwh}
P
sed -i "s|WORK|$work|" "$work/policy.yaml"
printf 'time,value\n' >"$work/tariff.csv"
for ((i = -48; i < 48; i++)); do # an hour each; dear between 16 and 20
	at=$(($(date +%s) / 3600 * 3600 + i * 3600))
	echo "$(date -ud @$at +%FT%TZ),$([ "$(date -ud @$at +%k)" -ge 16 ] && [ "$(date -ud @$at +%k)" -lt 20 ] && echo 0.42 || echo 0.18)"
done >>"$work/tariff.csv"
printf 'time,value\n%d,210\n%d,231\n' $((at - 60 * 3600)) $((at - 59 * 3600)) >"$work/late.csv"
try() { gives "$1" "$2" "$3" "$lowtide" signals test "$4" --config "$work/policy.yaml" "${@:5}"; }
try 'a test of a number' 0 'now        231, constant' day
try 'a test of a file: its unit' 0 'electricity price, in EUR/kWh' tariff
try 'and its range' 0 'next 24 h  0.1800..0.4200' tariff
late=$(LC_ALL=C date -ud @$((at - 58 * 3600)) '+%a %d %b %Y %H:00')
try 'a late source: the newest it has, and of when' 0 "newest     231, measured, until $late" late
try 'and that it is late' 0 'now        no value: the source is late' late
try 'the same as JSON' 0 "\"end\": \"$(date -ud @$((at - 58 * 3600)) +%FT%H:00:00Z)\"" late --json
try 'a source that is not there' 1 'gone: 127.0.0.1: ' gone
try 'and what was asked of it' 1 'GET http://127.0.0.1:9/' gone
try 'a wrong option: where it stands' 1 'policy.yaml:7:35: wrong: unknown key "valeu"' wrong
try 'a slip of a source' 1 'did you mean tariff?' tarif
try 'a failure as JSON' 1 '"ok": false' gone --json
try 'a success as JSON' 0 '"value_now": 231.0' day --json
rm "$work/policy.yaml" "$work/tariff.csv" "$work/late.csv"

# A plan: the refusal's message, on standard error.
cat >"$work/sbatch" <<'S'
#!/bin/sh
echo "sbatch called with: $*" >"$CALLED"
cat "$SAYS" >&2
exit "$STATUS"
S
chmod 755 "$work/sbatch"
export CALLED=$work/called SAYS=$work/says
plan() { PATH=$work:$PATH STATUS=$1 "$lowtide" plan "${@:2}" 2>"$work/err" >"$work/out"; }
table='plan: balanced
  PARTITION       START
* ondemand        Sat 15:00 UTC
this was a plan: nothing was submitted.'
for prefix in 'sbatch: error: lowtide: ' 'sbatch: lowtide: '; do
	{
		echo 'sbatch: warning: something else'
		sed "s/^/$prefix/" <<<"$table"
		echo 'sbatch: error: Batch job submission failed: Requested operation is presently disabled'
		echo 'allocation failure: Requested operation is presently disabled'
	} >"$SAYS"
	plan 1 -- --time=10 job.sh
	status=$?
	check "a plan after \"$prefix\"" "$([ $status = 0 ] || echo "exit status $status"
		diff <(echo "$table") "$work/out" 2>&1; cat "$work/err")"
done
plan 1 --compare -- --time=10 job.sh
check 'a row for each objective' "$(diff <(sed -n "s/^  \(PARTITION.*\)/OBJECTIVE  \1/p" <<<"$table"
	for o in balanced cost carbon fast; do
		printf '%-10s %s\n' $o "$(sed -n 's/^\* //p' <<<"$table")"
	done) "$work/out"; cat "$work/err")"
plan 1 -- --time=10 job.sh
check 'sbatch got the wish and all arguments' \
    "$(diff <(echo 'sbatch called with: --carbon-plan --time=10 job.sh') "$CALLED")"
echo 'sbatch: error: Batch job submission failed: Invalid account' >"$SAYS"
plan 1 job.sh
status=$?
check 'no plan: what sbatch said, and its status' "$([ $status = 1 ] || echo "exit status $status"
	cat "$work/out"; diff "$SAYS" "$work/err")"
: >"$SAYS"
plan 0 job.sh
status=$?
check 'a job that was submitted after all is a failure' "$([ $status = 1 ] || echo "exit status $status"
	grep -q 'submitted the job' "$work/err" || echo 'not said')"
gives 'plan without arguments' 2 'want the arguments of sbatch' "$lowtide" plan
# GAIA's week: its own figures, then usage.
jobs=$top/tests/fixtures/simulate/pai_1k.csv grid=$top/tests/fixtures/simulate/au-sa.csv
week=(simulate "$jobs" --carbon "$grid" --at 2022-10-19T16:00Z)
gives 'simulate: the least span' 0 'lowest-window  383.867     0.6836  199.18     6.65 h     0' \
    "$lowtide" "${week[@]}" --policy lowest-window,lowtide
check 'the same twice' "$(diff <("$lowtide" "${week[@]}" --json) <("$lowtide" "${week[@]}" --json))"
check 'simulate as JSON' "$("$lowtide" "${week[@]}" --policy res-first --reserved 9 --json |
    jq -r '.runs[1] | select((.carbon_of_nowait - 0.854439 | fabs) > 1e-6 or
	(.cost - 142.2039 | fabs) > 1e-4) | "got \(.)"' 2>&1)"
printf 'time,value\n2022-10-01T00:00Z,0.0624\n2022-12-01T00:00Z,0.0624\n' >"$work/price.csv"
gives 'simulate with prices of hours' 0 'wait-awhile  306.712     0.5462  199.18' "$lowtide" "${week[@]}" \
    --policy wait-awhile --price "$work/price.csv" --svg "$work/week.svg"
check 'and draws them' "$([ "$(grep -c '<polyline' "$work/week.svg")" = 4 ] &&
    tail -n 1 "$work/week.svg" | grep -qx '</svg>' || head -c 300 "$work/week.svg")"
gives 'simulate as lowtided suspends' 0 'lowtide-suspend  322.484     0.5743' "$lowtide" "${week[@]}" \
    --forecast perfect --policy lowtide-suspend
# How long jobs stood still is all that they waited.
wait_h=$("$lowtide" "${week[@]}" --policy lowtide-suspend --idle 100 --json --pauses "$work/pauses.csv" | jq '.runs[1].mean_wait_h')
check 'and when jobs stood still' "$(jq -Rrs --argjson wait "$wait_h" '[split("\n")[1:][] | select(. != "") | split(",") |
    (.[2] | fromdate) - (.[1] | fromdate)] | select(length < 100 or (add / 3600 / 1000 - $wait | fabs) > 1e-6) |
    "\(length) pauses, \(add) s"' "$work/pauses.csv")"
printf 'at,done\n2022-10-19T16:00:00Z,2022-10-19T16:00:00Z\n' >"$work/looks.csv"
gives 'and only where it is looked at' 0 'lowtide-suspend  561.504     1.0000' "$lowtide" "${week[@]}" \
    --policy lowtide-suspend --looks "$work/looks.csv"
printf '2022-10-19T15:00Z,2022-10-19T16:30Z\n' >>"$work/looks.csv"
gives 'a look before the one above' 1 'looks.csv: line 3: got "2022-10-19T15:00Z,2022-10-19T16:30Z", want two times' \
    "$lowtide" "${week[@]}" --looks "$work/looks.csv"
gives 'looks that are none' 1 'price.csv: no column "at"' "$lowtide" "${week[@]}" --looks "$work/price.csv"
gives 'pauses where no file can be' 1 '/nonexistent/x.csv: No such file' "$lowtide" "${week[@]}" --pauses /nonexistent/x.csv
gives 'a picture where none can be' 1 '/nonexistent/x.svg: No such file' "$lowtide" "${week[@]}" --svg /nonexistent/x.svg
part=$top/tests/fuzz/corpus/sim_trace/parts.swf
{ echo time,value; for h in 08 09 10; do echo "2025-11-03T$h:00:00Z,100"; done; } > "$work/grid.csv"
check 'simulate: parts of a job are in its sum; what can not be read is left out and counted' "$(diff \
    <(echo '[1,32,2,1]'; echo "lowtide: left out: $part:5: a part of job 4 (status 4), want the line of the whole job above it") \
    <("$lowtide" simulate "$part" --carbon "$work/grid.csv" --policy nowait --json 2> "$work/left_out" |
	jq -c '[.jobs, .cpu_hours, .parts, .bad_rows]'; cat "$work/left_out"))"
gives 'simulate with too few CPUs' 1 'a job of 4 CPUs, and there are 3' "$lowtide" "${week[@]}" --capacity 3
gives 'simulate without a signal' 2 'wants --carbon FILE' "$lowtide" simulate "$jobs"
gives 'all objectives and one' 2 '--compare shows each objective: leave --carbon-aware out' "$lowtide" plan --compare --carbon-aware=cost job.sh
gives 'simulate of nothing' 2 'wants a TRACE, or --from-slurm' "$lowtide" simulate
gives 'simulate a trace and the site' 2 '--from-slurm takes no TRACE' "$lowtide" simulate "$jobs" --from-slurm
gives 'simulate the site with watts' 2 '--watts does not go with --from-slurm' "$lowtide" simulate --from-slurm --watts 3
gives 'simulate too long a time' 2 '--last: got "900d", want 1m to 140d' "$lowtide" simulate --from-slurm --last 900d
gives 'simulate a trace for a time' 2 '--last goes with --from-slurm' "$lowtide" simulate "$jobs" --last 3d
gives 'simulate the site without a market' 1 '/nonexistent/market' "$lowtide" simulate --from-slurm --run /nonexistent
gives 'simulate without its beginning' 1 '--at says when that was' "$lowtide" simulate "$jobs" --carbon "$grid"
gives 'simulate at another time' 1 'want the time of the jobs' "$lowtide" simulate "$jobs" --carbon "$grid" --at 2023-01-01T00:00Z
gives 'a slip of a policy' 2 'did you mean lowest-window?' "$lowtide" "${week[@]}" --policy lowest-windw
gives 'one wait of two' 2 'want two times as 6h,24h' "$lowtide" "${week[@]}" --wait 6h
gives 'no trace' 1 '/nonexistent' "$lowtide" simulate /nonexistent --carbon "$grid"
gives 'no signal' 1 '/nonexistent: cannot be read' "$lowtide" simulate "$jobs" --at 2022-10-19T16:00Z --carbon /nonexistent
printf 'currency: EUR\nsources:\n  grid: {adapter: static, value: 231, unit: g_co2_per_kwh}\n' >"$work/source.yaml"
gives 'simulate on a source' 0 'lowtide  737.334     1.0000' "$lowtide" simulate "$jobs" --at 2022-10-19T16:00Z \
    --config "$work/source.yaml" --source grid
# Spot nodes as recorded: in time, and each event said.
spot=(simulate "$top/tests/fixtures/simulate/spot.json" --deadline-factor 2)
gives 'deadlines on spot' 0 'on demand      100     0  1341.30              0           100' "$lowtide" "${spot[@]}"
"$lowtide" "${spot[@]}" --events "$work/events.csv" --json >"$work/spot.json"
check 'as JSON, and its events' "$(jq -r --rawfile events "$work/events.csv" '
	($events | rtrimstr("\n") | split("\n")[1:] | map(split(","))) as $rows |
	def many(what): [$rows[] | select(.[2] == what)] | length;
	select(.in_time != 100 or .late != 0 or .timed_out != 0 or many("submitted") != 100 or
	    many("ended") != 100 or many("taken") != .interruptions or
	    ([$rows[] | select(.[2] == "ended" and .[3] == "ondemand")] | length) != .to_on_demand or
	    ([$rows[] | select(.[2] == "decided" and .[4] != "deadline")] | length) > 0) |
	"got \(.)"' "$work/spot.json" 2>&1)"
gives 'a signal beside spot nodes' 2 '--carbon goes without --deadline-factor' "$lowtide" "${spot[@]}" --carbon "$grid"
gives 'their options without them' 2 '--work goes with --deadline-factor' "$lowtide" "${week[@]}" --work 4h
gives 'a deadline before the limit' 1 'want the time limit at least' "$lowtide" "${spot[@]}" --limits 3
gives 'one price of two' 2 'want two prices as 0.918,3.06' "$lowtide" "${spot[@]}" --prices 1
gives 'a trace of jobs for one of nodes' 1 'pai_1k.csv' "$lowtide" simulate "$jobs" --deadline-factor 2
gives 'events where no file can be' 1 '/nonexistent/x.csv.new: No such file' "$lowtide" "${spot[@]}" --events /nonexistent/x.csv
echo "1..$n"
[ $bad -eq 0 ]
