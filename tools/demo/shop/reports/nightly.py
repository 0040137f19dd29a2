"""The reports of the night: revenue by region, and refunds for the bank."""

from checkout.payments import PaymentGateway
from checkout.vouchers import apply_voucher

REGIONS = ("eu-west", "us-east", "ap-south")


class ReportIncomplete(Exception):
    """Orders of a region are missing."""


def revenue_by_region(orders):
    """Returns the revenue of each region in cents.

    Raises:
        ReportIncomplete: if a region has no orders at all, which means that its export is late
    """
    totals = {region: 0 for region in REGIONS}
    for order in orders:
        totals[order.region] += apply_voucher(order)
    for region, cents in totals.items():
        if cents == 0:
            raise ReportIncomplete(f"no orders of {region}: is its export late?")
    return totals


def run(orders, refunds, gateway: PaymentGateway):
    """Computes the reports and pays back the refunds of the day."""
    totals = revenue_by_region(orders)
    for receipt in refunds:
        gateway.refund(receipt)
    return totals
