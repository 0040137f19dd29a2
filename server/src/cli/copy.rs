//! `telltale backup`, `restore`, `verify`, `seal` and `merge`: commands for the storage as a whole.

use std::path::Path;

use http::Method;
use serde_json::{Value, json};
use telltale_engine::{Engine, VerifyReport};

use super::error::{CliError, no_data};
use super::output::out;
use super::target::{Destination, Target};
use crate::config::Config;

const VERIFY_PATH: &str = "/api/v1/admin/verify";

/// Copies all data to a new directory.
pub(super) async fn backup(destination: &Destination, dir: &Path) -> Result<(), CliError> {
    if destination.remote.is_some() && !dir.is_absolute() {
        let message =
            "with --url, DIR must be an absolute path: the directory is on the server's machine";
        return Err(CliError::Usage(message.to_owned()));
    }
    // The server may have another working directory than this command.
    let target = std::path::absolute(dir)
        .map_err(|error| CliError::failed(format!("cannot find {}", dir.display()), error))?;
    let body = json!({ "target": target });
    let done = admin_request(destination, "/api/v1/admin/backup", Some(&body)).await?;
    let (files, bytes) = (number(&done, "files")?, size(&done, "bytes")?);
    out(&format!("copied {files} files ({bytes}) to {}\n", target.display()))?;
    found_damaged(&strings(&done, "damaged")?)
}

/// Restores a copy to a missing or empty data directory.
pub(super) fn restore(config: &Config, dir: &Path) -> Result<(), CliError> {
    let data = &config.server.data;
    let report = Engine::restore(dir, data)?;
    out(&format!("restored {} into {}\n", dir.display(), data.display()))?;
    found_damaged(&report.damaged)
}

/// Reads and checks all data, in the running server or, without writing anything, in this process.
/// Damage makes the command fail.
pub(super) async fn verify(destination: &Destination) -> Result<(), CliError> {
    let checked = match destination.running().await? {
        Some(control) => {
            Verification::from_response(&post(Target::Running(control), VERIFY_PATH, None).await?)?
        }
        None => Verification::from(Engine::verify_directory(&destination.config.server.data)?),
    };
    let Verification { blocks, log_records, documents, records, files, bytes, damaged } = checked;
    let bytes = scaled(bytes);
    out(&format!(
        "checked {blocks} blocks, {log_records} log records, {documents} documents, {records} records and {files} files ({bytes})\n"
    ))?;
    found_damaged(&damaged)?;
    out("no damage found\n")
}

/// The result of a verification.
#[derive(Debug)]
struct Verification {
    blocks: u64,
    log_records: u64,
    documents: u64,
    records: u64,
    files: u64,
    bytes: u64,
    damaged: Vec<String>,
}

impl Verification {
    fn from_response(answer: &Value) -> Result<Self, CliError> {
        Ok(Self {
            blocks: number(answer, "blocks")?,
            log_records: number(answer, "log_records")?,
            documents: number(answer, "documents")?,
            records: number(answer, "records")?,
            files: number(answer, "files")?,
            bytes: number(answer, "bytes")?,
            damaged: strings(answer, "damaged")?,
        })
    }
}

impl From<VerifyReport> for Verification {
    fn from(report: VerifyReport) -> Self {
        let VerifyReport { blocks, log_records, documents, records, files, bytes, damaged } =
            report;
        Self { blocks, log_records, documents, records, files, bytes, damaged }
    }
}

/// Prints the damage, and fails if there is any.
fn found_damaged(damaged: &[String]) -> Result<(), CliError> {
    out(&damaged.iter().map(|line| format!("damaged: {line}\n")).collect::<String>())?;
    match damaged.len() {
        0 => Ok(()),
        1 => Err(CliError::Found("1 part is damaged".to_owned())),
        n => Err(CliError::Found(format!("{n} parts are damaged"))),
    }
}

/// Seals samples and events in memory into blocks.
pub(super) async fn seal(destination: &Destination) -> Result<(), CliError> {
    let done = admin_request(destination, "/api/v1/admin/seal", None).await?;
    let (points, blocks) = (number(&done, "points")?, number(&done, "blocks")?);
    out(&format!("sealed {points} samples into {blocks} blocks ({})\n", size(&done, "bytes")?))
}

/// Compacts blocks to their final form.
pub(super) async fn merge(destination: &Destination) -> Result<(), CliError> {
    let done = admin_request(destination, "/api/v1/admin/merge", None).await?;
    out(&format!(
        "compacted {} blocks ({}) into {} ({})\n",
        number(&done, "blocks_read")?,
        size(&done, "bytes_read")?,
        number(&done, "blocks_written")?,
        size(&done, "bytes_written")?
    ))
}

/// Sends a request to an administration route and returns the `data` of the response.
async fn admin_request(
    destination: &Destination,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, CliError> {
    post(Target::open(destination).await?, path, body).await
}

async fn post(mut target: Target, path: &str, body: Option<&Value>) -> Result<Value, CliError> {
    let response = target.send(Method::POST, path, body).await;
    target.close().await?;
    let answer: Value = serde_json::from_str(&response?)
        .map_err(|error| CliError::failed("cannot parse the response of the server", error))?;
    answer.get("data").cloned().ok_or_else(no_data)
}

fn strings(answer: &Value, field: &str) -> Result<Vec<String>, CliError> {
    let strings = answer.get(field).and_then(Value::as_array).ok_or_else(|| lacks(field))?;
    let text = |string: &Value| string.as_str().map(str::to_owned).ok_or_else(|| lacks(field));
    strings.iter().map(text).collect()
}

fn number(answer: &Value, field: &str) -> Result<u64, CliError> {
    answer.get(field).and_then(Value::as_u64).ok_or_else(|| lacks(field))
}

fn size(answer: &Value, field: &str) -> Result<String, CliError> {
    number(answer, field).map(scaled)
}

/// Returns the error for a response without a field, or with one of another type.
fn lacks(field: &str) -> CliError {
    CliError::Found(format!("the response of the server lacks a valid {field:?}"))
}

/// Formats bytes with about three significant digits.
fn scaled(bytes: u64) -> String {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_verification_without_its_damage_is_no_success() {
        let whole = json!({
            "blocks": 1, "log_records": 2, "documents": 3, "records": 4, "files": 5,
            "bytes": 6, "damaged": ["block 7"],
        });
        assert_eq!(Verification::from_response(&whole).unwrap().damaged, ["block 7"]);
        for field in ["damaged", "blocks"] {
            let mut partial = whole.clone();
            partial.as_object_mut().unwrap().remove(field);
            let error = Verification::from_response(&partial).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
    }
}
