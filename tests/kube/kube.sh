# shellcheck shell=bash
# For tests and the demo: starts a played Kubernetes API server and talks to it
# as its administrator, who is bound by no expired token. To be sourced.
#
#   k_up DIR [OPTION...]    starts it, sets KUBE to DIR, waits until it is ready
#   k_down                  ends it
#   k_get PATH              prints what it answers; so do the others
#   k_post PATH [FILE]      FILE: JSON, standard input without one
#   k_put PATH [FILE]
#   k_patch PATH TYPE JSON  TYPE: merge, strategic or json
#   k_delete PATH           with Background propagation
#   k_watch SECONDS PATH    the lines of a watch; PATH has its query
#   k_faults JSON           see faults.c
#   k_namespace NAME [managed]
#   k_job NAMESPACE NAME [JQ]   a Job, changed by a jq filter
#   k_jobs COUNT NAMESPACE [JQ]   many alike, with names of the server's
#   k_apply NAMESPACE NAME [JQ]   a Job like k_job's, as kubectl apply -f would
#                           have it once more: creates it, or patches where the
#                           file differs; prints nothing if it does nowhere
#   k_apply_there NAMESPACE NAME [JQ]   the same file by kubectl apply
#                           --server-side; K_FORCE=true: with --force-conflicts
#   k_pod NAMESPACE NAME [JQ]   a bare pod likewise
#   k_wait SECONDS PATH JQ  until a jq condition is true of the answer; on a busy
#                           machine, or under ASan, PATIENCE times as long
#   k_status ...            prints the HTTP status of any of the above
#
# As another user: K_AS=alice k_job ...; with lowtide's own token: K_TOKEN=token.
K_SERVER=${K_SERVER:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/tests/kube/server}
PATIENCE=${PATIENCE:-4}
K_JOBS=/apis/batch/v1/namespaces
K_CORE=/api/v1/namespaces

k_clock() { :; } # off: the server makes its certificates now; on: they are made
k_up() {
	KUBE=$1
	shift
	mkdir -p "$KUBE"
	rm -f "$KUBE/port"
	k_clock off
	LD_PRELOAD=${K_PRELOAD-} "$K_SERVER" "$KUBE" "$@" >"$KUBE/log" 2>&1 3>&- &
	echo $! >"$KUBE/pid"
	for _ in {1..200}; do
		[ -e "$KUBE/port" ] && break
		kill -0 "$(cat "$KUBE/pid")" 2>/dev/null || break
		sleep 0.05
	done
	[ -e "$KUBE/port" ] || { cat "$KUBE/log" >&2; return 1; }
	k_clock on
	K_URL=https://127.0.0.1:$(cat "$KUBE/port")
	export KUBE K_URL
}

k_down() {
	[ -e "$KUBE/pid" ] || return 0
	kill "$(cat "$KUBE/pid")" 2>/dev/null
	wait "$(cat "$KUBE/pid")" 2>/dev/null
	rm -f "$KUBE/pid"
}

k_curl() { # k_curl PATH [CURL-OPTION...]
	local path=$1 as=()
	shift
	[ -z "${K_AS-}" ] || as=(-H "Impersonate-User: $K_AS")
	curl -sS --cacert "$KUBE/ca.crt" "${as[@]}" \
	    -H "Authorization: Bearer $(cat "$KUBE/${K_TOKEN:-admin-token}")" \
	    ${K_CODE:+-o /dev/null -w '%{http_code}\n'} "$@" "$K_URL$path"
}

k_get() { k_curl "$1"; }
k_post() { k_curl "$1" -H 'Content-Type: application/json' --data-binary "@${2:--}"; }
k_put() { k_curl "$1" -X PUT -H 'Content-Type: application/json' --data-binary "@${2:--}"; }
k_delete() { k_curl "$1" -X DELETE -d '{"propagationPolicy":"Background"}' \
    -H 'Content-Type: application/json'; }
k_watch() { k_curl "$2&watch=true&timeoutSeconds=$1" -N; }
k_faults() { k_curl /faults -d "$1"; }
k_status() { K_CODE=1 "$@"; }

k_patch() {
	local type=$2
	case $type in
	merge) type=application/merge-patch+json ;;
	strategic) type=application/strategic-merge-patch+json ;;
	json) type=application/json-patch+json ;;
	esac
	k_curl "$1" -X PATCH -H "Content-Type: $type" -d "$3"
}

k_namespace() {
	jq -n --arg name "$1" --arg managed "${2:+true}" '{kind: "Namespace", apiVersion: "v1",
	    metadata: {name: $name, labels: (if $managed == "" then {}
		else {"lowtide.dev/managed": "true"} end)}}' | k_post /api/v1/namespaces
}

# What of a file is not so there; lists but for those of names are whole.
K_DIFFERS='def differs($file; $there):
    if ($file | type) == "object" and ($there | type) == "object" then
	reduce ($file | keys[]) as $k (null; differs($file[$k]; $there[$k]) as $d |
	    if $d == null then . else .[$k] = $d end)
    elif ($file | type) == "array" and ($file | all(.name? != null)) and $there then
	[$file[] as $one | differs($one; $there | map(select(.name == $one.name))[0]) |
	    select(.) | .name = $one.name] | if . == [] then null else . end
    elif $file == $there then null else $file end;'
K_TEMPLATE='{metadata: {annotations: {"test/run-seconds": "3"}}, spec: {restartPolicy: "Never",
    containers: [{name: "main", image: "played", resources: {requests: {cpu: "1", memory: "1Gi"}}}]}}'
k_job_file() {
	jq -n --arg name "$1" '{kind: "Job", apiVersion: "batch/v1", metadata: {name: $name},
	    spec: {template: '"$K_TEMPLATE"'}} | '"${2:-.}"
}
k_job() { k_job_file "$2" "${3:-.}" | k_post "$K_JOBS/$1/jobs"; }
k_apply() {
	local there patch
	there=$(k_get "$K_JOBS/$1/jobs/$2")
	if [ "$(jq -r .kind <<<"$there")" != Job ]; then
		k_job "$@"
		return
	fi
	patch=$(k_job_file "$2" "${3:-.}" | jq --argjson there "$there" "$K_DIFFERS"'differs(.; $there)')
	[ "$patch" == null ] || k_patch "$K_JOBS/$1/jobs/$2" strategic "$patch"
}
k_apply_there() {
	k_job_file "$2" "${3:-.}" | k_curl "$K_JOBS/$1/jobs/$2?fieldManager=${K_MANAGER:-kubectl}&force=${K_FORCE:-false}" \
	    -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary @-
}
k_jobs() {
	local url=$K_JOBS/$2/jobs
	jq -n '{kind: "Job", apiVersion: "batch/v1", metadata: {generateName: "many-"},
	    spec: {template: '"$K_TEMPLATE"'}} | '"${3:-.}" |
	    k_curl "$url?n=[1-$1]" -H 'Content-Type: application/json' --data-binary @- -o /dev/null
}
k_pod() {
	jq -n --arg name "$2" '{kind: "Pod", apiVersion: "v1"} + '"$K_TEMPLATE"' |
	    .metadata.name = $name | '"${3:-.}" | k_post "$K_CORE/$1/pods"
}

k_wait() {
	local until=$((SECONDS + PATIENCE * $1)) answer before=
	while [ $SECONDS -lt $until ]; do
		# Of no answer jq would be content; what was false of the same answer is false.
		answer=$(k_get "$2")
		[ "$answer" == "$before" ] ||
		    ! jq -es "length == 1 and (.[0] | ($3))" <<<"$answer" >/dev/null || return 0
		before=$answer
		sleep 0.1
	done
	k_get "$2" >&2
	return 1
}
