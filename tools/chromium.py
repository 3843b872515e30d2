# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Headless Chromium by the DevTools protocol over a pipe, so that it needs no package."""

import base64
import json
import os
import select
import subprocess
import sys
import time

LIMIT = 120  # seconds for all that one browser does


class Browser:
    """A browser, until close(). `limit` is the time for all calls together, in seconds."""

    def __init__(self, chromium, profile, limit=LIMIT, arguments=()):
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
             "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--remote-debugging-pipe", *arguments],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.events = []
        self._rest = b""
        self._number = 0
        self._limit = limit
        self._deadline = time.monotonic() + limit

    def _read(self):
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(0, self._deadline - time.monotonic()))[0]:
                sys.exit(f"the browser did not do its work within {self._limit} s")
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

    def open(self, width, scheme):
        """Makes a page of that width and color scheme, "light" or "dark", and returns its session. `self.events` has
        what happens from here on."""
        self._target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        del self.events[:]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(domain + ".enable", session)
        self.call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        return session

    def navigate(self, session, url):
        """Loads the page, with its scripts and images."""
        del self.events[:]
        self.call("Page.navigate", session, url=url)
        self.wait(lambda event: event.get("method") == "Page.loadEventFired")

    def evaluate(self, session, expression):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", session, expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def screenshot(self, session, width, picture, most=1 << 14):
        """Writes the whole page, or its first `most` pixels, as PNG."""
        height = min(self.call("Page.getLayoutMetrics", session)["cssContentSize"]["height"], most)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.call("Page.captureScreenshot", session, captureBeyondViewport=True, clip=clip)
        with open(picture, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def complaints(self):
        """What the console says, and exceptions of scripts."""
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                yield "exception: " + params["exceptionDetails"]["text"]
            if method == "Runtime.consoleAPICalled":
                yield f"console: {params['args']}"
            if method == "Log.entryAdded":
                yield "console: " + params["entry"]["text"]

    def requests(self):
        """The addresses of what the page has asked for."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def close_page(self):
        self.call("Target.closeTarget", targetId=self._target)

    def close(self):
        self.process.terminate()
        self.process.wait()
