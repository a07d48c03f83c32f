#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The mirror that `make matrix` takes, by the files of apt that Debians have.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
etc=$(mktemp -d)
trap 'rm -rf "$etc"' EXIT
n=0 bad=0
mirror_is() { # mirror_is WANTED NAME; then $etc is empty again
	local got
	n=$((n + 1))
	got=$("$top/tests/debian_mirror.sh" "$etc" 2>&1)
	if [ "$got" = "${1/ETC/$etc}" ]; then
		echo "ok $n - $2"
	else
		bad=$((bad + 1))
		printf 'not ok %d - %s\n# got %s\n' "$n" "$2" "$got"
	fi
	rm -rf "${etc:?}"/*
	mkdir "$etc/sources.list.d" "$etc/mirrors"
}
sources() { # sources NAME URIS SUITES COMPONENTS: a stanza of sources.list.d/NAME
	printf 'Types: deb\n# a note\nURIs: %s\nSuites: %s\nComponents: %s\n\n' "${@:2}" \
	    >> "$etc/sources.list.d/$1"
}

mkdir "$etc/sources.list.d" "$etc/mirrors"
mirror_is 'no Debian mirror in ETC' 'nothing'
echo 'deb [arch=amd64 signed-by=/x.gpg] http://a.example/debian trixie main' > "$etc/sources.list"
mirror_is http://a.example/debian 'sources.list'
echo 'deb http://security.example/debian-security trixie-security main' > "$etc/sources.list"
sources debian.sources http://a.example/debian 'trixie trixie-updates' main
mirror_is http://a.example/debian 'security first'
sources debian.sources http://b.example/debian/ trixie 'main contrib'
mirror_is http://b.example/debian 'only deb822 files'

sources debian.sources mirror+file:///etc/apt/mirrors/debian.list 'trixie trixie-updates' main
sources debian.sources mirror+file:///etc/apt/mirrors/debian-security.list trixie-security main
printf '# nearest first\nhttps://c.example/debian\nhttps://d.example/debian\n' > "$etc/mirrors/debian.list"
mirror_is https://c.example/debian 'a list of mirrors, as in cloud images'
sources docker.sources https://docker.example/linux/debian trixie stable
sources a.sources https://node.example/node nodistro main
sources b.sources.off http://off.example/debian trixie main
sources debian.sources http://a.example/debian trixie main
mirror_is http://a.example/debian 'others than Debian, and what apt does not read'
echo "1..$n"
[ $bad -eq 0 ]
