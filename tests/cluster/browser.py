#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A page as Chromium shows it: browser.py CHROMIUM FOLDER URL WIDTH...

Speaks its DevTools protocol by a pipe, and writes one JSON object a width:
what is too wide, what the console said, the accessibility tree's roles and
names, each place where Tab stops, whether what a key opened stays open over a
refresh, and the figures of <data> by the caption of their table. With SERVER
in the environment, that process is ended at last, and one more object has what
the page says then; with PICTURES, pictures of each width in that folder.
"""
import base64
import json
import os
import subprocess
import sys
import time

chromium, folder, url = sys.argv[1:4]
from_browser, its_out = os.pipe()
its_in, to_browser = os.pipe()


def pipes():  # the protocol is on 3 (in) and 4 (out), and either may be in the way
    ends = os.dup(its_in), os.dup(its_out)
    os.dup2(ends[0], 3)
    os.dup2(ends[1], 4)


browser = subprocess.Popen(
    [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
     "--hide-scrollbars", f"--user-data-dir={folder}/profile", "--remote-debugging-pipe"],
    preexec_fn=pipes, close_fds=False, stderr=subprocess.DEVNULL)
os.close(its_in)
os.close(its_out)
rest, told, last_id, session = b"", [], 0, None


def read():
    global rest
    while b"\0" not in rest:
        more = os.read(from_browser, 1 << 16)
        if not more:
            sys.exit("the browser ended")
        rest += more
    message, rest = rest.split(b"\0", 1)
    return json.loads(message)


def call(method, **params):
    global last_id
    last_id += 1
    asked = {"id": last_id, "method": method, "params": params}
    if session:
        asked["sessionId"] = session
    os.write(to_browser, json.dumps(asked).encode() + b"\0")
    while True:
        got = read()
        if got.get("id") == last_id:
            if "error" in got:
                sys.exit(f"{method}: {got['error']}")
            return got["result"]
        if got.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            told.append(json.dumps(got["params"])[:500])


def js(text):
    got = call("Runtime.evaluate", expression=text, returnByValue=True)
    if "exceptionDetails" in got:
        sys.exit(f"{text}: {got['exceptionDetails']}")
    return got["result"].get("value")


def until(text, what):
    for _ in range(300):
        if js(text):
            return
        time.sleep(0.1)
    sys.exit(f"not within 30 s: {what}")


def key(name, code, text=""):
    for kind in "keyDown", "keyUp":
        call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
             windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")


def tab_stops():
    stops = []
    for _ in range(60):
        key("Tab", 9)
        stop = js("""(() => { const e = document.activeElement; return e === document.body ? null :
            [e.tagName, (e.getAttribute("aria-label") || e.textContent).trim().slice(0, 60),
             getComputedStyle(e).outlineStyle !== "none"]; })()""")
        if stop is None or stop in stops:
            break
        stops.append(stop)
    return stops


def opens():  # the first table that is folded away, by Enter, and over a refresh
    js("document.querySelector('summary').focus()")
    key("Enter", 13, "\r")
    until("document.querySelector('details').open", "Enter opens a table")
    js("window.before = document.querySelector('details'); document.getElementById('again').click()")
    until("document.querySelector('details') !== window.before && "
          "!document.getElementById('again').hasAttribute('aria-disabled')", "a refresh")
    return js("document.querySelector('details').open && document.activeElement.tagName === 'SUMMARY'")


def figures():
    return js("""Object.fromEntries([...document.querySelectorAll("table")].map((t) => [t.caption.textContent,
        [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.querySelector("data") ?
            Number(c.querySelector("data").value) : c.textContent))]))""")


target = next(t for t in call("Target.getTargets")["targetInfos"] if t["type"] == "page")
session = call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
for domain in "Page", "Runtime", "Log", "Accessibility":
    call(domain + ".enable")
for width in map(int, sys.argv[4:]):
    told.clear()
    call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    call("Page.navigate", url=url)
    until("document.readyState === 'complete' && document.getElementById('time')"
          ".textContent.startsWith('As of')", "the page has its figures")
    tree = call("Accessibility.getFullAXTree")["nodes"]
    got = {
        "width": js("innerWidth"), "page": js("document.scrollingElement.scrollWidth"),
        "wide": js("""[...document.body.querySelectorAll("*")].filter((e) => !e.closest(".scroll *, .skip") &&
            e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML.slice(0, 80))"""),
        "roles": [[n["role"]["value"], n.get("name", {}).get("value", "")] for n in tree if not n["ignored"]],
        "stops": tab_stops(), "opens": opens(), "figures": figures(),
        "charts": js("""[...document.querySelectorAll("svg")].map((s) => [s.getAttribute("aria-label"),
            s.querySelectorAll(".value").length, [...s.querySelectorAll(".job-count")].map((t) => t.textContent)])"""),
        "text": js("document.body.innerText"), "console": list(told)}
    if "PICTURES" in os.environ:
        for scheme in "light", "dark":
            call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            png = call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            with open(f"{os.environ['PICTURES']}/{width}-{scheme}.png", "wb") as out:
                out.write(base64.b64decode(png))
    print(json.dumps(got), flush=True)
if "SERVER" in os.environ:
    os.kill(int(os.environ["SERVER"]), 15)
    js("document.getElementById('again').click()")
    until("document.querySelector('#errors p') && !document.getElementById('again').hasAttribute('aria-disabled')",
          "what is wrong")
    print(json.dumps({
        "errors": js("[...document.querySelectorAll('#errors p')].map((p) => p.textContent)"),
        "time": js("document.getElementById('time').textContent"),
        "tables": js("document.querySelectorAll('table').length")}))
session = None
call("Browser.close")
browser.wait(20)
