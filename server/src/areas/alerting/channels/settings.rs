//! The settings of notifications.

use super::config::BaseUrl;
use crate::platform::settings::{SettingValue, quoted, settings_section};

settings_section! {
    /// Addresses that notifications are sent to. Those of the services are rarely changed: for a
    /// proxy, or for a test.
    #[derive(Clone, Debug, PartialEq)]
    "notifications" NotificationSettings {
        /// Server that receives the messages of chat channels, instead of the one that the URL of
        /// each channel names. The path and query of that URL are appended.
        chat_url: OptionalBaseUrl = "";
        /// Address of the paging service of `paging_a` channels.
        paging_a_url: OptionalBaseUrl = "https://events.pagerduty.com";
        /// Address of the paging service of `paging_b` channels without an `api_url`.
        paging_b_url: OptionalBaseUrl = "https://api.opsgenie.com";
    }
}

/// The address of a server, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionalBaseUrl(Option<BaseUrl>);

impl OptionalBaseUrl {
    /// Returns the address, if there is one.
    pub fn get(&self) -> Option<&BaseUrl> {
        self.0.as_ref()
    }
}

impl SettingValue for OptionalBaseUrl {
    const EXPECTS: &'static str = "a URL such as \"https://telltale.example.com\", or \"\"";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        BaseUrl::parse(text).map(|url| Self(Some(url)))
    }

    fn to_toml(&self) -> String {
        quoted(self.get().map(BaseUrl::as_str).unwrap_or_default())
    }
}
