//! Programs in Node that stand for the agents of others: run as their users run them, with the
//! packages of npm that they are made of. The packages are installed once, beside what cargo
//! builds, and found there by the next run.

use std::process::Command;

use crate::binary::target_dir;

/// Runs a script with packages of npm, `name@version`, and answers what it printed. Fails when the
/// script does.
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

/// Made under a name of its own and moved into place whole: other tests may be making the same one.
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
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{command:?} did not start ({error}); `make setup` installs Node"),
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed; `make setup` may help:\n{said}\n{error}");
    said
}
