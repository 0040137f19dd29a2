"""The company of the demo and its day: services, hosts, customers, traffic, deploys and an incident."""

import datetime
import functools
import math
import random

NAME = "Harbor & Pine"
DAY_SECONDS = 24 * 3600
MINUTE = 60

# Regions with the hours that their clocks differ from UTC, and their share of the customers.
REGIONS = {"eu-west": (1, 0.5), "us-east": (-5, 0.35), "ap-south": (5.5, 0.15)}
SHORT = {"eu-west": "eu", "us-east": "us", "ap-south": "ap"}
ROUTES = {
    "web": ("/", "/products", "/products/:id", "/cart"),
    "api": ("/v1/products", "/v1/cart", "/v1/account"),
    "checkout": ("/orders", "/quote"),
    "search": ("/search", "/suggest"),
}
HOSTS_PER_REGION = {"web": 2, "api": 2, "checkout": 2, "search": 1, "worker": 1}
CATEGORIES = ("tents", "sleeping bags", "packs", "stoves", "lamps", "clothing")

# Seconds before the start of the demo: the incident, its cause, and the other deploys.
INCIDENT_BEGIN, INCIDENT_END = 180 * MINUTE, 145 * MINUTE
BAD_DEPLOY, ROLLBACK = 190 * MINUTE, 148 * MINUTE
DEPLOYS = (
    (1370 * MINUTE, "web", "5.8.0", "mia"),
    (1100 * MINUTE, "search", "3.4.1", "tom"),
    (640 * MINUTE, "worker", "1.19.0", "ida"),
    (BAD_DEPLOY, "checkout", "2.31.0", "tom"),
    (ROLLBACK, "checkout", "2.30.4", "ida"),
    (50 * MINUTE, "web", "5.8.1", "mia"),
)
INDEXER_STUCK = 95 * MINUTE
# While the demo runs, checkout in one region is slow for a while again and again.
SURGE_REGION, SURGE_PERIOD, SURGE_SECONDS = "eu-west", 6 * MINUTE, 90

TEAM = ("mia.keller@example.com", "tom.okafor@example.com", "ida.lindqvist@example.com")
FIRST_NAMES = (
    "ada",
    "ben",
    "cleo",
    "dan",
    "elif",
    "finn",
    "gita",
    "hugo",
    "ines",
    "jon",
    "kira",
    "leo",
    "maya",
    "nils",
    "olga",
    "pia",
    "quinn",
    "ravi",
    "sara",
    "theo",
    "uma",
    "vera",
    "will",
    "yuki",
    "zoe",
)
LAST_NAMES = (
    "adler",
    "brown",
    "costa",
    "dubois",
    "eriksen",
    "fischer",
    "garcia",
    "haas",
    "ito",
    "jansen",
    "khan",
    "lopez",
    "moreau",
    "novak",
    "olsen",
    "patel",
    "quist",
    "rossi",
    "silva",
    "tanaka",
    "urban",
    "vogel",
    "weber",
    "yilmaz",
)
BROWSERS = (("Chrome", "142.0"), ("Safari", "19.1"), ("Firefox", "145.0"), ("Edge", "142.0"))
DEVICES = ("desktop", "desktop", "phone", "phone", "phone", "tablet")
SOURCES = ("search", "search", "direct", "newsletter", "ads", "blog")


@functools.lru_cache(maxsize=20_000)
def iso(seconds):
    """Formats a time as the API takes it."""
    text = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


class Story:
    """One day of the company up to `now`. The same seed gives the same day, moved by the clock."""

    def __init__(self, seed, scale, now):
        self.seed = seed
        self.scale = scale
        self.now = now
        self.begin = now - DAY_SECONDS
        names = self.random("users")
        self.users = [_user(names, number) for number in range(1200)]
        self.products = _products(self.random("products"), self.count(1000))
        self.hosts = [
            {"host": f"{service}-{SHORT[region]}-{number}", "region": region, "service": service}
            for region in REGIONS
            for service, count in HOSTS_PER_REGION.items()
            for number in range(1, count + 1)
        ]

    def random(self, area):
        """Returns the random numbers of an area, which no other area shares."""
        return random.Random(f"{self.seed}/{area}")

    def count(self, full):
        """Returns how many of something there are at the scale of the demo."""
        return max(2, round(full * self.scale))

    def load(self, time, region):
        """Returns the traffic of a region relative to its average: low at night, high in the evening."""
        offset, share = REGIONS[region]
        hour = time / 3600 + offset
        day = 1 + 0.7 * math.sin((hour - 11) / 24 * math.tau) + 0.2 * math.sin((hour - 16) / 12 * math.tau)
        return share * max(day, 0.1)

    def trouble(self, time, region):
        """Returns how bad checkout is, from 0 to 1: in the incident everywhere, later in one region."""
        ago = self.now - time
        if ago < 0:
            phase = -ago % SURGE_PERIOD
            return 0.8 if region == SURGE_REGION and 20 < phase < 20 + SURGE_SECONDS else 0.0
        rise = (INCIDENT_BEGIN - ago) / (4 * MINUTE)
        fall = (ago - INCIDENT_END) / (6 * MINUTE)
        return min(max(min(rise, fall), 0.0), 1.0)

    def release(self, time, service):
        """Returns the version of a service at a time."""
        ago = self.now - time
        versions = [version for since, name, version, _ in DEPLOYS if name == service and since >= ago]
        return (
            versions[-1]
            if versions
            else {"checkout": "2.30.4", "search": "3.4.0", "worker": "1.18.2"}.get(service, "5.7.3")
        )


def _user(numbers, number):
    first, last = numbers.choice(FIRST_NAMES), numbers.choice(LAST_NAMES)
    region = numbers.choices(list(REGIONS), [share for _, share in REGIONS.values()])[0]
    return {
        "id": f"u_{1000 + number}",
        "name": f"{first} {last}".title(),
        "email": f"{first}.{last}{number}@example.com",
        "region": region,
        "plan": numbers.choice(("guest", "guest", "member")),
        "device": numbers.choice(DEVICES),
        "browser": numbers.choice(BROWSERS),
    }


def _products(numbers, count):
    kinds = {
        "tents": "Tent",
        "sleeping bags": "Bag",
        "packs": "Pack",
        "stoves": "Stove",
        "lamps": "Lamp",
        "clothing": "Jacket",
    }
    products = []
    for number in range(count):
        category = CATEGORIES[number % len(CATEGORIES)]
        products.append(
            {
                "id": f"{kinds[category].lower()}-{100 + number}",
                "category": category,
                "price": round(numbers.lognormvariate(4, 0.7), 2),
            }
        )
    return products
