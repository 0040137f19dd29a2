//! `telltale keys`: creates, lists and revokes API keys through the routes of the server.

use std::io::{self, IsTerminal};

use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::args::{KeysAction, NewKeyArgs};
use super::error::{CliError, no_data};
use super::output::{note, out};
use super::table::{Align, Table};
use super::target::{Destination, Target};
use crate::limits::PAGE_LIMIT_MAX;

/// Runs a subcommand of `telltale keys`.
pub(super) async fn run(destination: &Destination, action: &KeysAction) -> Result<(), CliError> {
    // Invalid arguments are reported before anything is opened.
    let new = match action {
        KeysAction::Create(args) => Some(new_key(args)?),
        _ => None,
    };
    let mut target = Target::open(destination).await?;
    let done = match action {
        KeysAction::Create(_) => target.send(Method::POST, "/api/v1/keys", new.as_ref()).await,
        KeysAction::List { .. } => list(&mut target).await,
        KeysAction::Revoke { id, yes } => revoke(&mut target, id, *yes).await,
    };
    target.close().await?;
    let answer = done?;
    match action {
        KeysAction::Create(args) if !args.json => show_new(&answer),
        KeysAction::List { json: false } => out(&table(&parsed(&answer)?)),
        KeysAction::Revoke { id, .. } => out(&format!("revoked key {id}\n")),
        KeysAction::Create(_) | KeysAction::List { .. } => out(&format!("{answer}\n")),
    }
}

/// Revokes a key; the last admin key only after confirmation.
async fn revoke(target: &mut Target, id: &str, yes: bool) -> Result<String, CliError> {
    if !yes && is_last_admin(&parsed(&list(target).await?)?, id) {
        confirm(&format!("{id} is the last admin key; without it no key can manage keys"))?;
    }
    let id = utf8_percent_encode(id, NON_ALPHANUMERIC);
    target.send(Method::DELETE, &format!("/api/v1/keys/{id}"), None).await
}

/// Returns the list of keys in a response.
fn parsed(keys: &str) -> Result<Value, CliError> {
    let keys: Value = serde_json::from_str(keys)
        .map_err(|error| CliError::failed("cannot parse the response of the server", error))?;
    if keys.is_array() {
        Ok(keys)
    } else {
        Err(CliError::Found("the response of the server is not a list of keys".to_owned()))
    }
}

/// Returns whether the key is the only active admin key in the list.
fn is_last_admin(keys: &Value, id: &str) -> bool {
    let is_admin = |key: &&Value| {
        let scopes = key.get("scopes").and_then(Value::as_array);
        key.get("revoked_at").is_none_or(Value::is_null)
            && scopes.is_some_and(|scopes| scopes.iter().any(|scope| scope == "admin"))
    };
    let mut admins = keys.as_array().into_iter().flatten().filter(is_admin);
    let ids = [admins.next(), admins.next()].map(|key| key.and_then(|key| key.get("id")));
    matches!(ids, [Some(only), None] if only == id)
}

/// Asks for confirmation on the terminal; without a terminal, the flag is required.
fn confirm(what: &str) -> Result<(), CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::Usage(format!("{what}; add --yes to revoke it anyway")));
    }
    note(&format!("{what}. Revoke it? [y/N]"));
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.map_err(|error| CliError::failed("cannot read the confirmation", error))?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(CliError::Found("nothing was revoked".to_owned())),
    }
}

/// Returns all pages of the list as one JSON array.
async fn list(target: &mut Target) -> Result<String, CliError> {
    let mut all = Vec::new();
    loop {
        let path = format!("/api/v1/keys?limit={PAGE_LIMIT_MAX}&offset={}", all.len());
        let mut page: Value = parse(&target.send(Method::GET, &path, None).await?)?;
        let items = page.get_mut("data").and_then(Value::as_array_mut).map(std::mem::take);
        let items = items.ok_or_else(no_data)?;
        let last = items.len() < PAGE_LIMIT_MAX;
        all.extend(items);
        if last {
            return Ok(Value::Array(all).to_string());
        }
    }
}

fn new_key(args: &NewKeyArgs) -> Result<Value, CliError> {
    let mut limits = Map::new();
    for limit in &args.limits {
        let (class, quota) = limit
            .split_once('=')
            .ok_or_else(|| CliError::Usage(format!("--limit {limit:?} is not CLASS=QUOTA")))?;
        let quota =
            quota.parse::<u32>().map_or_else(|_| json!(quota), |per_minute| json!(per_minute));
        limits.insert(class.to_owned(), quota);
    }
    Ok(json!({
        "name": args.name,
        "user": args.user,
        "scopes": args.scopes,
        "limits": limits,
        "public_ingest": args.public_ingest,
    }))
}

/// Prints only the key to standard output, so that it can be piped; the notice goes to standard
/// error.
fn show_new(answer: &str) -> Result<(), CliError> {
    let body = parse(answer)?;
    let key = body.pointer("/data/key").and_then(Value::as_str);
    let key = key.ok_or_else(|| {
        CliError::Found(
            "the server created the key, but its response does not contain it".to_owned(),
        )
    })?;
    note("This key is shown only once; the server stores its hash, not the key.");
    out(&format!("{key}\n"))
}

fn table(keys: &Value) -> String {
    let headers = ["id", "name", "user", "scopes", "limits", "created", "last used", "revoked"];
    let headers = headers.map(|header| (header.to_owned(), Align::Left));
    let mut table = Table::new(headers.to_vec());
    for key in keys.as_array().into_iter().flatten() {
        let text = |field: &str| key.get(field).and_then(Value::as_str).unwrap_or("-").to_owned();
        let mut scopes = list_of(key.get("scopes"));
        if key.get("public_ingest") == Some(&Value::Bool(true)) {
            scopes.push_str(" (public)");
        }
        table.row(vec![
            text("id"),
            text("name"),
            text("user"),
            scopes,
            list_of(key.get("limits")),
            text("created_at"),
            text("last_used_at"),
            text("revoked_at"),
        ]);
    }
    table.render()
}

/// Formats array items, or object members as `name=value`, separated by commas.
fn list_of(value: Option<&Value>) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parts: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().map(plain).collect(),
        Some(Value::Object(members)) => {
            members.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect()
        }
        _ => Vec::new(),
    };
    if parts.is_empty() { "-".to_owned() } else { parts.join(",") }
}

fn parse(text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text)
        .map_err(|error| CliError::failed("cannot parse the response of the server", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_admin_key_is_the_only_active_one() {
        let key = |id: &str, scope: &str, revoked: Value| json!({"id": id, "scopes": [scope], "revoked_at": revoked});
        let gone = json!("2026-01-02T03:04:05.678Z");
        let (a, b) = (key("a", "admin", Value::Null), key("b", "read", Value::Null));
        for (keys, expected) in [
            (vec![a.clone()], true),
            (vec![a.clone(), b.clone(), key("c", "admin", gone.clone())], true),
            (vec![a, key("c", "admin", Value::Null)], false),
            (vec![b, key("c", "admin", Value::Null)], false),
            (vec![key("a", "admin", gone), key("c", "admin", Value::Null)], false),
            (Vec::new(), false),
        ] {
            let listed = json!(keys);
            assert_eq!(is_last_admin(&listed, "a"), expected, "{listed}");
        }
    }

    #[test]
    fn keys_are_listed_one_per_line() {
        let keys = json!([{
            "id": "abcdefgh", "name": "ci", "user": "ci@example.com", "scopes": ["ingest", "read"],
            "limits": {"batch": "unlimited", "query": 6000}, "public_ingest": false,
            "created_at": "2026-01-02T03:04:05.678Z", "last_used_at": null, "revoked_at": null
        }]);
        assert_eq!(
            table(&keys),
            "id        name  user            scopes       limits                      created                   last used  revoked\n\
             abcdefgh  ci    ci@example.com  ingest,read  batch=unlimited,query=6000  2026-01-02T03:04:05.678Z  -          -\n"
        );
    }
}
