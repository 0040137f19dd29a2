//! Parses a JSON document into a flat tape of borrowed nodes, with cursors over it.
//!
//! `simd-json` parses a copy of the body in a buffer that each thread reuses: it unescapes strings
//! in place, so nothing is allocated per value and every string borrows from the copy. The body
//! itself is kept, because `simd-json` rejects a whole document for one number too large for an
//! `f64`, while we reject only the item that contains it: such a document is parsed a second time
//! with these numbers replaced, and they are restored as infinite.
//!
//! Refuses documents nested deeper than [`limits::JSON_DEPTH_MAX`] and, because a tape takes many
//! times the bytes of a dense document, documents of more than [`limits::JSON_VALUES_MAX`] values.

use std::cell::Cell;

use serde::de::IgnoredAny;
use simd_json::{Buffers, ErrorType, INPUT_PADDING, Node, StaticNode, Tape, fill_tape_padded};
use telltale_engine::MemoryFull;

use super::document_memory::has_too_many_values;
use super::number::{any_number, number_len};
use super::syntax::invalid_syntax;
use super::write;
use crate::limits;

/// Why a body is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidJson {
    /// The body is empty.
    #[error("the body is empty; it must be a JSON object")]
    Empty,
    /// The body is not valid JSON.
    #[error("the body is not valid JSON: {0}")]
    Malformed(String),
    /// The body is JSON, but not an object.
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// An object in the body has a duplicate key.
    #[error("the body has the key {0:?} twice in one object")]
    DuplicateKey(String),
    /// The body is nested deeper than this many levels.
    #[error("the body must not be nested more than {0} levels deep")]
    TooDeep(usize),
    /// The body has too many values.
    #[error("the body must not have more than {} values", limits::JSON_VALUES_MAX)]
    TooManyValues,
    /// There is no memory for the document.
    #[error(transparent)]
    MemoryFull(#[from] MemoryFull),
}

/// A value of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value<'d> {
    /// The node of the value and those inside it; never empty.
    nodes: &'d [Node<'d>],
}

/// The content of a value.
#[derive(Clone, Debug)]
pub enum Json<'d> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, unescaped.
    Text(&'d str),
    /// An array.
    Array(Elements<'d>),
    /// An object.
    Object(Members<'d>),
}

/// A number with the precision of the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer from 0.
    Unsigned(u64),
    /// An integer below 0.
    Signed(i64),
    /// Any other number; infinite if it is too large for an `f64`.
    Float(f64),
}

/// The values of an array.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'d> {
    left: usize,
    rest: &'d [Node<'d>],
}

/// The keys and values of an object, in document order; keys may occur twice.
#[derive(Clone, Copy, Debug)]
pub struct Members<'d>(Elements<'d>);

/// Buffers for parsing, reused by the thread.
struct Scratch {
    input: Vec<u8>,
    buffers: Buffers,
    tape: Tape<'static>,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Parses `body` and passes the document to `use_document`. Callers that accept large bodies
/// [reserve memory](super::reserve_document) first.
pub fn with_document<R>(
    body: &[u8],
    use_document: impl FnOnce(Value<'_>) -> R,
) -> Result<R, InvalidJson> {
    if body.is_empty() {
        return Err(InvalidJson::Empty);
    }
    if has_too_many_values(body) {
        return Err(InvalidJson::TooManyValues);
    }
    let mut scratch = SCRATCH.take().unwrap_or_else(|| Box::new(Scratch::new()));
    let result = scratch.read(body, use_document);
    if body.len() <= limits::JSON_SCRATCH_BYTES_MAX {
        SCRATCH.set(Some(scratch));
    }
    result
}

impl Scratch {
    fn new() -> Self {
        Self {
            input: Vec::new(),
            buffers: Buffers::with_max_depth(0, limits::JSON_DEPTH_MAX),
            tape: Tape(Vec::new()),
        }
    }

    fn read<R>(
        &mut self,
        body: &[u8],
        use_document: impl FnOnce(Value<'_>) -> R,
    ) -> Result<R, InvalidJson> {
        self.input.clear();
        self.input.extend_from_slice(body);
        let (error, use_document) = match self.attempt(&[], use_document) {
            Ok(result) => return Ok(result),
            Err(failed) => failed,
        };
        if !matches!(error.error(), ErrorType::InvalidNumber) {
            return Err(explain(body, &error));
        }
        let overflows = set_overflows_apart(body, &mut self.input);
        self.attempt(&overflows, use_document).map_err(|(error, _)| explain(body, &error))
    }

    /// Parses `input`. Returns `use_document` on failure, for another attempt.
    fn attempt<R, F: FnOnce(Value<'_>) -> R>(
        &mut self,
        overflows: &[usize],
        use_document: F,
    ) -> Result<R, (simd_json::Error, F)> {
        let len = self.input.len();
        self.input.resize(len + INPUT_PADDING, b' ');
        let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let parsed = fill_tape_padded(&mut self.input, len, &mut self.buffers, &mut tape);
        let result = match parsed {
            Ok(()) => {
                restore_overflows(&mut tape.0, overflows);
                Ok(use_document(Value { nodes: &tape.0 }))
            }
            Err(error) => Err((error, use_document)),
        };
        self.tape = tape.reset();
        result
    }
}

/// Returns the error with line and column, by parsing again with a parser that counts them.
fn explain(body: &[u8], error: &simd_json::Error) -> InvalidJson {
    if matches!(error.error(), ErrorType::DepthLimitExceeded) {
        return InvalidJson::TooDeep(limits::JSON_DEPTH_MAX);
    }
    match serde_json::from_slice::<IgnoredAny>(body) {
        Err(error) => invalid_syntax(&error),
        Ok(_) if std::str::from_utf8(body).is_err() => {
            InvalidJson::Malformed("a string is not UTF-8".to_owned())
        }
        Ok(_) => {
            InvalidJson::Malformed(format!("it breaks the grammar near byte {}", error.index()))
        }
    }
}

/// Copies `body` into `copy` with `0` in place of every number too large for an `f64`. Returns the
/// indexes of these numbers among all numbers, ascending.
fn set_overflows_apart(body: &[u8], copy: &mut Vec<u8>) -> Vec<usize> {
    copy.clear();
    let (mut overflows, mut numbers, mut rest) = (Vec::new(), 0, body);
    while let Some(&first) = rest.first() {
        let (len, is_number) = match first {
            b'"' => (string_len(rest), false),
            b'-' | b'0'..=b'9' => (number_len(rest), true),
            _ => (1, false),
        };
        let (token, after) = rest.split_at(len);
        if is_number && any_number(token).is_some_and(f64::is_infinite) {
            overflows.push(numbers);
            copy.push(b'0');
        } else {
            copy.extend_from_slice(token);
        }
        numbers += usize::from(is_number);
        rest = after;
    }
    overflows
}

/// Restores the replaced numbers as infinite.
fn restore_overflows(tape: &mut [Node<'_>], overflows: &[usize]) {
    let Some(&last) = overflows.last() else { return };
    let mut overflows = overflows.iter().peekable();
    let numbers = tape.iter_mut().filter(|node| {
        matches!(node, Node::Static(StaticNode::I64(_) | StaticNode::U64(_) | StaticNode::F64(_)))
    });
    for (i, node) in numbers.take(last + 1).enumerate() {
        if overflows.next_if_eq(&&i).is_some() {
            *node = Node::Static(StaticNode::F64(f64::INFINITY));
        }
    }
}

/// Returns the length of the string at the beginning of `text`, quotes included.
fn string_len(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text.iter().skip(1).position(|&b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |at| at + 2)
}

impl<'d> Value<'d> {
    /// Returns the content of the value.
    #[inline]
    pub fn json(self) -> Json<'d> {
        let Some((first, inner)) = self.nodes.split_first() else {
            return Json::Null;
        };
        match *first {
            Node::String(text) => Json::Text(text),
            Node::Array { len, .. } => Json::Array(Elements { left: len, rest: inner }),
            Node::Object { len, .. } => Json::Object(Members(Elements { left: len, rest: inner })),
            Node::Static(StaticNode::Null) => Json::Null,
            Node::Static(StaticNode::Bool(b)) => Json::Bool(b),
            Node::Static(StaticNode::U64(n)) => Json::Number(Number::Unsigned(n)),
            Node::Static(StaticNode::I64(n)) => Json::Number(Number::Signed(n)),
            Node::Static(StaticNode::F64(n)) => Json::Number(Number::Float(n)),
        }
    }
}

impl<'d> Elements<'d> {
    /// Returns the number of remaining values.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Returns whether no value remains.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    #[inline]
    fn take_value(&mut self) -> Option<Value<'d>> {
        let inside = match self.rest.first()? {
            Node::Array { count, .. } | Node::Object { count, .. } => *count,
            Node::String(_) | Node::Static(_) => 0,
        };
        let (nodes, rest) = self.rest.split_at_checked(1 + inside)?;
        self.rest = rest;
        Some(Value { nodes })
    }
}

impl<'d> Iterator for Elements<'d> {
    type Item = Value<'d>;

    #[inline]
    fn next(&mut self) -> Option<Value<'d>> {
        self.left = self.left.checked_sub(1)?;
        self.take_value()
    }
}

impl Members<'_> {
    /// Returns the number of remaining members.
    pub fn len(&self) -> usize {
        self.0.left
    }

    /// Returns whether no member remains.
    pub fn is_empty(&self) -> bool {
        self.0.left == 0
    }
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Value<'d>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.left = self.0.left.checked_sub(1)?;
        let (Node::String(key), rest) = self.0.rest.split_first()? else {
            return None;
        };
        self.0.rest = rest;
        Some((key, self.0.take_value()?))
    }
}

impl Number {
    /// Returns the nearest `f64`.
    #[inline]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Unsigned(n) => n as f64,
            Self::Signed(n) => n as f64,
            Self::Float(n) => n,
        }
    }

    /// Appends the number: integers without a fraction, others as the shortest string that parses
    /// to the same value.
    pub fn write_to(self, out: &mut String) {
        match self {
            Self::Unsigned(n) => out.push_str(itoa::Buffer::new().format(n)),
            Self::Signed(n) => out.push_str(itoa::Buffer::new().format(n)),
            Self::Float(n) => write::with_text(n, |text| out.push_str(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Converts to a value of another parser; infinite numbers become null.
    fn model(value: Value<'_>) -> serde_json::Value {
        match value.json() {
            Json::Null => serde_json::Value::Null,
            Json::Bool(b) => b.into(),
            Json::Number(Number::Unsigned(n)) => n.into(),
            Json::Number(Number::Signed(n)) => n.into(),
            Json::Number(Number::Float(n)) => n.into(),
            Json::Text(text) => text.into(),
            Json::Array(elements) => {
                let len = elements.len();
                let array: Vec<_> = elements.map(model).collect();
                assert_eq!(array.len(), len);
                array.into()
            }
            Json::Object(members) => {
                let pairs: Vec<_> = members.map(|(k, v)| (k.to_owned(), model(v))).collect();
                assert_eq!(pairs.len(), members.len());
                serde_json::Value::Object(pairs.into_iter().collect())
            }
        }
    }

    fn check(body: &str, expected: Result<&str, InvalidJson>) {
        let read = with_document(body.as_bytes(), model);
        let expected = expected.map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(read, expected, "{body:?}");
    }

    fn malformed(message: &str) -> InvalidJson {
        InvalidJson::Malformed(message.to_owned())
    }

    #[test]
    fn valid_documents_are_read() {
        for (body, expected) in [
            (r#"{"a":[1,-2,3.5,"x",null,true,{"b":[]}],"c":{}}"#, None),
            (r#" "caf\u00e9 \"\\ \ud83d\ude00" "#, Some(r#""café \"\\ 😀""#)),
            ("12345678901234567890", None),
            ("18446744073709551615", None),
            ("123456789012345678901234567890", Some("1.2345678901234568e29")),
            ("-9223372036854775808", None),
            ("0.1", None),
            // Numbers too large for an f64 become infinite, and nothing else does.
            (r#"[1, 1e400, "1e400", -1e400, 2]"#, Some(r#"[1,null,"1e400",null,2]"#)),
            (r#"{"\"1e400\\":[1e400]}"#, Some(r#"{"\"1e400\\":[null]}"#)),
            (r#"["a\tb", 1e999, "c\nd"]"#, Some(r#"["a\tb",null,"c\nd"]"#)),
            ("1e-400", Some("0.0")),
        ] {
            check(body, Ok(expected.unwrap_or(body)));
        }
        check(&format!("[{}]", "9".repeat(400)), Ok("[null]"));
    }

    #[test]
    fn invalid_documents_are_refused() {
        for (body, expected) in [
            ("", InvalidJson::Empty),
            (" ", malformed("it ends where a value is expected at line 1, column 1")),
            ("{\n\"a\":}", malformed("a value is expected at line 2, column 5")),
            (r#"{"a":1"#, malformed("it ends inside an object at line 1, column 6")),
            ("[1e400", malformed("it ends inside an array at line 1, column 6")),
            ("[1e400,01]", malformed("there is an invalid number at line 1, column 9")),
            ("[NaN]", malformed("a value is expected at line 1, column 2")),
            ("{} {}", malformed("there is more text after the value at line 1, column 4")),
            ("\u{feff}{}", malformed("a value is expected at line 1, column 1")),
        ] {
            check(body, Err(expected));
        }
        let not_utf8 = with_document(b"\"\xff\"", model);
        assert_eq!(not_utf8, Err(malformed("a string is not UTF-8")));
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        let depth = with_document(nested(limits::JSON_DEPTH_MAX).as_bytes(), |_| ());
        assert_eq!(depth, Ok(()));
        let too_deep = InvalidJson::TooDeep(limits::JSON_DEPTH_MAX);
        check(&nested(limits::JSON_DEPTH_MAX + 1), Err(too_deep.clone()));
        check(&"[".repeat(200_000), Err(too_deep.clone()));
        check(&r#"{"a":"#.repeat(200_000), Err(too_deep));
    }

    #[test]
    fn a_dense_document_is_refused_before_it_takes_memory() {
        let body = format!("[{}0]", "0,".repeat(limits::JSON_VALUES_MAX));
        check(&body, Err(InvalidJson::TooManyValues));
    }

    proptest! {
        /// Accepts the same documents as serde_json, with the same content, apart from numbers that
        /// are too large.
        #[test]
        fn reads_as_serde_json_does(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"a\":", "1", "-", "0", ".5", "e3", "-0.0", "1e400",
                "true", "null", "false", " ", "\n", "\\u00e9", "\\ud800", "\"é\"", "[]", "{}", "[1,2]", "{\"b\":{}}",
            ]), 0..24)
        ) {
            let body = pieces.concat();
            compare(body.as_bytes())?;
        }

        #[test]
        fn reads_mutated_documents_as_serde_json_does(
            at in 0_usize..200, byte: u8, cut in 0_usize..200
        ) {
            let mut body = br#"{"metrics":[{"name":"a.b","type":"gauge","value":-1.5e3,"timestamp":"2026-01-02T03:04:05Z","tags":{"k\n":"\u00e9","n":12,"b":false}},{"x":[null,{}]}],"y":18446744073709551616}"#.to_vec();
            body.truncate(body.len().max(cut) - cut / 8);
            if let Some(b) = body.get_mut(at) {
                *b = byte;
            }
            compare(&body)?;
        }
    }

    fn compare(body: &[u8]) -> Result<(), TestCaseError> {
        let ours = with_document(body, model).ok();
        let theirs = serde_json::from_slice::<serde_json::Value>(body).ok();
        match (&ours, &theirs) {
            (Some(ours), Some(theirs)) => prop_assert!(same(ours, theirs), "{ours} {theirs}"),
            (Some(_), None) => prop_assert!(body.contains(&b'e') || body.contains(&b'E')),
            (None, theirs) => prop_assert_eq!(theirs, &None),
        }
        Ok(())
    }

    /// Returns whether the values are equal up to the last bit of floats, which serde_json rounds
    /// differently, and the sign of zero.
    fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
        use serde_json::Value::{Array, Number, Object};
        match (a, b) {
            (Number(a), Number(b)) => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() <= a.abs() * 1e-15,
                _ => false,
            },
            (Array(a), Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            (Object(a), Object(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
            }
            _ => a == b,
        }
    }
}
