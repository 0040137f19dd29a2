//! Events of a shop: twenty names, a hundred thousand users of skewed frequency, a value, three
//! tags and a small object, evenly spread over six hours.

use std::io::Write;
use std::path::Path;

use super::point::{HOUR_MS, T0_MS};
use super::random::Random;
use super::write::Draft;
use crate::outcome::Outcome;

/// The set metric of the users.
pub(crate) const USERS_METRIC: &str = "users";
const HOURS: i64 = 6;
const USERS: usize = 100_000;
const NAMES: [&str; 20] = [
    "page.view",
    "page.scroll",
    "page.leave",
    "search.query",
    "search.click",
    "cart.add",
    "cart.remove",
    "checkout.start",
    "checkout.pay",
    "checkout.done",
    "user.login",
    "user.logout",
    "user.signup",
    "video.play",
    "video.pause",
    "video.end",
    "share.link",
    "rate.item",
    "error.client",
    "error.server",
];

/// The files of the set: items of Telltale's JSON batches of events; items of its batches of a set
/// metric with the users; Influx lines; and a table for embedded engines.
pub(crate) const JSON: &str = "json";
pub(crate) const USERS_JSON: &str = "users";
pub(crate) const LINES: &str = "lines";
pub(crate) const TABLE: &str = "events.tsv";

struct Event {
    us: i64,
    id: u64,
    name: &'static str,
    user: usize,
    value: f64,
    country: usize,
    plan: &'static str,
    version: usize,
    properties: String,
}

/// Writes `count` events to `folder` in every format.
pub(crate) fn write_all(count: u64, folder: &Path) -> Outcome<u64> {
    let mut random = Random::new(3);
    let mut json = Draft::new(folder, JSON)?;
    let mut users = Draft::new(folder, USERS_JSON)?;
    let mut lines = Draft::new(folder, LINES)?;
    let mut table = Draft::new(folder, TABLE)?;
    let mut line = Vec::new();
    for number in 0..count {
        let event = event(number, count, &mut random);
        for (file, put) in [
            (&mut json, put_json as fn(&mut Vec<u8>, &Event) -> std::io::Result<()>),
            (&mut users, put_user),
            (&mut lines, put_line),
            (&mut table, put_row),
        ] {
            line.clear();
            put(&mut line, &event)?;
            file.put(&line)?;
        }
    }
    json.finish()?;
    users.finish()?;
    lines.finish()?;
    table.finish()?;
    Ok(count)
}

fn event(number: u64, count: u64, random: &mut Random) -> Event {
    let span_us = (HOURS * HOUR_MS) as u64 * 1_000;
    let us = T0_MS * 1_000 + (u128::from(number) * u128::from(span_us) / u128::from(count)) as i64;
    let id = random.bits();
    let name = NAMES.get(random.skewed(NAMES.len())).copied().unwrap_or_default();
    let user = random.skewed(USERS);
    let value = ((3.0 + random.normal()).exp() * 100.0).round() / 100.0;
    let country = random.skewed(50);
    let plans = ["free", "basic", "pro", "enterprise"];
    let plan = plans.get(random.skewed(plans.len())).copied().unwrap_or_default();
    let version = random.skewed(30);
    let referrer = random.below(40);
    let width = random.one_of(&[360, 768, 1280, 1920]).unwrap_or_default();
    let variant = random.one_of(&["a", "b"]).unwrap_or_default();
    let ms = random.below(5000);
    let properties = format!(r#"{{"ref":"r{referrer}","w":{width},"ab":"{variant}","ms":{ms}}}"#);
    Event { us, id, name, user, value, country, plan, version, properties }
}

fn time(us: i64) -> String {
    let mut time = super::point::iso(us.div_euclid(1_000));
    time.pop();
    format!("{time}{:03}Z", us.rem_euclid(1_000))
}

fn put_json(out: &mut Vec<u8>, e: &Event) -> std::io::Result<()> {
    writeln!(
        out,
        r#"{{"name":"{}","timestamp":"{}","user_id":"u{:06}","value":{},"tags":{{"country":"C{:02}","plan":"{}","version":"1.{}"}},"properties":{}}},"#,
        e.name,
        time(e.us),
        e.user,
        e.value,
        e.country,
        e.plan,
        e.version,
        e.properties
    )
}

fn put_user(out: &mut Vec<u8>, e: &Event) -> std::io::Result<()> {
    let time = time(e.us);
    writeln!(
        out,
        r#"{{"name":"{USERS_METRIC}","type":"set","value":"u{:06}","timestamp":"{time}"}},"#,
        e.user
    )
}

fn put_line(out: &mut Vec<u8>, e: &Event) -> std::io::Result<()> {
    let properties = e.properties.replace('"', "\\\"");
    writeln!(
        out,
        r#"events,name={},country=C{:02},plan={},version=1.{} id="{:016x}",user_id="u{:06}",value={},props="{properties}" {}000"#,
        e.name, e.country, e.plan, e.version, e.id, e.user, e.value, e.us
    )
}

fn put_row(out: &mut Vec<u8>, e: &Event) -> std::io::Result<()> {
    writeln!(
        out,
        "{:016x}\t{}\t{}\tu{:06}\t{}\tC{:02}\t{}\t1.{}\t{}",
        e.id, e.name, e.us, e.user, e.value, e.country, e.plan, e.version, e.properties
    )
}
