#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the report's page in headless Chromium, driven over its debugging pipe: charts, folded tables, filters, a phone's width,
the page without JavaScript, an empty console and no requests to a network.
  report_browser_test.py VALIDATE RECORDS... [--screenshots FOLDER] [--charts COUNT] [--sections NAME,...: required ones]
    [--height PIXELS: the most at a width of 1280, all folded] [--bytes SIZE: the most]
Exit code 77: no Chromium here."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

arguments = sys.argv[1:]


def option(name, default):
    if name not in arguments:
        return default
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at : at + 2]
    return value


screenshots = option("--screenshots", None)
expected_charts = int(option("--charts", "4"))
sections = [name for name in option("--sections", "").split(",") if name]
most_pixels, most_bytes = int(option("--height", "6000")), int(option("--bytes", "1500000"))
NODES_A_LINE = 32  # of a table: up to 16 cells, each with its text
validate, *records = arguments

browser = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
if not browser:
    print("skipped: no Chromium on this machine")
    sys.exit(77)
failures = []


def check(what, ok, got=""):
    if not ok:
        failures.append(f"FAILED  {what}: {got}")


tmp = tempfile.mkdtemp()
page = os.path.join(tmp, "report.html")
subprocess.run([validate, "report", *records, "-o", page, "--partial"], check=True, stdout=subprocess.DEVNULL)
check("the page's size", os.path.getsize(page) <= most_bytes, os.path.getsize(page))

to_browser, our_out = os.pipe()
our_in, from_browser = os.pipe()


# The browser reads commands from descriptor 3 and writes to 4.
def places():
    a, b = os.dup(to_browser), os.dup(from_browser)
    spare_a, spare_b = (os.dup(a), os.dup(b))
    os.dup2(spare_a, 3)
    os.dup2(spare_b, 4)


process = subprocess.Popen(
    [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--remote-debugging-pipe",
        "--no-first-run",
        "--disable-background-networking",
        f"--user-data-dir={tmp}/profile",
        "about:blank",
    ],
    preexec_fn=places,
    close_fds=False,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
os.close(to_browser)
os.close(from_browser)
pending = b""
events = []
number = 0


def receive():
    global pending
    while b"\0" not in pending:
        part = os.read(our_in, 1 << 20)
        if not part:
            raise RuntimeError("the browser ended")
        pending += part
    message, pending = pending.split(b"\0", 1)
    return json.loads(message)


def send(method, session=None, **parameters):
    global number
    number += 1
    mine = number
    message = {"id": mine, "method": method, "params": parameters}
    if session:
        message["sessionId"] = session
    os.write(our_out, json.dumps(message).encode() + b"\0")
    while True:
        answer = receive()
        if answer.get("id") == mine:
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]
        events.append(answer)


try:
    target = send("Target.createTarget", url="about:blank")["targetId"]
    session = send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
        send(domain + ".enable", session)

    def value(expression):
        result = send("Runtime.evaluate", session, expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def view(width, height=900):
        send("Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def shot(name):
        if not screenshots:
            return
        os.makedirs(screenshots, exist_ok=True)
        with open(os.path.join(screenshots, name), "wb") as out:
            out.write(base64.b64decode(send("Page.captureScreenshot", session, format="png")["data"]))

    def press_enter():
        for kind in ("keyDown", "keyUp"):
            send("Input.dispatchKeyEvent", session, type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")

    def left(section):
        return value(f"document.querySelectorAll('#{section} tbody tr:not([hidden])').length")

    def total(section):
        return value(f"document.querySelectorAll('#{section} tbody tr').length")

    def shown(element):
        return value(f"document.querySelector('{element}')?.checkVisibility()")

    view(1280)
    send("Page.setLifecycleEventsEnabled", session, enabled=True)
    start = time.time()
    loader = send("Page.navigate", session, url="file://" + page)["loaderId"]

    def is_load(e):
        return e.get("method") == "Page.lifecycleEvent" and (e["params"]["name"], e["params"]["loaderId"]) == ("load", loader)

    while not any(is_load(e) for e in events):
        events.append(receive())
    opened = time.time() - start  # told, not judged: what it asks of a browser is counted
    check("it is ready once it is loaded", value("document.documentElement.dataset.ready") == "yes")
    work = {m["name"]: m["value"] for m in send("Performance.getMetrics", session)["metrics"]}
    check("times that it was laid out by then", work["LayoutCount"] <= 20, work["LayoutCount"])
    lines = value("document.querySelectorAll('tbody tr').length")
    check(f"nodes of {lines} lines", work["Nodes"] <= NODES_A_LINE * lines, work["Nodes"])
    charts = int(value("document.documentElement.dataset.charts") or 0)
    if value("typeof Chart") == "undefined":
        check("why there are no charts", "without Chart.js" in value("document.getElementById('nocharts').innerText"))
    else:
        check("charts", charts >= expected_charts, charts)
    drawn = value(
        "[...document.querySelectorAll('canvas')].filter((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v)).length"
    )
    check("charts that are not blank", drawn == charts, drawn)
    height = value("document.documentElement.scrollHeight")
    check(f"at most {most_pixels} px high, folded", height <= most_pixels, height)

    # The first screen has the verdict, four numbers and the ratios by op.
    check("the verdict", len(value("document.getElementById('verdict').textContent") or "") > 10)
    check("four numbers", value("[...document.querySelectorAll('.figure b')].filter((e) => e.textContent).length") == 4)
    for element in ("#verdict", ".figures", *(["#ops h2"] if "ranked" in sections else [])):
        check(
            f"{element} on the first screen",
            value(f"document.querySelector('{element}').getBoundingClientRect().bottom <= innerHeight"),
        )
    if "ranked" in sections:
        check(
            "a bar for every op",
            value("document.querySelectorAll('.ops li').length === new Set(data.sizes.map((d) => d[0])).size"),
        )

    # Every required section is there, has lines and is folded.
    for section in sections:
        check(f"the section '{section}'", shown(f"#{section} summary"))
        check(f"lines of '{section}'", left(section) == total(section) > 0, f"{left(section)} of {total(section)}")
        check(f"'{section}' is folded", shown(f"#{section} tbody tr") is False)
    if "suites" in sections:
        check(
            "times from elsewhere that are marked",
            value("document.querySelector('#suites tbody').textContent.split('†').length") > 2,
        )
    runs = value(
        "[...document.querySelectorAll('tbody tr[data-op]')].filter((tr) => tr.closest('table').textContent.includes('run') && !/R[0-9]+$/.test(tr.textContent.trim()) && !/\\(R[0-9]+\\)/.test(tr.closest('details').querySelector('summary').textContent) && tr.closest('details').id !== 'correctness').length"
    )
    check("rows that do not say of which run they are, nor the heading of their table", runs == 0, runs)

    # The filters: type a word, then choose an op.
    word = value("document.querySelector('#rows tbody tr').cells[1].textContent")
    expected = value(
        f"[...document.querySelectorAll('#rows tbody tr')].filter((tr) => tr.textContent.includes({json.dumps(word)})).length"
    )
    value("document.getElementById('text').focus()")
    send("Input.insertText", session, text=word)
    check(f"rows with '{word}' typed", left("rows") == expected, f"{left('rows')} of {expected}")
    check("the count beside the heading", value("document.querySelector('#rows output').textContent").startswith(f"{expected:,}"))

    def type_in(text):
        value(
            f"document.getElementById('text').value = {json.dumps(text)}; document.getElementById('text').dispatchEvent(new Event('input'))"
        )

    def choose(op):
        value(
            f"document.getElementById('op').value = {json.dumps(op)}; document.getElementById('op').dispatchEvent(new Event('input'))"
        )

    type_in("")
    op = value("document.getElementById('op').lastChild.value")
    choose(op)
    of_ops = [section for section in ["rows", *sections] if section != "runs"]  # the machine is there whatever is looked for
    for section in of_ops:
        expected = value(
            f"[...document.querySelectorAll('#{section} tbody tr')].filter((tr) => tr.dataset.op === {json.dumps(op)}).length"
        )
        check(f"lines of '{op}' in '{section}'", left(section) == expected, f"{left(section)} of {expected}")
    choose("")
    type_in("no such kernel")
    for section in of_ops:
        check(f"'{section}' without a line that fits", value(f"document.getElementById('{section}').hidden"))
    type_in("")
    for section in of_ops:
        check(f"'{section}' again, without a filter", not value(f"document.getElementById('{section}').hidden"))

    # The keyboard alone unfolds a section, reaches a column's heading and sorts by it.
    value("document.querySelector('#rows summary').focus()")
    press_enter()
    check("'rows' opened by Enter", shown("#rows tbody tr"))
    at = value("[...document.querySelectorAll('#rows th')].findIndex((th) => th.textContent === 'µs')")
    value(f"document.querySelectorAll('#rows th')[{at}].querySelector('button').focus()")
    press_enter()
    check(
        "a column sorted by Enter", value(f"document.querySelectorAll('#rows th')[{at}].getAttribute('aria-sort')") == "ascending"
    )
    times = value(
        f"[...document.querySelector('#rows table').tBodies[0].rows].map((tr) => parseFloat(tr.cells[{at}].textContent))"
    )
    check("times in order", times == sorted(times) and len(times) > 1, times[:5])

    # A click on a legend's entry hides its points.
    if value("document.querySelector('.legend button') !== null"):
        value("document.querySelector('.legend button').click()")
        check(
            "a legend's entry turned off",
            value("!charts[0].isDatasetVisible(0) && document.querySelector('.legend button').ariaPressed === 'false'"),
        )
        value("document.querySelector('.legend button').click()")

    value("for (const d of document.querySelectorAll('details')) d.open = true")
    for width in (390, 1280):
        view(width, 844)
        wide = value("document.documentElement.scrollWidth")
        check(f"no sideways scrolling at {width} px, unfolded", wide <= width, f"{wide} px wide")
    value("for (const d of document.querySelectorAll('details')) d.open = false")
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 26)")):
        send("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        got = value("getComputedStyle(document.body).backgroundColor")
        check(f"a {scheme} page where one is asked for", got == paper, got)
        for width in (390, 1280):
            view(width)
            value("scrollTo(0, 0)")
            view(width, value("document.documentElement.scrollHeight"))
            time.sleep(0.3 if screenshots else 0)
            shot(f"report_{width}_{scheme}.png")

    # Without JavaScript the verdict and every folded table are there.
    send("Emulation.setScriptExecutionDisabled", session, value=True)
    view(1280)
    loader = send("Page.navigate", session, url="file://" + page)["loaderId"]
    while not any(is_load(e) for e in events):
        events.append(receive())  # a node asked for before it may be the old page's

    def found(selector):
        return send(
            "DOM.querySelectorAll", session, nodeId=send("DOM.getDocument", session)["root"]["nodeId"], selector=selector
        )["nodeIds"]

    check(
        "lines without JavaScript",
        len(found("details.section tbody tr")) == lines,
        f"{len(found('details.section tbody tr'))} of {lines}",
    )
    box = send("DOM.getBoxModel", session, nodeId=found("#verdict")[0])
    check("the verdict without JavaScript", box["model"]["height"] > 10, box)

    asked = [e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent"]
    check("requests but the page itself", [u for u in asked if u != "file://" + page and not u.startswith("data:")] == [], asked)
    said = [
        e["params"]
        for e in events
        if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
    ]
    check("a quiet console", said == [], json.dumps(said)[:600])
    print(
        f"{lines} lines, {charts} charts, {height} px, {os.path.getsize(page) // 1000} kB, {work['Nodes']} nodes, ready in {opened:.2f} s"
    )
finally:
    process.kill()
    process.wait()
    shutil.rmtree(tmp, ignore_errors=True)
print("\n".join(failures) if failures else "the page is as it should be")
sys.exit(1 if failures else 0)
