//! The symbols of a file in each language.

use super::fixtures::{
    C_FILE, CPP_FILE, GO_FILE, JAVA_FILE, JAVASCRIPT_FILE, PYTHON_FILE, RUBY_FILE, RUST_FILE,
    TYPESCRIPT_FILE,
};
use crate::areas::repositories::source::{Symbol, outline};

/// Returns the symbols of a file, a line each: kind, container and name, lines, line of the name,
/// whether it is private or a test, and the first line of its documentation.
fn symbols(path: &str, text: &str) -> String {
    let line = |symbol: &Symbol| {
        let container = symbol.container.as_deref().map(|of| format!("{of}.")).unwrap_or_default();
        let private = if symbol.is_public { "" } else { " private" };
        let test = if symbol.is_test { " test" } else { "" };
        let doc = symbol.doc.as_deref().and_then(|doc| doc.lines().next());
        let doc = doc.map(|doc| format!(" // {doc}")).unwrap_or_default();
        let Symbol { kind, name, lines, name_line, .. } = symbol;
        format!("{} {container}{name} {lines:?}@{name_line}{private}{test}{doc}\n", kind.name())
    };
    outline(path, text).symbols.iter().map(line).collect()
}

#[test]
fn symbols_of_rust() {
    let expected = "\
module inner 5-5@5 private
struct Counter 7-15@11 // Counts requests.
field Counter.value 12-13@13 // The value.
field Counter.limits 14-14@14 private
method Counter.add 18-24@19 // Adds `n` to the counter.
method Counter.private 25-25@25 private
method Counter.fmt 29-29@29
enum Kind 32-32@32
variant Kind.First 32-32@32
variant Kind.Second 32-32@32
trait Reset 33-33@33
method Reset.reset 33-33@33
constant MAX 34-34@34 private
macro square 35-35@35
module tests 37-41@38 private test
function tests.adds 39-40@40 private test
";
    assert_eq!(symbols("src/lib.rs", RUST_FILE), expected);
}

#[test]
fn symbols_of_python() {
    let expected = "\
constant MAX_USERS 8-8@8
variable _cache 9-9@9 private
class Store 12-27@12 // Keeps users in memory.
field Store.limit 15-15@15
method Store.__init__ 17-18@17
method Store.size 20-23@21 // Return the number of users.
method Store.find 25-27@25
function test_find 30-33@30 test
function nested 31-32@31 test
";
    assert_eq!(symbols("store.py", PYTHON_FILE), expected);
}

#[test]
fn symbols_of_typescript() {
    let expected = "\
constant path 5-5@5
interface Options 7-12@8 // Options of a client.
field Options.url 9-10@10 // The URL.
method Options.retry 11-11@11
type_alias Id 14-14@14
enum Color 15-15@15
variant Color.Red 15-15@15
variant Color.Green 15-15@15
class Client 17-28@21 // Sends requests.
field Client.count 22-22@22 private
method Client.handler 23-23@23
method Client.constructor 24-24@24
method Client.send 25-26@26 // Sends one.
method Client.#hidden 27-27@27 private
function create 30-30@30
constant LIMIT 31-31@31
function helper 32-32@32
module Inner 33-33@33
function Inner.f 33-33@33
";
    assert_eq!(symbols("client.ts", TYPESCRIPT_FILE), expected);
}

#[test]
fn symbols_of_javascript() {
    let expected = "\
function parse 1-1@1
method Foo.bar 2-2@2
method run 3-3@3
method walk 3-3@3
";
    assert_eq!(symbols("index.js", JAVASCRIPT_FILE), expected);
}

#[test]
fn symbols_of_go() {
    let expected = "\
constant MaxUsers 9-10@10 // MaxUsers is the limit.
constant A 13-14@14 // A is first.
constant B 15-15@15
struct Store 18-24@19 // Store keeps users.
field Store.Name 21-22@22 // Name of it.
field Store.size 23-23@23 private
interface Finder 26-28@26
method Finder.Find 27-27@27
method Store.Find 30-33@31 // Find returns a user, or an error.
function lookup 35-35@35 private
";
    assert_eq!(symbols("store.go", GO_FILE), expected);
}

#[test]
fn symbols_of_java() {
    let expected = "\
class Shop 6-23@9 // A shop.
constant Shop.MAX 10-10@10 private
field Shop.name 11-11@11 private
method Shop.Shop 13-14@14 // Creates a shop.
method Shop.buy 16-18@18 // Buys an item.
interface Shop.Listener 20-20@20 private
method Listener.onBuy 20-20@20
enum Shop.Color 21-21@21 private
variant Color.RED 21-21@21
variant Color.GREEN 21-21@21
struct Shop.Point 22-22@22 private
";
    assert_eq!(symbols("Shop.java", JAVA_FILE), expected);
}

#[test]
fn symbols_of_ruby() {
    let expected = "\
module Shop 6-22@6
class Shop.Cart 7-21@8 // Sells things.
constant Cart.LIMIT 9-9@9
method Cart.add 11-14@12 // Adds an item.
method Cart.load 16-16@16
method Cart.secret 20-20@20 private
";
    assert_eq!(symbols("cart.rb", RUBY_FILE), expected);
}

#[test]
fn symbols_of_c() {
    let expected = "\
macro H 3-3@3
macro LIMIT 7-8@8 // The limit.
macro SQUARE 9-9@9
struct point_t 11-15@15 // A point.
field point_t.x 13-13@13
field point_t.y 14-14@14
struct node 17-17@17
field node.next 17-17@17
field node.callback 17-17@17
enum color 18-18@18
variant color.RED 18-18@18
variant color.GREEN 18-18@18
function point_add 20-23@23 // Adds two points.
function helper 24-24@24 private
constant table 25-25@25
";
    assert_eq!(symbols("point.h", C_FILE), expected);
}

#[test]
fn symbols_of_cpp() {
    let expected = "\
module shop 3-23@3
class shop.Cart 5-16@7 // Keeps items.
method Cart.Add 9-10@10 // Adds one.
method Cart.size 11-11@11
method Cart.~Cart 12-12@12
method Cart.Hidden 14-14@14 private
field Cart.items_ 15-15@15 private
method Cart.Add 18-19@19
type_alias shop.Id 22-22@22
";
    assert_eq!(symbols("cart.cpp", CPP_FILE), expected);
}
