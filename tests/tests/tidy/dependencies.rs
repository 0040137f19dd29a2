//! Which crates and modules a file may use. Dependencies point one way: areas → platform → engine,
//! and inside the engine towards the model.

use crate::source::SourceFile;

/// Crates, or items of crates, that only some files may use.
struct CrateRule {
    crates: &'static [&'static str],
    /// Prefixes of the paths of the files that may use them.
    allowed_in: &'static [&'static str],
    reason: &'static str,
}

const CRATE_RULES: &[CrateRule] = &[
    CrateRule {
        crates: &["rocksdb", "librocksdb_sys"],
        allowed_in: &["engine/src/storage/"],
        reason: "only the storage uses RocksDB",
    },
    CrateRule {
        crates: &["hyper", "hyper_util", "h2", "tower", "tower_http", "matchit"],
        allowed_in: &[
            "server/src/http/",
            "server/src/platform/control.rs",
            "server/src/platform/outbound/",
            "server/src/platform/vetting_proxy/",
        ],
        reason: "only the http folder uses the HTTP crates; control.rs is the client of the command line, outbound that of users, and the proxy carries the requests of pages",
    },
    CrateRule {
        crates: &[
            "tokio",
            "hyper",
            "http",
            "tracing_subscriber",
            "clap",
            "clap_complete",
            "clap_mangen",
        ],
        allowed_in: &["server/", "tests/", "benches/", "fuzz/"],
        reason: "the engine is a library without a runtime, HTTP or a command line",
    },
    CrateRule {
        crates: &["http::StatusCode"],
        allowed_in: &[
            "server/src/http/",
            "server/src/cli/",
            "server/src/platform/control.rs",
            "server/src/platform/outbound/",
            "server/src/areas/testing.rs",
            "server/src/platform/vetting_proxy/",
        ],
        reason: "the http folder maps error codes to statuses; clients read them; a proxy answers the browser itself",
    },
    CrateRule {
        crates: &["url"],
        allowed_in: &[
            "server/src/platform/outbound/",
            "server/src/areas/alerting/channels/config/urls.rs",
            // Only look at URLs.
            "server/src/areas/status/monitors/change.rs",
            "server/src/areas/status/monitors/model.rs",
            "server/src/areas/status/public/branding.rs",
            "server/src/areas/snapshots/ids.rs",
            // The browser requests them, through a proxy whose dialler checks them.
            "server/src/areas/snapshots/capture/",
            // Git requests them, through such a proxy too.
            "server/src/areas/repositories/git/names.rs",
        ],
        reason: "requests to addresses that users chose go through the client that checks them",
    },
    CrateRule {
        crates: &["tokio_rustls", "rustls_native_certs", "webpki_roots"],
        allowed_in: &["server/src/platform/tls/"],
        reason: "all connections that the server opens trust the same authorities",
    },
    CrateRule {
        crates: &["lettre::transport"],
        allowed_in: &["server/src/platform/mail/"],
        reason: "mail is delivered by the client that requires TLS; areas only build messages",
    },
    CrateRule {
        crates: &["chacha20poly1305"],
        allowed_in: &["server/src/platform/sealing/"],
        reason: "secrets are sealed in one place",
    },
    CrateRule {
        crates: &["clap", "clap_complete", "clap_mangen", "indicatif"],
        allowed_in: &["server/src/cli/", "server/src/main.rs"],
        reason: "only the cli folder uses the crates of the command line",
    },
    CrateRule {
        crates: &["governor"],
        allowed_in: &[
            "server/src/http/",
            "server/src/platform/",
            "server/src/areas/status/subscribers/pace.rs",
        ],
        reason: "rate limits are implemented in one place",
    },
];

/// Modules that some files of their crate must not use.
struct ModuleRule {
    /// Prefix of the paths of these files.
    path_prefix: &'static str,
    modules: &'static [&'static str],
    reason: &'static str,
}

const MODULE_RULES: &[ModuleRule] = &[
    ModuleRule {
        path_prefix: "engine/src/metrics/",
        modules: &["crate::events"],
        reason: "metrics and events share model, codec, sketch and storage, and never use each other",
    },
    ModuleRule {
        path_prefix: "engine/src/events/",
        modules: &["crate::metrics"],
        reason: "metrics and events share model, codec, sketch and storage, and never use each other",
    },
    ModuleRule {
        path_prefix: "engine/src/model/",
        modules: &[
            "crate::storage",
            "crate::codec",
            "crate::sketch",
            "crate::metrics",
            "crate::events",
            "crate::documents",
            "crate::clock",
        ],
        reason: "the model is plain data: no storage, no clock",
    },
    ModuleRule {
        path_prefix: "engine/src/codec/",
        modules: &["crate::storage", "crate::metrics", "crate::events", "crate::documents"],
        reason: "a codec encodes columns as bytes and depends on no other part",
    },
    ModuleRule {
        path_prefix: "engine/src/sketch/",
        modules: &["crate::storage", "crate::metrics", "crate::events", "crate::documents"],
        reason: "a sketch depends on no other part",
    },
    ModuleRule {
        path_prefix: "engine/src/storage/",
        modules: &["crate::metrics", "crate::events", "crate::documents"],
        reason: "the storage stores bytes and does not know what they mean",
    },
    ModuleRule {
        path_prefix: "server/src/platform/",
        modules: &["crate::areas", "crate::http", "crate::cli"],
        reason: "areas and http use the platform, never the other way",
    },
    ModuleRule {
        path_prefix: "server/src/http/",
        modules: &["crate::cli"],
        reason: "the command line starts the server, never the other way",
    },
    ModuleRule {
        path_prefix: "server/src/areas/",
        modules: &["crate::cli"],
        reason: "the command line calls the areas, never the other way",
    },
];

/// What a file of an area must not use, by file name.
const AREA_FILE_RULES: &[(&str, &[&str], &str)] = &[
    (
        "model.rs",
        &["serde", "serde_json", "crate::http"],
        "a model depends on neither JSON nor HTTP",
    ),
    ("error.rs", &["serde", "serde_json"], "the http folder writes errors to responses"),
    ("store.rs", &["crate::http"], "a store does not depend on HTTP"),
    (
        "ops.rs",
        &["serde", "serde_json", "crate::http"],
        "operations depend on neither JSON nor HTTP: the handler parses and responds",
    ),
    ("routes.rs", &["telltale_engine"], "a handler names types of the area only"),
];

/// Files of areas and jobs that derive serde's traits although they are not the wire form: what
/// they derive them for is stored, or sent by something else than a handler.
const STORED_FORMS: &[&str] = &[
    "server/src/areas/bulk/import/lines.rs",
    "server/src/areas/bulk/influx/lines.rs",
    "server/src/areas/bulk/intake.rs",
    "server/src/areas/bulk/otlp/export.rs",
    "server/src/areas/bulk/remote_write/request.rs",
    "server/src/areas/dashboards/definition.rs",
    "server/src/areas/dashboards/options.rs",
    "server/src/areas/dashboards/variables.rs",
    "server/src/areas/saved_queries/query.rs",
    "server/src/areas/errors/ledger/load.rs",
    "server/src/areas/alerting/delivery/queue.rs",
    "server/src/areas/jobs/background.rs",
    "server/src/areas/repositories/sync/work.rs",
    "server/src/areas/snapshots/snapshot/work.rs",
    "server/src/areas/status/monitors/records.rs",
    "server/src/areas/status/monitors/work.rs",
    "server/src/areas/status/public/document.rs",
    "server/src/areas/status/subscribers/work.rs",
];

/// Returns a message for a file of an area or of the jobs that serialises anything but the wire
/// form and stored forms.
pub(crate) fn serialises_elsewhere(source: &SourceFile) -> Vec<String> {
    let is_listed = STORED_FORMS.contains(&source.path.as_str());
    let is_form = source.path.contains("/wire/")
        || source.path.contains("/stored/")
        || matches!(source.file_name(), "wire.rs" | "store.rs" | "response.rs");
    let in_scope = ["server/src/areas/", "server/src/jobs/"];
    let in_scope = in_scope.iter().any(|folder| source.path.starts_with(folder));
    if !in_scope
        || is_form
        || is_listed
        || source.is_test()
        || source.file_name().ends_with("_tests.rs")
    {
        return Vec::new();
    }
    let text = source.without_tests();
    let derives = |line: &&str| {
        line.starts_with("#[derive(")
            && ["Serialize", "Deserialize"].iter().any(|t| line.contains(t))
    };
    let found = text.lines().map(str::trim_start).find(derives);
    found
        .map(|line| format!("{}: only wire and stored forms are serialised: {line}", source.path))
        .into_iter()
        .collect()
}

/// Returns a message for every path that the file must not use.
pub(crate) fn dependency_violations(source: &SourceFile) -> Vec<String> {
    if source.is_test() || source.path.starts_with("tests/") {
        return Vec::new();
    }
    let paths = source.paths();
    let mut violations = Vec::new();
    for path in &paths {
        let reasons = [
            crate_violation(source, path),
            module_violation(source, path),
            area_file_violation(source, path),
            area_internals_violation(source, path),
        ];
        for reason in reasons.into_iter().flatten() {
            violations.push(format!("{} uses {path}: {reason}", source.path));
        }
    }
    violations
}

fn crate_violation(source: &SourceFile, path: &str) -> Option<&'static str> {
    CRATE_RULES
        .iter()
        .filter(|rule| rule.crates.iter().any(|krate| is_within(path, krate)))
        .find(|rule| !rule.allowed_in.iter().any(|prefix| source.path.starts_with(prefix)))
        .map(|rule| rule.reason)
}

fn module_violation(source: &SourceFile, path: &str) -> Option<&'static str> {
    MODULE_RULES
        .iter()
        .filter(|rule| source.path.starts_with(rule.path_prefix))
        .find(|rule| rule.modules.iter().any(|module| is_within(path, module)))
        .map(|rule| rule.reason)
}

fn area_file_violation(source: &SourceFile, path: &str) -> Option<&'static str> {
    if !source.path.starts_with("server/src/areas/") {
        return None;
    }
    AREA_FILE_RULES
        .iter()
        .filter(|(file, ..)| source.file_name() == *file)
        .find(|(_, modules, _)| modules.iter().any(|module| is_within(path, module)))
        .map(|(.., reason)| *reason)
}

/// Returns a reason when an area uses more of another one than it re-exports.
fn area_internals_violation(source: &SourceFile, path: &str) -> Option<&'static str> {
    let own = source.path.strip_prefix("server/src/areas/")?.split_once('/')?.0;
    let mut named = path.strip_prefix("crate::areas::")?.split("::");
    let other = named.next()?;
    let is_deeper = named.count() > 1;
    (other != own && is_deeper).then_some("an area uses only what another one re-exports")
}

fn is_within(path: &str, module: &str) -> bool {
    path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"))
}
