//! The JSON of subscriptions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::areas::status::limits;
use crate::platform::fields::Invalid;
use crate::platform::patterns;

/// The same for every address.
const ASKED: &str = "If the address is not subscribed yet, a mail with a link to confirm the \
                     subscription is on its way to it.";

/// An address that is to get mails.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SubscriptionInput {
    #[schemars(required, length(max = limits::SUBSCRIBER_EMAIL_CHARS_MAX), regex(pattern = patterns::EMAIL))]
    email: Option<String>,
}

/// What became of a subscription.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Subscription")]
pub(super) struct SubscriptionView {
    /// Always `pending`: whether the address is known is not said.
    status: &'static str,
    message: &'static str,
}

impl SubscriptionInput {
    /// Returns the address.
    pub(super) fn into_email(self) -> Result<String, Invalid> {
        self.email.ok_or_else(|| Invalid::missing("email"))
    }
}

impl SubscriptionView {
    /// Returns what is said of every address.
    pub(super) fn pending() -> Self {
        Self { status: "pending", message: ASKED }
    }
}
