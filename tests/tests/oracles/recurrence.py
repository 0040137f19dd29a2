"""Occurrences of random recurrence rules as python-dateutil computes them, for comparison with the
module `platform::calendar`.

    recurrence.py RULES SEED [--all]

Prints one JSON object a line: the rule, the anchor (local time), the zone, the duration, and the
occurrences over three years as pairs of milliseconds since 1970. Without `--all` only the first few
occurrences and the last are printed, with the number and a hash of all. For a rule without
occurrences in the three years, `later` is the local start of the first one up to the year 2450, or
null.

dateutil evaluates the rule on naive local times. Each start, and each end (the local start plus the
duration), is then mapped to an instant: a time that a change of the offset skips by
`dateutil.tz.resolve_imaginary`, a time that occurs twice as the first of both. Occurrences that
begin at the same instant are one, which ends with the latest of them. Needs python-dateutil.
"""

import datetime as datetime_module
import itertools
import json
import random
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from dateutil import tz
from dateutil.rrule import rrulestr

ZONES = ["America/New_York", "Europe/London", "Australia/Lord_Howe", "Asia/Kathmandu"]
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
HORIZON = timedelta(days=3 * 365 + 1)
# The calendar repeats after 400 years, so a rule without an occurrence up to here has none, unless
# its interval skips centuries.
SEARCH_YEAR = 2450
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Half of the anchors are on these dates: changes of the offset in the zones above, and the ends of
# months and years.
DATES = [
    (2024, 2, 29), (2024, 3, 10), (2024, 3, 31), (2024, 10, 27), (2024, 11, 3), (2024, 12, 31),
    (2025, 1, 31), (2025, 3, 9), (2025, 3, 30), (2025, 4, 6), (2025, 10, 5), (2025, 12, 29),
    (2026, 1, 1), (2026, 3, 8), (2026, 3, 29), (2026, 10, 4), (2026, 10, 25), (2026, 11, 1),
    (2027, 1, 3), (2027, 3, 14), (2027, 3, 28), (2027, 4, 4), (2027, 10, 3), (2027, 10, 31),
]


def numbers(rng, low, high, most, signed=False):
    """Returns a list of distinct numbers as text."""
    count = rng.choice([1, 1, 1, 2, 3, most])
    chosen = {rng.randint(low, high) * (rng.choice([1, -1]) if signed else 1) for _ in range(count)}
    return ",".join(str(number) for number in rng.sample(sorted(chosen), len(chosen)))


def by_day(rng, frequency, by_month, by_week):
    """Returns a list of weekdays, numbered or not."""
    days = rng.sample(DAYS, rng.choice([1, 1, 2, 3, 5]))
    if frequency in ("DAILY", "WEEKLY") or by_week or rng.random() < 0.4:
        return ",".join(days)
    most = 5 if frequency == "MONTHLY" or by_month else 53
    return ",".join(f"{rng.choice([1, -1]) * rng.randint(1, most)}{day}" for day in days)


def by_parts(rng, frequency):
    """Returns the parts that select dates and times, by name."""
    names = ["BYMONTH", "BYDAY", "BYDAY"] + ["BYMONTHDAY"] * (frequency != "WEEKLY")
    names += ["BYWEEKNO", "BYYEARDAY"] * (frequency == "YEARLY")
    chosen = set(rng.sample(names, rng.choice([0, 1, 1, 1, 2, 2, min(3, len(names))])))
    parts = {}
    if "BYMONTH" in chosen:
        parts["BYMONTH"] = numbers(rng, 1, 12, 6)
    if "BYWEEKNO" in chosen:
        parts["BYWEEKNO"] = numbers(rng, 1, 53, 20, signed=True)
    if "BYYEARDAY" in chosen:
        parts["BYYEARDAY"] = numbers(rng, 1, 366, 40, signed=True)
    if "BYMONTHDAY" in chosen:
        parts["BYMONTHDAY"] = numbers(rng, 1, 31, 15, signed=True)
    if "BYDAY" in chosen:
        parts["BYDAY"] = by_day(rng, frequency, "BYMONTH" in parts, "BYWEEKNO" in parts)
    if rng.random() < 0.2:
        parts["BYHOUR"] = numbers(rng, 0, 23, 4)
    if rng.random() < 0.2:
        parts["BYMINUTE"] = numbers(rng, 0, 59, 4)
    if rng.random() < 0.05 and not ("BYHOUR" in parts and "BYMINUTE" in parts):
        parts["BYSECOND"] = numbers(rng, 0, 59, 1)
    if parts and rng.random() < 0.25:
        parts["BYSETPOS"] = numbers(rng, 1, rng.choice([1, 2, 5, 20, 366]), 4, signed=True)
    return parts


def end_part(rng, anchor, zone):
    """Returns COUNT or UNTIL, and what UNTIL is on the wall clock of the zone."""
    chance = rng.random()
    if chance < 0.3:
        return f"COUNT={rng.choice([1, 2, 3, 10, 50, 500, 4294967295])}", None
    if chance < 0.65:
        until = anchor + timedelta(days=rng.randint(0, 1500), minutes=rng.choice([0, 0, -1, 1, 90]))
        form = rng.choice(["date", "local", "utc"])
        if form == "date":
            return f"UNTIL={until:%Y%m%d}", f"UNTIL={until:%Y%m%d}"
        if form == "local":
            return f"UNTIL={until:%Y%m%dT%H%M%S}", f"UNTIL={until:%Y%m%dT%H%M%S}"
        until = until.replace(tzinfo=zone).astimezone(timezone.utc)
        local = until.astimezone(zone).replace(tzinfo=None)
        return f"UNTIL={until:%Y%m%dT%H%M%SZ}", f"UNTIL={local:%Y%m%dT%H%M%S}"
    return None, None


def random_rule(rng):
    """Returns a rule, the same rule for dateutil, its anchor, its zone and its duration."""
    zone_name = rng.choice(ZONES)
    frequency = rng.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
    if rng.random() < 0.5:
        date = datetime(*rng.choice(DATES)) - timedelta(days=rng.choice([0, 0, 7, 14, 28, 365]))
    else:
        date = datetime(2024, 1, 1) + timedelta(days=rng.randint(0, 4 * 365))
    hours = rng.choice([0, 1, 1, 2, 2, 2, 3, rng.randint(0, 23)])
    anchor = date + timedelta(hours=hours, minutes=rng.choice([0, 0, 15, 30, 59]))
    parts = [f"FREQ={frequency}"]
    if rng.random() < 0.5:
        parts.append(f"INTERVAL={rng.choice([1, 2, 2, 3, 4, 5, 6, 7, 12, 13, 30, 52, 400])}")
    parts += [f"{name}={value}" for name, value in by_parts(rng, frequency).items()]
    if rng.random() < 0.3:
        parts.append(f"WKST={rng.choice(DAYS)}")
    given, naive = end_part(rng, anchor, ZoneInfo(zone_name))
    order = rng.sample(range(len(parts)), len(parts))
    parts = [parts[index] for index in order]
    rule = ";".join(parts + ([given] if given else []))
    for_dateutil = ";".join(parts + ([naive or given] if given else []))
    minutes = rng.choice([1, 30, 60, 90, 120, 240, 24 * 60, 50 * 60])
    return rule, for_dateutil, anchor, zone_name, minutes


def instant_ms(local, zone):
    """Returns the instant of a local time: the first of two, or moved forward if skipped."""
    exact = tz.resolve_imaginary(local.replace(tzinfo=zone, fold=0))
    return (exact.astimezone(timezone.utc) - EPOCH) // timedelta(milliseconds=1)


def shown_local(local, zone):
    """Returns a local time as text, moved forward if skipped."""
    exact = tz.resolve_imaginary(local.replace(tzinfo=zone))
    return f"{exact:%Y-%m-%dT%H:%M:%S}"


def local_starts(rule, anchor, last_year):
    """Yields the local starts of a rule up to the end of a year."""
    # dateutil searches until this constant, which takes seconds for a rule that never matches.
    datetime_module.MAXYEAR = last_year
    yield from rrulestr(rule, dtstart=anchor)


def occurrences(rule, anchor, zone, minutes):
    """Returns the occurrences up to the horizon as sorted pairs of milliseconds."""
    horizon, ends = anchor + HORIZON, {}
    for local in itertools.takewhile(
        lambda local: local < horizon, local_starts(rule, anchor, horizon.year)
    ):
        start = instant_ms(local, zone)
        end = max(instant_ms(local + timedelta(minutes=minutes), zone), start + 1)
        ends[start] = max(end, ends.get(start, end))
    return sorted(ends.items())


def fnv1a(text):
    """Returns the 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def main():
    rules, seed = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    for _ in range(rules):
        rule, for_dateutil, anchor, zone_name, minutes = random_rule(rng)
        found = occurrences(for_dateutil, anchor, ZoneInfo(zone_name), minutes)
        case = {
            "rule": rule,
            "anchor": f"{anchor:%Y-%m-%dT%H:%M:%S}",
            "zone": zone_name,
            "duration_ms": minutes * 60_000,
        }
        if not found:
            later = next(local_starts(for_dateutil, anchor, SEARCH_YEAR), None)
            case["later"] = later and shown_local(later, ZoneInfo(zone_name))
        if "--all" in sys.argv[3:]:
            case["occurrences"] = found
        else:
            text = "".join(f"{start},{end};" for start, end in found)
            case |= {"count": len(found), "first": found[:4], "last": found[-1:]}
            case["hash"] = fnv1a(text)
        print(json.dumps(case, separators=(",", ":")))


if __name__ == "__main__":
    main()
