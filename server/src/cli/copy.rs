//! `telltale backup`, `restore`, `verify`, `seal`, `merge`: what an operator does with the storage as a whole.

use std::path::Path;

use http::Method;
use serde_json::{Value, json};
use telltale_engine::Engine;

use super::error::CliError;
use super::output::out;
use super::target::Target;
use crate::platform::config::Config;

/// Copies everything into a new directory.
pub(super) async fn backup(config: &Config, dir: &Path) -> Result<(), CliError> {
    // The server may run in another directory than this command.
    let target = std::path::absolute(dir)
        .map_err(|error| CliError::failed(format!("cannot find {}", dir.display()), error))?;
    let body = json!({ "target": target });
    let done = ask(config, "/api/v1/admin/backup", Some(&body)).await?;
    let (files, bytes) = (number(&done, "files"), size(&done, "bytes"));
    out(&format!("copied {files} files ({bytes}) to {}\n", target.display()))
}

/// Puts a copy into an absent or empty data directory.
pub(super) fn restore(config: &Config, dir: &Path) -> Result<(), CliError> {
    let data = &config.server.data;
    Engine::restore(dir, data)?;
    out(&format!("restored {} into {}\n", dir.display(), data.display()))
}

/// Walks every checksum. Damage is a failure of the command.
pub(super) async fn verify(config: &Config) -> Result<(), CliError> {
    let done = ask(config, "/api/v1/admin/verify", None).await?;
    let damaged: Vec<&str> = done
        .get("damaged")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut text = format!(
        "checked {} blocks, {} log records, {} documents and {} records ({})\n",
        number(&done, "blocks"),
        number(&done, "log_records"),
        number(&done, "documents"),
        number(&done, "records"),
        size(&done, "bytes")
    );
    damaged.iter().for_each(|line| text.push_str(&format!("damaged: {line}\n")));
    out(&text)?;
    match damaged.len() {
        0 => out("everything is whole\n"),
        1 => Err(CliError::Found("1 part is damaged".to_owned())),
        n => Err(CliError::Found(format!("{n} parts are damaged"))),
    }
}

/// Moves the points in memory into blocks.
pub(super) async fn seal(config: &Config) -> Result<(), CliError> {
    let done = ask(config, "/api/v1/admin/seal", None).await?;
    let (points, blocks) = (number(&done, "points"), number(&done, "blocks"));
    out(&format!("sealed {points} points into {blocks} blocks ({})\n", size(&done, "bytes")))
}

/// Brings blocks to their final form.
pub(super) async fn merge(config: &Config) -> Result<(), CliError> {
    let done = ask(config, "/api/v1/admin/merge", None).await?;
    out(&format!(
        "merged {} blocks ({}) into {} ({})\n",
        number(&done, "blocks_read"),
        size(&done, "bytes_read"),
        number(&done, "blocks_written"),
        size(&done, "bytes_written")
    ))
}

/// Posts to a route of the administration and answers what stands under `data`.
async fn ask(config: &Config, path: &str, body: Option<&Value>) -> Result<Value, CliError> {
    let mut target = Target::open(config).await?;
    let asked = target.send(Method::POST, path, body).await;
    target.close().await?;
    let answer: Value = serde_json::from_str(&asked?)
        .map_err(|error| CliError::failed("the answer of the server cannot be read", error))?;
    Ok(answer.get("data").cloned().unwrap_or(Value::Null))
}

fn number(answer: &Value, field: &str) -> u64 {
    answer.get(field).and_then(Value::as_u64).unwrap_or(0)
}

/// Bytes to three significant digits.
fn size(answer: &Value, field: &str) -> String {
    let bytes = number(answer, field);
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = bytes as f64;
    let mut unit = 0;
    while scaled >= 1000.0 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or("B");
    if unit == 0 || scaled >= 100.0 {
        format!("{scaled:.0} {name}")
    } else {
        format!("{scaled:.1} {name}")
    }
}
