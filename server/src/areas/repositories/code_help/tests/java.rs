//! Explanations of Java.

use super::harness::{explained_symbol, told};

pub(super) const LEDGER: &str = r#"package shop;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** Keeps the bookings of the shop. */
public class Ledger {
    private final List<Booking> bookings;

    public Ledger(List<Booking> bookings) {
        super();
        this.bookings = bookings;
    }

    /**
     * Books an amount. Returns {@code true} if it was new.
     *
     * @param account the account,
     *                never null
     * @param cents   what is booked
     * @return whether it was new
     * @throws IOException if the journal cannot be written
     */
    public boolean book(String account, long[] cents) throws IOException {
        if (account == null) {
            throw new IllegalArgumentException("account");
        }
        long total = 0;
        for (long one : cents) {
            if (one == 0) continue;
            total += one;
        }
        String size = switch ((int) Math.signum(total)) {
            case 0 -> "nothing that would be worth a line in the journal of the shop";
            case 1, 2 -> "some";
            default -> { log(total); yield "less"; }
        };
        synchronized (this) {
            bookings.add(new Booking(account, total, size));
        }
        try (var journal = Files.newBufferedWriter(path)) {
            journal.write(account);
        } catch (IOException | IllegalStateException e) {
            bookings.clear();
            throw e;
        } finally {
            count++;
        }
        bookings.forEach(booking -> {
            booking.close();
            log(booking);
        });
        return bookings.size() == 1;
    }
}
"#;

#[test]
fn a_method_is_explained_with_its_exceptions() {
    let found = explained_symbol("src/shop/Ledger.java", LEDGER, "book");
    assert_eq!(
        told(&found),
        r#"`book` is a method of `Ledger`. Books an amount. Returns `true` if it was new. It returns `boolean`. It calls `IllegalArgumentException`, `signum`, `log`, `add`, `Booking`, `newBufferedWriter` and 4 more.
  Throws `new IllegalArgumentException("account")` if `account == null`.
  Sets `total` to `0`.
  For each `one` of `cents`: continues with the next iteration if `one == 0`, then adds `one` to `total`.
  To set `size`, chooses by the value of `(int) Math.signum(total)`:
  - For `0`, gives `"nothing that would be worth a line in the journal of the shop"`.
  - For `1, 2`, gives `"some"`.
  - In all other cases, calls `log(total)`, then gives `"less"`.
  While it holds the lock of `this`: calls `bookings.add(new Booking(account, total, size))`.
  Tries the following: sets `journal` to `Files.newBufferedWriter(path)`, then calls `journal.write(account)`.
  On `IOException | IllegalStateException`, calls `bookings.clear()`, then throws `e`.
  In any case, at the end, increments `count`.
  Calls `bookings.forEach(booking -> { booking.close(); log(booking); })`.
  Returns `bookings.size() == 1`.
in account: String | The account, never null.
in cents: long[] | What is booked.
success: Whether it was new. Returns `boolean`: `bookings.size() == 1`.
failure: IOException: if the journal cannot be written. Throws `new IllegalArgumentException("account")` and `e`.
uses: java.io.IOException, java.nio.file.Files
"#
    );
}
