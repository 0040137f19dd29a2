//! Third-party clients in Python, run as their users run them, with packages from PyPI. The
//! packages are installed once, in the target directory, and reused by later runs.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};

use crate::binary::target_dir;
use crate::time::PATIENCE;

/// Runs a script with these packages from PyPI, each with its version, and returns its output.
/// Fails if the script fails.
#[track_caller]
pub fn python<'a>(
    packages: &[&str],
    script: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut command = Command::new(interpreter(packages));
    // Without the user's own packages, and without a proxy between the script and the server.
    command.args(["-I", "-c", script]).args(arguments).env("NO_PROXY", "*");
    run(&mut command)
}

/// Starts a script like [`python`], which then reads lines and responds to each with a line.
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
            Some(output) => Conversation { child, lines: lines_of(output) },
            None => panic!("{command:?} has no output"),
        },
        Err(error) => panic!("{command:?} did not start ({error}); `make setup` installs Python"),
    }
}

/// A script that responds line by line; killed when it is dropped.
#[derive(Debug)]
pub struct Conversation {
    child: Child,
    lines: Receiver<String>,
}

/// Reads the lines of a script in a thread of their own, so that a test can stop waiting for one.
fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let read = BufReader::new(output).lines().map_while(Result::ok);
        read.map(|line| sender.send(line)).find(Result::is_err)
    });
    lines
}

impl Conversation {
    /// Sends a line and waits for the response; an empty one if the script has ended. Fails if it
    /// takes too long.
    #[track_caller]
    pub fn exchange(&mut self, line: &str) -> String {
        let written = self.child.stdin.as_mut().map(|input| writeln!(input, "{line}"));
        assert!(matches!(written, Some(Ok(()))), "the script does not read: {written:?}");
        match self.lines.recv_timeout(PATIENCE) {
            Ok(response) => response.trim_end().to_owned(),
            Err(RecvTimeoutError::Disconnected) => String::new(),
            Err(RecvTimeoutError::Timeout) => panic!("the script did not answer for {PATIENCE:?}"),
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // The script may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the interpreter of a virtual environment with these packages, created on first use;
/// without packages that of the system.
#[track_caller]
fn interpreter(packages: &[&str]) -> PathBuf {
    if packages.is_empty() {
        return PathBuf::from("python3");
    }
    let name = packages.join("+").replace("==", "-");
    let folder = target_dir().join("python").join(&name);
    let interpreter = folder.join("bin/python");
    if interpreter.is_file() {
        return interpreter;
    }
    // Installed under a unique name and then renamed: other tests may be installing the same
    // packages.
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
    let stdout_of = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} failed; `make setup` may help:\n{stdout_of}\n{error}"
    );
    stdout_of
}
