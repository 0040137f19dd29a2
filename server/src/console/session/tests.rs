//! Tests of sessions on a temporary engine with a clock of their own.

use http::HeaderMap;
use http::header::COOKIE;
use telltale_engine::{Clock, Engine, Maintenance, Options, TimestampMs};

use super::error::SessionError;
use super::model::{Browser, Credential, Session};
use super::service::Sessions;
use super::token::Token;
use crate::config::Config;
use crate::console::limits;
use crate::console::settings::ConsoleSettings;
use crate::platform::ids::Ids;
use crate::platform::keys::{IssuedKey, Keys, NewKey, Scope};
use crate::platform::quota::{KeyLimits, Quotas};
use crate::platform::ticks::Ticks;

const HOUR_MS: i64 = 60 * 60 * 1_000;

/// An engine with keys and sessions.
struct Fixture {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
    keys: Keys,
    sessions: Sessions,
    settings: ConsoleSettings,
}

impl Fixture {
    fn new() -> Self {
        Self::with(Config::default().console)
    }

    fn with(settings: ConsoleSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(1_767_323_045_678));
        let (engine, keys, sessions) = open(&dir, &clock, settings);
        Self { dir, clock, engine, keys, sessions, settings }
    }

    /// Drops everything in memory and opens the same data again.
    fn reopen(self) -> Self {
        let Self { dir, clock, engine, keys, sessions, settings } = self;
        drop((keys, sessions));
        engine.close().unwrap();
        drop(engine);
        let (engine, keys, sessions) = open(&dir, &clock, settings);
        Self { dir, clock, engine, keys, sessions, settings }
    }

    fn key(&self, scopes: &[Scope]) -> IssuedKey {
        let new = NewKey {
            name: "n".to_owned(),
            user: "a@example.com".to_owned(),
            scopes: scopes.iter().copied().collect(),
            limits: KeyLimits::default(),
            public_ingest: false,
        };
        self.keys.create(new).unwrap()
    }

    fn sign_in(&self, credential: &Credential) -> Result<(Token, Session), SessionError> {
        self.sessions.sign_in(&self.keys, credential, Browser::default(), None)
    }

    fn open_with(&self, key: &IssuedKey) -> Token {
        self.sign_in(&Credential::Key(key.text.reveal())).unwrap().0
    }

    /// Returns whether a request with the token is one of a session.
    fn is_open(&self, token: &Token) -> bool {
        let mut headers = HeaderMap::new();
        let cookie = format!("telltale_session_1a2b={}", token.reveal());
        headers.insert(COOKIE, cookie.parse().unwrap());
        self.sessions.authenticate(&headers).is_some()
    }

    fn pass(&self, ms: i64) {
        self.clock.set(TimestampMs(self.clock.now().0 + ms));
    }
}

fn open(
    dir: &tempfile::TempDir,
    clock: &Clock,
    settings: ConsoleSettings,
) -> (Engine, Keys, Sessions) {
    let options =
        Options { clock: clock.clone(), maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let ticks = Ticks::following(clock.clone());
    let keys = Keys::load(engine.clone(), clock.clone(), ticks.clone(), Quotas::default()).unwrap();
    let ids = std::sync::Arc::new(Ids::new(clock.clone()).unwrap());
    let shared = (engine.clone(), clock.clone(), ticks);
    let sessions = Sessions::open(shared, ids, &keys, settings, ("1a2b", None)).unwrap();
    (engine, keys, sessions)
}

#[test]
fn a_session_ends_after_twelve_idle_hours_and_after_thirty_days() {
    let fixture = Fixture::new();
    let key = fixture.key(&[Scope::Read]);
    let token = fixture.open_with(&key);
    for _ in 0..=60 {
        fixture.pass(12 * HOUR_MS - 1);
        assert_eq!(
            fixture.is_open(&token),
            fixture.clock.now().0 < key.key.created_at.0 + 720 * HOUR_MS
        );
    }
    assert!(!fixture.is_open(&token), "thirty days are over");
    let token = fixture.open_with(&key);
    fixture.pass(12 * HOUR_MS);
    assert!(!fixture.is_open(&token), "twelve hours are over");
    assert!(fixture.sessions.list(|_| true).is_empty());
}

#[test]
fn a_session_is_only_stored_as_a_hash_and_survives_a_restart_with_its_last_use() {
    let fixture = Fixture::new();
    let key = fixture.key(&[Scope::Read]);
    let token = fixture.open_with(&key);
    fixture.pass(11 * HOUR_MS);
    assert!(fixture.is_open(&token));
    fixture.sessions.sweep().unwrap();
    let collection = telltale_engine::Collection("console_sessions");
    let stored = fixture.engine.documents().list::<serde_json::Value>(collection, "").unwrap();
    let text = format!("{stored:?}");
    assert!(stored.len() == 1 && !text.contains(&token.reveal()), "{text}");
    let fixture = fixture.reopen();
    fixture.pass(11 * HOUR_MS);
    assert!(fixture.is_open(&token), "it was used eleven hours ago");
}

#[test]
fn revoking_the_key_ends_its_sessions_and_codes() {
    let fixture = Fixture::new();
    let (key, other) = (fixture.key(&[Scope::Read]), fixture.key(&[Scope::Read]));
    let (token, kept) = (fixture.open_with(&key), fixture.open_with(&other));
    let code = fixture.sessions.make_code(&fixture.keys, &key.key.id).unwrap().code.reveal();
    fixture.keys.revoke(&key.key.id, |_| true).unwrap();
    assert!(!fixture.is_open(&token) && fixture.is_open(&kept));
    let refused = fixture.sign_in(&Credential::Code(code)).unwrap_err();
    assert!(matches!(refused, SessionError::InvalidCode), "{refused}");
    let fixture = fixture.reopen();
    assert!(!fixture.is_open(&token) && fixture.is_open(&kept));
    fixture.sessions.sweep().unwrap();
    assert_eq!(fixture.reopen().sessions.list(|_| true).len(), 1);
}

#[test]
fn a_code_opens_one_session_within_ten_minutes() {
    let fixture = Fixture::new();
    let key = fixture.key(&[Scope::Read]);
    let make = |fixture: &Fixture| {
        let made = fixture.sessions.make_code(&fixture.keys, &key.key.id).unwrap();
        Credential::Code(made.code.reveal())
    };
    let code = make(&fixture);
    fixture.pass(limits::SIGN_IN_CODE_MS - 1);
    let fixture = fixture.reopen();
    let (token, session) = fixture.sign_in(&code).unwrap();
    assert!(fixture.is_open(&token));
    assert_eq!(session.key_id, key.key.id);
    assert!(matches!(fixture.sign_in(&code), Err(SessionError::InvalidCode)));
    let late = make(&fixture);
    fixture.pass(limits::SIGN_IN_CODE_MS);
    assert!(matches!(fixture.sign_in(&late), Err(SessionError::InvalidCode)));
    let fixture = fixture.reopen();
    assert!(matches!(fixture.sign_in(&code), Err(SessionError::InvalidCode)), "a restart later");
}

#[test]
fn concurrent_uses_of_a_code_open_one_session() {
    let fixture = Fixture::new();
    let key = fixture.key(&[Scope::Read]);
    let code = fixture.sessions.make_code(&fixture.keys, &key.key.id).unwrap().code.reveal();
    let opened = std::thread::scope(|scope| {
        let uses: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| fixture.sign_in(&Credential::Code(code.clone())).is_ok()))
            .collect();
        uses.into_iter().map(|using| using.join().unwrap()).filter(|ok| *ok).count()
    });
    assert_eq!(opened, 1);
}

#[test]
fn only_the_newest_codes_of_a_key_are_kept() {
    let fixture = Fixture::new();
    let key = fixture.key(&[Scope::Read]);
    let codes: Vec<String> = (0..=limits::SIGN_IN_CODES_PER_KEY_MAX)
        .map(|_| {
            fixture.pass(1);
            fixture.sessions.make_code(&fixture.keys, &key.key.id).unwrap().code.reveal()
        })
        .collect();
    let opened: Vec<bool> =
        codes.into_iter().map(|code| fixture.sign_in(&Credential::Code(code)).is_ok()).collect();
    assert!(!opened[0], "the oldest was deleted");
    assert!(opened[1..].iter().all(|ok| *ok));
}

#[test]
fn the_session_that_was_unused_for_longest_ends_when_there_are_too_many() {
    let settings =
        ConsoleSettings { sessions_per_key: 2, sessions: 3, ..Config::default().console };
    let fixture = Fixture::with(settings);
    let (key, other) = (fixture.key(&[Scope::Read]), fixture.key(&[Scope::Read]));
    let open = |key: &IssuedKey| {
        fixture.pass(1_000);
        fixture.open_with(key)
    };
    let [first, second] = [open(&key), open(&key)];
    fixture.pass(1_000);
    assert!(fixture.is_open(&first), "now the second was unused for longest");
    let third = open(&key);
    assert_eq!([&first, &second, &third].map(|token| fixture.is_open(token)), [true, false, true]);
    let fourth = open(&other);
    fixture.pass(1_000);
    assert!(fixture.is_open(&first));
    fixture.pass(1_000);
    assert!(fixture.is_open(&third));
    let fifth = open(&other);
    assert!(!fixture.is_open(&fourth), "of all keys, it was unused for longest");
    assert!([&first, &third, &fifth].into_iter().all(|token| fixture.is_open(token)));
    let fixture = fixture.reopen();
    assert_eq!(fixture.sessions.list(|_| true).len(), 3);
}

#[test]
fn a_browser_that_signs_in_again_ends_only_its_own_session() {
    let settings = ConsoleSettings { sessions_per_key: 3, ..Config::default().console };
    let fixture = Fixture::with(settings);
    let key = fixture.key(&[Scope::Read]);
    let credential = Credential::Key(key.text.reveal());
    let opened = [(); 3].map(|()| fixture.sign_in(&credential).unwrap());
    let replaced = Some(opened[2].1.id.as_str());
    let sign_in =
        fixture.sessions.sign_in(&fixture.keys, &credential, Browser::default(), replaced);
    assert!(fixture.is_open(&sign_in.unwrap().0));
    assert_eq!(opened.map(|(token, _)| fixture.is_open(&token)), [true, true, false]);
}

#[test]
fn codes_and_sessions_of_a_clock_that_was_ahead_do_not_outlive_it() {
    let fixture = Fixture::new();
    let key = fixture.key(&[Scope::Read]);
    let year_ms = 365 * 24 * HOUR_MS;
    fixture.pass(year_ms);
    let token = fixture.open_with(&key);
    let code = fixture.sessions.make_code(&fixture.keys, &key.key.id).unwrap().code.reveal();
    fixture.pass(-year_ms);
    assert!(!fixture.is_open(&token));
    let refused = fixture.sign_in(&Credential::Code(code)).unwrap_err();
    assert!(matches!(refused, SessionError::InvalidCode), "{refused}");
    fixture.sessions.sweep().unwrap();
    assert_eq!(fixture.sessions.list(|_| true).len(), 0);
    // A clock that is corrected by minutes ends nothing.
    let token = fixture.open_with(&key);
    fixture.pass(-HOUR_MS);
    assert!(fixture.is_open(&token));
}

#[test]
fn attempts_to_sign_in_are_counted_by_address_in_bounded_memory() {
    let fixture = Fixture::new();
    let attempt = |address: &str| fixture.sessions.count_attempt(Some(address.parse().unwrap()));
    for n in 0..10 {
        attempt(&format!("2001:db8::{n}")).unwrap();
    }
    let refused = attempt("2001:db8::ffff").unwrap_err();
    assert!(matches!(refused, SessionError::TooManyAttempts(wait) if wait.as_secs() == 6));
    attempt("2001:db8:0:1::1").unwrap();
    fixture.pass(6_000);
    attempt("2001:db8::1").unwrap();
    attempt("2001:db8::1").unwrap_err();
}

#[test]
fn a_key_without_the_scope_read_opens_no_session() {
    let fixture = Fixture::new();
    let key = fixture.key(&[Scope::Ingest, Scope::Work, Scope::Write]);
    let refused = fixture.sign_in(&Credential::Key(key.text.reveal())).unwrap_err();
    assert!(matches!(refused, SessionError::NotAllowed), "{refused}");
    assert!(fixture.sessions.make_code(&fixture.keys, &key.key.id).is_err());
}
