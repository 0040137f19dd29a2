//! Programs in Python that stand for the agents of others: run as their users run them, with the packages they are
//! made of. The packages are installed once, beside what cargo builds, and found there by the next run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::target_dir;

/// Runs a script with these packages of PyPI, each with its version, and answers what it printed. Fails when the
/// script does.
#[track_caller]
pub fn python<'a>(
    packages: &[&str],
    script: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut command = Command::new(interpreter(packages));
    // Nothing of the user's own Python, and no proxy between the script and the server.
    command.args(["-I", "-c", script]).args(arguments).env("NO_PROXY", "*");
    run(&mut command)
}

/// The interpreter of an environment with these packages, made on first use.
#[track_caller]
fn interpreter(packages: &[&str]) -> PathBuf {
    let name = packages.join("+").replace("==", "-");
    let folder = target_dir().join("python").join(&name);
    let interpreter = folder.join("bin/python");
    if interpreter.is_file() {
        return interpreter;
    }
    // Made under a name of its own and moved into place whole: other tests may be making the same one.
    let parent = target_dir().join("python");
    let made = std::fs::create_dir_all(&parent)
        .and_then(|()| tempfile::Builder::new().prefix(".new-").tempdir_in(&parent));
    let Ok(made) = made else { panic!("cannot make a folder in {}", parent.display()) };
    run(Command::new("python3").args(["-m", "venv"]).arg(made.path()));
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(made.path().join("bin/python")).args(pip).args(packages));
    move_into_place(made.path(), &folder);
    interpreter
}

#[track_caller]
fn move_into_place(made: &Path, folder: &Path) {
    if let Err(error) = std::fs::rename(made, folder) {
        assert!(folder.join("bin/python").is_file(), "cannot make {}: {error}", folder.display());
    }
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{command:?} did not start ({error}); `make setup` installs Python"),
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed; `make setup` may help:\n{said}\n{error}");
    said
}
