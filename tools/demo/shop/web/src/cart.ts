import { Price, formatPrice } from "./price";

/** The products that a visitor wants to buy. */
export class ShoppingCart {
  private copies = new Map<string, number>();

  /** Puts copies of a product into the cart. */
  addProduct(id: string, copies: number = 1): void {
    this.copies.set(id, (this.copies.get(id) ?? 0) + copies);
  }

  /** Returns how many copies of all products are in the cart. */
  countCopies(): number {
    let total = 0;
    for (const count of this.copies.values()) total += count;
    return total;
  }
}

/** Returns the text of the button that leads to the payment. */
export function checkoutLabel(cart: ShoppingCart, total: Price): string {
  const copies = cart.countCopies();
  return copies === 0 ? "Your cart is empty" : `Pay ${formatPrice(total)}`;
}
