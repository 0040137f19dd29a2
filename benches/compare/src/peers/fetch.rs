//! Finds or fetches the peers: from the environment, the PATH, Debian packages that are unpacked
//! and not installed, and Python packages in a virtual environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::options::variable;
use crate::outcome::Outcome;

/// Pinned, so that runs are comparable.
const PYTHON_PACKAGES: [&str; 4] = ["chdb==4.4.0", "duckdb==2.0.0", "numpy", "pyarrow"];

/// A program, and the name and version of its package, if it came in one.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) package: Option<String>,
}

impl Program {
    /// Returns the version of the package, else what the program prints when run with `argument`.
    pub(crate) fn version(&self, argument: &str) -> Outcome<String> {
        let output = Command::new(&self.path).arg(argument).output()?;
        let output = [output.stdout, output.stderr].concat();
        let output = String::from_utf8_lossy(&output);
        let line = output.lines().map(str::trim).find(|line| !line.is_empty());
        Ok(match (&self.package, line) {
            (Some(package), _) => package.clone(),
            (None, line) => line.unwrap_or("of unknown version").to_owned(),
        })
    }
}

/// Returns the program of a package: at the given path, else on the PATH, else unpacked below
/// `home`.
pub(crate) fn debian_program(
    home: &Path,
    named: Option<&Path>,
    package: &str,
    program: &str,
) -> Outcome<Program> {
    if let Some(path) = named {
        return match path.is_file() {
            true => Ok(Program { path: path.to_owned(), package: None }),
            false => Err(format!("{} is not a file", path.display()).into()),
        };
    }
    let path = variable("PATH").unwrap_or_default();
    let mut folders = path.split(':').map(|folder| Path::new(folder).join(program));
    if let Some(path) = folders.find(|path| path.is_file()) {
        return Ok(Program { path, package: None });
    }
    let path = home.join("peers/unpacked/usr/bin").join(program);
    let packages = home.join("peers").join(package);
    if !path.is_file() {
        crate::print_line(&format!("fetching the Debian package {package}"));
        std::fs::create_dir_all(&packages)?;
        run(Command::new("apt-get").args(["download", package]).current_dir(&packages))?;
        let file = downloaded(&packages)?.ok_or("apt-get downloaded nothing")?;
        run(Command::new("dpkg").arg("-x").arg(file).arg(home.join("peers/unpacked")))?;
    }
    let file = downloaded(&packages)?;
    let package = file.as_deref().and_then(Path::file_stem).map(|name| name.display().to_string());
    match path.is_file() {
        true => Ok(Program { path, package }),
        false => Err(format!("the Debian package has no {program}").into()),
    }
}

/// Returns the newest package in a directory.
fn downloaded(folder: &Path) -> Outcome<Option<PathBuf>> {
    let files = std::fs::read_dir(folder)?.flatten().map(|file| file.path());
    Ok(files.filter(|path| path.extension().is_some_and(|e| e == "deb")).max())
}

/// Returns a Python interpreter with the embedded engines, which are installed first if missing.
pub(crate) fn python(home: &Path) -> Outcome<PathBuf> {
    let folder = home.join("peers/venv");
    let python = folder.join("bin/python");
    let complete = folder.join("complete");
    let wanted = PYTHON_PACKAGES.join(" ");
    if std::fs::read_to_string(&complete).is_ok_and(|has| has == wanted) {
        return Ok(python);
    }
    crate::print_line(&format!("fetching the Python packages {wanted}"));
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PYTHON_PACKAGES))?;
    std::fs::write(complete, wanted)?;
    Ok(python)
}

fn run(command: &mut Command) -> Outcome<()> {
    let call = format!("{} {:?}", command.get_program().display(), command.get_args());
    let done = command.output().map_err(|error| format!("{call} did not start: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let last = String::from_utf8_lossy(&done.stderr);
    let last = last.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(format!("{call} failed: {last}").into())
}
