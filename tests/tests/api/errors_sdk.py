# Uses the Sentry SDK as programs do. Arguments: the DSN and the step.
import sys

import sentry_sdk

DSN, STEP = sys.argv[1], sys.argv[2]
PADDING = int(sys.argv[3]) if len(sys.argv) > 3 else 0

# Functions whose line numbers change between runs, as those of edited code do.
SOURCE = "\n" * PADDING + '''
def parse(text):
    secret_token = "hunter2"
    try:
        return int(text)
    except ValueError as cause:
        raise RuntimeError(f"cannot read {text}") from cause

def save(text):
    raise RuntimeError(f"cannot read {text}")
'''
CODE = {"__name__": "app.reader"}
exec(compile(SOURCE, "/srv/app/reader.py", "exec"), CODE)


def report(work, text):
    try:
        work(text)
    except Exception as error:
        sentry_sdk.capture_exception(error)


sentry_sdk.init(DSN, release="shop@1.2.3", environment="staging", default_integrations=False, shutdown_timeout=10)

if STEP == "exceptions":
    sentry_sdk.set_tag("region", "eu")
    sentry_sdk.set_user({"id": 17, "email": "ann@example.com"})
    sentry_sdk.add_breadcrumb(category="cart", message="added", level="info")
    sentry_sdk.set_context("cart", {"items": 3, "api_token": "hunter2"})
    for text in ["a1", "b2", "c3"]:
        report(CODE["parse"], text)
    report(CODE["save"], "d4")
elif STEP == "once":
    report(CODE["parse"], "a1")
elif STEP == "messages":
    for order in [17, 4711]:
        sentry_sdk.capture_message(f"order {order} is late", level="warning")
    sentry_sdk.capture_message("the card 4111111111111111 was refused", level="fatal")
elif STEP == "users":
    for _ in range(2):
        for number in range(25):
            sentry_sdk.set_user({"id": f"user-{number}"})
            report(CODE["save"], "x")
elif STEP == "fingerprints":
    for fingerprint in [["{{ default }}"], [], ["{{ default }}", "tenant-a"], ["mine"], ["mine"]]:
        with sentry_sdk.new_scope() as scope:
            scope.fingerprint = fingerprint
            report(CODE["save"], "x")
elif STEP == "flood":
    for number in range(12):
        sentry_sdk.capture_message("flood")
        sentry_sdk.flush(10)
else:
    sys.exit(f"what is {STEP}?")

sentry_sdk.flush(20)
print(getattr(sentry_sdk.get_client().transport, "_compression_algo", "unknown"))
