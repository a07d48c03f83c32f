#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML statement as Chromium shows it, where that is installed: at the
# widths of a phone, of A4 and of a laptop nothing is wider than its place, and
# the console stays empty. A page around it measures; the statement itself
# runs no script, which is tried too.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ]; then
	echo 'ok 1 - # SKIP no Chromium is installed: the statement was not looked at'
	echo '1..1'
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 HOME=$work
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
browse() { # browse OPTIONS...: what it prints; errors of its own are no matter
	timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
	    --user-data-dir="$work/profile" "$@" 2>"$work/errors"
}

# A page that has the statement in a frame of each width and tells of each what
# is too wide: the whole, what stands in no scrolling box, a figure in its tile.
measure() { # measure STATEMENT.html OPTIONS...
	local page=$work/measure.html text
	text=$(sed 's/&/\&amp;/g; s/"/\&quot;/g' "$1")
	shift
	{
		echo '<!DOCTYPE html><meta charset="utf-8"><body>'
		for width in 390 794 1280; do
			printf '<iframe width="%s" height="900" style="border:0" srcdoc="%s"></iframe>\n' $width "$text"
		done
		cat <<-'EOF'
			<script>
			onload = () => {
				const told = [];
				for (const frame of document.querySelectorAll("iframe")) {
					const page = frame.contentDocument, width = frame.contentWindow.innerWidth;
					const root = page.scrollingElement;
					if (root.scrollWidth > width)
						told.push(`WIDE at ${width}: the page, ${root.scrollWidth}`);
					for (const e of page.body.querySelectorAll("*")) {
						const box = e.getBoundingClientRect();
						if (!e.closest(".scroll *") && box.right > width + 0.5)
							told.push(`WIDE at ${width}: ${e.tagName}, ${box.right}`);
						if (e.matches(".tile *, .lead, h1, h2, p") && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
							told.push(`WIDE at ${width}: in ${e.tagName} ${e.textContent.slice(0, 40)}`);
					}
					if (page.querySelectorAll("table").length > 0)
						told.push(`MEASURED ${width} ${page.querySelectorAll("tr").length > 5}`);
				}
				document.body.replaceChildren(...told.map((t) => {
					const p = document.createElement("p");
					p.textContent = t;
					return p;
				}));
			};
			</script>
		EOF
	} >"$page"
	browse "$@" --window-size=1400,1000 --dump-dom "file://$page" | grep -oE '(WIDE|MEASURED)[^<]*'
}

for name in month open hostile many large money-less; do
	"$top/tests/fixtures/statement/make.pl" $name | "$build/tests/tools/draw_statement" >"$work/$name.html"
	got=$(measure "$work/$name.html")
	check "$name: it is measured at three widths" \
	    "$([ "$(grep -c '^MEASURED' <<<"$got")" = 3 ] || echo "got: $got")"
	check "$name: nothing is wider than its place" "$(grep '^WIDE' <<<"$got")"
	browse --enable-logging=stderr --dump-dom "file://$work/$name.html" >"$work/dom"
	check "$name: the console stays empty" "$(grep -a CONSOLE "$work/errors")"
	check "$name: nothing in it has run" "$(grep -oiE '<(script|img|iframe|object|link)[^>]*>| on[a-z]+="[^"]*"' "$work/dom")"
done

# Were a script in it, it would not run, and the console would say so.
sed 's|</main>|<script>document.title = "it ran"</script></main>|' "$work/month.html" >"$work/script.html"
browse --enable-logging=stderr --dump-dom "file://$work/script.html" >"$work/dom"
check 'a script in it would not run' "$(grep '<title>it ran' "$work/dom")"
check 'and the console would say so' "$(grep -qa 'CONSOLE.*Content Security Policy' "$work/errors" || echo 'nothing was said')"
# What is too wide is found.
sed 's|</main>|<p style="width:2000px">wide</p></main>|' "$work/month.html" >"$work/wide.html"
check 'what is too wide is found' "$(measure "$work/wide.html" | grep -q WIDE || echo 'nothing was found')"
browse --no-pdf-header-footer --print-to-pdf="$work/month.pdf" "file://$work/month.html"
check 'it prints' "$(head -c 5 "$work/month.pdf" 2>/dev/null | grep -q '%PDF-' || cat "$work/errors")"
echo "1..$n"
[ $bad -eq 0 ]
