/** A price as the catalogue has it. */
export interface Price {
  cents: number;
  currency: string;
}

/** Returns a price as visitors read it, such as "€ 49.90". */
export function formatPrice(price: Price): string {
  const symbol = price.currency === "EUR" ? "€" : price.currency;
  return `${symbol} ${(price.cents / 100).toFixed(2)}`;
}
