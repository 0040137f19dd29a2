//! Third-party clients in Node, run as their users run them, with packages from npm. The packages
//! are installed once, in the target directory, and reused by later runs.

use std::process::Command;

use crate::binary::target_dir;

/// Runs a script with packages from npm, `name@version`, and returns its output. Fails if the
/// script fails.
#[track_caller]
pub fn node<'a>(
    packages: &[&str],
    script: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> String {
    let folder = target_dir().join("node").join(packages.join("+").replace(['/', '@'], "-"));
    if !folder.join("node_modules").is_dir() {
        install(packages, &folder);
    }
    run(Command::new("node")
        .args(["-e", script, "--"])
        .args(arguments)
        .current_dir(&folder)
        .env("NO_PROXY", "*"))
}

/// Installed under a unique name and then renamed: other tests may be installing the same packages.
#[track_caller]
fn install(packages: &[&str], folder: &std::path::Path) {
    let parent = target_dir().join("node");
    let made = std::fs::create_dir_all(&parent)
        .and_then(|()| tempfile::Builder::new().prefix(".new-").tempdir_in(&parent));
    let Ok(made) = made else { panic!("cannot make a folder in {}", parent.display()) };
    let npm = ["install", "--no-audit", "--no-fund", "--silent", "--prefix"];
    run(Command::new("npm").args(npm).arg(made.path()).args(packages));
    if let Err(error) = std::fs::rename(made.path(), folder) {
        let is_there = folder.join("node_modules").is_dir();
        assert!(is_there, "cannot make {}: {error}", folder.display());
    }
}

#[track_caller]
fn run(command: &mut Command) -> String {
    // Without its arguments, which contain a whole script.
    let program = command.get_program().display().to_string();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{program} did not start ({error}); `make setup` installs Node"),
    };
    let stdout_of = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} failed; `make setup` may help:\n{stdout_of}\n{error}"
    );
    stdout_of
}
