//! Where peers come from: the environment, the PATH, packages of Debian that are unpacked and not
//! installed, and packages of Python in an environment of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::options::variable;
use crate::outcome::Outcome;

/// Pinned, so that a run says what it compared with.
const PYTHON_PACKAGES: [&str; 4] = ["chdb==4.4.0", "duckdb==2.0.0", "numpy", "pyarrow"];

/// A program, and the version of the package that it came in, where it did.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) package: Option<String>,
}

impl Program {
    /// What it says of its version when it is started with `argument`, else what its package said.
    pub(crate) fn version(&self, argument: &str) -> Outcome<String> {
        let told = Command::new(&self.path).arg(argument).output()?;
        let told = [told.stdout, told.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        let line = told.lines().map(str::trim).find(|line| !line.is_empty());
        Ok(match (&self.package, line) {
            (Some(package), _) => package.clone(),
            (None, line) => line.unwrap_or("of unknown version").to_owned(),
        })
    }
}

/// The program of a package: as named, else on the PATH, else unpacked below `home`.
pub(crate) fn debian_program(
    home: &Path,
    named: Option<&Path>,
    package: &str,
    program: &str,
) -> Outcome<Program> {
    if let Some(path) = named {
        return match path.is_file() {
            true => Ok(Program { path: path.to_owned(), package: None }),
            false => Err(format!("{} is no file", path.display()).into()),
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
        crate::say(&format!("fetching the Debian package {package}"));
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

/// The newest package in a folder.
fn downloaded(folder: &Path) -> Outcome<Option<PathBuf>> {
    let files = std::fs::read_dir(folder)?.flatten().map(|file| file.path());
    Ok(files.filter(|path| path.extension().is_some_and(|e| e == "deb")).max())
}

/// The Python that has the embedded engines.
pub(crate) fn python(home: &Path) -> Outcome<PathBuf> {
    let folder = home.join("peers/venv");
    let python = folder.join("bin/python");
    let complete = folder.join("complete");
    let wanted = PYTHON_PACKAGES.join(" ");
    if std::fs::read_to_string(&complete).is_ok_and(|has| has == wanted) {
        return Ok(python);
    }
    crate::say(&format!("fetching the Python packages {wanted}"));
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PYTHON_PACKAGES))?;
    std::fs::write(complete, wanted)?;
    Ok(python)
}

fn run(command: &mut Command) -> Outcome<()> {
    let told = format!("{} {:?}", command.get_program().display(), command.get_args());
    let done = command.output().map_err(|error| format!("{told} did not start: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let last = String::from_utf8_lossy(&done.stderr);
    let last = last.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(format!("{told} failed: {last}").into())
}
