//! Whole numbers in bodies, however they are written: JSON has one kind of number, and many clients send `1.0` for 1.

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// Reads a whole number from 0: `4`, `4.0` or `4e0`. For fields, as `deserialize_with`.
pub fn whole_u32<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    deserializer.deserialize_any(WholeU32)
}

struct WholeU32;

impl Visitor<'_> for WholeU32 {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer from 0 to 4294967295")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u32, E> {
        u32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u32, E> {
        u32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u32, E> {
        let is_whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
        if is_whole {
            // In range, so nothing is cut off.
            Ok(value as u32)
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Body {
        #[serde(deserialize_with = "super::whole_u32")]
        n: u32,
    }

    #[test]
    fn whole_numbers_are_read_however_they_are_written() {
        for (text, expected) in [
            ("0", Some(0)),
            ("4", Some(4)),
            ("4.0", Some(4)),
            ("-0.0", Some(0)),
            ("1e3", Some(1_000)),
            ("4294967295.0", Some(u32::MAX)),
            ("4294967296", None),
            ("4294967296.0", None),
            ("1.5", None),
            ("-1", None),
            ("-1.0", None),
            ("1e400", None),
            ("\"4\"", None),
            ("null", None),
            ("true", None),
        ] {
            let read = serde_json::from_str::<Body>(&format!("{{\"n\":{text}}}"));
            assert_eq!(read.ok().map(|body| body.n), expected, "{text}");
        }
        assert!(serde_json::from_str::<Body>("{}").is_err());
    }
}
