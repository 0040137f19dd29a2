//! All sessions of a server: opened, checked and ended.
//!
//! Checked from memory; every change of the set is in the documents before it is in memory. When a
//! session was last seen is written by a sweep, so a crash makes a session at most a minute older.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use parking_lot::{Mutex, RwLock};
use telltale_engine::{Clock, Engine, TimestampMs};

use super::cookie::SessionCookie;
use super::error::SessionError;
use super::model::{Browser, Credential, Session};
use super::store::{self, StoredCode, StoredSession};
use super::token::{Token, TokenHash};
use crate::app::App;
use crate::console::limits;
use crate::console::settings::ConsoleSettings;
use crate::platform::address_rates::{AddressRates, network_of};
use crate::platform::ids::Ids;
use crate::platform::keys::{Keys, LiveKey, LiveSession, Scope};
use crate::platform::sweeps::Sweep;
use crate::platform::ticks::Ticks;

/// How often sessions that have ended are removed, and the last use of others is written.
const SWEEP_PERIOD: Duration = Duration::from_secs(60);

/// All sessions of a server.
#[derive(Debug)]
pub struct Sessions {
    engine: Engine,
    clock: Clock,
    ticks: Ticks,
    ids: Arc<Ids>,
    settings: ConsoleSettings,
    cookie: SessionCookie,
    /// The origin of the URL under which users reach the server.
    public_origin: Option<String>,
    open: RwLock<HashMap<TokenHash, Arc<OpenSession>>>,
    /// Held while documents change, so that memory and disk stay consistent.
    changing: Mutex<()>,
    attempts: Mutex<AddressRates>,
}

/// A session in memory.
#[derive(Debug)]
struct OpenSession {
    live: Arc<LiveSession>,
    created_at: TimestampMs,
    browser: Browser,
    /// The last request that is stored, in milliseconds.
    seen_stored_ms: AtomicI64,
}

/// A code that was just made.
#[derive(Debug)]
pub(super) struct NewCode {
    pub(super) code: Token,
    pub(super) expires_at: TimestampMs,
}

impl Sessions {
    /// Loads all sessions into memory. The mark tells servers on one host apart; the URL is that
    /// under which users reach the server. Fails if reading fails.
    pub(crate) fn open(
        (engine, clock, ticks): (Engine, Clock, Ticks),
        ids: Arc<Ids>,
        keys: &Keys,
        settings: ConsoleSettings,
        (mark, public_url): (&str, Option<&str>),
    ) -> telltale_engine::Result<Self> {
        let mut open = HashMap::new();
        for (id, stored) in store::sessions(&engine)? {
            // Keys are never deleted; those that are revoked end their sessions.
            let Some(key) = keys.find(&stored.key_id) else { continue };
            let session = OpenSession::of(id, key, &stored);
            open.insert(stored.token_sha256, Arc::new(session));
        }
        let per_minute = u32::try_from(settings.sign_ins_per_minute.max(1)).unwrap_or(u32::MAX);
        let interval = Duration::from_secs(60) / per_minute;
        Ok(Self {
            engine,
            clock,
            ticks,
            ids,
            settings,
            cookie: SessionCookie::new(mark, public_url),
            public_origin: public_url.map(origin_of),
            open: RwLock::new(open),
            changing: Mutex::new(()),
            attempts: Mutex::new(AddressRates::new(
                interval,
                per_minute,
                limits::SIGN_IN_ADDRESSES_MAX,
            )),
        })
    }

    /// Returns whether a request has the cookie of a session, valid or not.
    pub(crate) fn has_cookie(&self, headers: &HeaderMap) -> bool {
        self.cookie.is_in(headers)
    }

    /// Returns the origin of the URL under which users reach the server, if it is set.
    pub(crate) fn public_origin(&self) -> Option<&str> {
        self.public_origin.as_deref()
    }

    /// Returns the session whose cookie a request has, and records that it was seen.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Option<Arc<LiveSession>> {
        let token = self.cookie.token(headers)?;
        let session = self.open.read().get(&token.hash()).map(Arc::clone)?;
        let now = self.clock.now();
        if self.is_over(&session, now) {
            return None;
        }
        session.live.mark_seen(now);
        Some(Arc::clone(&session.live))
    }

    /// Counts an attempt to sign in from an address, or refuses it.
    pub(super) fn count_attempt(&self, address: Option<IpAddr>) -> Result<(), SessionError> {
        let Some(address) = address else { return Ok(()) };
        let counted = self.attempts.lock().count(network_of(address), self.ticks.elapsed());
        counted.map_err(SessionError::TooManyAttempts)
    }

    /// Opens a session; durable when this returns. A session whose cookie the browser sent ends: it
    /// is replaced. Fails if the credential is not valid or its key may not read.
    pub(super) fn sign_in(
        &self,
        keys: &Keys,
        credential: &Credential,
        browser: Browser,
        replaced: Option<&str>,
    ) -> Result<(Token, Session), SessionError> {
        let token = Token::generate()?;
        let _changing = self.changing.lock();
        let now = self.clock.now();
        let mut transaction = self.engine.documents().begin();
        let key = match credential {
            Credential::Key(text) => keys.authenticate_key(text).ok_or(SessionError::InvalidKey)?,
            Credential::Code(text) => {
                let hash = Token::parse(text).ok_or(SessionError::InvalidCode)?.hash();
                let code = store::code(&self.engine, &hash)?.ok_or(SessionError::InvalidCode)?;
                if !code.is_valid(now) {
                    return Err(SessionError::InvalidCode);
                }
                store::delete_code(&mut transaction, &store::code_id(&hash));
                keys.valid(&code.key_id).ok_or(SessionError::InvalidCode)?
            }
        };
        if !key.key().scopes.allow(Scope::Read) {
            return Err(SessionError::NotAllowed);
        }
        let ended = self.to_end(&key, replaced);
        for (_, session) in &ended {
            store::delete_session(&mut transaction, session.live.id());
        }
        let stored = StoredSession {
            key_id: key.key().id.clone(),
            token_sha256: token.hash(),
            created_at_ms: now.0,
            last_seen_at_ms: now.0,
            address: browser.address,
            agent: browser.agent,
        };
        let id = self.ids.next("signin_");
        store::put_session(&mut transaction, &id, &stored)?;
        transaction.commit()?;
        self.forget(&ended);
        let session = Arc::new(OpenSession::of(id, key, &stored));
        let shown = self.shown(&session);
        self.open.write().insert(stored.token_sha256, session);
        Ok((token, shown))
    }

    /// Returns the sessions that end when one of this key is opened: the replaced one, and those
    /// that were unused for longest while there are too many.
    fn to_end(&self, key: &LiveKey, replaced: Option<&str>) -> Vec<(TokenHash, Arc<OpenSession>)> {
        let all = self.open.read();
        let mut open: Vec<_> =
            all.iter().map(|(hash, session)| (*hash, Arc::clone(session))).collect();
        drop(all);
        // Cached, because requests change it meanwhile.
        open.sort_by_cached_key(|(_, session)| session.live.last_seen());
        let is_of_key = |session: &OpenSession| session.live.key().key().id == key.key().id;
        let is_replaced = |session: &OpenSession| Some(session.live.id()) == replaced;
        let stays = |session: &OpenSession| !is_replaced(session);
        let mut of_key =
            open.iter().filter(|(_, session)| is_of_key(session) && stays(session)).count();
        let mut in_all = open.iter().filter(|(_, session)| stays(session)).count();
        let per_key_max = self.settings.sessions_per_key.max(1);
        let max = self.settings.sessions.clamp(1, limits::SESSIONS_MAX);
        open.retain(|(_, session)| {
            if is_replaced(session) {
                return true;
            }
            let is_excess = in_all >= max || is_of_key(session) && of_key >= per_key_max;
            if is_excess {
                in_all -= 1;
                of_key -= usize::from(is_of_key(session));
            }
            is_excess
        });
        open
    }

    /// Removes sessions from memory whose documents are deleted.
    fn forget(&self, ended: &[(TokenHash, Arc<OpenSession>)]) {
        let mut open = self.open.write();
        for (hash, session) in ended {
            session.live.end();
            open.remove(hash);
        }
    }

    /// Ends a session if `may_end` accepts it; durable when this returns.
    pub(super) fn end(
        &self,
        id: &str,
        may_end: impl FnOnce(&LiveSession) -> bool,
    ) -> Result<(), SessionError> {
        let _changing = self.changing.lock();
        let found = self
            .open
            .read()
            .iter()
            .find(|(_, session)| session.live.id() == id)
            .map(|(hash, session)| (*hash, Arc::clone(session)));
        let found = found.filter(|(_, session)| may_end(&session.live));
        let ended = found.ok_or_else(|| SessionError::NotFound(id.to_owned()))?;
        let mut transaction = self.engine.documents().begin();
        store::delete_session(&mut transaction, id);
        transaction.commit()?;
        self.forget(&[ended]);
        Ok(())
    }

    /// Returns the sessions that `is_shown` accepts and that have not ended, latest request first.
    pub(super) fn list(&self, is_shown: impl Fn(&LiveSession) -> bool) -> Vec<Session> {
        let now = self.clock.now();
        let open = self.open.read();
        let current = open.values().filter(|session| !self.is_over(session, now));
        let mut shown: Vec<Session> = current
            .filter(|session| is_shown(&session.live))
            .map(|session| self.shown(session))
            .collect();
        shown.sort_by(|a, b| (b.last_seen_at, &b.id).cmp(&(a.last_seen_at, &a.id)));
        shown
    }

    /// Returns a session as it is shown.
    pub(super) fn session(&self, live: &LiveSession) -> Option<Session> {
        let open = self.open.read();
        open.values().find(|session| session.live.id() == live.id()).map(|open| self.shown(open))
    }

    /// Makes a code for a key; durable when this returns. The oldest codes are deleted if there are
    /// too many.
    pub(super) fn make_code(&self, keys: &Keys, key_id: &str) -> Result<NewCode, SessionError> {
        let key = keys.valid(key_id).ok_or_else(|| SessionError::NoSuchKey(key_id.to_owned()))?;
        if !key.key().scopes.allow(Scope::Read) {
            return Err(SessionError::NotAllowed);
        }
        let code = Token::generate()?;
        let _changing = self.changing.lock();
        let now = self.clock.now();
        let expires_at = TimestampMs(now.0.saturating_add(limits::SIGN_IN_CODE_MS));
        let mut transaction = self.engine.documents().begin();
        let mut codes = store::codes(&self.engine)?;
        codes.sort_by_key(|(_, code)| std::cmp::Reverse(code.expires_at_ms));
        let (mut of_key, mut in_all) = (1, 1);
        for (id, other) in &codes {
            let is_of_key = other.key_id == key_id;
            of_key += usize::from(is_of_key);
            in_all += 1;
            let is_excess = is_of_key && of_key > limits::SIGN_IN_CODES_PER_KEY_MAX
                || in_all > limits::SIGN_IN_CODES_MAX;
            if !other.is_valid(now) || is_excess {
                store::delete_code(&mut transaction, id);
            }
        }
        let stored = StoredCode { key_id: key_id.to_owned(), expires_at_ms: expires_at.0 };
        store::put_code(&mut transaction, &code.hash(), &stored)?;
        transaction.commit()?;
        Ok(NewCode { code, expires_at })
    }

    /// Makes a code for a key and returns the path that signs in with it.
    pub(crate) fn sign_in_path(&self, keys: &Keys, key_id: &str) -> Result<String, String> {
        let made = self.make_code(keys, key_id).map_err(|error| error.to_string())?;
        Ok(path_of(&made.code))
    }

    /// Returns the header that stores the cookie of a session.
    pub(super) fn set_cookie(&self, token: &Token) -> Option<HeaderValue> {
        self.cookie.set(token, self.settings.session_age.duration().as_secs())
    }

    /// Returns the header that removes the cookie.
    pub(super) fn remove_cookie(&self) -> Option<HeaderValue> {
        self.cookie.remove()
    }

    /// Deletes sessions and codes that are over, and stores when the others were last seen.
    pub(super) fn sweep(&self) -> telltale_engine::Result<()> {
        let _changing = self.changing.lock();
        let now = self.clock.now();
        let open: Vec<_> =
            self.open.read().iter().map(|(hash, open)| (*hash, Arc::clone(open))).collect();
        let (over, current): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|(_, session)| self.is_over(session, now));
        let mut transaction = self.engine.documents().begin();
        for (_, session) in &over {
            store::delete_session(&mut transaction, session.live.id());
        }
        let mut changes = over.len();
        for (id, code) in store::codes(&self.engine)? {
            if !code.is_valid(now) {
                store::delete_code(&mut transaction, &id);
                changes += 1;
            }
        }
        let seen: Vec<_> = current
            .iter()
            .map(|(hash, session)| (hash, session, session.live.last_seen()))
            .filter(|(_, session, seen)| seen.0 != session.seen_stored_ms.load(Ordering::Relaxed))
            .collect();
        for (hash, session, seen) in &seen {
            let stored = session.stored(**hash, *seen);
            store::put_session(&mut transaction, session.live.id(), &stored)?;
        }
        if changes + seen.len() > 0 {
            transaction.commit()?;
        }
        for (_, session, time) in &seen {
            session.seen_stored_ms.store(time.0, Ordering::Relaxed);
        }
        self.forget(&over);
        Ok(())
    }

    fn is_over(&self, session: &OpenSession, now: TimestampMs) -> bool {
        // Opened while the clock was ahead: it would outlive its time by as much.
        let is_of_future =
            session.created_at.0.saturating_sub(self.settings.session_idle.ms()) > now.0;
        session.live.has_ended() || is_of_future || self.expires_at(session) <= now
    }

    fn expires_at(&self, session: &OpenSession) -> TimestampMs {
        let idle = session.live.last_seen().0.saturating_add(self.settings.session_idle.ms());
        let age = session.created_at.0.saturating_add(self.settings.session_age.ms());
        TimestampMs(idle.min(age))
    }

    fn shown(&self, session: &OpenSession) -> Session {
        let key = session.live.key().key();
        Session {
            id: session.live.id().to_owned(),
            key_id: key.id.clone(),
            key_name: key.name.clone(),
            user: key.user.clone(),
            scopes: key.scopes,
            created_at: session.created_at,
            last_seen_at: session.live.last_seen(),
            expires_at: self.expires_at(session),
            browser: session.browser.clone(),
        }
    }
}

impl OpenSession {
    fn of(id: String, key: Arc<LiveKey>, stored: &StoredSession) -> Self {
        let seen_at = TimestampMs(stored.last_seen_at_ms);
        Self {
            live: Arc::new(LiveSession::new(id, key, seen_at)),
            created_at: stored.created_at(),
            browser: stored.browser(),
            seen_stored_ms: AtomicI64::new(seen_at.0),
        }
    }

    fn stored(&self, token_sha256: TokenHash, seen: TimestampMs) -> StoredSession {
        StoredSession {
            key_id: self.live.key().key().id.clone(),
            token_sha256,
            created_at_ms: self.created_at.0,
            last_seen_at_ms: seen.0,
            address: self.browser.address.clone(),
            agent: self.browser.agent.clone(),
        }
    }
}

/// Returns the sweep of sessions.
pub fn sweep(app: &Arc<App>) -> Sweep {
    let app = Arc::clone(app);
    Sweep::new("console_sessions", SWEEP_PERIOD, move |_| app.sessions().sweep())
}

/// Returns the path that signs in with a code. The code is in the fragment, which browsers do not
/// send, so that no log contains it.
pub(super) fn path_of(code: &Token) -> String {
    format!("/console#code={}", code.reveal())
}

/// Returns the scheme and the authority of a URL.
fn origin_of(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{authority}").to_ascii_lowercase()
}
