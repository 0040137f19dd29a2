//! Names of hosts.

use std::net::IpAddr;

/// Characters of a domain: the most that DNS has.
const DOMAIN_CHARS_MAX: usize = 253;
/// Characters of a label: the most that DNS has.
const LABEL_CHARS_MAX: usize = 63;

/// Returns whether `text` is a domain of at least two labels in lower case, and no address. Names
/// with other characters than those of ASCII are written as punycode (`xn--…`).
pub(super) fn is_domain(text: &str) -> bool {
    let labels = text.split('.').count();
    text.len() <= DOMAIN_CHARS_MAX
        && labels >= 2
        && text.split('.').all(is_label)
        && text.rsplit('.').next().is_some_and(|top| !top.bytes().all(|b| b.is_ascii_digit()))
        && text.parse::<IpAddr>().is_err()
}

/// Returns whether `text` is one label of a domain, in lower case.
pub(super) fn is_label(text: &str) -> bool {
    (1..=LABEL_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_have_labels_and_are_no_addresses() {
        for domain in ["example.com", "status.example.com", "xn--bcher-kva.example", "a-b.c1.dev"] {
            assert!(is_domain(domain), "{domain}");
        }
        let long = [&"a".repeat(64), ".com"].concat();
        let longer = [&"a.".repeat(126), "com"].concat();
        for text in [
            "",
            "localhost",
            "Example.com",
            "example.com.",
            ".com",
            "-a.com",
            "a-.com",
            "a_b.com",
            "10.0.0.1",
            "1.2.3.4.5",
            "::1",
            "a b.com",
            "a.com:80",
            "bücher.example",
            &long,
            &longer,
        ] {
            assert!(!is_domain(text), "{text}");
        }
    }
}
