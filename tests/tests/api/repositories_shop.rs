//! A small repository in three languages that the tests of repositories ask about.

use crate::repositories_git::{GitServer, Source};

/// Its files by path.
pub(crate) const SHOP: [(&str, &str); 10] = [
    ("README.md", README),
    ("docs/operations.md", OPERATIONS),
    ("src/shop/retry.py", RETRY),
    ("src/shop/payments.py", PAYMENTS),
    ("src/shop/orders.py", ORDERS),
    ("server/src/queue.rs", QUEUE),
    ("server/src/lib.rs", LIBRARY),
    ("web/cart.ts", CART),
    ("web/checkout.ts", CHECKOUT),
    ("tests/test_orders.py", TESTS),
];

const README: &str = "\
# Shop

Sells books over the web.

- `src/shop` takes orders and payments,
- `server` keeps the queue of shipments,
- `web` is the page of the cart.
";

const OPERATIONS: &str = "\
# Operations

## Refunds

Refunds are paid within fourteen days. The nightly run in `payments.py` sends them to the bank.
";

const RETRY: &str = r#""""Repeats operations that fail for a while."""

import random
import time


class RetriesExhausted(Exception):
    """All attempts of an operation failed."""


def retry_with_backoff(operation, attempts=5, first_delay=0.1):
    """Calls an operation until it succeeds, with exponentially growing delays.

    Args:
        operation: the function to call, without arguments
        attempts: how often it is called at most
        first_delay: seconds before the second call

    Raises:
        RetriesExhausted: if no call succeeds

    Example:
        retry_with_backoff(lambda: fetch("https://example.com"), attempts=3)
    """
    delay = first_delay
    for attempt in range(attempts):
        try:
            return operation()
        except ConnectionError:
            if attempt + 1 == attempts:
                break
            time.sleep(delay * random.random())
            delay *= 2
    raise RetriesExhausted(attempts)
"#;

const PAYMENTS: &str = r#""""Payments of orders at the bank."""

from shop.retry import RetriesExhausted, retry_with_backoff


class PaymentGateway:
    """The connection to the bank."""

    def __init__(self, bank, currency="EUR"):
        self.bank = bank
        self.currency = currency

    def charge_card(self, card, cents):
        """Charges a card and returns the number of the receipt.

        A bank that cannot be reached is asked again with growing delays.
        """
        if cents <= 0:
            raise ValueError("nothing to pay")
        try:
            return retry_with_backoff(lambda: self.bank.charge(card, cents, self.currency))
        except RetriesExhausted:
            return None

    def refund(self, receipt):
        """Pays back what a receipt says."""
        return self.bank.refund(receipt)
"#;

const ORDERS: &str = r#""""Orders and what they cost."""

from dataclasses import dataclass

from shop.payments import PaymentGateway

SHIPPING_CENTS = 490


@dataclass
class OrderLine:
    """Copies of one book."""

    title: str
    cents: int
    copies: int = 1


def order_total(lines, voucher_percent=0):
    """Returns what lines cost together, in cents, with shipping and without the voucher."""
    goods = sum(line.cents * line.copies for line in lines)
    reduced = goods - goods * voucher_percent // 100
    return reduced + SHIPPING_CENTS


def place_order(lines, card, gateway: PaymentGateway):
    """Charges the total of an order; returns the receipt."""
    return gateway.charge_card(card, order_total(lines))
"#;

const QUEUE: &str = r#"//! The queue of shipments.

use std::collections::VecDeque;

/// Shipments that wait for a courier, oldest first.
#[derive(Debug, Default)]
pub struct ShipmentQueue {
    waiting: VecDeque<Shipment>,
}

/// A parcel.
#[derive(Clone, Debug, PartialEq)]
pub struct Shipment {
    pub order: u64,
    pub grams: u32,
}

/// Why a shipment is not accepted.
#[derive(Debug, PartialEq)]
pub enum QueueError {
    /// It is heavier than couriers carry.
    TooHeavy,
}

/// Grams that a courier carries.
pub const GRAMS_MAX: u32 = 20_000;

impl ShipmentQueue {
    /// Adds a shipment at the end of the queue.
    pub fn enqueue_shipment(&mut self, shipment: Shipment) -> Result<usize, QueueError> {
        if shipment.grams > GRAMS_MAX {
            return Err(QueueError::TooHeavy);
        }
        self.waiting.push_back(shipment);
        Ok(self.waiting.len())
    }

    /// Removes the shipments that a courier takes: the oldest ones that fit together.
    pub fn load_courier(&mut self, grams_max: u32) -> Vec<Shipment> {
        let mut loaded = Vec::new();
        let mut grams = 0;
        while let Some(next) = self.waiting.front() {
            if grams + next.grams > grams_max {
                break;
            }
            grams += next.grams;
            loaded.extend(self.waiting.pop_front());
        }
        loaded
    }
}
"#;

const LIBRARY: &str = "//! Shipments of the shop.\n\nmod queue;\n\npub use queue::{QueueError, Shipment, ShipmentQueue};\n";

const CART: &str = r#"/** The books that a visitor wants to buy. */
export class ShoppingCart {
  private titles = new Map<string, number>();

  /** Puts copies of a book into the cart. */
  addBook(title: string, copies: number = 1): void {
    this.titles.set(title, (this.titles.get(title) ?? 0) + copies);
  }

  /** Returns how many copies of all books are in the cart. */
  countCopies(): number {
    let copies = 0;
    for (const count of this.titles.values()) copies += count;
    return copies;
  }
}
"#;

const CHECKOUT: &str = r#"import { ShoppingCart } from "./cart";

/** Returns the text of the button that leads to the payment. */
export function checkoutLabel(cart: ShoppingCart): string {
  const copies = cart.countCopies();
  return copies === 0 ? "The cart is empty" : `Buy ${copies} books`;
}
"#;

const TESTS: &str = r#"from shop.orders import OrderLine, order_total


def test_a_voucher_reduces_the_goods_and_not_the_shipping():
    lines = [OrderLine("Emma", 1000, copies=2)]
    assert order_total(lines, voucher_percent=50) == 1490
"#;

/// Serves the shop, and returns it with the id of its commit.
#[track_caller]
pub(crate) fn shop(server: &GitServer) -> (Source, String) {
    let source = server.source("shop");
    let commit = source.commit(SHOP);
    (source, commit)
}
