import { ShoppingCart } from "../cart";
import { Product, renderGrid } from "../product";

/** Renders the front page: the products of the season, and how full the cart is. */
export function renderHome(products: Product[], cart: ShoppingCart): string {
  const copies = cart.countCopies();
  return [`Cart (${copies})`, ...renderGrid(products)].join("\n");
}
