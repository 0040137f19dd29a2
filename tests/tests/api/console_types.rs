//! The scripts of the console against the types of the API: TypeScript finds nothing wrong in them,
//! and the types that it checks them against are those of the server.

use std::path::Path;
use std::process::{Command, Output};

use telltale_tests::{Server, folder, target_dir};

const TOOL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/console-types");

/// Checks the scripts and their types against an OpenAPI document.
#[track_caller]
fn check(document: &str, folder: &Path) -> Output {
    let path = folder.join("openapi.json");
    let written = std::fs::write(&path, document);
    assert!(written.is_ok(), "cannot write {}", path.display());
    // The packages are kept with those of the other tests.
    let checked = Command::new(TOOL).arg(&path).env("CARGO_TARGET_DIR", target_dir()).output();
    match checked {
        Ok(output) => output,
        Err(error) => panic!("{TOOL} did not start ({error}); `make setup` installs Node"),
    }
}

#[test]
fn scripts_of_the_console_have_no_type_errors_and_the_types_of_the_server() {
    let (server, folder) = (Server::start(), folder());
    let response = server.client().get("/api/v1/openapi.json");
    let document = response.text();
    let checked = check(document, folder.path());
    let problems = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{problems}");

    // A response with one field more is not what the types say.
    let renamed = document.replacen("\"console_build\"", "\"console_built\"", 1);
    assert_ne!(renamed, document);
    let checked = check(&renamed, folder.path());
    let problems = String::from_utf8_lossy(&checked.stderr);
    assert!(!checked.status.success());
    assert!(problems.contains("types.d.ts is not that of the OpenAPI document"), "{problems}");
}
