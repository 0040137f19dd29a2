"""Errors: groups with the stack traces of the company's code, through the protocol of Sentry's SDKs.

The frames lead to files of the repository of the demo, so that the server shows their lines.
"""

import json
import os

from error_groups import ALL_DAY, GROUPS
from story import iso

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shop")
EVENTS_PER_ENVELOPE = 100
# Occurrences a second, of all groups together, while the demo runs.
LIVE_RATE = 0.15
# The requests in which the errors of a service happen.
REQUESTS = {"checkout": ("POST", "/orders"), "web": ("GET", "/products"), "search": ("GET", "/search")}


class Errors:
    """The errors of the company."""

    def __init__(self, demo):
        self.api = demo.api
        self.story = demo.story
        self.numbers = self.story.random("errors")
        self.frames = {group.kind + group.message: _frames(group) for group in GROUPS}

    def fill(self):
        """Reports a day of errors, moves some groups, and returns what was reported."""
        counts = []
        for group in GROUPS:
            first, last = group.when
            count = max(2, round(group.count * self.story.scale))
            times = sorted(self.story.now - self.numbers.uniform(last, first) for _ in range(count))
            self._report([self._event(group, time) for time in times])
            counts.append(count)
        self._report_natively()
        for group in GROUPS:
            if group.move:
                self._move(group)
        return f"{len(GROUPS) + 1} groups of 2 to {max(counts):,} occurrences, some resolved, ignored, assigned, back"

    def live(self, time):
        """Reports what happens in one second."""
        if self.numbers.random() < LIVE_RATE:
            lively = [group for group in GROUPS if group.when == ALL_DAY]
            group = self.numbers.choices(lively, [group.count for group in lively])[0]
            self._report([self._event(group, time)])
        elif any(self.story.trouble(time, region) for region in ("eu-west", "us-east")):
            self._report([self._event(GROUPS[0], time)])

    def _report(self, events):
        """Sends envelopes, each with many events."""
        for first in range(0, len(events), EVENTS_PER_ENVELOPE):
            lines = ["{}"]
            for event in events[first : first + EVENTS_PER_ENVELOPE]:
                lines += ['{"type": "event"}', json.dumps(event)]
            body = "\n".join(lines).encode()
            self.api.send_bytes("POST", "/api/1/envelope/", body, "application/x-sentry-envelope")

    def _report_natively(self):
        """Reports errors of a program without an SDK."""
        for ago in (11 * 3600, 5 * 3600):
            self.api.post(
                "/api/v1/errors",
                {
                    "message": "cannot rotate the log of nginx: no space left on device",
                    "level": "warning",
                    "timestamp": iso(self.story.now - ago),
                    "server_name": "search-us-1",
                    "environment": "production",
                    "tags": {"program": "logrotate", "region": "us-east"},
                },
            )

    def _move(self, group):
        """Does with a group what the team has done."""
        verb, body = group.move
        found = self.api.get(f"/api/v1/errors?limit=100&search={group.kind}")["data"]
        error = next(
            error for error in found if error["title"].startswith(group.kind + ": ") and error["status"] == "unresolved"
        )
        path = f"/api/v1/errors/{error['id']}/"
        self.api.post(path + ("resolve" if verb == "regress" else verb), body)
        if verb == "regress":
            self._report([self._event(group, self.story.now - 60)])

    def _event(self, group, time):
        numbers, story = self.numbers, self.story
        user = numbers.choice(story.users)
        browser, version = user["browser"]
        product = numbers.choice(story.products)
        values = {
            "order": numbers.randrange(48_000, 52_000),
            "last4": numbers.randrange(1000, 10_000),
            "shard": numbers.randrange(8),
            "product": product["id"],
            "copies": numbers.randrange(8, 12),
            "client": f"203.0.113.{numbers.randrange(1, 30)}",
        }
        method, path = REQUESTS.get(group.service, ("", ""))
        frames = list(self.frames[group.kind + group.message])
        voucher = "SUMMER20" if group.kind == "KeyError" else numbers.choice(("", "WELCOME10", "TENT15"))
        frames[-1] = {
            **frames[-1],
            "vars": {"order": str(values["order"]), "voucher": voucher, "region": user["region"]},
        }
        return {
            "event_id": f"{numbers.getrandbits(128):032x}",
            "timestamp": iso(time),
            "platform": group.platform,
            "level": group.level,
            "environment": group.environment,
            "release": f"{group.service}@{story.release(time, group.service)}",
            "server_name": f"{group.service}-eu-{numbers.randrange(1, 3)}",
            "transaction": f"{method} {path}" if path else group.service,
            "user": {"id": user["id"], "email": user["email"], "username": user["name"]},
            "tags": {"service": group.service, "region": user["region"], "browser": browser, "device": user["device"]},
            "contexts": {"browser": {"name": browser, "version": version}, "runtime": {"name": group.platform}},
            **({"request": {"url": "https://harbor-pine.example" + path, "method": method}} if path else {}),
            "breadcrumbs": {"values": _breadcrumbs(time, product, group, numbers)},
            "exception": {
                "values": [
                    {
                        "type": group.kind,
                        "value": group.message.format(**values),
                        "mechanism": {"type": "generic", "handled": group.level != "fatal"},
                        "stacktrace": {"frames": frames},
                    }
                ]
            },
        }


def _breadcrumbs(time, product, group, numbers):
    """Returns what the customer did before an error."""
    steps = [
        ("navigation", "info", f"/products/{product['id']}"),
        ("http", "info", f"GET /v1/products/{product['id']} [200]"),
        ("ui.click", "info", "button.add-to-cart"),
        ("http", "info", "POST /v1/cart [200]"),
    ]
    if group.service == "checkout":
        steps += [("navigation", "info", "/cart"), ("log", "warning", "payment provider: attempt 2 of 3")]
    moment, crumbs = time - 2 * len(steps) * 4, []
    for category, level, message in steps:
        crumbs.append({"timestamp": iso(moment), "category": category, "level": level, "message": message})
        moment += numbers.uniform(1, 4)
    return crumbs


def _frames(group):
    """Returns the frames of a group: those of libraries, then those of files of the company."""
    frames = [
        {"filename": path, "function": function, "lineno": line, "in_app": False}
        for path, function, line in group.library
    ]
    for path, function, text in group.frames:
        base = "https://harbor-pine.example/assets" if group.platform == "javascript" else "/srv/shop"
        frames.append(
            {
                "filename": path,
                "abs_path": f"{base}/{path}",
                "function": function,
                "lineno": _line(path, text),
                "in_app": True,
            }
        )
    return frames


def _line(path, text):
    """Returns the number of the first line of a file that contains a text."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)
