"""The errors of the company: where each is raised, how often, and what the team has done about it."""

from typing import NamedTuple

from story import BAD_DEPLOY, DAY_SECONDS, INCIDENT_BEGIN, INCIDENT_END, MINUTE, TEAM

# When the occurrences of a group happen, in seconds before the start of the demo.
ALL_DAY = (DAY_SECONDS, 0)
INCIDENT = (INCIDENT_BEGIN, INCIDENT_END)
SINCE_BAD_DEPLOY = (BAD_DEPLOY, 140 * MINUTE)
SINCE_NEW_WEB = (50 * MINUTE, 0)
NIGHT = (9 * 3600, 8 * 3600)
YESTERDAY = (DAY_SECONDS, 18 * 3600)


class Group(NamedTuple):
    """An error: where it is raised, how often, and what the team has done about it."""

    service: str
    platform: str
    kind: str
    message: str
    # Path, function and a text of the line, the oldest call first.
    frames: tuple
    count: int
    when: tuple
    level: str = "error"
    environment: str = "production"
    # Frames of libraries that called those of the company.
    library: tuple = ()
    move: tuple = ()


ROUTE = ("checkout/app.py", "post_order", "receipt = place_order(")
PLACE = ("checkout/orders.py", "place_order", "return gateway.charge_card(")
GRID = ("web/src/product.ts", "renderGrid", "return products.map(")
FLASK = (("site-packages/flask/app.py", "full_dispatch_request", 880),)

GROUPS = (
    Group(
        service="checkout",
        platform="python",
        kind="PaymentTimeout",
        message="no answer within 4.0 s for order {order}",
        frames=(ROUTE, PLACE, ("checkout/payments.py", "charge_card", "raise PaymentTimeout(")),
        count=2400,
        when=INCIDENT,
        library=FLASK,
        move=("assign", {"user_id": TEAM[1]}),
    ),
    Group(
        service="checkout",
        platform="python",
        kind="CardDeclined",
        message="card ending in {last4} was declined: insufficient funds",
        frames=(ROUTE, PLACE, ("checkout/payments.py", "charge_card", "raise CardDeclined(")),
        count=1300,
        when=ALL_DAY,
        level="warning",
        library=FLASK,
        move=("ignore", {"duration": "forever", "reason": "Banks decline cards; watched by an alert rule"}),
    ),
    Group(
        service="web",
        platform="javascript",
        kind="TypeError",
        message="Cannot read properties of undefined (reading 'price')",
        frames=(GRID, ("web/src/product.ts", "renderCard", "const price = product.offer!")),
        count=860,
        when=ALL_DAY,
    ),
    Group(
        service="search",
        platform="go",
        kind="context.deadlineExceededError",
        message="shard {shard}: context deadline exceeded",
        frames=(("search/index.go", "Search", "found, err := shard.Lookup("),),
        count=420,
        when=ALL_DAY,
        library=(("net/http/server.go", "ServeHTTP", 2136),),
        move=("assign", {"user_id": TEAM[2]}),
    ),
    Group(
        service="web",
        platform="javascript",
        kind="ChunkLoadError",
        message="Loading chunk {shard} failed",
        frames=(("web/src/product.ts", "loadPage", "return import("),),
        count=210,
        when=SINCE_NEW_WEB,
        move=("resolve", {"note": "Old chunks are kept for a day since 5.8.1"}),
    ),
    Group(
        service="checkout",
        platform="python",
        kind="OutOfStock",
        message="{shard} of {product} left, {copies} ordered",
        frames=(
            ROUTE,
            ("checkout/orders.py", "place_order", "stock.reserve("),
            ("catalogue/stock.py", "reserve", "raise OutOfStock("),
        ),
        count=150,
        when=ALL_DAY,
        level="warning",
        library=FLASK,
        move=("ignore", {"duration": "7d", "reason": "The tent sale"}),
    ),
    Group(
        service="checkout",
        platform="python",
        kind="RateLimitExceeded",
        message="{client} sent more than 120 requests a minute",
        frames=(
            ("checkout/app.py", "post_order", "limit_rate(request"),
            ("checkout/app.py", "limit_rate", "raise RateLimitExceeded("),
        ),
        count=95,
        when=ALL_DAY,
        level="warning",
        library=FLASK,
    ),
    Group(
        service="checkout",
        platform="python",
        kind="KeyError",
        message="'SUMMER20'",
        frames=(
            ROUTE,
            PLACE,
            ("checkout/payments.py", "charge_card", "cents = apply_voucher("),
            ("checkout/vouchers.py", "apply_voucher", "percent = VOUCHERS["),
        ),
        count=64,
        when=SINCE_BAD_DEPLOY,
        library=FLASK,
        move=("regress", {"note": "The voucher is in the list now"}),
    ),
    Group(
        service="worker",
        platform="native",
        kind="panic",
        message="index out of bounds: the len is 480 but the index is 480",
        frames=(
            ("worker/src/thumbnails.rs", "make_thumbnails", "Ok(WIDTHS.iter()"),
            ("worker/src/thumbnails.rs", "shrink", "small.set(x, y, picture.rows"),
        ),
        count=37,
        when=ALL_DAY,
        level="fatal",
        move=("assign", {"user_id": TEAM[0]}),
    ),
    Group(
        service="mail",
        platform="ruby",
        kind="Net::SMTPFatalError",
        message="550 5.1.1 mailbox unavailable",
        frames=(("mail/receipts.rb", "deliver", "@smtp.send_message("),),
        count=18,
        when=ALL_DAY,
    ),
    Group(
        service="reports",
        platform="python",
        kind="ReportIncomplete",
        message="no orders of ap-south: is its export late?",
        frames=(
            ("reports/nightly.py", "run", "totals = revenue_by_region("),
            ("reports/nightly.py", "revenue_by_region", "raise ReportIncomplete("),
        ),
        count=3,
        when=NIGHT,
        move=("resolve", {"note": "The export now runs an hour earlier"}),
    ),
    Group(
        service="checkout",
        platform="python",
        kind="TypeError",
        message="Order.__init__() got an unexpected keyword argument 'gift'",
        frames=(("checkout/app.py", "post_order", "order = Order(**"),),
        count=6,
        when=YESTERDAY,
        environment="staging",
        library=FLASK,
    ),
)
