//! Who may name whom. Arrows point one way: areas → platform → engine, and inside the engine towards the model.

use crate::source::Source;

/// A crate that only some places may name.
struct Only {
    crates: &'static [&'static str],
    /// Beginnings of the paths of the files that may.
    places: &'static [&'static str],
    reason: &'static str,
}

const ONLY: &[Only] = &[
    Only {
        crates: &["rocksdb", "librocksdb_sys"],
        places: &["engine/src/storage/"],
        reason: "RocksDB is named by the storage alone",
    },
    Only {
        crates: &["hyper", "hyper_util", "h2", "tower", "tower_http", "matchit"],
        places: &["server/src/http/", "server/src/platform/control.rs"],
        reason: "the HTTP machinery is the http folder's; control.rs is the client of the command line",
    },
    Only {
        crates: &[
            "tokio",
            "hyper",
            "http",
            "tracing_subscriber",
            "clap",
            "clap_complete",
            "clap_mangen",
        ],
        places: &["server/", "tests/", "benches/", "fuzz/"],
        reason: "the engine is a library without a runtime, HTTP or a command line",
    },
    Only {
        crates: &["clap", "clap_complete", "clap_mangen", "indicatif"],
        places: &["server/src/cli/", "server/src/main.rs"],
        reason: "the command line is the cli folder's",
    },
    Only {
        crates: &["governor"],
        places: &["server/src/http/", "server/src/platform/"],
        reason: "limits are counted in one place",
    },
];

/// A module that must not know another of its crate.
struct Apart {
    /// Beginning of the paths of the files that must not.
    place: &'static str,
    modules: &'static [&'static str],
    reason: &'static str,
}

const APART: &[Apart] = &[
    Apart {
        place: "engine/src/metrics/",
        modules: &["crate::events"],
        reason: "metrics and events share model, codec, sketch and storage, and never each other",
    },
    Apart {
        place: "engine/src/events/",
        modules: &["crate::metrics"],
        reason: "metrics and events share model, codec, sketch and storage, and never each other",
    },
    Apart {
        place: "engine/src/model/",
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
    Apart {
        place: "engine/src/codec/",
        modules: &["crate::storage", "crate::metrics", "crate::events", "crate::documents"],
        reason: "a codec turns columns into bytes and knows nobody",
    },
    Apart {
        place: "engine/src/sketch/",
        modules: &["crate::storage", "crate::metrics", "crate::events", "crate::documents"],
        reason: "a sketch knows nobody",
    },
    Apart {
        place: "engine/src/storage/",
        modules: &["crate::metrics", "crate::events", "crate::documents"],
        reason: "the storage keeps bytes and does not know whose",
    },
    Apart {
        place: "server/src/platform/",
        modules: &["crate::areas", "crate::http", "crate::cli"],
        reason: "areas and http use the platform, never the other way",
    },
    Apart {
        place: "server/src/http/",
        modules: &["crate::cli"],
        reason: "the command line starts the server, never the other way",
    },
    Apart {
        place: "server/src/areas/",
        modules: &["crate::cli"],
        reason: "the command line calls the areas, never the other way",
    },
];

/// What a room of an area must not name, by file name.
const ROOMS: &[(&str, &[&str], &str)] = &[
    ("model.rs", &["serde", "serde_json", "crate::http"], "a model knows neither JSON nor HTTP"),
    ("error.rs", &["serde", "serde_json"], "an error is told by the http folder"),
    ("store.rs", &["crate::http"], "a store knows no HTTP"),
];

/// Complains about every name that its place must not know.
pub(crate) fn respected(source: &Source) -> Vec<String> {
    if source.is_test() || source.path.starts_with("tests/") {
        return Vec::new();
    }
    let paths = source.paths();
    let mut broken = Vec::new();
    for path in &paths {
        let reasons =
            [outside(source, path), apart(source, path), room(source, path), area(source, path)];
        for reason in reasons.into_iter().flatten() {
            broken.push(format!("{} names {path}: {reason}", source.path));
        }
    }
    broken
}

fn outside(source: &Source, path: &str) -> Option<&'static str> {
    let krate = path.split("::").next()?;
    ONLY.iter()
        .filter(|only| only.crates.contains(&krate))
        .find(|only| !only.places.iter().any(|place| source.path.starts_with(place)))
        .map(|only| only.reason)
}

fn apart(source: &Source, path: &str) -> Option<&'static str> {
    APART
        .iter()
        .filter(|apart| source.path.starts_with(apart.place))
        .find(|apart| apart.modules.iter().any(|module| within(path, module)))
        .map(|apart| apart.reason)
}

fn room(source: &Source, path: &str) -> Option<&'static str> {
    if !source.path.starts_with("server/src/areas/") {
        return None;
    }
    ROOMS
        .iter()
        .filter(|(file, ..)| source.file_name() == *file)
        .find(|(_, modules, _)| modules.iter().any(|module| within(path, module)))
        .map(|(.., reason)| *reason)
}

/// An area may call what another one re-exports, and nothing deeper.
fn area(source: &Source, path: &str) -> Option<&'static str> {
    let own = source.path.strip_prefix("server/src/areas/")?.split_once('/')?.0;
    let mut named = path.strip_prefix("crate::areas::")?.split("::");
    let other = named.next()?;
    let deeper = named.count() > 1;
    (other != own && deeper).then_some("an area calls what another re-exports, never its insides")
}

fn within(path: &str, module: &str) -> bool {
    path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"))
}
