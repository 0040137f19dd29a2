//! The keys of a server: created, listed and revoked in the engine's documents, authenticated from
//! memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use subtle::ConstantTimeEq;
use telltale_engine::{Clock, Engine, Expect, Receipt, TimestampMs};
use tokio::sync::Notify;

use super::authorization::presented_key;
use super::dsn::DsnKey;
use super::key::{ApiKey, InvalidKey, NewKey, Scope};
use super::key_string::{KeyString, SecretHash};
use super::shared_time::SharedTime;
use super::stored::{COLLECTION, StoredKey, StoredUse, USES};
use crate::limits;
use crate::platform::quota::{KeyLimits, Quotas};
use crate::platform::throttle::Throttle;
use crate::platform::ticks::Ticks;

/// All keys of a server.
#[derive(Debug)]
pub struct Keys {
    engine: Engine,
    clock: Clock,
    ticks: Ticks,
    quotas: Quotas,
    live: RwLock<HashMap<String, Arc<LiveKey>>>,
    /// Held while documents change, so that memory and disk stay consistent.
    changing: Mutex<()>,
}

/// A key in memory.
#[derive(Debug)]
pub struct LiveKey {
    /// The key as loaded or created; its current revision, last use and revocation are in the
    /// fields below.
    pub(super) key: ApiKey,
    revision: AtomicU64,
    pub(super) throttle: Throttle,
    secret: SecretHash,
    revoked: SharedTime,
    /// Wakes long-running requests when the key is revoked.
    revocation: Notify,
    last_used: SharedTime,
    last_used_stored: SharedTime,
}

/// A new key, with the string that is shown only once.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    /// The key.
    pub key: ApiKey,
    /// The whole key, secret included.
    pub text: KeyString,
}

/// A new key that is not stored, and not valid yet.
#[derive(Clone, Debug)]
pub struct UnstoredKey(IssuedKey);

impl UnstoredKey {
    /// Returns the key as it will be stored.
    pub fn key(&self) -> &ApiKey {
        &self.0.key
    }
}

/// The result of the initialization at the first start.
#[derive(Clone, Debug)]
pub enum FirstStart {
    /// Keys exist: this is not the first start.
    NotFirst,
    /// The given key was stored as the admin key.
    Given(ApiKey),
    /// An admin key was generated; it must be shown now, because it cannot be shown later.
    Generated(IssuedKey),
}

/// Why a key could not be created or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The parameters are not valid.
    #[error(transparent)]
    Invalid(#[from] InvalidKey),
    /// No key has this id.
    #[error("there is no key {0:?}")]
    NotFound(String),
    /// The key does not have the expected revision.
    #[error("the key has another revision than expected")]
    Changed,
    /// The maximum number of keys is reached.
    #[error("the limit of {} keys is reached", limits::KEYS_MAX)]
    TooMany,
    /// Reading or writing failed.
    #[error(transparent)]
    Engine(#[from] telltale_engine::Error),
    /// The operating system provides no random numbers.
    #[error("no random numbers available: {0}")]
    Randomness(#[from] std::io::Error),
}

impl Keys {
    /// Loads all keys into memory. `quotas` apply to keys without their own. Fails if reading
    /// fails.
    pub fn load(
        engine: Engine,
        clock: Clock,
        ticks: Ticks,
        quotas: Quotas,
    ) -> Result<Self, KeyError> {
        let stored = engine.documents().list::<StoredKey>(COLLECTION, "")?;
        let uses = engine.documents().list::<StoredUse>(USES, "")?;
        let uses: HashMap<String, TimestampMs> =
            uses.into_iter().map(|(id, document)| (id, document.value.time())).collect();
        let live = stored
            .into_iter()
            .map(|(id, document)| {
                let (mut key, secret) = document.value.into_key(id.clone(), document.revision);
                key.last_used_at = key.last_used_at.max(uses.get(&id).copied());
                (id, Arc::new(LiveKey::new(key, secret, &quotas, &ticks)))
            })
            .collect();
        Ok(Self { engine, clock, ticks, quotas, live: RwLock::new(live), changing: Mutex::new(()) })
    }

    /// Creates an admin key if there are no keys: `given`, or a generated one. Fails as
    /// [`Self::create`] does.
    pub fn first_start(&self, given: Option<KeyString>) -> Result<FirstStart, KeyError> {
        if !self.live.read().is_empty() {
            return Ok(FirstStart::NotFirst);
        }
        let admin = NewKey {
            name: "admin".to_owned(),
            user: "admin@localhost".to_owned(),
            scopes: [Scope::Admin].into_iter().collect(),
            limits: KeyLimits::default(),
            public_ingest: false,
        };
        match given {
            Some(text) => Ok(FirstStart::Given(self.store(self.draft(admin, text), None)?.key)),
            None => Ok(FirstStart::Generated(self.create(admin)?)),
        }
    }

    /// Creates a key; durable when this returns. Fails as [`Self::issue`] and [`Self::store`] do.
    pub fn create(&self, new: NewKey) -> Result<IssuedKey, KeyError> {
        self.store(self.issue(new)?, None)
    }

    /// Generates a key that is not valid until it is stored. Fails if the parameters are not valid,
    /// or if the system provides no randomness.
    pub fn issue(&self, new: NewKey) -> Result<UnstoredKey, KeyError> {
        new.check()?;
        Ok(self.draft(new, KeyString::generate()?))
    }

    /// Stores a key together with the receipt of its request; both are durable when this returns.
    /// Fails if the maximum number of keys is reached, or if writing fails.
    pub fn store(
        &self,
        unstored: UnstoredKey,
        receipt: Option<Receipt>,
    ) -> Result<IssuedKey, KeyError> {
        let UnstoredKey(mut issued) = unstored;
        let secret = issued.text.secret_hash();
        let _changing = self.changing.lock();
        if self.live.read().len() >= limits::KEYS_MAX {
            return Err(KeyError::TooMany);
        }
        issued.key.revision = self.put(&issued.key, secret, Expect::Absent, receipt)?;
        let live = LiveKey::new(issued.key.clone(), secret, &self.quotas, &self.ticks);
        self.live.write().insert(issued.key.id.clone(), Arc::new(live));
        Ok(issued)
    }

    /// Returns all keys, newest first.
    pub fn list(&self) -> Vec<ApiKey> {
        let mut keys: Vec<ApiKey> = self.live.read().values().map(|live| live.current()).collect();
        keys.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
        keys
    }

    /// Returns the key with this id.
    pub fn get(&self, id: &str) -> Option<ApiKey> {
        self.live.read().get(id).map(|live| live.current())
    }

    /// Revokes a key; one that was revoked before is unchanged. Fails with [`KeyError::NotFound`]
    /// if it does not exist, with [`KeyError::Changed`] if `fits` rejects its revision, or if
    /// writing fails.
    pub fn revoke(&self, id: &str, fits: impl FnOnce(u64) -> bool) -> Result<ApiKey, KeyError> {
        let _changing = self.changing.lock();
        let found = self.live.read().get(id).map(Arc::clone);
        let live = found.ok_or_else(|| KeyError::NotFound(id.to_owned()))?;
        let mut key = live.current();
        if !fits(key.revision) {
            return Err(KeyError::Changed);
        }
        if key.revoked_at.is_none() {
            key.revoked_at = Some(self.clock.now());
            key.revision = self.put(&key, live.secret, Expect::Any, None)?;
            live.revision.store(key.revision, Ordering::Relaxed);
            live.revoked.set(key.revoked_at);
            live.revocation.notify_waiters();
        }
        Ok(key)
    }

    /// Returns the valid key in an `Authorization` header, if any. The result does not reveal what
    /// is wrong with the header. The secret is compared in constant time.
    pub fn authenticate(&self, authorization: &str) -> Option<Arc<LiveKey>> {
        self.authenticate_key(&presented_key(authorization)?)
    }

    /// Like [`Self::authenticate`], for the string form of a key.
    pub fn authenticate_key(&self, key: &str) -> Option<Arc<LiveKey>> {
        let text: KeyString = key.parse().ok()?;
        let presented = text.secret_hash();
        let live = self.live.read().get(text.id()).map(Arc::clone);
        let stored = live.as_ref().map_or([0; 32], |live| live.secret);
        let same = bool::from(presented.ct_eq(&stored));
        let live = live.filter(|live| same && live.revoked.get().is_none())?;
        live.mark_used(self.clock.now());
        Some(live)
    }

    /// Returns the key with this id, which may be revoked.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<LiveKey>> {
        self.live.read().get(id).map(Arc::clone)
    }

    /// Returns the key with this id, unless it is revoked.
    pub(crate) fn valid(&self, id: &str) -> Option<Arc<LiveKey>> {
        self.find(id).filter(|live| !live.is_revoked())
    }

    /// Returns the valid key of a DSN, if any. Only a public key is valid without its secret.
    pub fn authenticate_dsn(&self, dsn: &DsnKey) -> Option<Arc<LiveKey>> {
        let live = self.live.read().get(&dsn.id).map(Arc::clone)?;
        if live.revoked.get().is_some() || !self.is_of(&live, dsn) {
            return None;
        }
        if dsn.secret.is_none() && !live.key.public_ingest {
            return None;
        }
        live.mark_used(self.clock.now());
        Some(live)
    }

    /// Returns whether a DSN contains this key, and its secret if any.
    pub fn is_of(&self, live: &LiveKey, dsn: &DsnKey) -> bool {
        let secret_fits = dsn.secret.as_deref().is_none_or(|secret| {
            let presented = super::key_string::hash_of(secret);
            bool::from(presented.ct_eq(&live.secret))
        });
        live.key.id == dsn.id && secret_fits
    }

    /// Stores when keys were last used, if it changed: in separate documents, so that the revisions
    /// of keys do not change. Called by a sweep and before shutdown; if it fails, the next call
    /// tries again.
    pub fn store_last_used(&self) -> telltale_engine::Result<()> {
        let _changing = self.changing.lock();
        let used: Vec<Arc<LiveKey>> =
            self.live.read().values().filter(|live| live.was_used()).map(Arc::clone).collect();
        if used.is_empty() {
            return Ok(());
        }
        let times: Vec<Option<TimestampMs>> =
            used.iter().map(|live| live.last_used.get()).collect();
        let mut transaction = self.engine.documents().begin();
        for (live, time) in used.iter().zip(&times) {
            let Some(time) = time else { continue };
            transaction.put(USES, &live.key.id, &StoredUse::new(*time), Expect::Any)?;
        }
        transaction.commit()?;
        for (live, time) in used.iter().zip(times) {
            live.last_used_stored.set(time);
        }
        Ok(())
    }

    fn draft(&self, new: NewKey, text: KeyString) -> UnstoredKey {
        let key = ApiKey {
            id: text.id().to_owned(),
            name: new.name,
            user: new.user,
            scopes: new.scopes,
            limits: new.limits,
            public_ingest: new.public_ingest,
            created_at: self.clock.now(),
            last_used_at: None,
            revoked_at: None,
            revision: 0,
        };
        UnstoredKey(IssuedKey { key, text })
    }

    /// Stores the document of a key, and the receipt with it. Returns the revision.
    fn put(
        &self,
        key: &ApiKey,
        secret: SecretHash,
        expect: Expect,
        receipt: Option<Receipt>,
    ) -> Result<u64, KeyError> {
        let mut transaction = self.engine.documents().begin();
        transaction.put(COLLECTION, &key.id, &StoredKey::new(key, secret), expect)?;
        if let Some(receipt) = receipt {
            transaction.receipt(receipt)?;
        }
        Ok(transaction.commit()?)
    }
}

impl LiveKey {
    fn new(key: ApiKey, secret: SecretHash, quotas: &Quotas, ticks: &Ticks) -> Self {
        Self {
            throttle: Throttle::new(&key.limits.over(quotas), ticks.clone()),
            secret,
            revision: AtomicU64::new(key.revision),
            revoked: SharedTime::new(key.revoked_at),
            revocation: Notify::new(),
            last_used: SharedTime::new(key.last_used_at),
            last_used_stored: SharedTime::new(key.last_used_at),
            key,
        }
    }

    fn current(&self) -> ApiKey {
        ApiKey {
            last_used_at: self.last_used.get(),
            revoked_at: self.revoked.get(),
            revision: self.revision.load(Ordering::Relaxed),
            ..self.key.clone()
        }
    }

    /// Returns the key as it was loaded or created.
    pub fn key(&self) -> &ApiKey {
        &self.key
    }

    /// Records that the key was used.
    pub(super) fn mark_used(&self, now: TimestampMs) {
        self.last_used.set(Some(now));
    }

    /// Returns whether the key has been revoked.
    pub(crate) fn is_revoked(&self) -> bool {
        self.revoked.get().is_some()
    }

    /// Waits until the key is revoked, possibly forever.
    pub(super) async fn wait_revoked(&self) {
        let revocation = self.revocation.notified();
        tokio::pin!(revocation);
        // Registered before the check, so that no revocation in between is missed.
        revocation.as_mut().enable();
        if !self.is_revoked() {
            revocation.await;
        }
    }

    fn was_used(&self) -> bool {
        self.last_used.get() != self.last_used_stored.get()
    }
}
