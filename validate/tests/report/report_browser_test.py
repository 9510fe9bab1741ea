#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report's page in headless Chromium, driven over its debugging pipe: it renders, draws its charts, filters as one types,
fits a phone, says nothing on the console and asks nothing of a network.
  report_browser_test.py VALIDATE RECORDS... [--screenshots FOLDER] [--charts COUNT] [--sections NAMES, by commas: that must be there]
Exit code 77: there is no Chromium here."""
import base64, json, os, shutil, subprocess, sys, tempfile, time

arguments = sys.argv[1:]
def option(name, default):
    if name not in arguments: return default
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value
screenshots = option("--screenshots", None)
expected_charts = int(option("--charts", "4"))
sections = [name for name in option("--sections", "").split(",") if name]
validate, *records = arguments

browser = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
if not browser:
    print("skipped: no Chromium on this machine")
    sys.exit(77)
failures = []
def check(what, ok, got=""):
    if not ok: failures.append(f"FAILED  {what}: {got}")

tmp = tempfile.mkdtemp()
page = os.path.join(tmp, "report.html")
subprocess.run([validate, "report", *records, "-o", page], check=True, stdout=subprocess.DEVNULL)
check("the page's size", os.path.getsize(page) <= 1_500_000, os.path.getsize(page))

to_browser, our_out = os.pipe()
our_in, from_browser = os.pipe()
# The browser reads commands from descriptor 3 and writes to 4.
def places():
    a, b = os.dup(to_browser), os.dup(from_browser)
    spare_a, spare_b = (os.dup(a), os.dup(b))
    os.dup2(spare_a, 3), os.dup2(spare_b, 4)
process = subprocess.Popen([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                            "--no-first-run", "--disable-background-networking", f"--user-data-dir={tmp}/profile", "about:blank"],
                           preexec_fn=places, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.close(to_browser), os.close(from_browser)
pending, events, number = b"", [], 0

def receive():
    global pending
    while b"\0" not in pending:
        part = os.read(our_in, 1 << 20)
        if not part: raise RuntimeError("the browser ended")
        pending += part
    message, pending = pending.split(b"\0", 1)
    return json.loads(message)

def send(method, session=None, **parameters):
    global number
    number += 1
    mine = number
    message = {"id": mine, "method": method, "params": parameters}
    if session: message["sessionId"] = session
    os.write(our_out, json.dumps(message).encode() + b"\0")
    while True:
        answer = receive()
        if answer.get("id") == mine:
            if "error" in answer: raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]
        events.append(answer)

try:
    target = send("Target.createTarget", url="about:blank")["targetId"]
    session = send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network", "Performance"): send(domain + ".enable", session)
    def value(expression):
        result = send("Runtime.evaluate", session, expression=expression, returnByValue=True)
        if "exceptionDetails" in result: raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")
    def view(width, height=900):
        send("Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
    def shot(name):
        if not screenshots: return
        os.makedirs(screenshots, exist_ok=True)
        with open(os.path.join(screenshots, name), "wb") as out:
            out.write(base64.b64decode(send("Page.captureScreenshot", session, format="png")["data"]))
    def visible(): return value("[...document.querySelectorAll('#tables tbody tr')].filter((e) => e.offsetParent).length")

    def press_enter():
        for kind in ("keyDown", "keyUp"): send("Input.dispatchKeyEvent", session, type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")

    view(1280)
    send("Page.setLifecycleEventsEnabled", session, enabled=True)
    start = time.time()
    loader = send("Page.navigate", session, url="file://" + page)["loaderId"]
    def is_load(e): return e.get("method") == "Page.lifecycleEvent" and (e["params"]["name"], e["params"]["loaderId"]) == ("load", loader)
    while not any(is_load(e) for e in events): events.append(receive())
    opened = time.time() - start  # told, not judged: what it asks of a browser is counted
    check("it is ready once it is loaded", value("document.documentElement.dataset.ready") == "yes")
    work = {m["name"]: m["value"] for m in send("Performance.getMetrics", session)["metrics"]}
    check("times that it was laid out by then", work["LayoutCount"] <= 20, work["LayoutCount"])
    check("nodes", work["Nodes"] <= 150_000, work["Nodes"])
    charts = int(value("document.documentElement.dataset.charts") or 0)
    if value("typeof Chart") == "undefined": check("why there are no charts", "without Chart.js" in value("document.getElementById('nocharts').innerText"))
    else: check("charts", charts >= expected_charts, charts)
    drawn = value("[...document.querySelectorAll('canvas')].filter((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v)).length")
    check("charts that are not blank", drawn == charts, drawn)
    check("the verdict", len(value("document.getElementById('verdict').textContent") or "") > 10)
    rows = value("data.rows.length")
    check("rows shown", visible() == rows and rows > 0, f"{visible()} of {rows}")

    # Every section that was asked for is there, with a line for each of its data; what is long is folded.
    def lines_of(section): return value(f"document.querySelectorAll('#{section} tbody tr:not([hidden])').length")
    def data_of(section): return "data.suites.flatMap((s) => s.lines)" if section == "suites" else f"data.{section}"
    for section in sections:
        check(f"the section '{section}'", value(f"document.getElementById('{section}').offsetParent") is not None)
        expected = value(data_of(section) + ".length")
        check(f"lines of '{section}'", lines_of(section) == expected > 0, f"{lines_of(section)} of {expected}")
    folded = [name for name in ("resources", "profiles") if name in sections]
    for section in folded:
        check(f"'{section}' is folded", value(f"[...document.querySelectorAll('#{section} details')].every((e) => !e.open)"))
    if "suites" in sections:
        bare = value("[...document.querySelectorAll('#suites tbody tr')].filter((tr) => tr.row.us != null && !tr.textContent.includes(short(tr.row.us))).length")
        check("lines without the time of ours", bare == 0, bare)
        check("times from elsewhere that are marked", value("document.querySelector('#suites tbody').textContent.split('†').length") > 2)
        runs = value("[...document.querySelectorAll('.group tbody tr')].filter((tr) => tr.row.run !== undefined && !/R[0-9]+/.test(tr.textContent)).length")
        check("rows that do not say of which run they are", runs == 0, runs)

    # The filters, by hand: a word typed, then an op chosen.
    word = value("data.rows[0].kernel")
    expected = value(f"data.rows.filter((r) => `${{r.op}} ${{r.kernel}} ${{r.dtype}} ${{r.shape}}`.includes({json.dumps(word)})).length")
    value("document.getElementById('text').focus()")
    send("Input.insertText", session, text=word)
    check(f"rows with '{word}' typed", visible() == expected, f"{visible()} of {expected}")
    def type_in(text): value(f"document.getElementById('text').value = {json.dumps(text)}; document.getElementById('text').dispatchEvent(new Event('input'))")
    type_in("")
    op = value("data.ops.at(-1)")
    value(f"document.getElementById('op').value = {json.dumps(op)}; document.getElementById('op').dispatchEvent(new Event('input'))")
    expected = value(f"data.rows.filter((r) => r.op === {json.dumps(op)}).length")
    check(f"rows of '{op}'", visible() == expected, f"{visible()} of {expected}")
    for section in sections:
        expected = value(f"{data_of(section)}.filter((r) => r.op === {json.dumps(op)}).length")
        check(f"lines of '{op}' in '{section}'", lines_of(section) == expected, f"{lines_of(section)} of {expected}")
    type_in("no such kernel")
    for section in ["rows", *sections]:
        check(f"'{section}' without a line that fits", value(f"document.getElementById('{section}').hidden"))
    type_in("")
    value("document.getElementById('op').value = ''; document.getElementById('op').dispatchEvent(new Event('input'))")
    for section in ["rows", *sections]: check(f"'{section}' again, without a filter", not value(f"document.getElementById('{section}').hidden"))
    for section in folded:  # the keyboard opens what is folded
        value(f"document.querySelector('#{section} summary').focus()")
        press_enter()
        check(f"'{section}' opened by Enter", value(f"document.querySelector('#{section} details').open"))
    # Keys alone reach a heading and sort by it.
    value("document.querySelector('#tables th:nth-child(5) button').focus()")
    press_enter()
    check("a column sorted by Enter", value("document.querySelector('#tables th:nth-child(5)').getAttribute('aria-sort')") == "ascending")
    times = value("[...document.querySelectorAll('#tables table')[0].tBodies[0].rows].map((tr) => tr.row.us)")
    check("times in order", times == sorted(times), times[:5])

    for width in (390, 1280):
        view(width, 844)
        wide = value("document.documentElement.scrollWidth")
        check(f"no sideways scrolling at {width} px", wide <= width, f"{wide} px wide")
    for width in (390, 1280):
        view(width, 900)
        value("scrollTo(0, 0)")
        shot(f"report_{width}.png")
        for section in ["rows", *sections]:
            value(f"document.querySelector('#{section}').scrollIntoView()")
            shot(f"report_{width}_{section}.png")
    send("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": "dark"}])
    view(1280)
    value("document.querySelector('#charts').scrollIntoView()")
    shot("report_1280_dark.png")
    dark = value("getComputedStyle(document.body).backgroundColor")
    check("a dark page where one is asked for", dark == "rgb(20, 23, 26)", dark)

    asked = [e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent"]
    check("requests but the page itself", [u for u in asked if u != "file://" + page and not u.startswith("data:")] == [], asked)
    said = [e["params"] for e in events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]
    check("a quiet console", said == [], json.dumps(said)[:600])
    print(f"{rows} rows, {charts} charts, {os.path.getsize(page) // 1000} kB, ready in {opened:.2f} s")
finally:
    process.kill()
    process.wait()
    shutil.rmtree(tmp, ignore_errors=True)
print("\n".join(failures) if failures else "the page is as it should be")
sys.exit(1 if failures else 0)
