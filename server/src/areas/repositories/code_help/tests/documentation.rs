//! Documentation of files in each language.

use super::super::Usage;
use super::harness::{documented, listed};
use super::{c, ecmascript, go, java, python, ruby, rust};
use crate::areas::repositories::source::outline;

fn usage(path: &str, line: u32, snippet: &str, is_test: bool) -> Usage {
    let symbols = outline("server/src/queue.rs", rust::QUEUE).symbols;
    let symbol = symbols.iter().position(|symbol| symbol.name == "enqueue").unwrap();
    let symbol = u32::try_from(symbol).unwrap();
    Usage { symbol, path: path.to_owned(), line, snippet: snippet.to_owned(), is_test }
}

#[test]
fn public_functions_are_documented_with_examples_of_comments_tests_and_calls() {
    let usages = [
        usage("src/send.rs", 3, "        queue.enqueue(all, 7)?;\n        done();\n", false),
        usage("tests/queue.rs", 9, "    assert_eq!(queue.enqueue(two, 3), Ok(2));", true),
        usage("tests/queue.rs", 12, "    queue.enqueue_all();", true),
    ];
    let found = documented("server/src/queue.rs", rust::QUEUE, &usages);
    assert_eq!(
        listed(&found),
        r#"The queue of shipments.

Shipments are kept in memory.
Queue::enqueue: Adds shipments at the end of the queue. Heavy ones are refused; see `QueueError`.

Returns an error at the first shipment that is too heavy.
  in shipments: Vec<Shipment> | What is to be sent, in its order.
  in limit: usize | How many may wait.
  e.g. let mut queue = Queue::default();
       assert_eq!(queue.enqueue(Vec::new(), 3)?, 0);
  e.g. assert_eq!(queue.enqueue(two, 3), Ok(2));
  e.g. queue.enqueue(all, 7)?;
       done();
usage: assert_eq!(queue.enqueue(two, 3), Ok(2));
usage: queue.enqueue_all();
"#
    );
}

#[test]
fn python_and_typescript_are_documented() {
    let found = documented("src/shop/retry.py", python::RETRY, &[]);
    assert_eq!(
        listed(&found),
        r#"Repeats operations that fail for a while.

Used by payments.
Retry.__init__: No documentation. `def __init__(self, attempts: int = 5)`.
  in attempts: int | Default: `5`.
Retry.run: Calls an operation until it succeeds, e.g. a payment. Waits between calls.

The waiting grows.

Returns: What the operation returns.

Fails: Exhausted: if no call succeeds.
  in operation: Callable | The function to call, without arguments.
  in args:  | Its arguments.
  in log:  | Where failures are reported. Default: `None`.
  in options:  | 
  e.g. await Retry().run(fetch, log=print)
batches: Yields the items in lists.

Returns: Iterator[list]: the lists.
  in items: list | What is to be split.
  in size: int | How many are in a list.
  e.g. >>> list(batches([1, 2, 3], 2))
       [[1, 2], [3]]
"#
    );
    let found = documented("web/cart.ts", ecmascript::CART, &[]);
    assert_eq!(
        listed(&found),
        r#"The books that a visitor wants to buy.
Cart.add: Puts copies of a book into the cart. Tells listeners.

Returns: how many are in the cart.

Fails: RangeError: if copies is negative.
  in title: string | The title of the book.
  in copies: number | How many, at least one. Default: `1`.
  in ...notes: string[] | 
  e.g. cart.add("Emma", 2);
Cart.count: No documentation. `count(): number`.
label: No documentation. `export const label = (cart: Cart)`.
  in cart: Cart | 
"#
    );
}

#[test]
fn indented_code_and_tags_are_examples() {
    let found = documented("store/store.go", go::STORE, &[]);
    assert_eq!(
        listed(&found),
        r#"Package store keeps orders.
Store.Put: Put adds orders. It returns how many the store has.
  in names: string | 
  e.g. n, err := s.Put("emma")
usage: s := store.Open("orders")
       defer s.Close()
"#
    );
    let found = documented("lib/shop/invoice.rb", ruby::INVOICE, &[]);
    assert_eq!(
        listed(&found),
        r#"Invoices of the shop.
Invoice#add: Adds a line.

Returns: Integer: the total.

Fails: ArgumentError: if cents is negative.
  in title: String | What was bought.
  in cents: Integer | What it costs. Default: `0`.
  in tags:  | 
  in paid:  | Default: `false`.
  in block:  | 
  e.g. invoice.add("Emma", 1000)
Invoice.load: No documentation. `def self.load(path)`.
  in path:  | 
"#
    );
}

#[test]
fn languages_with_braces_are_documented() {
    let found = documented("src/shop/Ledger.java", java::LEDGER, &[]);
    assert_eq!(
        listed(&found),
        r#"Ledger.java has no comment at its beginning. It defines the class `Ledger`.
Ledger.Ledger: No documentation. `public Ledger(List<Booking> bookings)`.
  in bookings: List<Booking> | 
Ledger.book: Books an amount. Returns `true` if it was new.

Returns: whether it was new.

Fails: IOException: if the journal cannot be written.
  in account: String | The account, never null.
  in cents: long[] | What is booked.
"#
    );
    let found = documented("src/buffer.c", c::BUFFER, &[]);
    assert_eq!(
        listed(&found),
        r#"A buffer of bytes.
GROWTH: No documentation. `#define GROWTH`.
buffer_append: Appends bytes to a buffer.

Returns: 0, or -1 if memory is exhausted.
  in buffer: buffer_ref | The buffer.
  in bytes: bytes_ref | What is appended.
  in length: size_t | How many bytes these are.
"#
    );
    let found = documented("src/pool.cpp", c::POOL, &[]);
    assert_eq!(
        listed(&found),
        r#"pool.cpp has no comment at its beginning. It defines the module `shop`.
Pool::run: Runs a task and waits for it.

Returns: what the task returns.
  in task: const std::function<int()>& | What is run.
"#
    );
}

#[test]
fn a_file_without_comments_is_documented_by_what_it_defines() {
    let found = documented("a.py", "def f(x):\n    return x\n\nclass B:\n    pass\n", &[]);
    assert_eq!(
        listed(&found),
        r#"a.py has no docstring. It defines the function `f`; the class `B`.
f: No documentation. `def f(x)`.
  in x:  | 
"#
    );
    let found = documented("docs/a.md", "# Title\n\nWhat it\nis.\n\n## Next\n\nMore.\n", &[]);
    assert_eq!(
        listed(&found),
        r#"Title

What it is.
"#
    );
    assert_eq!(documented("empty.txt", "", &[]).overview, "empty.txt is empty.");
}

#[test]
fn a_licence_is_no_overview() {
    let text = "# Permission is hereby granted, free of charge.\n\ndef f(): pass\n";
    let found = documented("a.py", text, &[]);
    assert_eq!(found.overview, "a.py has no docstring. It defines the function `f`.");
}
