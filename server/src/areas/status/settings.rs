//! The settings of status pages.

use crate::platform::settings::{SettingValue, quoted, settings_section};

settings_section! {
    /// Status pages.
    #[derive(Clone, Debug, PartialEq)]
    "status" StatusSettings {
        /// The domain of status pages, such as `status.example.com`: a page has the address of its
        /// subdomain in it. Without it pages are served below `/status/` and on their own domains.
        domain: StatusDomain = "";
        /// How many email addresses may be entered within an hour from one IPv4 address or one IPv6
        /// network; further ones are refused. All visitors behind a proxy share one address.
        subscriptions_per_hour: usize = "20";
    }
}

/// A domain, in lower case, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusDomain(Option<String>);

impl StatusDomain {
    /// Returns the domain, if there is one.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl SettingValue for StatusDomain {
    const EXPECTS: &'static str = "a domain such as \"status.example.com\", or \"\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let domain = text.to_ascii_lowercase();
        match super::host_name::is_domain(&domain) {
            true => Ok(Self(Some(domain))),
            false => Err("it is not a domain".to_owned()),
        }
    }

    fn to_toml(&self) -> String {
        quoted(self.get().unwrap_or_default())
    }
}
