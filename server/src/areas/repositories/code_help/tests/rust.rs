//! Explanations of Rust.

use super::harness::{assert_verbatim, explained, explained_symbol, sentences, told};

pub(super) const QUEUE: &str = r#"//! The queue of shipments.
//!
//! Shipments are kept in memory.

use std::collections::VecDeque;
use std::fmt::{self, Display};

use crate::log::record as log_event;

/// Grams that a courier carries.
pub const GRAMS_MAX: u32 = 20_000;

/// Shipments that wait for a courier, oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: VecDeque<Shipment>,
}

/// Why a shipment is not accepted.
pub enum QueueError {
    TooHeavy,
    Full(usize),
}

impl Queue {
    /// Adds shipments at the end of the queue. Heavy ones are refused; see [`QueueError`].
    ///
    /// # Arguments
    ///
    /// * `shipments` - what is to be sent,
    ///   in its order
    /// * `limit` - how many may wait
    ///
    /// # Errors
    ///
    /// Returns an error at the first shipment that is too heavy.
    ///
    /// # Examples
    ///
    /// ```
    /// # use shop::Queue;
    /// let mut queue = Queue::default();
    /// assert_eq!(queue.enqueue(Vec::new(), 3)?, 0);
    /// ```
    pub fn enqueue(&mut self, shipments: Vec<Shipment>, limit: usize) -> Result<usize, QueueError> {
        let mut added = 0;
        for shipment in shipments {
            if shipment.grams > GRAMS_MAX {
                return Err(QueueError::TooHeavy);
            }
            let Some(room) = limit.checked_sub(self.waiting.len()) else {
                return Err(QueueError::Full(limit));
            };
            if room == 0 && !self.waiting.is_empty() {
                log_event("full");
                self.drop_oldest()?;
            } else if room == 1 {
                log_event("nearly full");
            } else {
                added += 1;
            }
            self.waiting.push_back(shipment);
        }
        Ok(added)
    }

    fn drop_oldest(&mut self) -> Result<(), QueueError> {
        match self.waiting.pop_front() {
            Some(shipment) if shipment.grams == 0 => Ok(()),
            Some(shipment) => {
                log_event(&shipment.name);
                Ok(())
            }
            None => Err(QueueError::Full(0)),
        }
    }
}

/// Returns the name of the first heavy shipment.
fn first_heavy(queue: &Queue) -> Option<&str> {
    let state = match queue.waiting.len() {
        0 => return None,
        1 => "a single one that is waiting for its courier, which has not been ordered yet",
        _ => "many",
    };
    let first = queue.waiting.iter().find(|shipment| shipment.grams > GRAMS_MAX)?;
    while let Some(line) = read_line() {
        if line.is_empty() { break; }
    }
    assert!(!state.is_empty());
    Some(&first.name)
}
"#;

#[test]
fn a_method_is_explained_with_its_guards_loops_and_documentation() {
    let found = explained_symbol("server/src/queue.rs", QUEUE, "enqueue");
    assert_eq!(
        told(&found),
        r#"`enqueue` is a method of `Queue`. Adds shipments at the end of the queue. Heavy ones are refused; see `QueueError`. It returns `Result<usize, QueueError>`. It calls `checked_sub`, `Full`, `log_event`, `drop_oldest` and `push_back`.
  Sets `added` to `0`.
  For each `shipment` of `shipments`:
  - Returns `Err(QueueError::TooHeavy)` if `shipment.grams > GRAMS_MAX`.
  - Matches `limit.checked_sub(self.waiting.len())` with `Some(room)`, or else returns `Err(QueueError::Full(limit))`.
  - If `room == 0 && !self.waiting.is_empty()`, calls `log_event("full")`, then calls `self.drop_oldest()?`.
  - Otherwise, if `room == 1`, calls `log_event("nearly full")`; otherwise, adds `1` to `added`.
  - Calls `self.waiting.push_back(shipment)`.
  Returns `Ok(added)`.
in shipments: Vec<Shipment> | What is to be sent, in its order.
in limit: usize | How many may wait.
success: Returns `Result<usize, QueueError>`: `Ok(added)`.
failure: Returns an error at the first shipment that is too heavy. Returns `Err(QueueError::TooHeavy)` and `Err(QueueError::Full(limit))`. Passes on the error of `self.drop_oldest()`.
uses: GRAMS_MAX (line 11), Queue::drop_oldest (line 67), QueueError (line 20), crate::log::record
"#
    );
}

#[test]
fn cases_are_listed_and_the_value_of_a_function_is_what_it_returns() {
    let found = explained_symbol("server/src/queue.rs", QUEUE, "drop_oldest");
    assert_eq!(
        told(&found),
        r#"`drop_oldest` is a method of `Queue`. It returns `Result<(), QueueError>`. It calls `pop_front`, `log_event` and `Full`.
  Chooses by the value of `self.waiting.pop_front()`:
  - For `Some(shipment)` if `shipment.grams == 0`, returns `Ok(())`.
  - For `Some(shipment)`, calls `log_event(&shipment.name)`, then returns `Ok(())`.
  - For `None`, returns `Err(QueueError::Full(0))`.
success: Returns `Result<(), QueueError>`: `Ok(())`.
failure: Returns `Err(QueueError::Full(0))`.
uses: QueueError (line 20), crate::log::record
"#
    );
    let found = explained_symbol("server/src/queue.rs", QUEUE, "first_heavy");
    assert_eq!(
        told(&found),
        r#"`first_heavy` is a function. Returns the name of the first heavy shipment. It returns `Option<&str>`. It calls `read_line` and `assert`.
  To set `state`, chooses by the value of `queue.waiting.len()`:
  - For `0`, returns `None`.
  - For `1`, gives `"a single one that is waiting for its courier, which has not been ordered yet"`.
  - In all other cases, gives `"many"`.
  Sets `first` to `queue.waiting.iter().find(|shipment| shipment.grams > GRAMS_MAX)?`.
  While `read_line()` matches `Some(line)`: leaves the loop if `line.is_empty()`.
  Asserts `assert!(!state.is_empty())`.
  Returns `Some(&first.name)`.
in queue: &Queue | 
success: Returns `Option<&str>`: `None` or `Some(&first.name)`.
failure: Returns no value if there is none of `queue.waiting.iter().find(|shipment| shipment.grams > GRAMS_MAX)`. Fails unless this holds: `assert!(!state.is_empty())`.
uses: GRAMS_MAX (line 11), Queue (line 15)
"#
    );
}

#[test]
fn a_file_and_a_type_are_explained_by_what_they_define() {
    let found = explained("server/src/queue.rs", QUEUE, None);
    assert_eq!(
        told(&found),
        r#"queue.rs is a Rust file of 92 lines. The queue of shipments. Shipments are kept in memory. It defines the constant `GRAMS_MAX`; the struct `Queue`; the enum `QueueError`; the function `first_heavy`.
  Constant `GRAMS_MAX`: Grams that a courier carries.
  Struct `Queue`: Shipments that wait for a courier, oldest first.
  - Method `enqueue`: Adds shipments at the end of the queue. Heavy ones are refused; see `QueueError`.
  - Method `drop_oldest`: `fn drop_oldest(&mut self) -> Result<(), QueueError>`.
  Enum `QueueError`: Why a shipment is not accepted.
  Function `first_heavy`: Returns the name of the first heavy shipment.
success: Nothing is returned: this is a file, not a function.
failure: Nothing fails by itself: this is a file, not a function.
uses: crate::log::record, std::collections::VecDeque, std::fmt, std::fmt::Display
"#
    );
    assert_verbatim(QUEUE, &sentences(&found));
    let found = explained_symbol("server/src/queue.rs", QUEUE, "QueueError");
    assert_eq!(
        told(&found),
        r#"`QueueError` is an enum. Why a shipment is not accepted. It has 2 variants.
  Variant `TooHeavy`.
  Variant `Full`.
success: Nothing is returned: this is an enum, not a function.
failure: Nothing fails by itself: this is an enum, not a function.
uses: 
"#
    );
}
