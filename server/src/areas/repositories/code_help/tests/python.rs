//! Explanations of Python.

use super::harness::{explained, explained_symbol, told};

pub(super) const RETRY: &str = r#""""Repeats operations that fail for a while.

Used by payments.
"""

import random
import time
from shop.errors import Exhausted, Refused as RefusedError

PAUSE = 0.1


class Retry:
    """How often something is repeated."""

    def __init__(self, attempts: int = 5):
        self.attempts = attempts

    async def run(self, operation, *args, log=None, **options):
        """Calls an operation until it succeeds, e.g. a payment. Waits between calls.

        The waiting grows.

        Args:
            operation (Callable): the function to call,
                without arguments
            args: its arguments
            log: where failures are reported

        Returns:
            What the operation returns.

        Raises:
            Exhausted: if no call succeeds

        Example:
            await Retry().run(fetch, log=print)
        """
        delay = PAUSE
        for attempt in range(self.attempts):
            try:
                return await operation(*args, **options)
            except (ConnectionError, TimeoutError) as error:
                if log is not None:
                    log(error)
                if attempt + 1 == self.attempts:
                    break
                time.sleep(delay * random.random())
                delay *= 2
            except RefusedError:
                raise
            finally:
                self.attempts -= 1
        with open("failures.txt", "a") as file:
            file.write(str(delay))
        raise Exhausted(self.attempts)


def batches(items, size):
    """Yields the items in lists.

    :param list items: what is to be split
    :param size: how many are in a list
    :type size: int
    :returns: the lists
    :rtype: Iterator[list]

    >>> list(batches([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    if size < 1: raise ValueError("size must be positive")
    batch = []
    while True:
        batch.append(items.pop())
        if len(batch) == size or not items:
            yield batch
            batch = []
        if not items:
            return
    match size:
        case 1 | 2:
            print("small")
        case _:
            pass


if __name__ == "__main__":
    print(list(batches([1], 1)))
"#;

#[test]
fn a_method_is_explained_with_its_failures_and_documentation() {
    let found = explained_symbol("src/shop/retry.py", RETRY, "run");
    assert_eq!(
        told(&found),
        r#"`run` is a method of `Retry`. Calls an operation until it succeeds, e.g. a payment. Waits between calls. It calls `operation`, `log`, `sleep`, `random`, `open`, `write` and 1 more.
  Sets `delay` to `PAUSE`.
  For each `attempt` of `range(self.attempts)`:
  - Tries the following: returns `await operation(*args, **options)`.
  - On `(ConnectionError, TimeoutError) as error`:
    - If `log is not None`, calls `log(error)`.
    - Leaves the loop if `attempt + 1 == self.attempts`.
    - Calls `time.sleep(delay * random.random())`.
    - Applies `delay *= 2`.
  - On `RefusedError`, raises the handled exception again.
  - In any case, at the end, subtracts `1` from `self.attempts`.
  With `open("failures.txt", "a") as file`: calls `file.write(str(delay))`.
  Raises `Exhausted(self.attempts)`.
in operation: Callable | The function to call, without arguments.
in args:  | Its arguments.
in log:  | Where failures are reported. Default: `None`.
in options:  | 
success: What the operation returns. Returns `await operation(*args, **options)`.
failure: Exhausted: if no call succeeds. Raises `Exhausted(self.attempts)`. Raises the handled exception again.
uses: PAUSE (line 10), random, shop.errors.Exhausted, shop.errors.Refused, time
"#
    );
}

#[test]
fn a_generator_is_explained() {
    let found = explained_symbol("src/shop/retry.py", RETRY, "batches");
    assert_eq!(
        told(&found),
        r#"`batches` is a function. Yields the items in lists. It calls `ValueError` and `pop`.
  Raises `ValueError("size must be positive")` if `size < 1`.
  Sets `batch` to `[]`.
  Repeats until it is left:
  - Calls `batch.append(items.pop())`.
  - If `len(batch) == size or not items`, yields `batch`, then sets `batch` to `[]`.
  - Returns if `not items`.
  Chooses by the value of `size`:
  - For `1 | 2`, calls `print("small")`.
  - In all other cases, does nothing.
in items: list | What is to be split.
in size: int | How many are in a list.
success: `Iterator[list]`: the lists. Yields `batch`.
failure: Raises `ValueError("size must be positive")`.
uses: 
"#
    );
}

#[test]
fn a_class_has_the_inputs_of_its_constructor_and_a_file_what_it_executes() {
    let found = explained_symbol("src/shop/retry.py", RETRY, "Retry");
    assert_eq!(
        told(&found),
        r#"`Retry` is a class. How often something is repeated. It has 2 methods.
  Constructor `__init__`: `def __init__(self, attempts: int = 5)`.
  Method `run`: Calls an operation until it succeeds, e.g. a payment. Waits between calls.
in attempts: int | Default: `5`.
success: Nothing is returned: this is a class, not a function.
failure: Nothing fails by itself: this is a class, not a function.
uses: PAUSE (line 10), random, shop.errors.Exhausted, shop.errors.Refused, time
"#
    );
    let found = explained("src/shop/retry.py", RETRY, None);
    assert_eq!(
        told(&found),
        r#"retry.py is a Python file of 88 lines. Repeats operations that fail for a while. Used by payments. It defines the constant `PAUSE`; the class `Retry`; the function `batches`.
  Constant `PAUSE`: `PAUSE = 0.1`.
  Class `Retry`: How often something is repeated.
  - Constructor `__init__`: `def __init__(self, attempts: int = 5)`.
  - Method `run`: Calls an operation until it succeeds, e.g. a payment. Waits between calls.
  Function `batches`: Yields the items in lists.
  If `__name__ == "__main__"`, calls `print(list(batches([1], 1)))`.
success: Nothing is returned: this is a file, not a function.
failure: Nothing fails by itself: this is a file, not a function.
uses: random, shop.errors.Exhausted, shop.errors.Refused, time
"#
    );
}
