//! Tests of keys: they work until revoked, across restarts, and nothing else works.

use telltale_engine::{Clock, Engine, Options, TimestampMs};

use super::*;
use crate::platform::quota::{KeyLimits, Quotas};
use crate::platform::ticks::Ticks;

const GIVEN: &str = "tt_admin123_0123456789abcdefghijABCDEFGHIJ0123456789xyz";

#[track_caller]
fn on_engine(check: impl FnOnce(&dyn Fn() -> Keys, &Clock)) {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(1_000_000));
    let engine =
        Engine::open(dir.path(), Options { clock: clock.clone(), ..Options::default() }).unwrap();
    let load = || {
        let ticks = Ticks::following(clock.clone());
        Keys::load(engine.clone(), clock.clone(), ticks, Quotas::default()).unwrap()
    };
    check(&load, &clock);
    engine.close().unwrap();
}

fn new_key(scopes: &[Scope]) -> NewKey {
    NewKey {
        name: "agent".to_owned(),
        user: "ops@example.com".to_owned(),
        scopes: scopes.iter().copied().collect(),
        limits: KeyLimits::default(),
        public_ingest: false,
    }
}

fn bearer(text: &KeyString) -> String {
    format!("Bearer {}", text.reveal())
}

#[test]
fn a_key_works_until_it_is_revoked_and_over_restarts() {
    on_engine(|load, clock| {
        let keys = load();
        let issued = keys.create(new_key(&[Scope::Read])).unwrap();
        let authorization = bearer(&issued.text);
        assert!(keys.authenticate(&authorization).is_some());
        let again = load();
        assert!(again.authenticate(&authorization).is_some());
        clock.set(TimestampMs(2_000_000));
        let revoked = again.revoke(&issued.key.id, |_| true).unwrap();
        assert_eq!(revoked.revoked_at, Some(TimestampMs(2_000_000)));
        assert!(again.authenticate(&authorization).is_none());
        clock.set(TimestampMs(3_000_000));
        assert_eq!(again.revoke(&issued.key.id, |_| true).unwrap(), revoked);
        assert!(load().authenticate(&authorization).is_none());
        assert!(matches!(again.revoke("nosuchkey", |_| true), Err(KeyError::NotFound(_))));
    });
}

#[test]
fn a_key_has_a_revision_that_changes_with_it_and_not_with_its_use() {
    on_engine(|load, clock| {
        let keys = load();
        let issued = keys.create(new_key(&[Scope::Read])).unwrap();
        let id = issued.key.id.as_str();
        assert_ne!(issued.key.revision, 0);
        clock.set(TimestampMs(5_000_000));
        keys.authenticate(&bearer(&issued.text)).unwrap();
        keys.store_last_used().unwrap();
        for keys in [&keys, &load()] {
            let key = keys.get(id).unwrap();
            assert_eq!(key.revision, issued.key.revision);
            assert_eq!(key.last_used_at, Some(TimestampMs(5_000_000)));
        }
        assert!(matches!(keys.revoke(id, |now| now == 0), Err(KeyError::Changed)));
        assert_eq!(keys.get(id).unwrap().revoked_at, None);
        let revoked = keys.revoke(id, |now| now == issued.key.revision).unwrap();
        assert!(revoked.revision > issued.key.revision);
        assert_eq!(keys.get(id).unwrap().revision, revoked.revision);
        assert_eq!(load().get(id).unwrap(), revoked);
    });
}

#[test]
fn a_key_and_the_receipt_of_its_request_are_stored_together_or_not_at_all() {
    use telltale_engine::Receipt;
    on_engine(|load, clock| {
        let keys = load();
        let receipt = |answer: &[u8]| Receipt {
            id: 7,
            fingerprint: 1,
            answer: answer.to_vec(),
            expires_at: TimestampMs(clock.now().0 + 86_400_000),
        };
        let first = keys.issue(new_key(&[Scope::Read])).unwrap();
        assert!(keys.get(&first.key().id).is_none(), "it is not stored yet");
        let first = keys.store(first, Some(receipt(b"first"))).unwrap();
        // The same request again, as if the first one were unknown: the receipt prevents a second
        // key.
        let second = keys.issue(new_key(&[Scope::Read])).unwrap();
        let id = second.key().id.clone();
        assert!(keys.store(second, Some(receipt(b"second"))).is_err());
        assert!(keys.get(&id).is_none());
        assert_eq!(load().list(), [first.key]);
    });
}

#[test]
fn malformed_and_unknown_keys_do_not_work() {
    on_engine(|load, _| {
        let keys = load();
        let issued = keys.create(new_key(&[Scope::Read])).unwrap();
        let good = issued.text.reveal();
        let (start, last) = good.split_at(good.len() - 1);
        let other = if last == "a" { "b" } else { "a" };
        for wrong in [
            String::new(),
            good.clone(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Basic {good}"),
            format!("Bearer {start}"),
            format!("Bearer {start}{other}"),
            format!("Bearer {good}0"),
            format!("Bearer {good} {good}"),
            format!("Bearer {}", good.replacen(&issued.key.id, "nosuchkey", 1)),
            format!("Bearer {}", GIVEN),
        ] {
            assert!(keys.authenticate(&wrong).is_none(), "{wrong:?}");
        }
        assert!(keys.authenticate(&format!("bearer {good}")).is_some());
    });
}

#[test]
fn the_first_start_creates_one_admin_key_and_later_ones_none() {
    on_engine(|load, _| {
        let keys = load();
        let FirstStart::Generated(issued) = keys.first_start(None).unwrap() else {
            panic!("the first start creates a key");
        };
        assert!(issued.key.scopes.allow(Scope::Write));
        assert!(matches!(
            keys.first_start(Some(GIVEN.parse().unwrap())).unwrap(),
            FirstStart::NotFirst
        ));
        assert!(matches!(load().first_start(None).unwrap(), FirstStart::NotFirst));
    });
    on_engine(|load, _| {
        let keys = load();
        assert!(matches!(
            keys.first_start(Some(GIVEN.parse().unwrap())).unwrap(),
            FirstStart::Given(_)
        ));
        let live = keys.authenticate(&format!("Bearer {GIVEN}"));
        assert!(live.is_some_and(|live| Identity::Key(live).may(Scope::Admin)));
    });
}

#[test]
fn the_last_use_of_a_key_is_stored() {
    on_engine(|load, clock| {
        let keys = load();
        let issued = keys.create(new_key(&[Scope::Read])).unwrap();
        assert_eq!(keys.get(&issued.key.id).unwrap().last_used_at, None);
        clock.set(TimestampMs(5_000_000));
        keys.authenticate(&bearer(&issued.text)).unwrap();
        assert_eq!(keys.get(&issued.key.id).unwrap().last_used_at, Some(TimestampMs(5_000_000)));
        assert_eq!(load().get(&issued.key.id).unwrap().last_used_at, None);
        keys.store_last_used().unwrap();
        assert_eq!(load().get(&issued.key.id).unwrap(), keys.get(&issued.key.id).unwrap());
    });
}

#[test]
fn keys_are_listed_newest_first() {
    on_engine(|load, clock| {
        let keys = load();
        let old = keys.create(new_key(&[Scope::Read])).unwrap().key;
        clock.set(TimestampMs(2_000_000));
        let limits =
            KeyLimits { batch: Some("unlimited".parse().unwrap()), ..KeyLimits::default() };
        let new =
            keys.create(NewKey { limits, ..new_key(&[Scope::Ingest, Scope::Read]) }).unwrap().key;
        assert_eq!(keys.list(), [new, old]);
        assert_eq!(load().list(), keys.list());
    });
}

#[test]
fn invalid_parameters_of_new_keys_are_rejected() {
    let check = |change: fn(&mut NewKey)| {
        let mut key = new_key(&[Scope::Ingest]);
        change(&mut key);
        key.check().err()
    };
    assert_eq!(check(|_| {}), None);
    assert_eq!(check(|key| key.public_ingest = true), None);
    assert_eq!(check(|key| key.name.clear()), Some(InvalidKey::NameMissing));
    assert_eq!(check(|key| key.name = "a\nb".to_owned()), Some(InvalidKey::Name));
    assert_eq!(check(|key| key.name = "  ".to_owned()), Some(InvalidKey::Name));
    assert_eq!(check(|key| key.name = "x".repeat(201)), Some(InvalidKey::Name));
    assert_eq!(check(|key| key.user = "ops".to_owned()), Some(InvalidKey::User));
    assert_eq!(check(|key| key.user = "a b@c".to_owned()), Some(InvalidKey::User));
    assert_eq!(check(|key| key.scopes = Scopes::default()), Some(InvalidKey::Scopes));
    let public_admin = |key: &mut NewKey| {
        key.public_ingest = true;
        key.scopes = [Scope::Ingest, Scope::Admin].into_iter().collect();
    };
    assert_eq!(check(public_admin), Some(InvalidKey::PublicScopes));
}

#[test]
fn a_key_has_exactly_one_form() {
    let key: KeyString = GIVEN.parse().unwrap();
    assert_eq!((key.id(), key.reveal().as_str()), ("admin123", GIVEN));
    assert_eq!(format!("{key:?}"), "tt_admin123_…");
    let secret = "s".repeat(43);
    for (text, fits) in [
        (format!("tt_{}_{secret}", "i".repeat(8)), true),
        (format!("tt_{}_{secret}", "i".repeat(32)), true),
        (format!("tt_{}_{secret}", "i".repeat(7)), false),
        (format!("tt_{}_{secret}", "i".repeat(33)), false),
        (format!("tt_abcdefgh_{}", "s".repeat(42)), false),
        (format!("tt_abcdefgh_{}", "s".repeat(44)), false),
        (format!("tt_abcdef-h_{secret}"), false),
        (format!("tt_abcdefgh_{}é", "s".repeat(41)), false),
        (format!("TT_abcdefgh_{secret}"), false),
        (format!(" tt_abcdefgh_{secret}"), false),
        ("tt__".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(text.parse::<KeyString>().is_ok(), fits, "{text:?}");
    }
}

#[test]
fn generated_keys_are_well_formed_and_differ() {
    let one = KeyString::generate().unwrap();
    let other = KeyString::generate().unwrap();
    assert_eq!(one.reveal().parse(), Ok(one.clone()));
    assert_ne!(one.reveal(), other.reveal());
}
