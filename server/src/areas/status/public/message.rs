//! The small pages around subscriptions, and the page for an address without a status page.
//!
//! Links in mails lead to pages with a button, which sends a form: mail scanners follow links, but
//! send no forms.

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::html::{Frame, Html};
use super::model::PublicBranding;

/// The status page that a small page belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    pub(super) name: &'a str,
    /// See `PublicPage::base_path`.
    pub(super) base_path: &'a str,
    pub(super) branding: &'a PublicBranding,
}

/// What a small page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// A visitor entered an address. Does not say whether the address is known.
    CheckMailbox,
    /// The address was not accepted, for the reason given.
    Refused { text: &'a str },
    /// Asks to confirm the subscription with this token.
    AskConfirm { token: &'a str },
    /// The subscription is confirmed.
    Confirmed,
    /// Asks to end the subscription with this token.
    AskUnsubscribe { token: &'a str },
    /// The subscription has ended.
    Unsubscribed,
    /// No subscription has this token.
    LinkInvalid,
}

#[derive(Template)]
#[template(path = "status/message.html")]
struct MessageTemplate<'a> {
    frame: Frame<'a>,
    base: &'a str,
    /// Whether there is a status page that this page belongs to.
    has_site: bool,
    heading: &'static str,
    text: &'a str,
    button: Option<Button>,
}

struct Button {
    label: &'static str,
    action: String,
}

/// Renders a small page.
pub(super) fn message(message: Message<'_>, site: &Site<'_>) -> Result<Html, askama::Error> {
    let template = MessageTemplate {
        frame: Frame::new(site.name, site.base_path, site.branding),
        base: site.base_path,
        has_site: true,
        heading: message.heading(),
        text: message.text(),
        button: message.button(site.base_path),
    };
    html(&template)
}

/// Renders the page for an address without a status page. It does not depend on any page.
pub(super) fn not_found() -> Result<Html, askama::Error> {
    let template = MessageTemplate {
        frame: Frame::new("", "", &PublicBranding::default()),
        base: "",
        has_site: false,
        heading: "Page not found",
        text: "There is no status page at this address.",
        button: None,
    };
    html(&template)
}

fn html(template: &MessageTemplate<'_>) -> Result<Html, askama::Error> {
    Ok(Html { text: template.render()?, policy: template.frame.look.policy.clone() })
}

impl<'a> Message<'a> {
    fn heading(self) -> &'static str {
        match self {
            Self::CheckMailbox => "Check your mailbox",
            Self::Refused { .. } => "That did not work",
            Self::AskConfirm { .. } => "Confirm your subscription",
            Self::Confirmed => "You are subscribed",
            Self::AskUnsubscribe { .. } => "Unsubscribe from updates",
            Self::Unsubscribed => "You are unsubscribed",
            Self::LinkInvalid => "This link is no longer valid",
        }
    }

    fn text(self) -> &'a str {
        match self {
            Self::CheckMailbox => {
                "If the address is not subscribed yet, a mail with a link is on its way to it. \
                 Open the link to confirm the subscription."
            }
            Self::Refused { text } => text,
            Self::AskConfirm { .. } => {
                "You will get a mail when an incident or a maintenance begins, changes or ends."
            }
            Self::Confirmed => {
                "You will get a mail when an incident or a maintenance begins, changes or ends. \
                 Every mail has a link that ends the subscription."
            }
            Self::AskUnsubscribe { .. } => {
                "You will no longer get mails about incidents and maintenance."
            }
            Self::Unsubscribed => "You will get no more mails from this status page.",
            Self::LinkInvalid => {
                "It may have expired, or the subscription may have ended. You can subscribe again \
                 on the status page."
            }
        }
    }

    fn button(self, base_path: &str) -> Option<Button> {
        let (label, token, verb) = match self {
            Self::AskConfirm { token } => ("Confirm subscription", token, "confirm"),
            Self::AskUnsubscribe { token } => ("Unsubscribe", token, "unsubscribe"),
            Self::CheckMailbox
            | Self::Refused { .. }
            | Self::Confirmed
            | Self::Unsubscribed
            | Self::LinkInvalid => {
                return None;
            }
        };
        let token = utf8_percent_encode(token, NON_ALPHANUMERIC);
        Some(Button { label, action: format!("{base_path}/subscribers/{token}/{verb}") })
    }
}
