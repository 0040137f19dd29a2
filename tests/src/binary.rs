//! Finds the program under test, and builds it if necessary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of the program to test, if it is already built.
const BIN_VARIABLE: &str = "TELLTALE_TEST_BIN";

/// Returns the path of the `telltale` program under test.
pub fn telltale() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| given().unwrap_or_else(build))
}

#[expect(clippy::disallowed_methods, reason = "the harness has one setting of its own")]
fn given() -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(BIN_VARIABLE)?);
    assert!(path.is_file(), "{BIN_VARIABLE} names {}, which is no file", path.display());
    Some(path)
}

/// Builds with the package selection of `tools/check`, so that nothing is rebuilt.
fn build() -> PathBuf {
    let target = target_dir();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--locked", "--bin", "telltale", "--target-dir"])
        .arg(&target)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status();
    match status {
        Ok(status) if status.success() => target.join("debug/telltale"),
        Ok(status) => panic!("building telltale failed: {status}"),
        Err(error) => panic!("cargo did not start: {error}"),
    }
}

/// Returns the target directory of this test: `<target>/debug/deps/<test>`.
pub fn target_dir() -> PathBuf {
    let Ok(here) = std::env::current_exe() else { panic!("a process knows its own program") };
    match here.ancestors().nth(3) {
        Some(target) => target.to_owned(),
        None => panic!("{} does not lie in a target directory", here.display()),
    }
}
