//! HTTP/2 without TLS by curl: the client of the harness supports HTTP/1.1 only.

use std::process::Command;

/// Returns the HTTP version and the status of a response to a client that begins with HTTP/2.
#[track_caller]
pub fn h2_status(url: &str, key: &str) -> String {
    let output = Command::new("curl")
        .args(["--silent", "--http2-prior-knowledge", "--output", "/dev/null"])
        .args(["--write-out", "%{http_version} %{http_code}"])
        .args(["--header", &format!("Authorization: Bearer {key}"), url])
        .output();
    match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => panic!("curl did not start ({error}); `make setup` installs it"),
    }
}
