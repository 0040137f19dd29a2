"""Events: visits of customers from the first page to the order, deploys and nightly programs.

Orders are sent together with the metrics that follow from them, so that both agree.
"""

import heapq
import itertools

from story import CATEGORIES, DAY_SECONDS, DEPLOYS, MINUTE, REGIONS, SOURCES, iso

ITEMS_MAX = 500
VISITS = 14_000
QUERIES = (
    "tent",
    "tent 2 person",
    "down sleeping bag",
    "stove",
    "headlamp",
    "rain jacket",
    "backpack 60l",
    "tarp",
    "mat",
)
PAGES = ("/", "/products", "/sale", "/guides/first-night", "/about")


class Events:
    """The events of the company."""

    def __init__(self, demo):
        self.api = demo.api
        self.story = demo.story
        self.numbers = self.story.random("events")
        self.users = {region: [u for u in self.story.users if u["region"] == region] for region in REGIONS}
        self.order = 48_000
        # Items of visits that go on, by time; the number keeps equal times in order.
        self.upcoming = []
        self.tie = itertools.count()

    def fill(self):
        """Sends the events of a day, and returns what was sent."""
        story = self.story
        items = list(self._programs())
        for minute in range(DAY_SECONDS // MINUTE):
            time = story.begin + minute * MINUTE
            for region in REGIONS:
                # The incident is what a demo of any scale is looked at for, so its visits are all there.
                scale = 1 if story.trouble(time, region) else story.scale
                for _ in range(self._arrivals(time, region, MINUTE, scale)):
                    items += self._visit(time + self.numbers.uniform(0, MINUTE), region)
        items = [item for item in items if item[0] <= story.now]
        items.sort(key=lambda item: item[0])
        for first in range(0, len(items), ITEMS_MAX):
            self._send(items[first : first + ITEMS_MAX])
        events = sum(kind == "events" for _, kind, _ in items)
        orders = sum(item["name"] == "order.paid" for _, _, item in items)
        return f"{events:,} events of {len(story.users):,} customers, {orders:,} of them orders"

    def live(self, time):
        """Sends what happens in one second."""
        for region in REGIONS:
            for _ in range(self._arrivals(time, region, 1, 1)):
                for item in self._visit(time, region):
                    heapq.heappush(self.upcoming, (item[0], next(self.tie), item))
        due = []
        while self.upcoming and self.upcoming[0][0] <= time:
            due.append(heapq.heappop(self.upcoming)[2])
        self._send(due)

    def _send(self, items):
        if not items:
            return
        body = {"events": [], "metrics": []}
        for _, kind, item in items:
            body[kind].append(item)
        counts = self.api.post("/api/v1/telemetry/batch", body)["data"]
        if any(count["rejected"] for count in counts.values()):
            raise ValueError(f"events were rejected: {counts}")

    def _arrivals(self, time, region, seconds, scale):
        """Returns how many visits begin in some seconds."""
        mean = VISITS * scale * seconds / DAY_SECONDS * self.story.load(time, region)
        whole = int(mean)
        return whole + (self.numbers.random() < mean - whole)

    def _visit(self, time, region):
        """Returns the items of a visit as (time, kind, item)."""
        numbers = self.numbers
        user = numbers.choice(self.users[region])
        tags = {"region": region, "device": user["device"], "source": numbers.choice(SOURCES), "plan": user["plan"]}
        items = [(time, "metrics", _metric("shop.visitors", "set", user["id"], time, {"region": region}))]

        def event(name, properties, value=None):
            nonlocal time
            item = {"name": name, "timestamp": iso(time), "user_id": user["id"], "tags": tags, "properties": properties}
            items.append((time, "events", item if value is None else {**item, "value": value}))
            time += numbers.uniform(2, 40)

        for _ in range(numbers.choice((1, 1, 2, 3))):
            event("page.viewed", {"path": numbers.choice(PAGES), "browser": user["browser"][0]})
        if numbers.random() < 0.3:
            event("search.performed", {"query": numbers.choice(QUERIES), "results": numbers.randrange(0, 60)})
        product = None
        for _ in range(numbers.choice((0, 1, 1, 2, 3))):
            product = self.story.products[int(len(self.story.products) * numbers.random() ** 3)]
            event(
                "product.viewed", {"product": product["id"], "category": product["category"], "price": product["price"]}
            )
        if numbers.random() < 0.02:
            event("user.signed_up", {"plan": "member", "newsletter": numbers.random() < 0.4})
        if product and numbers.random() < 0.34:
            self._buy(event, items, region, product, lambda: time)
        return items

    def _buy(self, event, items, region, product, clock):
        """Adds the cart, the checkout and its outcome to a visit."""
        numbers, copies = self.numbers, self.numbers.choice((1, 1, 1, 2, 3))
        event("cart.added", {"product": product["id"], "category": product["category"], "copies": copies})
        if numbers.random() > 0.62:
            return
        total = round(product["price"] * copies + 4.9, 2)
        provider = numbers.choice(("cardlane", "cardlane", "cardlane", "paybird", "paybird", "invoice"))
        cart = {"items": copies, "total": total}
        event("checkout.started", {"cart": cart})
        when = clock()
        if numbers.random() < 0.07 + 0.5 * self.story.trouble(when, region):
            reason = "timeout" if self.story.trouble(when, region) > 0.1 else "declined"
            event("payment.failed", {"provider": provider, "reason": reason, "cart": cart}, total)
            return
        self.order += 1
        event(
            "order.paid",
            {
                "order": str(self.order),
                "cart": cart,
                "provider": provider,
                "product": product["id"],
                "voucher": numbers.choice(("", "", "", "WELCOME10", "TENT15")),
            },
            total,
        )
        tags = {"region": region, "category": product["category"]}
        items += [
            (when, "metrics", _metric("shop.orders", "counter", 1, when, tags)),
            (when, "metrics", _metric("shop.revenue", "counter", total, when, tags)),
            (when, "metrics", _metric("shop.basket_value", "distribution", total, when, {"region": region})),
        ]

    def _programs(self):
        """Returns the events of the company itself."""
        story = self.story
        for ago, service, version, person in DEPLOYS:
            time = story.now - ago
            properties = {
                "commit": f"{story.random(version).getrandbits(28):07x}",
                "author": person,
                "duration_seconds": 40 + ago % 50,
            }
            yield time, "events", _event("deploy.finished", time, {"service": service, "version": version}, properties)
        for hour in range(23, 0, -6):
            time = story.now - hour * 3600
            size = {"bytes": 7_400_000_000 + hour * 1_300_000}
            yield time, "events", _event("backup.finished", time, {"database": "orders"}, size)
        for category in CATEGORIES:
            time = story.now - 8 * 3600 - len(category) * 20
            yield (
                time,
                "events",
                _event("export.finished", time, {"category": category}, {"rows": 1000 + 97 * len(category)}),
            )


def _metric(name, kind, value, time, tags):
    return {"name": name, "type": kind, "value": value, "timestamp": iso(time), "tags": tags}


def _event(name, time, tags, properties):
    return {"name": name, "timestamp": iso(time), "tags": tags, "properties": properties}
