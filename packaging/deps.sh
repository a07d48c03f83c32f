#!/bin/bash
# Installs the Debian packages that building and testing need, if any is
# missing. Starts no service: while it installs, a policy-rc.d that forbids
# starts stands where there is none, and what systemd would enable is left
# disabled unless it was there before.
set -euo pipefail
packages=(gcc clang clang-format make pkg-config libc6-dev
	slurmctld slurmd slurmdbd slurm-client munge mariadb-server
	libslurm-dev slurm-wlm-basic-plugins-dev libmunge-dev
	libcurl4-openssl-dev libjansson-dev libyaml-dev libsqlite3-dev
	libmicrohttpd-dev nettle-dev libexpat1-dev libelf-dev zlib1g-dev libcmocka-dev bats jq man-db
	libclang-rt-14-dev pmccabe faketime sqlite3 xz-utils python3-jsonschema python3-aiosmtpd openssl curl prometheus
	iproute2)
missing=()
for p in "${packages[@]}"; do
	status=$(dpkg-query -W -f='${Status}' "$p" 2>/dev/null || true)
	[ "$status" = "install ok installed" ] || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0

# A Slurm from elsewhere is not to get Debian's beside it.
case " ${missing[*]} " in
*slurm*)
	for p in slurmctld slurmd; do
		at=$(PATH=$PATH:/usr/sbin command -v $p) || continue
		dpkg-query -S "$(realpath "$at")" >/dev/null 2>&1 || {
			echo "deps: $at is of no Debian package, and Debian's Slurm would be installed beside it." >&2
			echo "deps: for this Slurm see docs/install.md; missing: ${missing[*]}" >&2
			exit 1
		}
	done
	;;
esac

sudo=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || {
		echo "deps: missing ${missing[*]}; need root or sudo to install them" >&2
		exit 1
	}
	sudo=(sudo)
fi
echo "deps: installing ${missing[*]}"
rc=/usr/sbin/policy-rc.d
made=
if [ ! -e $rc ]; then
	printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $rc >/dev/null
	"${sudo[@]}" chmod 755 $rc
	made=1
fi
trap '[ -n "$made" ] && "${sudo[@]}" rm -f $rc' EXIT
services=(mariadb munge slurmctld slurmd slurmdbd prometheus)
before=()
for s in "${services[@]}"; do
	[ -e "/etc/systemd/system/multi-user.target.wants/$s.service" ] && before+=("$s")
done
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive sh -c '
	apt-get install -y --no-install-recommends "$@" ||
	{ apt-get update && apt-get install -y --no-install-recommends "$@"; }
' deps "${missing[@]}" >/tmp/lowtide-deps.$$ 2>&1 || {
	tail -n 20 /tmp/lowtide-deps.$$ >&2
	rm -f /tmp/lowtide-deps.$$
	exit 1
}
rm -f /tmp/lowtide-deps.$$
for s in "${services[@]}"; do
	case " ${before[*]-} " in
	*" $s "*) ;;
	*) "${sudo[@]}" rm -f "/etc/systemd/system/multi-user.target.wants/$s.service" ;;
	esac
done
