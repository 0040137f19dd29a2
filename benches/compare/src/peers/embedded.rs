//! ClickHouse and DuckDB, embedded in a Python process: `embedded.py` of this crate loads and
//! queries them, and prints rows like those of servers.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::options::Scale;
use crate::outcome::Outcome;
use crate::results::Cell;

/// The Python program.
const PROGRAM: &str = include_str!("../../embedded.py");

/// An engine of the Python program.
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    pub(crate) python: PathBuf,
}

impl Engine {
    /// Runs one part on the columns in `folder`, with files in `scratch`.
    pub(crate) fn run(
        &self,
        part: &str,
        scale: Scale,
        folder: &Path,
        scratch: &Path,
        cell: &mut Cell,
    ) -> Outcome<()> {
        std::fs::create_dir_all(scratch)?;
        let program = scratch.join("embedded.py");
        std::fs::write(&program, PROGRAM)?;
        let mut child = Command::new(&self.python)
            .arg(&program)
            .args([self.name, part, scale.name()])
            .arg(folder)
            .arg(scratch.join(self.name))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the output is not piped")?;
        for line in BufReader::new(output).lines() {
            cell.add(serde_json::from_str(&line?)?)?;
        }
        match child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("{} ended with {status}", program.display()).into()),
        }
    }
}
