//! Splits canonical JSON text into shape and leaves. Accepts any input; text that is not canonical
//! is refused.

use crate::model::format_float;

/// The kind of a leaf. The numbers are part of the stored format: they mark the leaf in its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(in super::super) enum LeafKind {
    Integer = 1,
    Number = 2,
    String = 3,
    Boolean = 4,
    Json = 5,
}

impl LeafKind {
    pub(super) const ALL: [Self; 5] =
        [Self::Integer, Self::Number, Self::String, Self::Boolean, Self::Json];

    pub(super) fn of_mark(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A leaf of properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Leaf<'t> {
    Integer(i64),
    Number(f64),
    String(&'t str),
    Boolean(bool),
    Json(&'t str),
}

impl Leaf<'_> {
    pub(super) fn kind(&self) -> LeafKind {
        match self {
            Self::Integer(_) => LeafKind::Integer,
            Self::Number(_) => LeafKind::Number,
            Self::String(_) => LeafKind::String,
            Self::Boolean(_) => LeafKind::Boolean,
            Self::Json(_) => LeafKind::Json,
        }
    }
}

/// Splits `text`, appending to `shape` and `leaves`. Returns false if the text is refused; their
/// contents are then undefined.
pub(super) fn split<'t>(text: &'t str, shape: &mut String, leaves: &mut Vec<Leaf<'t>>) -> bool {
    Splitter { position: Position { text, at: 0 }, copied: 0, shape, leaves }.object().is_some()
}

/// A shape as its parts, to split texts that have it by comparing them.
pub(super) struct Template {
    /// The text before each leaf, and the kind of the leaf.
    leaves: Vec<(Box<str>, LeafKind)>,
    /// The text after the last leaf.
    end: Box<str>,
}

impl Template {
    /// Returns the template of a shape, in which only marks are control characters.
    pub(super) fn of(shape: &str) -> Self {
        let (mut leaves, mut from) = (Vec::new(), 0);
        for (at, byte) in shape.bytes().enumerate() {
            if let Some(kind) = LeafKind::of_mark(byte) {
                leaves.push((shape.get(from..at).unwrap_or_default().into(), kind));
                from = at + 1;
            }
        }
        Self { leaves, end: shape.get(from..).unwrap_or_default().into() }
    }

    /// Splits `text` if it has this shape, appending to `leaves`. Otherwise returns false; the
    /// contents of `leaves` are then undefined.
    pub(super) fn split<'t>(&self, text: &'t str, leaves: &mut Vec<Leaf<'t>>) -> bool {
        let mut position = Position { text, at: 0 };
        // Texts that begin alike are split alike: what follows equal text is a leaf in both.
        let has_leaves = self.leaves.iter().all(|(before, kind)| {
            let leaf = position.word(before).and_then(|()| position.value()).flatten();
            let leaf = leaf.filter(|leaf| leaf.kind() == *kind);
            leaf.is_some_and(|leaf| {
                leaves.push(leaf);
                true
            })
        });
        has_leaves && position.rest() == self.end.as_bytes()
    }
}

struct Splitter<'t, 'o> {
    position: Position<'t>,
    /// The text up to here is in the shape.
    copied: usize,
    shape: &'o mut String,
    leaves: &'o mut Vec<Leaf<'t>>,
}

impl<'t> Splitter<'t, '_> {
    /// Parses the whole text, which must be one object.
    fn object(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            // A value starts here.
            match self.position.peek()? {
                b'{' => {
                    self.position.at += 1;
                    depth += 1;
                    if self.position.peek()? != b'}' {
                        self.position.key()?;
                        continue;
                    }
                }
                // Only an object is allowed at the top level.
                _ if depth == 0 => return None,
                _ => self.leaf()?,
            }
            // A value has ended here, or an empty object is still open.
            while self.position.peek()? == b'}' {
                self.position.at += 1;
                depth -= 1;
                if depth == 0 {
                    let Position { text, at } = self.position;
                    self.shape.push_str(text.get(self.copied..at)?);
                    return (at == text.len()).then_some(());
                }
            }
            self.position.eat(b',')?;
            self.position.key()?;
        }
    }

    fn leaf(&mut self) -> Option<()> {
        let from = self.position.at;
        let Some(leaf) = self.position.value()? else { return Some(()) };
        self.shape.push_str(self.position.text.get(self.copied..from)?);
        self.shape.push(char::from(leaf.kind() as u8));
        self.copied = self.position.at;
        self.leaves.push(leaf);
        Some(())
    }
}

/// A position in a text.
struct Position<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Position<'t> {
    #[inline]
    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.eat(b':')
    }

    /// Moves past a string and returns the text between its quotes.
    fn string(&mut self) -> Option<&'t str> {
        self.eat(b'"')?;
        let from = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                // An unescaped control character could be mistaken for a mark.
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        let inside = self.text.get(from..self.at)?;
        self.at += 1;
        Some(inside)
    }

    /// Moves past a value that is not an object; returns no leaf for `null`.
    #[inline]
    fn value(&mut self) -> Option<Option<Leaf<'t>>> {
        let from = self.at;
        Some(Some(match self.peek()? {
            b'"' => Leaf::String(self.string()?),
            b'[' => {
                self.array()?;
                Leaf::Json(self.text.get(from..self.at)?)
            }
            b't' => self.word("true").map(|()| Leaf::Boolean(true))?,
            b'f' => self.word("false").map(|()| Leaf::Boolean(false))?,
            b'n' => return self.word("null").map(|()| None),
            b'-' | b'0'..=b'9' => self.number()?,
            _ => return None,
        }))
    }

    #[inline]
    fn word(&mut self, word: &str) -> Option<()> {
        self.rest().starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    /// Moves past an array. Its contents are stored verbatim and not checked.
    fn array(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.checked_sub(1)?,
                0..0x20 => return None,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn number(&mut self) -> Option<Leaf<'t>> {
        let from = self.at;
        while self
            .peek()
            .is_some_and(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        {
            self.at += 1;
        }
        let text = self.text.get(from..self.at)?;
        if let Some(integer) = integer(text) {
            return Some(Leaf::Integer(integer));
        }
        if is_digits(text) {
            return Some(Leaf::Json(text));
        }
        if let Some(number) = short_decimal(text) {
            return Some(Leaf::Number(number));
        }
        let number: f64 = text.parse().ok()?;
        let same = || format_float(number, &mut ryu::Buffer::new()) == text;
        (number.is_finite() && same()).then_some(Leaf::Number(number))
    }
}

fn is_digits(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let plain = digits != b"" && digits.iter().all(u8::is_ascii_digit);
    plain && (digits.first() != Some(&b'0') || digits.len() == 1)
}

/// Returns the integer if `text` is its canonical form.
fn integer(text: &str) -> Option<i64> {
    (is_digits(text) && text != "-0").then(|| text.parse().ok())?
}

/// Decimals of at most this many significant digits survive conversion to a double and back.
const DIGITS_KEPT: usize = 15;

/// Returns the number of a decimal that is certain to be in canonical form: not too many digits, no
/// redundant digits, and not so small that it would be written with an exponent. This is a fast
/// path for most numbers, which avoids parsing and formatting (W. Clinger, "How to read floating
/// point numbers accurately", 1990).
fn short_decimal(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    let (whole, fraction) = digits.split_once('.')?;
    let plain = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    let large_enough = whole != "0" && !whole.starts_with('0') && !whole.is_empty();
    let needed = fraction == "0" || (!fraction.is_empty() && !fraction.ends_with('0'));
    if !large_enough
        || !needed
        || whole.len() + fraction.len() > DIGITS_KEPT
        || !plain(whole)
        || !plain(fraction)
    {
        return None;
    }
    let digit = |m: u64, b: u8| m * 10 + u64::from(b - b'0');
    let mantissa = whole.bytes().chain(fraction.bytes()).fold(0, digit);
    let power = fraction.bytes().fold(1u64, |power, _| power * 10);
    Some(sign * (mantissa as f64 / power as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_short_decimal_round_trips_to_the_same_text(
            negative: bool, whole in "[0-9]{1,16}", fraction in "[0-9]{0,8}"
        ) {
            let text = format!("{}{whole}.{fraction}", if negative { "-" } else { "" });
            if let Some(number) = short_decimal(&text) {
                prop_assert_eq!(number.to_bits(), text.parse::<f64>().unwrap().to_bits());
                let mut buffer = ryu::Buffer::new();
                prop_assert_eq!(format_float(number, &mut buffer), text);
            }
        }
    }

    /// Generates an object in canonical form, of few keys, so that shapes repeat.
    fn object() -> impl Strategy<Value = String> {
        let scalar = prop::sample::select(vec![
            "1",
            "-7",
            "2.5",
            "1e300",
            "null",
            "true",
            "false",
            r#""x""#,
            r#""a\",""#,
            r#""""#,
            "[1,{}]",
            "{}",
            "9223372036854775808",
            r#"{"k":1}"#,
            r#"{"k":"v","l":{}}"#,
        ]);
        let key = prop::sample::select(vec!["a", "b", r#"q\""#, "1"]);
        prop::collection::vec((key, scalar), 0..4).prop_map(|members| {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        })
    }

    proptest! {
        #[test]
        fn a_template_splits_exactly_the_texts_of_its_shape(first in object(), second in object(), cut in 0usize..40, odd in any::<bool>()) {
            let split_of = |text: &'_ str| {
                let (mut shape, mut leaves) = (String::new(), Vec::new());
                split(text, &mut shape, &mut leaves).then(|| (shape, format!("{leaves:?}")))
            };
            let (shape, _) = split_of(&first).unwrap();
            let template = Template::of(&shape);
            let text = match (odd, second.get(..cut)) {
                (true, Some(start)) => start,
                _ => &second,
            };
            for text in [&first, text] {
                let mut leaves = Vec::new();
                let found = template.split(text, &mut leaves).then(|| format!("{leaves:?}"));
                let expected = split_of(text).filter(|(of_text, _)| *of_text == shape);
                prop_assert_eq!(found, expected.map(|(_, leaves)| leaves), "{} {}", first, text);
            }
        }
    }

    #[test]
    fn ordinary_amounts_are_short_decimals() {
        for text in ["12.5", "-199.99", "1.0", "123456789.25"] {
            assert_eq!(short_decimal(text), text.parse().ok(), "{text}");
        }
        for text in ["1.50", "01.5", "0.5", "1.", ".5", "1e5", "12", "1234567890.1234567", "1.-5"] {
            assert_eq!(short_decimal(text), None, "{text}");
        }
    }

    #[test]
    fn leaves_are_replaced_by_marks() {
        let mut shape = String::new();
        let mut leaves = Vec::new();
        let text = r#"{"a":1,"b\"":-2.5,"c":{"d":"x\\\"","e":null,"f":{}},"g":[1,{"]":"]"}],"h":true,"i":9223372036854775808}"#;
        assert!(split(text, &mut shape, &mut leaves));
        assert_eq!(
            shape,
            "{\"a\":\u{1},\"b\\\"\":\u{2},\"c\":{\"d\":\u{3},\"e\":null,\"f\":{}},\"g\":\u{5},\"h\":\u{4},\"i\":\u{5}}"
        );
        let json = [Leaf::Json("[1,{\"]\":\"]\"}]"), Leaf::Json("9223372036854775808")];
        assert_eq!(
            leaves,
            [
                Leaf::Integer(1),
                Leaf::Number(-2.5),
                Leaf::String(r#"x\\\""#),
                json[0],
                Leaf::Boolean(true),
                json[1]
            ]
        );
    }

    #[test]
    fn text_that_is_not_canonical_is_refused() {
        for text in [
            "",
            "{",
            "}",
            "[]",
            "1",
            "{}x",
            "{}{}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1",
            "{\"a\":\u{1}}",
            "{\"a\u{1}\":1}",
            "{\"a\":01}",
            "{\"a\":1.50}",
            "{\"a\":1e400}",
            "{\"a\":tru}",
            "{\"a\":[}",
            "{\"a\":\"\\",
            "{\"a\":1}}",
            "{,}",
            "{\"a\":-}",
            "{\"a\":1 }",
            "{\"a\":\"x}",
        ] {
            assert!(!split(text, &mut String::new(), &mut Vec::new()), "{text}");
        }
    }
}
