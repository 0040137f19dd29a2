//! Tests of what is redacted and what is kept, with secrets in every field of SDK events.

use proptest::prelude::*;
use serde_json::{Value, json};
use telltale_engine::{PropertiesWriter, TimestampMs};

use super::*;
use crate::areas::errors::ErrorSettings;
use crate::areas::errors::model::Sender;
use crate::areas::errors::prepare::{Arrival, PreparedOccurrence, prepare};
use crate::areas::errors::sentry::with_event;

fn scrubber() -> Scrubber {
    Scrubber::new(&ErrorSettings::default().scrub_keys)
}

#[test]
fn secret_keys_are_recognised_by_a_word_in_them() {
    let scrubber = scrubber();
    for (key, expected) in [
        ("password", true),
        ("db_Password2", true),
        ("X-Auth-TOKEN", true),
        ("STRIPE_API_KEY", true),
        ("auth", true),
        ("X-Auth", true),
        ("httpAuth", true),
        ("authHeader", true),
        ("PWD", true),
        ("db.pwd", true),
        ("dbPwd", true),
        ("pass", false),
        ("author", false),
        ("authority", false),
        ("oauth_provider", false),
        ("", false),
    ] {
        assert_eq!(scrubber.is_secret(key), expected, "{key}");
    }
    assert!(!Scrubber::new(&[]).is_secret("password"));
    assert!(!Scrubber::new(&[String::new()]).is_secret("password"));
}

#[test]
fn card_numbers_are_redacted_and_other_numbers_are_kept() {
    for (text, expected) in [
        ("card 4111111111111111 refused", "card [Filtered] refused"),
        ("4111 1111 1111 1111", "[Filtered]"),
        ("5500-0000-0000-0004,378282246310005.", "[Filtered],[Filtered]."),
        ("4111111111111112", "4111111111111112"),
        ("at 1767323045678 ms", "at 1767323045678 ms"),
        ("x4111111111111111", "x4111111111111111"),
        ("4111  111111111111", "4111  111111111111"),
        ("é4111111111111111é", "é[Filtered]é"),
        ("12345", "12345"),
        ("", ""),
    ] {
        assert_eq!(scrubber().scrub(text), expected, "{text}");
    }
}

#[test]
fn values_of_secret_keys_are_redacted_in_query_strings() {
    for (text, expected) in [
        ("a=1&token=xyz&b=2", "a=1&token=[Filtered]&b=2"),
        ("https://x/?password=p", "https://x/?password=[Filtered]"),
        ("token=&a=1", "token=&a=1"),
        ("a=4111111111111111", "a=[Filtered]"),
        ("plain", "plain"),
    ] {
        assert_eq!(scrubber().scrub_query(text), expected, "{text}");
    }
}

#[test]
fn secrets_are_redacted_in_strings() {
    for (text, expected) in [
        ("GET /reset?token=abc&x=1", "GET /reset?token=[Filtered]&x=1"),
        ("/reset/token/9f8e7d6c5b4a3210/x", "/reset/token/[Filtered]/x"),
        ("Config(password='hunter2', n=1)", "Config(password='[Filtered]', n=1)"),
        ("Config(password='a\\'b c', n=1)", "Config(password='[Filtered]', n=1)"),
        ("Config { pwd: \"a, b\", n: 1 }", "Config { pwd: \"[Filtered]\", n: 1 }"),
        ("{\\\"auth\\\":\\\"a b\\\",\\\"n\\\":1}", "{\\\"auth\\\":\\\"[Filtered]\\\",\\\"n\\\":1}"),
        ("{:api_key=>\"x y\"}", "{:api_key=>\"[Filtered]\"}"),
        ("password=Some(\"a b\") n", "password=Some(\"[Filtered]\") n"),
        ("token=b'x y'", "token=b'[Filtered]'"),
        ("tokens=['a', 'b'] n", "tokens=[Filtered] n"),
        ("if password == 'x y':", "if password == '[Filtered]':"),
        ("password: swordfish", "password: [Filtered]"),
        ("api_key: k3y9z in config", "api_key: [Filtered] in config"),
        ("bad header 'Bearer abc123def'", "bad header 'Bearer [Filtered]'"),
        ("authorization: Bearer abc", "authorization: [Filtered]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: [Filtered]"),
        ("sent Basic dXNlcjpwYXNz to x", "sent Basic [Filtered] to x"),
        ("Cookie: a=b; c=d", "Cookie: [Filtered]"),
        ("postgres://u:p%40ss@db:5432/x", "postgres://u:[Filtered]@db:5432/x"),
        ("key eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3 of", "key [Filtered] of"),
        ("push to ghp_0123456789abcdefABCDEF failed", "push to [Filtered] failed"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----[Filtered]-----END RSA PRIVATE KEY-----",
        ),
        ("password='never closed", "password='[Filtered]"),
        ("é password=ü€ é", "é password=[Filtered] é"),
        ("password: swordfish\nnext", "password: [Filtered]\nnext"),
        ("Cookie: a=b; c=d\nnext", "Cookie: [Filtered]\nnext"),
    ] {
        assert_eq!(scrubber().scrub(text), expected, "{text}");
        assert_eq!(scrubber().scrub(expected), expected, "scrubbing is idempotent");
    }
}

#[test]
fn users_with_long_numeric_ids_stay_distinct() {
    assert_eq!(scrubber().scrub_user("4111111111111111"), "4111111111111111");
    assert_eq!(scrubber().scrub_user("token=abc"), "token=[Filtered]");
}

#[test]
fn ordinary_strings_are_unchanged() {
    for text in [
        "invalid token: expected a number",
        "Unexpected token 7 in JSON at position 12",
        "unexpected token: identifier",
        "Wrong password for user 17, try again",
        "the bearer of bad news",
        "Basic authentication required",
        "auth::login failed at src/auth/token.rs:12",
        "https://example.com/auth/callback?state=ok",
        "std::token::Tree",
        "token: None, password=None, secret=''",
        "see /docs/secrets/version2.html and /token/refresh",
        "author=ada, authority: city",
        "KeyError: no price for 17",
        "SELECT * FROM tokens WHERE id = 17",
        "[auth] no cookie was sent",
        "12:30:45 connection to 10.0.0.7:5432 refused",
        "mail to ada@example.com from http://example.com/a@b",
        "release 1.2.3-rc.1+build.7",
    ] {
        assert_eq!(scrubber().scrub(text), text);
        assert_eq!(scrubber().scrub_query(text), text);
    }
}

/// Returns an event with a secret in every field that has strings, in a form typical of the field.
fn planted(secrets: &[String; 20]) -> Value {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = secrets;
    json!({
        "message": format!("login failed: password={a} for ada"),
        "transaction": format!("GET /reset?token={b}&page=2"),
        "server_name": format!("web-1 Bearer {c}"),
        "release": format!("api_key='{d}'"),
        "environment": format!("secret={e}"),
        "user": {"id": format!("token={f}")},
        "fingerprint": [format!("auth: \"{g}\"")],
        "tags": {"url": format!("https://x.example/cb?access_token={h}"), "auth": i},
        "exception": {"values": [{
            "type": "HTTPError",
            "value": format!("401 for postgres://ada:{j}@db/x with {{'pwd': '{k}'}}"),
            "stacktrace": {"frames": [{
                "function": "connect", "filename": "a.py",
                "context_line": format!("connect(password=\"{l}\")"),
                "vars": {"config": format!("Config(password='{m}')"), "pwd": n}
            }]}
        }]},
        "request": {
            "url": "https://x.example/a", "query_string": format!("token={o}"),
            "headers": [["X-Auth", p], ["Accept", "*/*"]],
            "data": format!("{{\"password\": \"{q}\"}}")
        },
        "breadcrumbs": {"values": [{"message": format!("sent Authorization: Bearer {r}")}]},
        "extra": {"dump": format!("Session {{ token: \"{s}\" }}")},
        "contexts": {"app": {"secrets": [t]}},
    })
}

fn prepared(event: &Value) -> PreparedOccurrence {
    let arrival = Arrival { sender: Sender::UNKNOWN, project: 1, event_id: 1, now: TimestampMs(0) };
    let scrubber = scrubber();
    let read = with_event(event.to_string().as_bytes(), |occurrence| {
        prepare(&occurrence, arrival, &scrubber, &mut PropertiesWriter::default())
    });
    read.unwrap().unwrap()
}

fn secrets() -> impl Strategy<Value = [String; 20]> {
    // Not words of any language: with a digit, so that what follows a scheme is recognised as a
    // credential.
    prop::array::uniform20("[a-zA-Z]{4}[0-9][a-zA-Z0-9_]{5,20}[a-z]")
}

proptest! {
    #[test]
    fn secrets_in_any_field_are_redacted(secrets in secrets()) {
        let prepared = prepared(&planted(&secrets));
        let kept = format!("{prepared:?}") + prepared.properties.as_str();
        for secret in &secrets {
            prop_assert!(!kept.contains(secret), "{secret} in {kept}");
        }
        for ordinary in ["login failed", "for ada", "page=2", "x.example/cb", "HTTPError", "connect", "Accept"] {
            prop_assert!(kept.contains(ordinary), "{ordinary} is not in {kept}");
        }
    }

    #[test]
    fn any_string_is_scrubbed_without_a_panic(text in "([a-z]{0,3}|[=:/'\"\\\\(\\[ ]|password|token|Bearer |://|@|é|PRIVATE KEY-----|-----END){0,30}") {
        let scrubber = scrubber();
        drop((scrubber.scrub_query(&text), scrubber.scrub(&text)));
    }
}
