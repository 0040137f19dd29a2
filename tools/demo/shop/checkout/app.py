"""The HTTP routes of checkout."""

from checkout.orders import Order, place_order

REQUESTS_PER_MINUTE = 120


class RateLimitExceeded(Exception):
    """A client sends more requests than it may."""


def limit_rate(client, window):
    """Refuses a client that has sent too many requests within the window of a minute."""
    if window.count(client) > REQUESTS_PER_MINUTE:
        raise RateLimitExceeded(f"{client} sent more than {REQUESTS_PER_MINUTE} requests a minute")


def post_order(request, services):
    """Handles `POST /orders`: places the order in the body of the request."""
    limit_rate(request.client, services.window)
    order = Order(**request.json)
    receipt = place_order(order, request.card, services.stock, services.gateway)
    services.jobs.enqueue("SendReceipt", queue="mail", order=order.number)
    return {"order": order.number, "receipt": receipt.number}
