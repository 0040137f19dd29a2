//! Counts with nouns in messages: `1 byte`, `2 bytes`.

use std::fmt::Display;

/// Returns the number with the noun in singular or plural: `1 job`, `2 jobs`. For nouns whose
/// plural ends in `s`.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_others_are_plural() {
        assert_eq!(count(0_usize, "byte"), "0 bytes");
        assert_eq!(count(1_usize, "byte"), "1 byte");
        assert_eq!(count(2_u64, "waiting job"), "2 waiting jobs");
    }
}
