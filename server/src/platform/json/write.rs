//! Appends JSON strings and numbers to bytes, without intermediate values.

use serde::{Serialize, Serializer};

/// 2⁵³: below this, every integer is exact as an `f64` and is written without a fraction.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// A number that is written without a fraction if it is an integer: `5`, not `5.0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plain(pub f64);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match whole(self.0) {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl schemars::JsonSchema for Plain {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number" })
    }
}

/// Appends `value`: integers below 2⁵³ without a fraction, others as the shortest string that
/// parses to the same value. Values that JSON cannot represent are `null`.
pub fn number(out: &mut Vec<u8>, value: f64) {
    with_text(value, |text| out.extend_from_slice(text.as_bytes()));
}

/// Passes `value`, formatted as by [`number`], to `use_text`.
pub(super) fn with_text<R>(value: f64, use_text: impl FnOnce(&str) -> R) -> R {
    match whole(value) {
        Some(whole) => use_text(itoa::Buffer::new().format(whole)),
        None if value.is_finite() => use_text(ryu::Buffer::new().format_finite(value)),
        None => use_text("null"),
    }
}

fn whole(value: f64) -> Option<i64> {
    (value.abs() < WHOLE_MAX && value.fract() == 0.0).then_some(value as i64)
}

/// Appends an integer.
pub fn unsigned(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends `text` as a JSON string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\') {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&special, after)) = tail.split_first() else { break };
        escape(out, special);
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn escape(out: &mut Vec<u8>, special: u8) {
    let short = match special {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let hex = |n: u8| b"0123456789abcdef".get(usize::from(n & 15)).copied().unwrap_or(b'0');
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(special >> 4), hex(special)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_are_written_without_a_fraction() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (42.0, "42"),
            (-1.0, "-1"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e-7, "1e-7"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (-9_007_199_254_740_991.0, "-9007199254740991"),
            (1e16, "1e16"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e308"),
            (f64::INFINITY, "null"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(written(|out| number(out, value)), expected, "{value}");
            let serialized = serde_json::to_string(&Plain(value)).unwrap();
            assert_eq!(serialized.replace('+', ""), expected, "{value}");
        }
        assert_eq!(written(|out| unsigned(out, u64::MAX)), "18446744073709551615");
    }

    proptest! {
        #[test]
        fn numbers_read_back_the_same(bits: u64) {
            let value = f64::from_bits(bits);
            let text = written(|out| number(out, value));
            if value.is_finite() {
                prop_assert_eq!(text.parse::<f64>().unwrap(), value);
                prop_assert!(serde_json::from_str::<f64>(&text).is_ok());
            } else {
                prop_assert_eq!(text, "null");
            }
        }

        #[test]
        fn strings_are_written_as_by_serde(text in any::<String>(), raw in "[\\x00-\\x7f]{0,20}") {
            for text in [text, raw] {
                prop_assert_eq!(written(|out| string(out, &text)), serde_json::to_string(&text).unwrap());
            }
        }
    }
}
