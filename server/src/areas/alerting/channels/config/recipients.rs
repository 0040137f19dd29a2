//! The recipients of an email channel.

use std::collections::HashSet;

use lettre::Address;

use super::error::InvalidConfig;
use crate::areas::alerting::limits;

/// Validates the recipients of a channel.
pub(super) fn recipients(sent: &[String]) -> Result<Vec<Address>, InvalidConfig> {
    let max = limits::CHANNEL_RECIPIENTS_MAX;
    if !(1..=max).contains(&sent.len()) {
        let expected = format!("must have 1 to {max} addresses");
        return Err(InvalidConfig::invalid("recipients", expected));
    }
    let mut seen = HashSet::new();
    let mut addresses = Vec::new();
    for (i, text) in sent.iter().enumerate() {
        let invalid =
            |expected: String| InvalidConfig::invalid(&format!("recipients[{i}]"), expected);
        let address = address(text).map_err(invalid)?;
        if !seen.insert(text.to_lowercase()) {
            return Err(invalid("must be unique".to_owned()));
        }
        addresses.push(address);
    }
    Ok(addresses)
}

fn address(text: &str) -> Result<Address, String> {
    let max = limits::EMAIL_ADDRESS_CHARS_MAX;
    if text.len() > max {
        return Err(format!("must have at most {max} characters"));
    }
    // A quoted local part may contain them, and would then end a header or an SMTP command.
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("must not contain spaces or control characters".to_owned());
    }
    text.parse().map_err(|_| "must be an email address such as ann@example.com".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sent: &[&str]) -> Result<Vec<String>, String> {
        let sent: Vec<String> = sent.iter().map(|&text| text.to_owned()).collect();
        let read = recipients(&sent).map_err(|invalid| invalid.to_string())?;
        Ok(read.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn addresses_are_valid_and_unique() {
        for text in ["a@b.example", "Ann.Bee+x@example.com", "a@[127.0.0.1]", "é@bücher.example"]
        {
            assert_eq!(read(&[text]), Ok(vec![text.to_owned()]));
        }
        let longest = format!(
            "a@{}.{}.{}.{}.com",
            "b".repeat(63),
            "c".repeat(63),
            "d".repeat(63),
            "e".repeat(56)
        );
        assert_eq!(longest.len(), 254);
        assert!(read(&[&longest]).is_ok());
        for (sent, expected) in [
            (&[] as &[&str], "config.recipients must have 1 to 50 addresses"),
            (&["x"], "config.recipients[0] must be an email address such as ann@example.com"),
            (
                &["a@b.example", "@b.example"],
                "config.recipients[1] must be an email address such as ann@example.com",
            ),
            (
                &["Ann <a@b.example>"],
                "config.recipients[0] must not contain spaces or control characters",
            ),
            (
                &["a@b.example,c@d.example"],
                "config.recipients[0] must be an email address such as ann@example.com",
            ),
            (
                &["a@b.example\r\nBcc: c@d.example"],
                "config.recipients[0] must not contain spaces or control characters",
            ),
            (
                &["\"a\r\nBcc: c\"@d.example"],
                "config.recipients[0] must not contain spaces or control characters",
            ),
            (&["a@b.example", "A@B.example"], "config.recipients[1] must be unique"),
            (&[&format!("{longest}m")], "config.recipients[0] must have at most 254 characters"),
        ] {
            assert_eq!(read(sent), Err(expected.to_owned()), "{sent:?}");
        }
    }

    #[test]
    fn there_are_at_most_fifty() {
        let many = |count: usize| (0..count).map(|i| format!("a{i}@b.example")).collect::<Vec<_>>();
        assert_eq!(recipients(&many(50)).unwrap().len(), 50);
        assert!(recipients(&many(51)).is_err());
    }
}
