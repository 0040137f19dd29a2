//! Integers in bodies, in any notation: JSON has one kind of number, and many clients send `1.0`
//! for 1.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// Reads an integer from 0, such as `4`, `4.0` or `4e0`. For `deserialize_with`.
pub fn integer_u32<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    deserializer.deserialize_any(Whole(PhantomData))
}

/// Reads an integer of type `N` in any of these notations, or `null`. For optional fields, together
/// with `default`.
pub fn integer_or_null<'de, D, N>(deserializer: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: TryFrom<i64>,
{
    deserializer.deserialize_option(WholeOrNull(PhantomData))
}

struct Whole<N>(PhantomData<N>);

struct WholeOrNull<N>(PhantomData<N>);

impl<N: TryFrom<i64>> Visitor<'_> for Whole<N> {
    type Value = N;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Distinguishes the types used for fields by the values they accept.
        f.write_str(match (N::try_from(-1), N::try_from(1 << 32)) {
            (Ok(_), _) => "an integer",
            (_, Ok(_)) => "an integer from 0",
            _ => "an integer from 0 to 4294967295",
        })
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<N, E> {
        let whole = i64::try_from(value).ok().and_then(|value| N::try_from(value).ok());
        whole.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<N, E> {
        N::try_from(value).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<N, E> {
        // Below 2⁵³ every integer is exact.
        let is_whole = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
        let whole = if is_whole { N::try_from(value as i64).ok() } else { None };
        whole.ok_or_else(|| E::invalid_value(Unexpected::Float(value), &self))
    }
}

impl<'de, N: TryFrom<i64>> Visitor<'de> for WholeOrNull<N> {
    type Value = Option<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Whole::<N>(PhantomData).expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Option<N>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<N>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<N>, D::Error> {
        deserializer.deserialize_any(Whole(PhantomData)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Body {
        #[serde(deserialize_with = "super::integer_u32")]
        n: u32,
    }

    #[test]
    fn integers_are_read_in_any_notation() {
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
