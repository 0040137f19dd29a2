"""The events of an iCalendar file as two independent libraries read them.

    ics.py FILE

Prints one JSON object with the name of the calendar, in which escapes remain as they are written,
and under `icalendar` and `vobject` a list of events: `uid`, `summary`, `start`, `end` and `stamp`,
the times in seconds since 1970. Exits with an error if the bytes break a rule of RFC 5545 that the
libraries do not check. Needs icalendar and vobject.
"""

import json
import re
import sys

import icalendar
import vobject


def check_bytes(data):
    """Checks line breaks, the length of lines, and characters."""
    assert data.endswith(b"END:VCALENDAR\r\n"), data[-40:]
    assert not re.search(rb"[^\r]\n|\r[^\n]", data), "a line break is not CRLF"
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", data), "a control character"
    for line in data.split(b"\r\n"):
        assert len(line) <= 75, line
        line.decode()


def by_icalendar(data):
    """Returns the name and the events as the library icalendar reads them."""
    calendar = icalendar.Calendar.from_ical(data)
    assert not calendar.errors, calendar.errors
    events = []
    for event in calendar.walk("VEVENT"):
        assert not event.errors, event.errors
        events.append({
            "uid": str(event["UID"]),
            "summary": str(event["SUMMARY"]),
            "start": event.decoded("DTSTART").timestamp(),
            "end": event.decoded("DTEND").timestamp(),
            "stamp": event.decoded("DTSTAMP").timestamp(),
        })
    return str(calendar["X-WR-CALNAME"]), events


def by_vobject(data):
    """Returns the events as the library vobject reads them."""
    calendar = vobject.readOne(data.decode())
    calendar.validate(raiseException=True)
    return [
        {
            "uid": event.uid.value,
            "summary": event.summary.value,
            "start": event.dtstart.value.timestamp(),
            "end": event.dtend.value.timestamp(),
            "stamp": event.dtstamp.value.timestamp(),
        }
        for event in calendar.contents.get("vevent", [])
    ]


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    check_bytes(data)
    name, events = by_icalendar(data)
    print(json.dumps({"name": name, "icalendar": events, "vobject": by_vobject(data)}))


if __name__ == "__main__":
    main()
