//! Status pages and their rules.

use telltale_engine::TimestampMs;

use super::logo::LogoUrl;
use super::subdomain::Subdomain;
use crate::areas::status::ids::{MonitorId, PageId};

/// A status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Page {
    pub(in crate::areas::status) id: PageId,
    pub(in crate::areas::status) name: String,
    pub(in crate::areas::status) subdomain: Subdomain,
    /// In lower case.
    pub(in crate::areas::status) custom_domain: Option<String>,
    pub(in crate::areas::status) branding: Branding,
    /// In the order in which they are shown, each monitor once.
    pub(in crate::areas::status) components: Vec<Component>,
    /// The user that created it.
    pub(in crate::areas::status) created_by: String,
    pub(in crate::areas::status) created_at: TimestampMs,
}

/// How a page looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::status) struct Branding {
    pub(in crate::areas::status) logo_url: Option<LogoUrl>,
    pub(in crate::areas::status) primary_color: Option<Color>,
}

/// A color as `#rrggbb`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Color(String);

/// A monitor on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::status) struct Component {
    pub(in crate::areas::status) monitor_id: MonitorId,
    /// The name that visitors see; that of the monitor if there is none.
    pub(in crate::areas::status) display_name: Option<String>,
    /// The group that it is shown in.
    pub(in crate::areas::status) group: Option<String>,
}

/// A validated request for a new page, except for what depends on other resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageDraft {
    pub(super) name: String,
    pub(super) subdomain: Subdomain,
    /// As sent.
    pub(super) custom_domain: Option<String>,
    pub(super) branding: Branding,
    pub(super) monitors: Vec<MonitorId>,
}

/// A change of a page; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageChange {
    pub(super) name: Option<String>,
    pub(super) subdomain: Option<Subdomain>,
    /// As sent.
    pub(super) custom_domain: Option<Option<String>>,
    pub(super) logo_url: Option<Option<LogoUrl>>,
    pub(super) primary_color: Option<Option<Color>>,
}

impl Page {
    /// Returns the monitors, in the order in which they are shown.
    pub(in crate::areas::status) fn monitors(&self) -> impl Iterator<Item = MonitorId> {
        self.components.iter().map(|component| component.monitor_id)
    }

    /// Applies a change.
    pub(super) fn change(&mut self, change: PageChange) {
        if let Some(name) = change.name {
            self.name = name;
        }
        if let Some(subdomain) = change.subdomain {
            self.subdomain = subdomain;
        }
        if let Some(custom_domain) = change.custom_domain {
            self.custom_domain = custom_domain;
        }
        if let Some(logo_url) = change.logo_url {
            self.branding.logo_url = logo_url;
        }
        if let Some(primary_color) = change.primary_color {
            self.branding.primary_color = primary_color;
        }
    }

    /// Takes a monitor off the page. Returns whether it was on it.
    pub(super) fn remove_monitor(&mut self, monitor: MonitorId) -> bool {
        let before = self.components.len();
        self.components.retain(|component| component.monitor_id != monitor);
        self.components.len() < before
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::status) fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let component = |component: &Component| {
            size_of::<Component>() + length(&component.display_name) + length(&component.group)
        };
        // The subdomain and the domain are the keys of maps, too.
        size_of::<Self>()
            + self.name.len()
            + self.created_by.len()
            + 2 * (self.subdomain.as_str().len() + length(&self.custom_domain))
            + self.branding.logo_url.as_ref().map_or(0, |logo| logo.as_str().len())
            + self.components.iter().map(component).sum::<usize>()
    }
}

impl Component {
    /// Returns the component of a monitor with its own name and without a group.
    pub(super) fn new(monitor_id: MonitorId) -> Self {
        Self { monitor_id, display_name: None, group: None }
    }
}

impl Color {
    /// Parses `#rrggbb`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        let is_color = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        is_color.then(|| Self(text.to_owned()))
    }

    /// Returns the text.
    pub(in crate::areas::status) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_have_six_digits() {
        for text in ["#000000", "#4F46e5", "#ffffff"] {
            assert_eq!(Color::parse(text).map(|color| color.0), Some(text.to_owned()));
        }
        for text in [
            "",
            "#",
            "#fff",
            "#ffff",
            "4f46e5",
            "#4f46e",
            "#4f46e50",
            "#4f46eg",
            "##4f46e5",
            " #4f46e5",
            "#4f46e5;",
            "#\u{ff14}f46e",
            "red",
            "rgb(0,0,0)",
            "#000;}*{a:url(//b)}",
        ] {
            assert_eq!(Color::parse(text), None, "{text}");
        }
    }
}
