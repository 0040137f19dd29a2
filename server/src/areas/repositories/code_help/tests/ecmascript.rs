//! Explanations of TypeScript.

use super::harness::{explained, explained_symbol, told};

pub(super) const CART: &str = r#"/** The books that a visitor wants to buy. */
import { EventEmitter } from "node:events";
import fs from "node:fs";
const path = require("node:path");

export class Cart extends EventEmitter {
  private titles = new Map<string, number>();

  /**
   * Puts copies of a book into the cart. Tells {@link EventEmitter listeners}.
   *
   * @param {string} title - the title of the book
   * @param copies how many,
   *   at least one
   * @returns {number} how many are in the cart
   * @throws {RangeError} if copies is negative
   * @example
   * cart.add("Emma", 2);
   */
  async add(title: string, copies: number = 1, ...notes: string[]): Promise<number> {
    if (copies < 0) throw new RangeError(`copies: ${copies}`);
    const before = this.titles.get(title) ?? 0;
    this.titles.set(title, before + copies);
    notes.forEach((note) => {
      if (!note) return;
      this.emit("note", note);
    });
    try {
      await fs.promises.writeFile(path.join("carts", title), JSON.stringify([...this.titles]));
    } catch (error) {
      this.emit("error", error);
      return before;
    } finally {
      delete this.cache;
    }
    switch (copies) {
      case 0:
        break;
      case 1:
      case 2:
        this.emit("few");
        break;
      default:
        this.emit("many");
    }
    return this.count();
  }

  count(): number {
    let copies = 0;
    for (const count of this.titles.values()) copies += count;
    for (let i = 0; i < 3; i++) { copies++; }
    return copies;
  }
}

export const label = (cart: Cart) => cart.count() === 0 ? "empty" : "full";

describe("cart", () => {
  it("counts the copies of all of the books that have been put into it", async () => {
    const cart = new Cart();
    await cart.add("Emma");
    expect(cart.count()).toBe(1);
  });
});
"#;

#[test]
fn a_method_is_explained_with_its_tags() {
    let found = explained_symbol("web/cart.ts", CART, "add");
    assert_eq!(
        told(&found),
        r#"`add` is a method of `Cart`. Puts copies of a book into the cart. Tells listeners. It returns `Promise<number>`. It calls `RangeError`, `set`, `emit`, `writeFile`, `stringify` and `count`.
  Throws ``new RangeError(`copies: ${copies}`)`` if `copies < 0`.
  Sets `before` to `this.titles.get(title) ?? 0`.
  Calls `this.titles.set(title, before + copies)`.
  Calls `notes.forEach((note) => { if (!note) return; this.emit("note", note); })`.
  Tries the following: waits for `fs.promises.writeFile(path.join("carts", title), JSON.stringify([...this.titles]))`.
  On any failure, calls `this.emit("error", error)`, then returns `before`.
  In any case, at the end, deletes `this.cache`.
  Chooses by the value of `copies`:
  - For `0`, does nothing.
  - For `1` or `2`, calls `this.emit("few")`.
  - In all other cases, calls `this.emit("many")`.
  Returns `this.count()`.
in title: string | The title of the book.
in copies: number | How many, at least one. Default: `1`.
in ...notes: string[] | 
success: How many are in the cart. Returns `Promise<number>`: `before` or `this.count()`.
failure: RangeError: if copies is negative. Throws ``new RangeError(`copies: ${copies}`)``.
uses: Cart.count (line 49), fs from node:fs, node:path
"#
    );
}

#[test]
fn short_functions_and_arrow_functions_are_explained() {
    let found = explained_symbol("web/cart.ts", CART, "count");
    assert_eq!(
        told(&found),
        r#"`count` is a method of `Cart`. It returns `number`.
  Sets `copies` to `0`.
  For each `count` of `this.titles.values()`: adds `count` to `copies`.
  Loops with `let i = 0; i < 3; i++`: increments `copies`.
  Returns `copies`.
success: Returns `number`: `copies`.
failure: Does not fail by itself.
uses: 
"#
    );
    let found = explained_symbol("web/cart.ts", CART, "label");
    assert_eq!(
        told(&found),
        r#"`label` is a function. It calls `count`.
  Returns `cart.count() === 0 ? "empty" : "full"`.
in cart: Cart | 
success: Returns `cart.count() === 0 ? "empty" : "full"`.
failure: Does not fail by itself.
uses: Cart (line 6), Cart.count (line 49)
"#
    );
}

#[test]
fn a_file_is_explained_with_the_calls_at_its_outermost_level() {
    let found = explained("web/cart.ts", CART, None);
    assert_eq!(
        told(&found),
        r#"cart.ts is a TypeScript file of 65 lines. The books that a visitor wants to buy. It defines the class `Cart`; the function `label`.
  Class `Cart`: `export class Cart extends EventEmitter`.
  - Method `add`: Puts copies of a book into the cart. Tells listeners.
  - Method `count`: `count(): number`.
  Function `label`: `export const label = (cart: Cart)`.
  Calls `describe` with a function:
  - Calls `it` with a function: sets `cart` to `new Cart()`, then waits for `cart.add("Emma")`, then calls `expect(cart.count()).toBe(1)`.
success: Nothing is returned: this is a file, not a function.
failure: Nothing fails by itself: this is a file, not a function.
uses: EventEmitter from node:events, fs from node:fs, node:path
"#
    );
}
