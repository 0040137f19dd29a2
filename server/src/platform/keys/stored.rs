//! The documents of a key: their JSON, and the conversion from and to the model.
//!
//! Collection `api_keys`, id = id of the key: its properties. Collection `api_key_uses`, same id:
//! its last use, which changes often and is not a change of the key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::key::{ApiKey, Scope};
use super::key_string::SecretHash;
use crate::platform::quota::{KeyLimits, LimitClass, Quota};

pub(super) const COLLECTION: Collection = Collection("api_keys");

pub(super) const USES: Collection = Collection("api_key_uses");

/// The stored last use of a key.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredUse {
    last_used_at_ms: i64,
}

impl StoredUse {
    pub(super) fn new(time: TimestampMs) -> Self {
        Self { last_used_at_ms: time.0 }
    }

    pub(super) fn time(&self) -> TimestampMs {
        TimestampMs(self.last_used_at_ms)
    }
}

/// A stored key.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredKey {
    name: String,
    user: String,
    scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    limits: BTreeMap<String, String>,
    #[serde(default)]
    public_ingest: bool,
    created_at_ms: i64,
    /// As of the last change of the key.
    last_used_at_ms: Option<i64>,
    revoked_at_ms: Option<i64>,
    secret_sha256: SecretHash,
}

impl StoredKey {
    pub(super) fn new(key: &ApiKey, secret_sha256: SecretHash) -> Self {
        let named =
            |(class, quota): (LimitClass, _)| (class.as_str().to_owned(), format!("{quota}"));
        Self {
            name: key.name.clone(),
            user: key.user.clone(),
            scopes: key.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            limits: key.limits.iter().map(named).collect(),
            public_ingest: key.public_ingest,
            created_at_ms: key.created_at.0,
            last_used_at_ms: key.last_used_at.map(|t| t.0),
            revoked_at_ms: key.revoked_at.map(|t| t.0),
            secret_sha256,
        }
    }

    /// Converts to the key with this id. Scopes and classes that this version does not know are
    /// dropped: they grant nothing. A quota that cannot be read becomes the lowest one, and is
    /// logged: without it the key could do more than it was given.
    pub(super) fn into_key(self, id: String, revision: u64) -> (ApiKey, SecretHash) {
        let mut limits = KeyLimits::default();
        for (class, quota) in &self.limits {
            let Some(class) = LimitClass::parse(class) else { continue };
            let quota = quota.parse().unwrap_or_else(|error| {
                tracing::error!(key = id, class = class.as_str(), %error, "unreadable quota of a key");
                Quota::PerMinute(1)
            });
            limits.set(class, quota);
        }
        let key = ApiKey {
            id,
            name: self.name,
            user: self.user,
            scopes: self.scopes.iter().filter_map(|text| Scope::parse(text)).collect(),
            limits,
            public_ingest: self.public_ingest,
            created_at: TimestampMs(self.created_at_ms),
            last_used_at: self.last_used_at_ms.map(TimestampMs),
            revoked_at: self.revoked_at_ms.map(TimestampMs),
            revision,
        };
        (key, self.secret_sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_quota_limits_a_key_and_an_unknown_class_does_not() {
        let stored = serde_json::json!({
            "name": "a", "user": "u", "scopes": ["read"], "created_at_ms": 1,
            "limits": {"batch": "many", "query": "7", "later": "unlimited"},
            "last_used_at_ms": null, "revoked_at_ms": null, "secret_sha256": vec![0; 32],
        });
        let stored: StoredKey = serde_json::from_value(stored).unwrap();
        let (key, _) = stored.into_key("key_1".to_owned(), 1);
        let limits: Vec<_> = key.limits.iter().collect();
        assert_eq!(
            limits,
            [(LimitClass::Batch, Quota::PerMinute(1)), (LimitClass::Query, Quota::PerMinute(7))]
        );
    }
}
