//! The keys of a server: made, listed, revoked in the engine's documents; authenticated from memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::{Mutex, RwLock};
use subtle::ConstantTimeEq;
use telltale_engine::{Clock, Engine, Expect, TimestampMs};
use tokio::sync::Notify;

use super::authorization::presented_key;
use super::dsn::DsnKey;
use super::key::{ApiKey, InvalidKey, NewKey, Scope};
use super::stored::{COLLECTION, StoredKey};
use super::text::{KeyText, SecretHash};
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
    /// Held while documents change, so that memory and disk agree on the last word.
    changing: Mutex<()>,
}

/// A key in memory.
#[derive(Debug)]
pub struct LiveKey {
    /// The key as it was read or made; when it was used and revoked stands in the fields below.
    pub(super) key: ApiKey,
    pub(super) throttle: Throttle,
    secret: SecretHash,
    revoked: Instant,
    /// Wakes requests that wait for long, once the key is revoked.
    revocation: Notify,
    last_used: Instant,
    last_used_stored: Instant,
}

/// A time that may not have come yet, changed while others read it.
#[derive(Debug)]
struct Instant(AtomicI64);

/// A new key, with the text that is shown once.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    /// The key.
    pub key: ApiKey,
    /// The whole key, its secret included.
    pub text: KeyText,
}

/// What the first start found and did.
#[derive(Clone, Debug)]
pub enum FirstStart {
    /// There are keys: this is not the first start.
    NotFirst,
    /// The key that the operator gave is now the admin key.
    Given(ApiKey),
    /// An admin key was made; its text must be shown now, it cannot be shown later.
    Generated(IssuedKey),
}

/// A key could not be made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The new key breaks a rule.
    #[error(transparent)]
    Invalid(#[from] InvalidKey),
    /// No key has this id.
    #[error("there is no key {0:?}")]
    NotFound(String),
    /// There are [`limits::KEYS_MAX`] keys.
    #[error("there are {} keys, which is the most there can be", limits::KEYS_MAX)]
    TooMany,
    /// The engine could not store or read.
    #[error(transparent)]
    Engine(#[from] telltale_engine::Error),
    /// The system has no randomness to give.
    #[error("no randomness: {0}")]
    Randomness(#[from] std::io::Error),
}

impl Keys {
    /// Reads all keys into memory. `quotas` hold for keys that have none of their own. Fails when the storage does.
    pub fn load(
        engine: Engine,
        clock: Clock,
        ticks: Ticks,
        quotas: Quotas,
    ) -> Result<Self, KeyError> {
        let stored = engine.documents().list::<StoredKey>(COLLECTION, "")?;
        let live = stored
            .into_iter()
            .map(|(id, document)| {
                let (key, secret) = document.value.into_key(id.clone());
                (id, Arc::new(LiveKey::new(key, secret, &quotas, &ticks)))
            })
            .collect();
        Ok(Self { engine, clock, ticks, quotas, live: RwLock::new(live), changing: Mutex::new(()) })
    }

    /// Makes sure that there is a key to begin with: `given`, or a new one. Fails as [`Self::create`] does.
    pub fn first_start(&self, given: Option<KeyText>) -> Result<FirstStart, KeyError> {
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
            Some(text) => Ok(FirstStart::Given(self.store_new(admin, &text)?)),
            None => Ok(FirstStart::Generated(self.create(admin)?)),
        }
    }

    /// Makes a key, and answers when it is on disk. Fails when a part of it is not allowed, when there are too many
    /// keys, and when the storage or the randomness of the system does.
    pub fn create(&self, new: NewKey) -> Result<IssuedKey, KeyError> {
        new.check()?;
        let text = KeyText::generate()?;
        let key = self.store_new(new, &text)?;
        Ok(IssuedKey { key, text })
    }

    /// All keys, the newest first.
    pub fn list(&self) -> Vec<ApiKey> {
        let mut keys: Vec<ApiKey> = self.live.read().values().map(|live| live.current()).collect();
        keys.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
        keys
    }

    /// The key with this id.
    pub fn get(&self, id: &str) -> Option<ApiKey> {
        self.live.read().get(id).map(|live| live.current())
    }

    /// Refuses the key from now on. A key revoked before stays as it is. Fails with [`KeyError::NotFound`] when
    /// there is none, and when the storage does.
    pub fn revoke(&self, id: &str) -> Result<ApiKey, KeyError> {
        let _changing = self.changing.lock();
        let found = self.live.read().get(id).map(Arc::clone);
        let live = found.ok_or_else(|| KeyError::NotFound(id.to_owned()))?;
        let mut key = live.current();
        if key.revoked_at.is_none() {
            key.revoked_at = Some(self.clock.now());
            self.put(&key, live.secret, Expect::Any)?;
            live.revoked.set(key.revoked_at);
            live.revocation.notify_waiters();
        }
        Ok(key)
    }

    /// Who owns the key in an `Authorization` header, if it is a key that works. Whatever is wrong with the
    /// header, the answer is the same and takes the same work.
    pub fn authenticate(&self, authorization: &str) -> Option<Arc<LiveKey>> {
        let text: KeyText = presented_key(authorization)?.parse().ok()?;
        let presented = text.secret_hash();
        let live = self.live.read().get(text.id()).map(Arc::clone);
        let stored = live.as_ref().map_or([0; 32], |live| live.secret);
        let same = bool::from(presented.ct_eq(&stored));
        let live = live.filter(|live| same && live.revoked.get().is_none())?;
        live.last_used.set(Some(self.clock.now()));
        Some(live)
    }

    /// Who owns the key of a DSN, if it is a key that works. Only a key that may be seen works without its secret.
    pub fn authenticate_dsn(&self, dsn: &DsnKey) -> Option<Arc<LiveKey>> {
        let live = self.live.read().get(&dsn.id).map(Arc::clone)?;
        if live.revoked.get().is_some() || !self.is_of(&live, dsn) {
            return None;
        }
        if dsn.secret.is_none() && !live.key.public_ingest {
            return None;
        }
        live.last_used.set(Some(self.clock.now()));
        Some(live)
    }

    /// Whether a DSN names this key, and with its own secret if with any.
    pub fn is_of(&self, live: &LiveKey, dsn: &DsnKey) -> bool {
        let secret_fits = dsn.secret.as_deref().is_none_or(|secret| {
            let presented = super::text::hash_of(secret);
            bool::from(presented.ct_eq(&live.secret))
        });
        live.key.id == dsn.id && secret_fits
    }

    /// Stores when each key was last used, where that is news. A sweep calls it now and then, and before the end; what
    /// could not be stored is tried again by the next call.
    pub fn store_last_used(&self) -> telltale_engine::Result<()> {
        let _changing = self.changing.lock();
        let used: Vec<Arc<LiveKey>> =
            self.live.read().values().filter(|live| live.was_used()).map(Arc::clone).collect();
        if used.is_empty() {
            return Ok(());
        }
        let now_stored: Vec<ApiKey> = used.iter().map(|live| live.current()).collect();
        let mut transaction = self.engine.documents().begin();
        for (live, key) in used.iter().zip(&now_stored) {
            transaction.put(COLLECTION, &key.id, &StoredKey::new(key, live.secret), Expect::Any)?;
        }
        transaction.commit()?;
        for (live, key) in used.iter().zip(&now_stored) {
            live.last_used_stored.set(key.last_used_at);
        }
        Ok(())
    }

    fn store_new(&self, new: NewKey, text: &KeyText) -> Result<ApiKey, KeyError> {
        let _changing = self.changing.lock();
        if self.live.read().len() >= limits::KEYS_MAX {
            return Err(KeyError::TooMany);
        }
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
        };
        self.put(&key, text.secret_hash(), Expect::Absent)?;
        let live = LiveKey::new(key.clone(), text.secret_hash(), &self.quotas, &self.ticks);
        self.live.write().insert(key.id.clone(), Arc::new(live));
        Ok(key)
    }

    fn put(&self, key: &ApiKey, secret: SecretHash, expect: Expect) -> Result<(), KeyError> {
        let mut transaction = self.engine.documents().begin();
        transaction.put(COLLECTION, &key.id, &StoredKey::new(key, secret), expect)?;
        transaction.commit()?;
        Ok(())
    }
}

impl LiveKey {
    fn new(key: ApiKey, secret: SecretHash, quotas: &Quotas, ticks: &Ticks) -> Self {
        Self {
            throttle: Throttle::new(&key.limits.over(quotas), ticks.clone()),
            secret,
            revoked: Instant::new(key.revoked_at),
            revocation: Notify::new(),
            last_used: Instant::new(key.last_used_at),
            last_used_stored: Instant::new(key.last_used_at),
            key,
        }
    }

    fn current(&self) -> ApiKey {
        ApiKey {
            last_used_at: self.last_used.get(),
            revoked_at: self.revoked.get(),
            ..self.key.clone()
        }
    }

    /// Whether the key is refused.
    pub(super) fn is_revoked(&self) -> bool {
        self.revoked.get().is_some()
    }

    /// Ends when the key is revoked, if ever.
    pub(super) async fn wait_revoked(&self) {
        let revocation = self.revocation.notified();
        tokio::pin!(revocation);
        // A revocation between the look and the wait is not missed.
        revocation.as_mut().enable();
        if !self.is_revoked() {
            revocation.await;
        }
    }

    fn was_used(&self) -> bool {
        self.last_used.get() != self.last_used_stored.get()
    }
}

impl Instant {
    /// Stands for a time that has not come.
    const NEVER: i64 = i64::MIN;

    fn new(time: Option<TimestampMs>) -> Self {
        Self(AtomicI64::new(time.map_or(Self::NEVER, |t| t.0)))
    }

    fn get(&self) -> Option<TimestampMs> {
        let ms = self.0.load(Ordering::Relaxed);
        (ms != Self::NEVER).then_some(TimestampMs(ms))
    }

    fn set(&self, time: Option<TimestampMs>) {
        self.0.store(time.map_or(Self::NEVER, |t| t.0), Ordering::Relaxed);
    }
}
