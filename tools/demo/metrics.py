"""Metrics: requests and latencies of the services, their hosts, databases, queues and payments.

A day of them is imported as NDJSON; afterwards the same series go on every few seconds. Products are
a metric with many series.
"""

import json
import math
from concurrent.futures import ThreadPoolExecutor

from story import BAD_DEPLOY, DAY_SECONDS, INDEXER_STUCK, MINUTE, REGIONS, ROLLBACK, ROUTES, iso

BODY_BYTES = 4 << 20
# Seconds between two samples of a series while the demo runs.
LIVE_SECONDS = 5
FULL_HOST = "search-us-1"
STAGING = {"host": "staging-1", "region": "eu-west", "service": "staging"}
# Requests a second of a route, its milliseconds, and the share of requests that fail without a cause.
TRAFFIC = {
    "/": (6.0, 70),
    "/products": (4.0, 110),
    "/products/:id": (9.0, 90),
    "/cart": (1.5, 80),
    "/v1/products": (11.0, 35),
    "/v1/cart": (3.0, 28),
    "/v1/account": (1.2, 45),
    "/orders": (0.7, 260),
    "/quote": (1.4, 120),
    "/search": (5.0, 60),
    "/suggest": (8.0, 18),
}
FAILURES = 0.002


class Series:
    """One series: the text before the value of its samples, and the function that draws the values."""

    def __init__(self, name, kind, tags, draw, step=MINUTE):
        head = json.dumps({"name": name, "type": kind, "tags": tags})
        self.head = head[:-1] + ', "value": '
        self.draw = draw
        self.step = step

    def lines(self, time, seconds, numbers):
        """Returns the samples of the `seconds` up to a time, one per line."""
        stamp = f', "timestamp": "{iso(time)}"}}\n'
        return [f"{self.head}{value}{stamp}" for value in self.draw(time, seconds, numbers)]


class Metrics:
    """All series of the company."""

    def __init__(self, demo):
        self.api = demo.api
        self.story = demo.story
        self.numbers = self.story.random("metrics")
        self.series = [*self._requests(), *self._hosts(), *self._stores(), *self._payments()]
        self.products = self._products()

    def fill(self):
        """Imports a day, and returns what was imported."""
        story, samples, bodies = self.story, 0, []
        with ThreadPoolExecutor(1) as sender:
            for body in self._bodies():
                samples += body.count("\n")
                bodies.append(sender.submit(self._import, body))
                if len(bodies) > 2:
                    bodies.pop(0).result()
            for body in bodies:
                body.result()
        count = len(self.series) + len(self.products)
        return f"{samples:,} samples of {count:,} series over a day to {iso(story.now)}"

    def live(self, time):
        """Sends the samples of one second: each series has its turn every few seconds."""
        turn = int(time) % LIVE_SECONDS
        lines = []
        for series in self.series[turn::LIVE_SECONDS]:
            lines += series.lines(time, LIVE_SECONDS, self.numbers)
        for series in self.numbers.sample(self.products, min(3, len(self.products))):
            lines += series.lines(time, len(self.products) // 3, self.numbers)
        self._import("".join(lines))

    def _bodies(self):
        story, lines, size = self.story, [], 0
        for series in self.series + self.products:
            step = max(1, round(series.step / story.scale))
            for ago in reversed(range(0, DAY_SECONDS, step)):
                lines += series.lines(story.now - ago, step, self.numbers)
            size += sum(map(len, lines[-1:])) * (DAY_SECONDS // step)
            if size > BODY_BYTES:
                yield "".join(lines)
                lines, size = [], 0
        yield "".join(lines)

    def _import(self, body):
        if body:
            result = self.api.send_bytes("POST", "/api/v1/import", body.encode(), "application/x-ndjson")["data"]
            if result["rejected"]:
                raise ValueError(f"samples were rejected: {result['errors'][:1]}")

    def _requests(self):
        for service, routes in ROUTES.items():
            for route in routes:
                for region in REGIONS:
                    tags = {"service": service, "region": region, "route": route}
                    for status in ("2xx", "4xx", "5xx"):
                        draw = self._request_counts(service, route, region, status)
                        yield Series("http.requests", "counter", {**tags, "status": status}, draw)
                    yield Series("http.latency_ms", "distribution", tags, self._latencies(service, route, region))

    def _request_counts(self, service, route, region, status):
        story, rate = self.story, TRAFFIC[route][0]

        def draw(time, seconds, numbers):
            failures = FAILURES
            if service == "checkout":
                failures += 0.14 * story.trouble(time, region)
            share = {"2xx": 0.975 - failures, "4xx": 0.025, "5xx": failures}[status]
            count = _count(rate * story.load(time, region) * seconds * share, numbers)
            return (count,) if count else ()

        return draw

    def _latencies(self, service, route, region):
        story, usual = self.story, TRAFFIC[route][1] * {"eu-west": 1.0, "us-east": 1.15, "ap-south": 1.6}[region]

        def draw(time, seconds, numbers):
            slower = 1 + 0.3 * story.load(time, region)
            if service in ("checkout", "web"):
                slower *= 1 + story.trouble(time, region) * (7 if service == "checkout" else 0.5)
            count = max(1, min(4, seconds // 15))
            return [round(usual * slower * math.exp(numbers.gauss(0, 0.4)), 1) for _ in range(count)]

        return draw

    def _hosts(self):
        for host in self.story.hosts + [STAGING]:
            for name, draw, step in (
                ("host.cpu_percent", self._cpu(host), 10),
                ("host.memory_percent", self._memory(host), MINUTE),
                ("host.disk_percent", self._disk(host), MINUTE),
                ("host.load", self._host_load(host), MINUTE),
            ):
                yield Series(name, "gauge", host, draw, step)
            for direction, bytes_per_second in (("in", 90_000), ("out", 260_000)):
                draw = self._traffic(host, bytes_per_second)
                yield Series("host.network_bytes", "counter", {**host, "direction": direction}, draw)

    def _cpu(self, host):
        story, region, base = self.story, host["region"], self.numbers.uniform(8, 18)
        share = REGIONS[region][1]

        def draw(time, _seconds, numbers):
            busy = 97 if host is STAGING else base + 24 * story.load(time, region) / share
            if host["service"] == "checkout":
                busy += 20 * story.trouble(time, region)
            return (round(min(max(busy + numbers.gauss(0, 2.5), 1), 100), 1),)

        return draw

    def _memory(self, host):
        story, region, base = self.story, host["region"], self.numbers.uniform(36, 58)

        def draw(time, _seconds, numbers):
            leaked, ago = 0.0, story.now - time
            if host["service"] == "checkout" and ROLLBACK < ago < BAD_DEPLOY:
                leaked = 30 * (BAD_DEPLOY - ago) / (BAD_DEPLOY - ROLLBACK)
            return (round(min(base + 5 * story.load(time, region) + leaked + numbers.gauss(0, 0.6), 99), 1),)

        return draw

    def _disk(self, host):
        story, base = self.story, self.numbers.uniform(31, 68)

        def draw(time, _seconds, numbers):
            if host["host"] == FULL_HOST:
                used = 93.5 - 19 * max(story.now - time, 0) / DAY_SECONDS
            else:
                used = base + 2 * (time % DAY_SECONDS) / DAY_SECONDS
            return (round(used + numbers.gauss(0, 0.1), 2),)

        return draw

    def _host_load(self, host):
        story, region = self.story, host["region"]

        def draw(time, _seconds, numbers):
            return (round(max(0.4 + 1.8 * story.load(time, region) + numbers.gauss(0, 0.2), 0.05), 2),)

        return draw

    def _traffic(self, host, bytes_per_second):
        story, region = self.story, host["region"]

        def draw(time, seconds, numbers):
            return (round(bytes_per_second * seconds * story.load(time, region) * numbers.uniform(0.85, 1.15)),)

        return draw

    def _stores(self):
        story = self.story

        def gauge(base, swing, noise, region):
            return lambda time, _seconds, numbers: (
                round(max(base + swing * story.load(time, region) + numbers.gauss(0, noise), 0), 1),
            )

        def queries(base, region):
            return lambda time, _seconds, numbers: (
                round(base * (1 + story.trouble(time, region)) * math.exp(numbers.gauss(0, 0.5)), 2),
            )

        def counter(rate, region):
            return lambda time, seconds, numbers: (_count(rate * seconds * story.load(time, region), numbers),)

        for region in REGIONS:
            for pool, base in (("orders", 8), ("catalogue", 14)):
                yield Series("db.connections", "gauge", {"pool": pool, "region": region}, gauge(base, 30, 1.5, region))
            for table, base in (("orders", 6.0), ("products", 2.2), ("stock", 3.1)):
                yield Series("db.query_ms", "distribution", {"table": table, "region": region}, queries(base, region))
            yield Series("cache.hits", "counter", {"region": region}, counter(120, region))
            yield Series("cache.misses", "counter", {"region": region}, counter(9, region))
            yield Series("search.index_age_seconds", "gauge", {"region": region}, self._index_age(region))
        for queue, swing in (("mail", 20), ("orders", 8), ("images", 90), ("search-index", 4), ("reports", 3)):
            yield Series("queue.depth", "gauge", {"queue": queue}, gauge(1, swing, swing / 5, "eu-west"))

    def _index_age(self, region):
        story = self.story

        def draw(time, _seconds, numbers):
            ago = story.now - time
            if region == "ap-south" and ago < INDEXER_STUCK:
                return (round(INDEXER_STUCK - ago),)
            return (round(time % 600 + numbers.uniform(0, 20)),)

        return draw

    def _payments(self):
        story = self.story

        def attempts(rate, outcome):
            def draw(time, seconds, numbers):
                trouble = sum(story.trouble(time, region) * share for region, (_, share) in REGIONS.items())
                share = {"paid": 0.93 - 0.4 * trouble, "declined": 0.05, "timeout": 0.02 + 0.4 * trouble}[outcome]
                traffic = sum(story.load(time, region) for region in REGIONS)
                count = _count(rate * seconds * traffic * share, numbers)
                return (count,) if count else ()

            return draw

        for provider, rate in (("cardlane", 0.4), ("paybird", 0.25), ("invoice", 0.06)):
            for outcome in ("paid", "declined", "timeout"):
                yield Series(
                    "payments.attempts", "counter", {"provider": provider, "outcome": outcome}, attempts(rate, outcome)
                )

    def _products(self):
        def views(popularity):
            return lambda _time, seconds, numbers: (_count(popularity * seconds / 600, numbers),)

        return [
            Series(
                "product.views",
                "counter",
                {"product": product["id"], "category": product["category"]},
                views(60 / (1 + rank) + 0.5),
                30 * MINUTE,
            )
            for rank, product in enumerate(self.story.products)
        ]


def _count(mean, numbers):
    """Returns a random count with this mean."""
    if mean < 10:
        limit, product, count = math.exp(-mean), numbers.random(), 0
        while product > limit:
            product *= numbers.random()
            count += 1
        return count
    return max(0, round(mean + math.sqrt(mean) * numbers.gauss(0, 1)))
