//! Explanations of Ruby.

use super::harness::{explained_symbol, told};

pub(super) const INVOICE: &str = r#"# Invoices of the shop.
require "json"

module Shop
  # An invoice.
  class Invoice
    # Adds a line.
    #
    # @param title [String] what was bought
    # @param [Integer] cents what it costs
    # @return [Integer] the total
    # @raise [ArgumentError] if cents is negative
    # @example
    #   invoice.add("Emma", 1000)
    def add(title, cents = 0, *tags, paid: false, &block)
      raise ArgumentError, "negative" if cents < 0
      return @total unless title
      @lines ||= []
      @lines << [title, cents]
      tags.each do |tag|
        next if tag.empty?
        @tags[tag] += 1
      end
      begin
        File.write("invoice.json", JSON.dump(@lines))
      rescue IOError, SystemCallError => error
        warn error.message
      ensure
        @written = true
      end
      case cents
      when 0 then notify(:free)
      when 1..99
        notify(:small)
      else
        yield title
      end
      @total += cents
    end

    def self.load(path)
      new.tap { |invoice| JSON.parse(File.read(path)).each { |title, cents| invoice.add(title, cents) } }
    end
  end
end
"#;

#[test]
fn a_method_is_explained_with_its_tags() {
    let found = explained_symbol("lib/shop/invoice.rb", INVOICE, "add");
    assert_eq!(
        told(&found),
        r#"`add` is a method of `Invoice`. Adds a line. It calls `raise`, `write`, `dump`, `warn`, `message` and `notify`.
  Raises `ArgumentError, "negative"` if `cents < 0`.
  Returns `@total` unless `title`.
  Sets `@lines` to `[]` unless it is set already.
  Evaluates `@lines << [title, cents]`.
  For each `tag` of `tags`: continues with the next iteration if `tag.empty?`, then adds `1` to `@tags[tag]`.
  Tries the following: calls `File.write("invoice.json", JSON.dump(@lines))`.
  On `IOError, SystemCallError => error`, calls `warn error.message`.
  In any case, at the end, sets `@written` to `true`.
  Chooses by the value of `cents`:
  - For `0`, calls `notify(:free)`.
  - For `1..99`, calls `notify(:small)`.
  - In all other cases, yields `title`.
  Adds `cents` to `@total`.
in title: String | What was bought.
in cents: Integer | What it costs. Default: `0`.
in tags:  | 
in paid:  | Default: `false`.
in block:  | 
success: `Integer`: the total. Yields `title`. Returns `@total` or `@total += cents`.
failure: ArgumentError: if cents is negative. Raises `ArgumentError, "negative"`.
uses: 
"#
    );
}

#[test]
fn a_method_of_a_class_is_explained_with_its_block() {
    let found = explained_symbol("lib/shop/invoice.rb", INVOICE, "load");
    assert_eq!(
        told(&found),
        r#"`load` is a method of `Invoice`. It calls `tap`, `parse`, `read` and `add`.
  Returns `new.tap { |invoice| JSON.parse(File.read(path)).each { |title, cents| invoice.add(title, cents) } }`.
in path:  | 
success: Returns `new.tap { |invoice| JSON.parse(File.read(path)).each { |title, cents| invoice.add(title, cents) } }`.
failure: Does not fail by itself.
uses: Invoice.add (line 15)
"#
    );
}
