//! The OpenAPI document in third-party programs: Schemathesis, which tests the whole document, and
//! client generators for two languages.
//!
//! `TELLTALE_CONTRACT_SECONDS` sets how long Schemathesis runs; by default it makes one pass with
//! few cases. `make contract SECONDS=600` sets it for the debug build.

use std::path::Path;

use telltale_tests::{ADMIN_KEY, Server, folder, node, python};

const SCHEMATHESIS: &str = include_str!("openapi_schemathesis.py");
const SCHEMATHESIS_PACKAGES: [&str; 1] = ["schemathesis==4.32.5"];
/// Random cases per operation, besides those derived from the document.
const CASES: &str = "5";
const CASES_IN_SECONDS: &str = "50";
const SEED: &str = "1";

const PYTHON: &str = include_str!("openapi_python.py");
const PYTHON_PACKAGES: [&str; 1] = ["openapi-python-client==0.29.1"];

const TYPESCRIPT: &str = include_str!("openapi_typescript.ts");
const TYPESCRIPT_PACKAGES: [&str; 2] = ["openapi-typescript@7.13.0", "typescript@5.9.3"];
const COMPILE: &str = r#"
    const { execFileSync } = require("node:child_process");
    const folder = process.argv[1];
    const run = (program, ...given) => {
        try {
            execFileSync(process.execPath, [`node_modules/${program}`, ...given], { encoding: "utf8" });
        } catch (error) {
            console.error(error.stdout, error.stderr);
            process.exit(1);
        }
    };
    run("openapi-typescript/bin/cli.js", `${folder}/openapi.json`, "-o", `${folder}/api.ts`);
    const strictly = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "esnext"];
    run("typescript/bin/tsc", ...strictly, `${folder}/program.ts`);
    console.log("compiled");
"#;

#[expect(clippy::disallowed_methods, reason = "the test has one setting of its own")]
fn seconds() -> Option<String> {
    std::env::var("TELLTALE_CONTRACT_SECONDS").ok()
}

#[track_caller]
fn write(path: &Path, text: &str) {
    if let Err(error) = std::fs::write(path, text) {
        panic!("cannot write {}: {error}", path.display());
    }
}

#[test]
fn schemathesis_finds_nothing() {
    let (server, folder) = (Server::start(), folder());
    let url = format!("http://{}", server.address());
    let at = folder.path().to_string_lossy();
    let seconds = seconds();
    let cases = if seconds.is_some() { CASES_IN_SECONDS } else { CASES };
    let seconds = seconds.unwrap_or_else(|| "0".to_owned());
    let arguments = [&*url, ADMIN_KEY, cases, SEED, &*seconds, &*at];
    let output = python(&SCHEMATHESIS_PACKAGES, SCHEMATHESIS, arguments);
    assert!(output.contains("No issues found"), "{output}");
}

#[test]
fn a_generated_python_client_works() {
    let (server, folder) = (Server::start(), folder());
    let document = folder.path().join("openapi.json");
    write(&document, server.client().get("/api/v1/openapi.json").text());
    let url = format!("http://{}", server.address());
    let (document, at) = (document.to_string_lossy(), folder.path().to_string_lossy());
    python(&PYTHON_PACKAGES, PYTHON, [&*url, ADMIN_KEY, &*document, &*at]);
}

#[test]
fn generated_typescript_types_compile() {
    let (server, folder) = (Server::start(), folder());
    let document = server.client().get("/api/v1/openapi.json");
    write(&folder.path().join("openapi.json"), document.text());
    write(&folder.path().join("program.ts"), TYPESCRIPT);
    let at = folder.path().to_string_lossy();
    assert_eq!(node(&TYPESCRIPT_PACKAGES, COMPILE, [&*at]).trim(), "compiled");
}
