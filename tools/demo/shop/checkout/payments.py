"""Payments of orders, through the provider."""

import time

from checkout.vouchers import apply_voucher

ATTEMPTS_MAX = 3
TIMEOUT_SECONDS = 4.0


class PaymentError(Exception):
    """A card was not charged."""


class PaymentTimeout(PaymentError):
    """The provider did not answer in time."""


class CardDeclined(PaymentError):
    """The bank refused the card."""


class PaymentGateway:
    """The connection to the payment provider."""

    def __init__(self, provider, currency="EUR"):
        self.provider = provider
        self.currency = currency

    def charge_card(self, card, order):
        """Charges the total of an order to a card and returns the receipt.

        A provider that does not answer is asked again, at most three times, with growing delays.

        Raises:
            PaymentTimeout: if no attempt was answered in time
            CardDeclined: if the bank refuses the card
        """
        cents = apply_voucher(order)
        for attempt in range(ATTEMPTS_MAX):
            try:
                receipt = self.provider.charge(card, cents, self.currency, TIMEOUT_SECONDS)
            except TimeoutError:
                time.sleep(0.2 * 2**attempt)
                continue
            if receipt.declined:
                raise CardDeclined(f"card ending in {card.last4} was declined: {receipt.reason}")
            return receipt
        raise PaymentTimeout(f"no answer within {TIMEOUT_SECONDS} s for order {order.number}")

    def refund(self, receipt):
        """Pays back what a receipt says."""
        return self.provider.refund(receipt.number, receipt.cents)
