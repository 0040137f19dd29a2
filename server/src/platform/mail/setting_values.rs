//! The types of the settings of the mail server.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use lettre::message::Mailbox;

use crate::platform::settings::{SettingValue, quoted};

/// Bytes of the longest host name (RFC 1035, section 2.3.4).
const HOST_BYTES_MAX: usize = 253;

/// The name or address of a mail server, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpHost(Option<String>);

/// The port of a mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmtpPort(u16);

/// How connections to the mail server are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpSecurity {
    /// With TLS, which begins by the command `STARTTLS`.
    StartTls,
    /// With TLS from the first byte.
    Tls,
    /// Not at all.
    None,
}

/// A user name, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpUser(Option<String>);

/// The sender of messages, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderAddress(Option<Mailbox>);

/// The path of a file with certificates, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityFile(Option<PathBuf>);

impl SmtpHost {
    /// Returns the host, if there is one.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl SmtpPort {
    /// Returns the number.
    pub fn get(self) -> u16 {
        self.0
    }
}

impl SmtpUser {
    /// Returns the name, if there is one.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl SenderAddress {
    /// Returns the sender, if there is one.
    pub fn get(&self) -> Option<&Mailbox> {
        self.0.as_ref()
    }
}

impl AuthorityFile {
    /// Returns the path, if there is one.
    pub fn get(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl SettingValue for SmtpHost {
    const EXPECTS: &'static str = "a host name or address without a port, or \"\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let is_label = |label: &str| {
            !label.is_empty()
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_name = name.len() <= HOST_BYTES_MAX && name.split('.').all(is_label);
        if is_name || text.parse::<IpAddr>().is_ok() {
            Ok(Self(Some(name.to_owned())))
        } else {
            Err(Self::mismatch(&format!("{text:?}")))
        }
    }

    fn to_toml(&self) -> String {
        quoted(self.get().unwrap_or_default())
    }
}

impl SettingValue for SmtpPort {
    const EXPECTS: &'static str = "an integer from 1 to 65535";

    fn from_text(text: &str) -> Result<Self, String> {
        let port = text.parse().ok().filter(|port| *port > 0);
        port.map(Self).ok_or_else(|| Self::mismatch(&format!("{text:?}")))
    }

    fn from_integer(n: i64) -> Result<Self, String> {
        let port = u16::try_from(n).ok().filter(|port| *port > 0);
        port.map(Self).ok_or_else(|| Self::mismatch(&n.to_string()))
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

impl SettingValue for SmtpSecurity {
    const EXPECTS: &'static str = "\"starttls\", \"tls\" or \"none\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "starttls" => Ok(Self::StartTls),
            "tls" => Ok(Self::Tls),
            "none" => Ok(Self::None),
            _ => Err(Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn to_toml(&self) -> String {
        quoted(match self {
            Self::StartTls => "starttls",
            Self::Tls => "tls",
            Self::None => "none",
        })
    }
}

impl SettingValue for SmtpUser {
    const EXPECTS: &'static str = "a user name, or \"\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.chars().any(char::is_control) {
            return Err(Self::mismatch(&format!("{text:?}")));
        }
        Ok(Self((!text.is_empty()).then(|| text.to_owned())))
    }

    fn to_toml(&self) -> String {
        quoted(self.get().unwrap_or_default())
    }
}

impl SettingValue for SenderAddress {
    const EXPECTS: &'static str =
        "an email address such as \"Telltale <telltale@example.com>\", or \"\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let parsed = text.parse().ok().filter(|_| !text.chars().any(char::is_control));
        parsed.map(|sender| Self(Some(sender))).ok_or_else(|| Self::mismatch(&format!("{text:?}")))
    }

    fn to_toml(&self) -> String {
        quoted(&self.get().map(ToString::to_string).unwrap_or_default())
    }
}

impl SettingValue for AuthorityFile {
    const EXPECTS: &'static str = "a path, or \"\"";

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self((!text.is_empty()).then(|| text.into())))
    }

    fn to_toml(&self) -> String {
        quoted(&self.get().map(Path::to_string_lossy).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::settings::Raw;

    /// Reads a value and returns it as TOML.
    fn read<T: SettingValue>(text: &str) -> Result<String, String> {
        let toml = T::read(&Raw::Text(text.to_owned()))?.to_toml();
        let document: toml::Table = format!("a = {toml}").parse().unwrap();
        let again = match document.get("a").unwrap() {
            toml::Value::String(text) => T::from_text(text),
            toml::Value::Integer(n) => T::from_integer(*n),
            other => panic!("{other}"),
        };
        assert_eq!(again.unwrap().to_toml(), toml, "{text} reads back");
        Ok(toml)
    }

    #[track_caller]
    fn check<T: SettingValue>(text: &str, expected: Option<&str>) {
        match (read::<T>(text), expected) {
            (Ok(toml), expected) => assert_eq!(Some(toml.as_str()), expected, "{text:?}"),
            (Err(error), None) => {
                assert_eq!(error, format!("expected {}, found {text:?}", T::EXPECTS));
            }
            (Err(error), Some(_)) => panic!("{text:?}: {error}"),
        }
    }

    #[test]
    fn hosts_are_names_or_addresses_without_a_port() {
        for (text, expected) in [
            ("", Some("\"\"")),
            ("mail.example.com", Some("\"mail.example.com\"")),
            ("mail.example.com.", Some("\"mail.example.com\"")),
            ("mail_1", Some("\"mail_1\"")),
            ("127.0.0.1", Some("\"127.0.0.1\"")),
            ("::1", Some("\"::1\"")),
            ("mail.example.com:25", None),
            ("[::1]", None),
            ("smtp://mail.example.com", None),
            ("mail example", None),
            ("mail..example", None),
            (".", None),
            ("mäil.example.com", None),
            ("a\r\nb", None),
            (&"a.".repeat(128), None),
        ] {
            check::<SmtpHost>(text, expected);
        }
        check::<SmtpHost>(&"a".repeat(253), Some(&format!("{:?}", "a".repeat(253))));
    }

    #[test]
    fn ports_and_modes_are_limited() {
        for (text, expected) in [
            ("1", Some("1")),
            ("65535", Some("65535")),
            ("0", None),
            ("65536", None),
            ("-1", None),
            ("smtp", None),
        ] {
            check::<SmtpPort>(text, expected);
        }
        assert_eq!(SmtpPort::from_integer(25).unwrap().get(), 25);
        for n in [0, -1, 65_536, i64::MAX] {
            let refused = SmtpPort::from_integer(n).unwrap_err();
            assert_eq!(refused, format!("expected an integer from 1 to 65535, found {n}"));
        }
        for (text, expected) in [
            ("starttls", Some("\"starttls\"")),
            ("tls", Some("\"tls\"")),
            ("none", Some("\"none\"")),
            ("STARTTLS", None),
            ("ssl", None),
            ("", None),
        ] {
            check::<SmtpSecurity>(text, expected);
        }
    }

    #[test]
    fn senders_are_addresses_with_or_without_a_name() {
        for (text, expected) in [
            ("", Some("\"\"")),
            ("a@example.com", Some("\"a@example.com\"")),
            ("Telltale <a@example.com>", Some("\"Telltale <a@example.com>\"")),
            ("Überwachung <a@example.com>", Some("\"Überwachung <a@example.com>\"")),
            ("a", None),
            ("a@", None),
            ("a@b@c", None),
            ("Telltale", None),
            ("Tell\r\nBcc: x@example.com <a@example.com>", None),
            ("a@example.com, b@example.com", None),
            ("\"Doe, Ann\" <a@example.com>", Some("'\"Doe, Ann\" <a@example.com>'")),
        ] {
            check::<SenderAddress>(text, expected);
        }
        check::<SmtpUser>("a\0b", None);
        check::<SmtpUser>("a b", Some("\"a b\""));
        check::<AuthorityFile>("/etc/ca.pem", Some("\"/etc/ca.pem\""));
        check::<AuthorityFile>("", Some("\"\""));
    }
}
