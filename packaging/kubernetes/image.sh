#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Puts together the root of an image: the programs, all libraries that they load
# (ldd's, and libcurl with its own, which nothing names), their copyrights,
# certificates, time zones and a user. For Dockerfile; Debian's folders.
#
#   image.sh FOLDER PROGRAM...
set -euo pipefail
root=$1
shift
mkdir -p "$root"/{etc/ssl/certs,usr/bin,usr/share/doc,usr/lib,usr/lib64,run,var/lib/lowtide}
install -d -m 1777 "$root/tmp"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
install -m 755 "$@" "$root/usr/bin/"

curl=$(ldconfig -p | sed -nE 's/.*libcurl\.so\.4 .*=> //p' | head -n 1)
[ -n "$curl" ] || { echo "image.sh: no libcurl.so.4" >&2; exit 1; }
for library in "$curl" $(ldd "$@" "$curl" | grep -oE '/[^ ]+\.so[^ ]*' | grep -v ':$' | sort -u); do
	folder=$(readlink -f "$(dirname "$library")")
	mkdir -p "$root$folder"
	cp -L "$library" "$root$folder/"
	real=$(readlink -f "$library")
	package=$(dpkg -S "$real" "${real#/usr}" 2>/dev/null | sed 's/:.*//' | head -n 1 || true)
	[ -n "$package" ] || continue
	mkdir -p "$root/usr/share/doc/$package"
	cp -L "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
done
if ldd "$@" "$curl" | grep 'not found'; then exit 1; fi

cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp -a /usr/share/zoneinfo "$root/usr/share/"
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"
echo 'lowtide:x:65532:65532::/:/nonexistent' > "$root/etc/passwd"
echo 'lowtide:x:65532:' > "$root/etc/group"
