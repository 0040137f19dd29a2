//! Programs in Python that stand for the agents of others: run as their users run them, with the
//! packages they are made of. The packages are installed once, beside what cargo builds, and found
//! there by the next run.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::binary::target_dir;

/// Runs a script with these packages of PyPI, each with its version, and answers what it printed.
/// Fails when the script does.
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

/// Starts a script like [`python`], which then reads lines and answers each with a line.
#[track_caller]
pub fn converse<'a>(
    packages: &[&str],
    script: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Conversation {
    let mut command = Command::new(interpreter(packages));
    command.args(["-I", "-c", script]).args(arguments).env("NO_PROXY", "*");
    match command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        Ok(mut child) => match child.stdout.take() {
            Some(answers) => Conversation { child, answers: BufReader::new(answers) },
            None => panic!("{command:?} has no output"),
        },
        Err(error) => panic!("{command:?} did not start ({error}); `make setup` installs Python"),
    }
}

/// A script that answers line by line; killed when it is dropped.
#[derive(Debug)]
pub struct Conversation {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Conversation {
    /// Tells it a line and waits for its answer; an empty one when it has ended.
    #[track_caller]
    pub fn ask(&mut self, line: &str) -> String {
        let told = self.child.stdin.as_mut().map(|input| writeln!(input, "{line}"));
        assert!(matches!(told, Some(Ok(()))), "the script does not listen: {told:?}");
        let mut answer = String::new();
        match self.answers.read_line(&mut answer) {
            Ok(_) => answer.trim_end().to_owned(),
            Err(error) => panic!("the script does not answer: {error}"),
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // It may have ended by itself, and what is killed is gone at once.
        drop(self.child.kill());
        drop(self.child.wait());
    }
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
    // Made under a name of its own and moved into place whole: other tests may be making the same
    // one.
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
