//! ClickHouse and DuckDB as engines in a process of Python: `embedded.py` beside this crate loads
//! and asks them, and writes the rows that servers give.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::options::Scale;
use crate::outcome::Outcome;
use crate::results::Cell;

/// The program, as it stood when this one was built.
const PROGRAM: &str = include_str!("../../embedded.py");

/// An engine of the Python program.
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    pub(crate) python: PathBuf,
}

impl Engine {
    /// Runs one part over the columns in `folder`; its files lie in `scratch` meanwhile.
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
        let told = child.stdout.take().ok_or("nothing is reported")?;
        for line in BufReader::new(told).lines() {
            cell.add(serde_json::from_str(&line?)?)?;
        }
        match child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("{} ended with {status}", program.display()).into()),
        }
    }
}
