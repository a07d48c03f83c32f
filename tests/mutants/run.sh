#!/bin/bash
# Breaks the code on purpose, one place at a time, and runs the unit tests that
# must notice. Works in a copy of the tree under the build folder. The entries
# are in list.txt, README.md says how to write one.
#
#   run.sh [PATTERN]    only entries that match this extended regex
#
# The last line is `goal mutants killed VALUE >=90% met|missed`; not 0 when it
# is missed or an entry is not true of the source any more.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
pattern=${1:-.}
list=$PWD/tests/mutants/list.txt
unset MAKEFLAGS MAKELEVEL MFLAGS
export CMOCKA_MESSAGE_OUTPUT=TAP
copy=$(mktemp -d "$PWD/build/mutants.XXXXXX") || exit 1
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM

# With the times of the tree, so that nothing is built again.
git ls-files -z --cached --others --exclude-standard |
    xargs -0 cp -p --parents -t "$copy" || exit 1
find build \( -name 'mutants.*' -o -path build/asan -o -path build/tsan \) -prune -o \
    -type f \( -name '*.[oda]' -o -path build/flags \) -print0 |
    xargs -0 cp -p --parents -t "$copy" || exit 1
cd "$copy" || exit 1

targets() { # targets PROGRAM...: what make has to link for them
	local p
	for p in "$@"; do
		case $p in
		fake_slurm) echo build/tests/fake_slurm/fake_slurm \
		    build/tests/tools/make_snapshot \
		    build/job_submit_lowtide.so build/spank_lowtide.so ;;
		*) echo "build/tests/unit/$p" ;;
		esac
	done
}

notices() { # notices PROGRAM...: does one of them fail?
	local p command
	for p in "$@"; do
		command=build/tests/unit/$p
		[ "$p" = fake_slurm ] && command=tests/fake_slurm/fake_slurm.sh
		BUILD=$PWD/build timeout 300 "$command" >run.log 2>&1 || return 0
	done
	return 1
}

# Blanks of an entry stand for any blanks of the source; exactly one place.
substitute() { # substitute FILE OLD NEW
	OLD=$2 NEW=$3 perl -0777 -i -pe '
		BEGIN { $re = join "\\s+", map { quotemeta } split /\s+/, $ENV{OLD} }
		$n = () = /$re/g;
		s/$re/$ENV{NEW}/ if $n == 1;
		END { exit($n == 1 ? 0 : 1) }' "$1"
}

total=0 killed=0 cluster=0 wrong=0
survivors=() programs=()
while read -r line; do
	[[ $line =~ $pattern ]] || continue
	IFS='|' read -r file tests rest <<< "${line// :: /|}"
	[[ $tests == cluster* ]] || read -ra names <<< "$tests"
	[[ $tests == cluster* ]] || programs+=("${names[@]}")
done < <(grep -v -e '^#' -e '^$' "$list")
mapfile -t programs < <(printf '%s\n' "${programs[@]}" | sort -u | grep .)
# A test that fails as it is would kill everything.
if [ ${#programs[@]} -gt 0 ]; then
	make -s $(targets "${programs[@]}") >build.log 2>&1 ||
	    { tail -n 30 build.log; exit 1; }
	for p in "${programs[@]}"; do
		if notices "$p"; then
			echo "$p fails without a mutant:" && tail -n 30 run.log
			exit 1
		fi
	done
fi

began=$SECONDS
while read -r line; do
	[[ $line =~ $pattern ]] || continue
	file=${line%% :: *} rest=${line#* :: }
	tests=${rest%% :: *} rest=${rest#* :: }
	old=${rest%% :: *} new=${rest#* :: }
	[ "$new" = '(nothing)' ] && new=
	total=$((total + 1))
	cp -p "$file" source.kept
	objects=(build/{,ndebug/}"${file%.c}.o")
	if ! substitute "$file" "$old" "$new"; then
		wrong=$((wrong + 1)) result='not once in the source'
	elif [[ $tests == cluster* ]]; then
		cluster=$((cluster + 1)) result=$tests
		survivors+=("$file: $old -> $new ($tests)")
	else
		read -ra names <<< "$tests"
		for o in "${objects[@]}"; do [ ! -e "$o" ] || cp -p "$o" "$o.kept"; done
		if ! make -s $(targets "${names[@]}") >build.log 2>&1; then
			wrong=$((wrong + 1)) result='does not build'
			grep -m 3 error build.log
		elif notices "${names[@]}"; then
			killed=$((killed + 1)) result=killed
		else
			result=survived
			survivors+=("$file: $old -> $new")
		fi
		for o in "${objects[@]}"; do [ ! -e "$o.kept" ] || mv "$o.kept" "$o"; done
		# What has the mutant's object in it.
		[[ $file == plugin/* ]] || rm -f build/*.a
		rm -f build/*.so
	fi
	cp -p source.kept "$file"
	[[ $file != *.h ]] || touch "$file" # all that has it in it is made again
	printf '%4ds  %-24s %s: %s\n' $((SECONDS - began)) "$result" "$file" "$old"
done < <(grep -v -e '^#' -e '^$' "$list")

[ ${#survivors[@]} -eq 0 ] || printf 'survivor: %s\n' "${survivors[@]}"
[ $total -gt 0 ] || { echo "no entry matches $pattern"; exit 1; }
echo "$total mutants: $killed killed, $cluster of them seen by cluster tests" \
    "only, $wrong wrong entries, $((SECONDS - began)) s"
percent=$((killed * 100 / total))
[ $percent -ge 90 ] && verdict=met || verdict=missed
echo "goal mutants killed $percent% >=90% $verdict"
[ $verdict = met ] && [ $wrong -eq 0 ]
