//! Fields of changes, where `null` clears and an absent field leaves unchanged.

use serde::{Deserialize, Deserializer};

/// Reads a field so that `null` differs from an absent field. For `deserialize_with`, together with
/// `default`.
pub fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
