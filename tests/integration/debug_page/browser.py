# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Opens /debug in headless Chromium, at two widths, in light and dark, and checks what a reader would notice.

    browser.py CHROMIUM URL FOLDER

Prints one line for each fault, and exits with 1 if there is any: an error in the console, a request to another host, a
page or a table that is wider than its room, a page that does not update itself, or one that does not say so when it
cannot. FOLDER gets a screenshot of each view. It speaks the DevTools protocol over a pipe, so that it needs no package.
"""
import base64
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import urllib.parse

LIMIT = 120  # seconds for all of it

# What the page looks like, as one object. The first list has elements that are wider than their room and do not scroll;
# `scrolling` is the number of tables that do.
LOOK = """(() => {
  const wide = [...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, pre, svg") &&
      e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 80));
  const scrolling = [...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth).length;
  return {wide, scrolling, width: document.documentElement.scrollWidth, room: document.documentElement.clientWidth,
          state: document.getElementById("state").textContent, sections: document.querySelectorAll("section").length,
          rows: document.querySelectorAll("tbody tr").length, lines: document.querySelectorAll("polyline").length,
          injected: window.injected === true, dark: getComputedStyle(document.body).backgroundColor};
})()"""


class Browser:
    def __init__(self, chromium, profile):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def pipes():
            # The protocol's descriptors are 3 and 4. First out of the way, in case the pipes have these numbers.
            reads, writes = os.dup2(to_browser, 63), os.dup2(from_browser, 64)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.events = []
        self._rest = b""
        self._number = 0
        self._deadline = time.monotonic() + LIMIT

    def _read(self):
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(0, self._deadline - time.monotonic()))[0]:
                sys.exit(f"the browser did not do its work within {LIMIT} s")
            more = os.read(self._in, 1 << 16)
            if not more:
                sys.exit("the browser ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, wanted):
        """Waits for an event for which `wanted` is true, and leaves it among the events."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                if wanted(event):
                    return
            seen = len(self.events)
            self.events.append(self._read())


def look(browser, url, width, scheme, picture, last):
    """The faults of one view. The last one loses its connection at the end."""
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    del browser.events[:]
    for domain in ("Runtime", "Log", "Network", "Page"):
        browser.call(domain + ".enable", session)
    browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1,
                 mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.navigate", session, url=url)
    browser.wait(lambda e: e.get("method") == "Page.loadEventFired")
    # The script asks for the page again: its second answer has arrived.
    asked = {}

    def is_update(event):
        if event.get("method") == "Network.requestWillBeSent" and event["params"].get("type") == "Fetch":
            asked[event["params"]["requestId"]] = True
        return event.get("method") == "Network.loadingFinished" and event["params"]["requestId"] in asked

    browser.wait(is_update)
    seen = browser.call("Runtime.evaluate", session, expression=LOOK, returnByValue=True)["result"]["value"]
    shot = browser.call("Page.captureScreenshot", session, captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": width, "height": browser.call(
                            "Page.getLayoutMetrics", session)["cssContentSize"]["height"], "scale": 1})
    with open(picture, "wb") as file:
        file.write(base64.b64decode(shot["data"]))
    faults = []
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            faults.append("exception: " + params["exceptionDetails"]["text"])
        if method == "Runtime.consoleAPICalled":
            faults.append(f"console: {params['args']}")
        if method == "Log.entryAdded":
            faults.append("console: " + params["entry"]["text"])
        if method == "Network.requestWillBeSent":
            place = urllib.parse.urlsplit(params["request"]["url"])
            if place.scheme != "data" and place.netloc != urllib.parse.urlsplit(url).netloc:
                faults.append("request to " + params["request"]["url"])
    if seen["width"] > seen["room"]:
        faults.append(f"the page is {seen['width']} pixels wide, of {seen['room']}")
    faults += ["too wide: " + each for each in seen["wide"]]
    if seen["scrolling"]:
        faults.append(f"{seen['scrolling']} tables are wider than their room")
    if seen["injected"]:
        faults.append("a name ran as a script")
    if seen["state"] != "updates every 5 s":
        faults.append("it does not update itself: " + seen["state"])
    if seen["sections"] < 7 or seen["rows"] < 10 or seen["lines"] < 1:
        faults.append(f"it is incomplete: {seen}")
    light = sum(int(part) for part in seen["dark"].strip("rgb()").split(",")) > 3 * 128
    if light != (scheme == "light"):
        faults.append("the background is " + seen["dark"])
    if last:
        faults += lose_connection(browser, session)
    browser.call("Target.closeTarget", targetId=target)
    return faults


def lose_connection(browser, session):
    """The faults of a page whose server is out of reach."""
    browser.call("Network.emulateNetworkConditions", session, offline=True, latency=0, downloadThroughput=0,
                 uploadThroughput=0)
    browser.wait(lambda e: e.get("method") == "Network.loadingFailed")
    state = browser.call("Runtime.evaluate", session, expression="document.getElementById('state').textContent",
                         returnByValue=True)["result"]["value"]
    return [] if state.startswith("not updated for ") else ["without a server its state is: " + state]


def main():
    chromium, url, folder = sys.argv[1:]
    faults = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(chromium, profile)
        views = [(width, scheme) for width in (400, 1280) for scheme in ("light", "dark")]
        try:
            for view in views:
                width, scheme = view
                picture = os.path.join(folder, f"debug-{width}-{scheme}.png")
                faults += [f"{width} {scheme}: {each}" for each in
                           look(browser, url, width, scheme, picture, last=view == views[-1])]
        finally:
            browser.process.terminate()
            browser.process.wait()
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
