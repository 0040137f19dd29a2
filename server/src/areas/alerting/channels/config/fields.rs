//! The fields of a configuration in plain form: as sent, as stored and as shown.

use std::collections::BTreeMap;
use std::fmt;

/// The fields of a configuration; those that the type does not have, and optional ones without a
/// value, are `None`. May contain secrets, so the debug form shows nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConfigFields {
    pub webhook_url: Option<String>,
    pub headers: Option<BTreeMap<String, String>>,
    pub signing_secret: Option<String>,
    pub routing_key: Option<String>,
    pub api_key: Option<String>,
    pub api_url: Option<String>,
    pub recipients: Option<Vec<String>>,
}

/// A change of a configuration: `None` leaves a field unchanged, `Some(None)` clears it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConfigPatch {
    pub webhook_url: Option<Option<String>>,
    /// Replaces all headers.
    pub headers: Option<Option<BTreeMap<String, String>>>,
    pub signing_secret: Option<Option<String>>,
    pub routing_key: Option<Option<String>>,
    pub api_key: Option<Option<String>>,
    pub api_url: Option<Option<String>>,
    pub recipients: Option<Option<Vec<String>>>,
}

impl fmt::Debug for ConfigFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfigFields(redacted)")
    }
}

impl fmt::Debug for ConfigPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfigPatch(redacted)")
    }
}

impl ConfigPatch {
    /// Returns the name of a secret that the change leaves as it is, and that is sent to the
    /// address of the receiver: a new address must not get it.
    pub(super) fn kept_secret(&self, shown: &ConfigFields) -> Option<&'static str> {
        let keeps_key = shown.api_key.is_some()
            && self.api_key.as_ref().is_none_or(|sent| *sent == shown.api_key);
        let keeps_header = |shown: &BTreeMap<String, String>| match &self.headers {
            None => !shown.is_empty(),
            Some(sent) => {
                sent.iter().flatten().any(|(_, value)| shown.values().any(|s| s == value))
            }
        };
        if keeps_key {
            Some("api_key")
        } else if shown.headers.as_ref().is_some_and(keeps_header) {
            Some("headers")
        } else {
            None
        }
    }

    /// Applies the change to `old`. A value that is exactly the redacted one in `shown` leaves the
    /// old value: clients send back what they received.
    pub(super) fn applied(self, old: ConfigFields, shown: ConfigFields) -> ConfigFields {
        let headers = match (self.headers, &old.headers, shown.headers) {
            (Some(Some(new)), Some(old), Some(shown)) => Some(headers(new, old, &shown)),
            (Some(new), ..) => new,
            (None, old, _) => old.clone(),
        };
        ConfigFields {
            webhook_url: change(self.webhook_url, old.webhook_url, shown.webhook_url),
            headers,
            signing_secret: change(self.signing_secret, old.signing_secret, shown.signing_secret),
            routing_key: change(self.routing_key, old.routing_key, shown.routing_key),
            api_key: change(self.api_key, old.api_key, shown.api_key),
            api_url: change(self.api_url, old.api_url, shown.api_url),
            recipients: change(self.recipients, old.recipients, shown.recipients),
        }
    }
}

fn change<T: PartialEq>(new: Option<Option<T>>, old: Option<T>, shown: Option<T>) -> Option<T> {
    match new {
        Some(new) if new != shown => new,
        _ => old,
    }
}

/// Returns the new headers, with the old value of each that has its redacted one. HTTP ignores the
/// case of names. `shown` has the names of `old`.
fn headers(
    new: BTreeMap<String, String>,
    old: &BTreeMap<String, String>,
    shown: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let old_value = |name: &str, sent: &str| {
        let mut pairs = old.iter().zip(shown.values());
        let pair = pairs.find(|((known, _), _)| known.eq_ignore_ascii_case(name));
        pair.filter(|(_, shown)| *shown == sent).map(|((_, value), _)| value.clone())
    };
    let merged = |(name, sent): (String, String)| {
        let value = old_value(&name, &sent).unwrap_or(sent);
        (name, value)
    };
    new.into_iter().map(merged).collect()
}
