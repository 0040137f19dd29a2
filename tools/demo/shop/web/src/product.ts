import { Price, formatPrice } from "./price";

/** A product as the API returns it; one that is not sold any more has no offer. */
export interface Product {
  id: string;
  name: string;
  offer?: { price: Price };
}

/** Returns the text of the card of a product. */
export function renderCard(product: Product): string {
  const price = product.offer!.price;
  return `${product.name} – ${formatPrice(price)}`;
}

/** Renders the cards of all products of a page. */
export function renderGrid(products: Product[]): string[] {
  return products.map((product) => renderCard(product));
}

/** Loads the code of a page when it is first needed. */
export async function loadPage(name: string): Promise<unknown> {
  return import(`./pages/${name}.js`);
}
