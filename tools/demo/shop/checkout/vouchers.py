"""Vouchers and what they take off an order."""

VOUCHERS = {"WELCOME10": 10, "TENT15": 15}


def apply_voucher(order):
    """Returns the total of an order in cents, less its voucher.

    The voucher reduces the goods and not the shipping.
    """
    goods = sum(line.cents * line.copies for line in order.lines)
    percent = VOUCHERS[order.voucher] if order.voucher else 0
    return goods - goods * percent // 100 + order.shipping_cents
