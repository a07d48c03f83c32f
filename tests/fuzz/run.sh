#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz each target for MINUTES minutes: tests/fuzz/run.sh MINUTES [TARGET...]
# New inputs and crashes go to build/fuzz/TARGET; the corpus stays as it is.
# A crash is shown, kept, and ends the run with 1.
set -eu
cd "$(dirname "$0")/../.."

minutes=${1:?usage: tests/fuzz/run.sh MINUTES [TARGET...]}
shift
build=${B:-build/fuzz}
if ! command -v clang >/dev/null; then
	echo "fuzz: clang is needed (Debian: clang, libclang-rt-14-dev)" >&2
	exit 1
fi

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
	for file in tests/fuzz/fuzz_*.c; do
		name=${file##*/fuzz_}
		targets+=("${name%.c}")
	done
fi

# fuzzer-no-link: our code is instrumented, libFuzzer's main only linked here.
make -s CC=clang B="$build" SAN=fuzzer-no-link,address,undefined \
    "$build/internal.a"
libs="-lslurm -lcurl -ljansson -lyaml -lsqlite3 -lmicrohttpd -lmunge -lexpat -lz"
failed=0
for target in "${targets[@]}"; do
	make -s CC=clang B="$build" SAN=fuzzer-no-link,address,undefined \
	    "$build/tests/fuzz/fuzz_$target.o"
	# Libraries after the archive; only what a target uses is linked.
	clang -fsanitize=fuzzer,address,undefined -o "$build/$target.bin" \
	    "$build/tests/fuzz/fuzz_$target.o" "$build/internal.a" \
	    -Wl,--as-needed $libs -lm -lpthread
	mkdir -p "$build/$target"
	echo "fuzz: $target for $minutes min"
	if ! "$build/$target.bin" -max_total_time=$((minutes * 60)) \
	    -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	    -artifact_prefix="$build/$target." -verbosity=0 \
	    "$build/$target" "tests/fuzz/corpus/$target" \
	    >"$build/$target.log" 2>&1; then
		tail -n 30 "$build/$target.log"
		failed=1
	fi
	grep -E "number_of_executed_units|new_units_added" \
	    "$build/$target.log" || true
done
exit $failed
