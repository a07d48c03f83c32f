#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lowtide-notify against a real mail server (aiosmtpd) and a webhook that checks
# signatures by Python's own HMAC: each message once by each way, whatever they
# answer, and nothing of a message in a header or a shell.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=${BUILD:-$top/build}
case $bin in /*) ;; *) bin=$top/$bin ;; esac
work=$(mktemp -d)
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
equal() { # equal NAME GOT WANTED
	check "$1" "$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3"))"
}

exec 9> >(exec /usr/bin/python3 "$top/tests/golden/notify_server.py" "$work")
trap 'exec 9>&-; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -e "$work/ports" ] || sleep 0.1; done
read -r smtp http < "$work/ports"
spool=$work/spool
mkdir "$spool" "$work/state"
chmod 2770 "$spool"
printf 's3cret\n' > "$work/secret"
chmod 600 "$work/secret"
policy() { # policy LINE...: of notify:
	printf 'partitions: {}\nnotify:\n  spool: %s\n' "$spool" > "$work/policy.yaml"
	printf '  %s\n' "$@" >> "$work/policy.yaml"
}
mail="mail: {server: 'smtp://127.0.0.1:$smtp', from: lowtide@hpc.example.org}"
hook="webhook: {url: 'http://127.0.0.1:$http/in', secret_file: $work/secret}"
message() { # message ID KIND TO [TEXT]: TO as JSON; young
	jq -cn --arg id "$1" --arg kind "$2" --argjson to "$3" --arg text "${4:-One line.
}" --argjson now "$(date +%s)" '{id: $id, kind: $kind, made_utc_s: $now, to: $to,
		subject: ("lowtide: " + $id), text: $text}' > "$work/new"
	mv "$work/new" "$spool/$1.json"
}
once() { "$bin/lowtide-notify" --config "$work/policy.yaml" --state "$work/state" --once 2>> "$work/log"; }
files() { (cd "$work" && ls -d "$1".* 2>/dev/null | wc -l); }
header() { sed '1,/^$/d' "$work/mail.$2" | tr -d '\r' | sed '/^$/q' | sed -n "s/^$1: //p"; }

# ---- one mail, as it is to be ----
policy "$mail"
message moved-7-1 moved '["alice"]' $'caf\xc3\xa9 waits.\n.\nFrom here on\n'
once
equal 'a mail is sent' "$?" 0
equal 'once' "$(files mail)" 1
equal 'its envelope' "$(head -n 1 "$work/mail.1")" 'from=lowtide@hpc.example.org to=alice'
equal 'its headers' "$(for h in From To Subject Auto-Submitted X-Lowtide; do header $h 1; done)" \
    'lowtide@hpc.example.org
alice
lowtide: moved-7-1
auto-generated
moved'
check 'its Message-ID is by its id' "$(header Message-ID 1 | grep -vE '^<moved-7-1@[A-Za-z0-9.-]+>$')"
check 'its date is one' "$(date -d "$(header Date 1)" 2>&1 > /dev/null)"
equal 'its text, with a line of one dot' \
    "$(sed '1,/^$/d' "$work/mail.1" | tr -d '\r' | sed '1,/^$/d')" $'caf\xc3\xa9 waits.\n.\nFrom here on'
equal 'the spool is empty' "$(ls -A "$spool")" ''

# ---- never twice ----
message moved-7-1 moved '["alice"]'
once
equal 'the same id again is not sent' "$(files mail)" 1
equal 'and is removed' "$(ls -A "$spool")" ''

# ---- the server says no, for now ----
for mode in rcpt-451 data-451; do
	echo $mode > "$work/mode"
	message "later-$mode" moved '["alice"]'
	once
	equal "$mode: left for later" "$? $(files mail) $(ls "$spool")" "1 1 later-$mode.json"
	rm "$spool"/*
done
rm -f "$work/mode"
message again-1 moved '["alice"]'
( "$bin/lowtide-notify" --config "$work/policy.yaml" --state "$work/state" --retry 1s 2>> "$work/log" )
equal 'a process that has nothing left ends' "$? $(files mail)" '0 2'
echo data-451 > "$work/mode"
message again-2 moved '["alice"]'
"$bin/lowtide-notify" --config "$work/policy.yaml" --state "$work/state" --retry 1s 2>> "$work/log" &
pid=$!
for _ in $(seq 50); do grep -q 'not_sent id=again-2' "$work/log" && break; sleep 0.1; done
check 'two at once: one works' "$(once; [ $? -eq 1 ] || echo 'it did not refuse')"
rm "$work/mode"
wait "$pid"
equal 'it tries again by itself, and ends' "$? $(files mail)" '0 3'

# ---- one domain says no: each user's mails to it wait together ----
mails=$(files mail)
echo slow.example-451 > "$work/mode"
for i in $(seq -w 100); do message "u1000-ended-$i" ended '["a@slow.example"]'; done
message u1000-zz ended '["a@fast.example"]'
message u1001-ended-1 ended '["b@slow.example"]'
message zz-alert budget-alert '["o@slow.example", "o@fast.example"]'
: > "$work/tries"
once
equal 'the alert first, of each user one try there' "$(tr '\n' ' ' < "$work/tries")" \
    'o@slow.example o@fast.example a@slow.example b@slow.example a@fast.example '
equal 'what goes elsewhere is gone' "$(($(files mail) - mails)) $(ls "$spool" | wc -l)" '2 102'
rm "$work/mode"
once
equal 'and all that waited, once it says yes' "$(($(files mail) - mails)) $(ls "$spool" | wc -l)" '104 0'
for i in $(seq $((mails + 1)) $((mails + 104))); do rm "$work/mail.$i"; done

# ---- for good ----
echo rcpt-550 > "$work/mode"
message two-1 budget-alert '["nobody", "alice"]'
once
equal 'who is refused keeps nobody' "$? $(files mail) $(ls "$spool")" '0 4 '
check 'and is logged' "$(grep -q 'event=refused id=two-1 way=mail' "$work/log" || tail -n 3 "$work/log")"
rm "$work/mode"

# ---- nobody there ----
policy "mail: {server: 'smtp://127.0.0.1:1'}"
message away-1 moved '["alice"]'
message away-2 moved '["alice"]'
: > "$work/log"
once
equal 'no server: all is left' "$? $(ls "$spool" | wc -l)" '1 2'
equal 'and tried once, not each' "$(grep -c event=not_sent "$work/log")" 1
policy "$mail"
once
equal 'both when it is back' "$? $(files mail)" '0 6'

# ---- killed ----
echo slow > "$work/mode"
message killed-1 moved '["alice"]'
"$bin/lowtide-notify" --config "$work/policy.yaml" --state "$work/state" 2>> "$work/log" &
pid=$!
before=$(wc -l < "$work/tries")
for _ in $(seq 50); do [ "$(wc -l < "$work/tries")" -gt "$before" ] && break; sleep 0.1; done
{ kill -9 $pid && wait $pid; } 2> /dev/null
rm "$work/mode"
once
equal 'killed before it was taken: sent then, once' "$? $(files mail)" '0 7'
printf '2026-11-27T22:00:00Z half-a-lin' >> "$work/state/sent"
message killed-1 moved '["alice"]'
once
equal 'a torn line of what was sent harms nothing' "$? $(files mail)" '0 7'

# ---- webhook ----
policy "$mail" "$hook"
message alert-1 budget-alert '["alice"]' $'80 % are spent.\n'
message moved-8 moved '["alice"]'
once
equal 'an alert goes to both, a mail of a user to him only' "$? $(files mail) $(files hook)" '0 9 1'
equal 'signed, now' "$(head -n 1 "$work/hook.1")" 'POST /in signed=True fresh=True'
equal 'its body' "$(tail -n 1 "$work/hook.1" | jq -r '[.id, .kind, .subject, .text] | join("|")')" \
    'alert-1|budget-alert|lowtide: alert-1|80 % are spent.'
mails=$(files mail) hooks=$(files hook)
message digest-1 budget-digest '["alice"]'
message digest-2 budget-digest '[]'
once
equal 'a digest of one owner is mailed, that of the site posted' \
    "$? $(($(files mail) - mails)) $(($(files hook) - hooks))" '0 1 1'
for mode in http-500 http-302; do
	echo $mode > "$work/mode"
	message "alert-$mode" budget-alert '["alice"]'
	mails=$(files mail) hooks=$(files hook)
	once
	once
	equal "$mode: mailed once, posted again" \
	    "$? $(($(files mail) - mails)) $(($(files hook) - hooks))" '1 1 2'
	rm "$work/mode"
	once
	equal "$mode: and then it is gone" "$? $(ls "$spool")" '0 '
done
equal 'a redirect is not followed' "$(cat "$work"/hook.* | grep -c elsewhere)" 0
chmod 644 "$work/secret"
message open-1 budget-alert '[]'
once
check 'a secret that others may read signs nothing' "$(tail -n 5 "$work/log" | grep -q 'chmod 600' || tail -n 3 "$work/log")"
chmod 600 "$work/secret"
rm -f "$spool"/*

# ---- a command ----
cat > "$work/program" <<-END
	#!/bin/sh
	{ echo "args=\$#"; env | sort; cat; } > $work/ran
END
chmod 755 "$work/program"
policy "command: $work/program"
message run-1 moved '["alice", "bob@example.org"]' $'$(touch x); `touch y`\n'
FROM_OUTSIDE=1 once
equal 'a command: its text, its environment, no more' "$? $(grep -vE '^(PWD|OLDPWD|SHLVL|_)=' "$work/ran")" '0 args=0
LOWTIDE_NOTIFY_ID=run-1
LOWTIDE_NOTIFY_KIND=moved
LOWTIDE_NOTIFY_SUBJECT=lowtide: run-1
LOWTIDE_NOTIFY_TO=alice,bob@example.org
PATH=/usr/local/bin:/usr/bin:/bin
$(touch x); `touch y`'
printf '#!/bin/sh\nexit 3\n' > "$work/program"
message run-2 moved '["alice"]'
once
check 'one that fails is tried again' "$([ -e "$spool/run-2.json" ] && grep -q 'exit status 3' "$work/log" || tail -n 3 "$work/log")"
rm "$spool"/*

# ---- what nobody may send ----
policy "$mail"
mails=$(files mail)
i=0
while read -r line; do
	i=$((i + 1))
	jq -c "$line" <<< "{\"id\": \"bad-$i\", \"kind\": \"moved\", \"made_utc_s\": $(date +%s),
		\"to\": [\"alice\"], \"subject\": \"s\", \"text\": \"t\\n\"}" > "$spool/bad-$i.json"
done <<- 'END'
	.to = ["alice\r\nBcc: all@example.org"]
	.to = ["alice>\r\nRCPT TO:<bob"]
	.to = ["-oQ/tmp"]
	.to = ["alice,bob"]
	.to = "alice"
	.subject = "one\r\nBcc: bob"
	.subject = "one\u0007"
	.subject = ""
	.text = "a\u001b[2Jb\n"
	.text = "a\u0000b\n"
	.id = "another"
	.kind = "spam"
	del(.text)
	.text = ("x" * 5000)
END
printf '{' > "$spool/torn-1.json"
ln -s "$work/policy.yaml" "$spool/link-1.json"
head -c 40000 /dev/zero > "$spool/zeros-1.json"
: > "$work/log"
once
equal 'none of what is no message is sent' "$? $(($(files mail) - mails))" '0 0'
equal 'each is dropped and logged' "$(ls -A "$spool") $(grep -c event=dropped "$work/log")" " $((i + 3))"
chmod 2777 "$spool"
check 'a spool that all may enter is refused' \
    "$(once; tail -n 1 "$work/log" | grep -q 'chmod 2770' || tail -n 1 "$work/log")"
chmod 2770 "$spool"

# ---- bad starts ----
policy
check 'notify: without a way' "$(once; tail -n 1 "$work/log" | grep -q 'got none of mail, webhook and command' || tail -n 1 "$work/log")"
echo 'mode: observe' > "$work/policy.yaml"
check 'no notify: at all' "$(once; tail -n 1 "$work/log" | grep -q 'notify: missing' || tail -n 1 "$work/log")"
equal 'an option that is none' "$("$bin/lowtide-notify" --state 2>&1 > /dev/null | grep -c usage; "$bin/lowtide-notify" --retry never 2> /dev/null; echo $?)" $'1\n2'
echo "1..$n"
[ "$bad" -eq 0 ]
