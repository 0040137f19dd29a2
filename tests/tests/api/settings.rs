//! Settings: flags override the environment, the file and the defaults; misspellings are reported.

use std::process::{Command, Output, Stdio};

use telltale_tests::{folder, telltale};

/// Runs `telltale` with a settings file and an environment.
fn run(toml: &str, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let home = folder();
    let file = home.path().join("telltale.toml");
    assert!(std::fs::write(&file, toml).is_ok());
    let output = Command::new(telltale())
        .args(arguments)
        .arg("--config")
        .arg(&file)
        .env_clear()
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) => output,
        Err(error) => panic!("telltale did not start: {error}"),
    }
}

/// Returns the output of `telltale config`.
#[track_caller]
fn effective(toml: &str, environment: &[(&str, &str)], flags: &[&str]) -> String {
    let output = run(toml, environment, &[&["config"], flags].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn batch_limit(text: &str) -> &str {
    let line = text.lines().find(|line| line.trim_start().starts_with("batch"));
    let value = line.and_then(|line| line.split('=').nth(1)).unwrap_or_default();
    value.split('#').next().unwrap_or_default().trim()
}

#[test]
fn layers_override_in_order() {
    let file = "[limits]\nbatch = 11\n";
    let variable = [("TELLTALE_LIMITS_BATCH", "12")];
    let flag = ["--set", "limits.batch=13"];
    assert_eq!(batch_limit(&effective("", &[], &[])), "10");
    assert_eq!(batch_limit(&effective(file, &[], &[])), "11");
    assert_eq!(batch_limit(&effective(file, &variable, &[])), "12");
    assert_eq!(batch_limit(&effective(file, &variable, &flag)), "13");
}

#[test]
fn the_printed_configuration_can_be_read_back() {
    let file = "[limits]\nquery = \"unlimited\"\n[outbound]\nallow = [\"127.0.0.0/8\"]\n\
                [storage]\ndurability = \"interval:250\"\n[storage.retention]\nraw = \"7d\"\n";
    let first = effective(file, &[], &[]);
    let values = |text: &str| -> Vec<String> {
        let value = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
        text.lines().map(value).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
    };
    let second = effective(&first, &[], &[]);
    assert_eq!(values(&first), values(&second));
    for wanted in ["unlimited", "127.0.0.0/8", "interval:250", "7d"] {
        assert!(first.contains(wanted), "{wanted} in\n{first}");
    }
}

#[test]
fn an_undeclared_setting_is_an_error_in_every_layer() {
    for (toml, environment, flags) in [
        ("[limits]\nbtach = 1\n", &[][..], &[][..]),
        ("[limts]\nbatch = 1\n", &[], &[]),
        ("batch = 1\n", &[], &[]),
        ("", &[("TELLTALE_LIMITS_BTACH", "1")], &[]),
        ("", &[], &["--set", "limits.btach=1"]),
    ] {
        let output = run(toml, environment, &[&["config"], flags].concat());
        let message = String::from_utf8_lossy(&output.stderr).to_lowercase();
        assert!(!output.status.success(), "{toml:?} {environment:?} {flags:?}");
        assert!(["btach", "limts", "batch"].iter().any(|typo| message.contains(typo)), "{message}");
    }
}

#[test]
fn an_invalid_value_is_reported_with_its_key_and_the_expected_form() {
    for (toml, named) in [
        ("[limits]\nbatch = 0\n", "limits.batch"),
        ("[limits]\nbatch = \"lots\"\n", "limits.batch"),
        ("[limits]\nbatch = true\n", "limits.batch"),
        ("[server]\nlisten = \"here\"\n", "server.listen"),
        ("[storage]\nhead_bytes = \"big\"\n", "storage.head_bytes"),
        ("[storage]\ndurability = \"maybe\"\n", "storage.durability"),
        ("[outbound]\nallow = [\"everything\"]\n", "outbound.allow"),
        ("[http]\nheader_timeout = \"10\"\n", "http.header_timeout"),
        ("[limits]\nbatch = \n", "telltale.toml"),
    ] {
        let output = run(toml, &[], &["config"]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{toml:?}");
        assert!(message.contains(named), "{toml:?}: {message}");
    }
}

#[test]
fn a_missing_file_is_an_error() {
    let output = Command::new(telltale())
        .args(["config", "--config", "/no/such/file.toml"])
        .env_clear()
        .output();
    let Ok(output) = output else { panic!("telltale did not start") };
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/file.toml"));
}

#[test]
fn the_reference_explains_every_setting() {
    let reference = effective("", &[], &["--reference"]);
    for key in ["[limits]", "TELLTALE_LIMITS_BATCH", "TELLTALE_STORAGE_DURABILITY", "`allow`"] {
        assert!(reference.contains(key), "{key} in\n{reference}");
    }
}

#[test]
fn variables_of_a_kubernetes_service_are_not_settings() {
    let service = [
        ("TELLTALE_SERVICE_HOST", "10.0.0.1"),
        ("TELLTALE_SERVICE_PORT", "80"),
        ("TELLTALE_SERVICE_PORT_HTTP", "80"),
        ("TELLTALE_PORT", "tcp://10.0.0.1:80"),
        ("TELLTALE_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("TELLTALE_PORT_8080_TCP_PROTO", "tcp"),
        ("TELLTALE_PORT_8080_TCP_PORT", "8080"),
        ("TELLTALE_PORT_8080_TCP_ADDR", "10.0.0.1"),
    ];
    assert_eq!(effective("", &service, &[]), effective("", &[], &[]));
    let typo = run("", &[("TELLTALE_PORT", "8080")], &["config"]);
    let reported = String::from_utf8_lossy(&typo.stderr).into_owned();
    assert!(!typo.status.success() && reported.contains("TELLTALE_PORT"), "{reported}");
}
