"""Runs Schemathesis over the OpenAPI document of a server, with all its checks, in both directions: valid requests are
accepted, invalid ones refused, and every response is documented.

Arguments: the URL, the key, the cases per operation, the seed, seconds (0: one pass), and a directory for its files.
"""

import os
import re
import sys
from datetime import datetime
from pathlib import Path

import schemathesis
from hypothesis import strategies as st
from schemathesis.cli import schemathesis as command
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks as openapi

URL, KEY, CASES, SEED, SECONDS, FOLDER = sys.argv[1:]

# Valid requests that are refused, and invalid ones that are accepted: at most ten, each with its reason. An operation, the error code
# of the response (an asterisk for any), the check that skips it, and the reason.
EXCEPTIONS = [
    (".*", "precondition_failed", "both", "no schema can say which ETag a resource has now"),
    (".*", "invalid_range", "positive", "no schema can say that `from` is before `to`"),
    (".*", "reserved_name", "positive", "names of the server's own are told by how they begin, which patterns of all dialects cannot exclude"),
    (".*", "type_conflict|invalid_aggregation", "positive", "what a metric takes and tells follows from the type that it has"),
    (
        "POST /api/v1/errors|POST /api/v1/errors/bulk|.* /api/v1/dead-jobs(/retry)?|DELETE /api/v1/queues/{name}/jobs|POST /api/v1/(keys|session)"
        "|GET /api/v1/(cardinality|search|metrics/{name}/query)|POST /api/v1/events/funnel"
        "|.* /api/v1/(alert_rules|channels|escalation_policies|maintenance_windows|monitors|on_call_schedules|snapshots|status-pages|repositories|explain).*",
        "missing_field|invalid_field|invalid_parameter",
        "positive",
        "fields that need or exclude one another: as alternatives they would be unreadable in generated clients; URLs and patterns of paths have grammars of their own",
    ),
    (
        ".* /api/v1/(alert_rules|dashboards).*",
        "invalid_query|invalid_field",
        "positive",
        "what may be asked and shown differs by the source of a query, its metric and the type of a widget, and a widget must fit beside the grid's edge",
    ),
    (".*", "invalid_parameter:tags", "positive", "conditions on tags have a grammar of their own, and only a dashboard knows its variables"),
    (
        "POST .*(/write|/v1/metrics|/import|/envelope/?|/store/?)|.* /api/v2/alerts",
        ".*",
        "both",
        "bodies and parameters of these protocols are not ours: each has tests with the agents of others",
    ),
    ("POST .*/batch", "", "negative", "the good items of a batch are taken, and the bad ones told"),
    ("OPTIONS /api/v1/metrics/batch|.* /api/v1/metrics/batch", "method_not_allowed", "allow", "a metric may be called `batch`, so the path has its methods too"),
]
assert len(EXCEPTIONS) <= 10

# Not called: it writes to any path of this machine.
NOT_CALLED = "/api/v1/admin/backup"


def body_of(response):
    try:
        return response.json()
    except ValueError:
        return None


def code_of(response):
    """Returns the code of a refusal, with the field where the code is ambiguous; empty for a success."""
    body = body_of(response)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ""
    code = error.get("code", "")
    field = (error.get("details") or {}).get("field") or ""
    return f"{code}:tags" if code == "invalid_parameter" and field.startswith(("tags", "var[", "environment", "release")) else code


def is_excepted(case, response, direction):
    code = code_of(response)
    return any(
        re.fullmatch(operation, case.operation.label) and re.fullmatch(codes, code) and kind in (direction, "both")
        for operation, codes, kind, _ in EXCEPTIONS
    )


def with_exceptions(check, direction, name):
    def checked(ctx, response, case):
        try:
            return check(ctx, response, case)
        except (Failure, FailureGroup):
            if is_excepted(case, response, direction):
                return None
            raise

    checked.__name__ = name
    return schemathesis.check(checked)


with_exceptions(openapi.positive_data_acceptance, "positive", "accepts_what_fits")
with_exceptions(openapi.negative_data_rejection, "negative", "refuses_what_does_not_fit")
with_exceptions(openapi.allow_header_conformance, "allow", "allow_names_the_methods")


@schemathesis.check
def every_refusal_is_listed(ctx, response, case):
    """The document lists the code of a refusal for its status."""
    body = body_of(response)
    # Another method is another operation, which may not be in the document.
    if response.status_code < 400 or not isinstance(body, dict) or response.status_code == 405:
        return
    code = body["error"]["code"]
    responses = case.operation.definition.raw["responses"]
    listed = responses.get(str(response.status_code), {}).get("x-codes", [])
    assert code in listed, f"{response.status_code} {code} is not listed for {case.operation.label}"


# Timestamps must be between 1970 and a day from now, which a schema cannot express. Other times have tests of their own.
times = st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2026, 1, 1))
schemathesis.openapi.format("date-time", times.map(lambda time: f"{time.isoformat()}Z"))


@schemathesis.hook
def before_call(context, case, kwargs):
    # Shortens the wait of fetches, which finds nothing more here.
    if case.operation.label.endswith("/fetch") and isinstance(case.body, dict):
        wait = case.body.get("wait_seconds")
        if isinstance(wait, (int, float)) and wait > 0.01 and wait <= 30:
            case.body["wait_seconds"] = 0.01


@schemathesis.serializer(
    "application/x-ndjson", "application/x-protobuf", "application/x-sentry-envelope", "application/octet-stream"
)
def as_it_is(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()


CONFIG = """
[checks]
# Refusals too: a body or a batch that is too large.
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 429, "5xx"]
"""

# It stores its files in the working directory.
os.chdir(FOLDER)
config = Path(FOLDER) / "schemathesis.toml"
config.write_text(CONFIG)
replaced = "positive_data_acceptance,negative_data_rejection,allow_header_conformance"
arguments = [
    "--config-file", str(config), "run", f"{URL}/api/v1/openapi.json", "-H", f"Authorization: Bearer {KEY}",
    "--seed", SEED, "-n", CASES, "--checks", "all", "--exclude-checks", replaced,
    "--exclude-path", NOT_CALLED, "--continue-on-failure", "--no-shrink", "--suppress-health-check", "all",
    "--request-timeout", "60", "--no-color", "--warnings", "off", "--generation-database", "none",
    "--generation-allow-x00", "true",
]
if SECONDS != "0":
    arguments += ["--max-time", SECONDS]
sys.exit(command(arguments, standalone_mode=False) or 0)
