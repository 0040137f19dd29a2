//! Tests of the configuration: layers, origins, and errors that name the key and its origin.

use std::path::PathBuf;

use telltale_engine::{Clock, MemoryOwner};

use super::layers::{Environment, Flag, Sources};
use super::load::Loaded;
use super::memory::MemoryPlan;
use super::print::reference;
use super::sections::{self, Config};
use crate::limits;
use crate::platform::settings::{Auto, ByteSize, Origin, Reader};

/// Loads a file, variables `NAME=value` and flags `key=value`.
fn load(file: &str, variables: &[&str], flags: &[&str]) -> Result<Loaded, String> {
    let pair =
        |text: &str| text.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).unwrap();
    let variables = variables.iter().map(|text| pair(text)).map(|(k, v)| (k.into(), v.into()));
    let flags = flags.iter().map(|text| {
        let (key, value) = pair(text);
        Flag { key, value, spelled: "--set".to_owned() }
    });
    let sources = Sources {
        file: (!file.is_empty()).then(|| (PathBuf::from("telltale.toml"), file.to_owned())),
        environment: Environment::new(variables).map_err(|error| error.to_string())?,
        flags: flags.collect(),
    };
    Loaded::from_sources(&sources).map_err(|error| error.to_string())
}

/// Returns the value and origin of one setting.
fn shown(loaded: &Loaded, key: &str) -> String {
    let one = loaded.effective.iter().find(|one| one.key == key).unwrap();
    format!("{} from {}", one.value, one.origin)
}

#[test]
fn flags_override_the_environment_and_that_the_file_and_that_the_defaults() {
    let file = "[limits]\nbatch = 20\nquery = \"unlimited\"\n";
    for (file, variables, flags, expected) in [
        ("", &[][..], &[][..], "10 from default"),
        (file, &[], &[], "20 from telltale.toml:2"),
        (file, &["TELLTALE_LIMITS_BATCH=30"], &[], "30 from environment TELLTALE_LIMITS_BATCH"),
        (
            file,
            &["TELLTALE_LIMITS_BATCH=30"],
            &["limits.batch=unlimited"],
            "\"unlimited\" from flag --set",
        ),
        ("", &["TELLTALE_LIMITS_BATCH="], &[], "10 from default"),
    ] {
        let loaded = load(file, variables, flags).unwrap();
        assert_eq!(shown(&loaded, "limits.batch"), expected);
    }
}

#[test]
fn every_setting_has_a_valid_default_that_equals_the_one_of_the_engine() {
    let loaded = load("", &[], &[]).unwrap();
    assert_eq!(loaded.effective.len(), sections::all().count());
    let ours = loaded.config.engine_options(Clock::system(), &loaded.config.memory());
    let defaults = telltale_engine::Options::default();
    // Compares the parts that depend on the machine with those of a large one.
    let plan = MemoryPlan::of(&loaded.config, 64 << 30);
    let parts = [plan.head, plan.cache, plan.query, plan.merge];
    let engine = [
        defaults.head_bytes,
        defaults.cache_bytes,
        defaults.query_bytes,
        defaults.compaction_bytes,
    ];
    assert_eq!(parts, engine.map(|bytes| bytes as u64));
    let engine = telltale_engine::Options {
        clock: ours.clock.clone(),
        memory: ours.memory.clone(),
        head_bytes: ours.head_bytes,
        cache_bytes: ours.cache_bytes,
        event_cache_bytes: ours.event_cache_bytes,
        query_bytes: ours.query_bytes,
        compaction_bytes: ours.compaction_bytes,
        ..defaults
    };
    assert_eq!(format!("{ours:?}"), format!("{engine:?}"));
}

#[test]
fn the_memory_limit_follows_from_the_memory_of_the_machine() {
    for (machine_mib, limit_mib) in [(128, 256), (512, 256), (2_048, 1_024), (65_536, 2_048)] {
        let plan = Config::read(&mut Reader::of_defaults(), machine_mib << 20).unwrap().plan;
        assert_eq!(plan.limit, limit_mib << 20, "of {machine_mib} MiB");
        plan.check(Origin::Default).unwrap();
        assert_eq!(plan.cache, plan.limit / 8);
    }
}

#[test]
fn new_data_caches_and_jobs_take_at_most_half_of_the_limit() {
    for limit_mib in [256, 300, 512, 1_024, 2_048, 4_096, 16_384] {
        let file = format!("[memory]\nlimit = \"{limit_mib}MiB\"\n");
        let plan = MemoryPlan::of(&load(&file, &[], &[]).unwrap().config, 64 << 30);
        let data = 2 * plan.head + plan.cache + plan.cache / 8 + plan.event_cache;
        let most = plan.limit / 2;
        assert!(data + plan.jobs_waiting <= most, "{limit_mib} MiB: {plan:?}");
        assert!(plan.jobs_waiting >= plan.limit / 16 || plan.jobs_waiting == 512 << 20, "{plan:?}");
    }
    let mib = |limit: &str| {
        let file = format!("[memory]\nlimit = \"{limit}\"\n");
        let plan = MemoryPlan::of(&load(&file, &[], &[]).unwrap().config, 64 << 30);
        [plan.head, plan.cache, plan.event_cache, plan.jobs_waiting].map(|bytes| bytes >> 20)
    };
    assert_eq!(mib("256MiB"), [16, 32, 32, 28]);
    assert_eq!(mib("2GiB"), [32, 256, 256, 416]);
}

#[test]
fn a_limit_that_is_too_small_for_the_stores_is_refused() {
    let cases = [
        ("1GiB", "cache_bytes = \"700MiB\""),
        ("1GiB", "event_cache_bytes = \"500MiB\""),
        ("256MiB", "head_bytes = \"64MiB\""),
        // The program and requests leave too little.
        ("32MiB", ""),
        ("64MiB", ""),
        ("128MiB", ""),
        ("240MiB", ""),
    ];
    for (limit, storage) in cases {
        let file = format!("[memory]\nlimit = \"{limit}\"\n[storage]\n{storage}\n");
        let refused = load(&file, &[], &[]).unwrap_err().to_string();
        assert!(refused.contains("memory.limit: of "), "{file}: {refused}");
    }
    // All but a quarter, with jobs and groups of fixed sizes: 64 + 288 + 100 + 180 + (56 + 16) + 64
    // = 768 MiB.
    let file = "[memory]\nlimit = \"1GiB\"\n[storage]\ncache_bytes = \"256MiB\"\nevent_cache_bytes = \"100MiB\"\n\
                [jobs]\nwaiting_bytes_max = \"180MiB\"\n[errors]\ngroups_max = 57344\n";
    load(file, &[], &[]).unwrap();
    for (fits, does_not) in
        [("100MiB", "101MiB"), ("256MiB", "257MiB"), ("180MiB", "181MiB"), ("57344", "57345")]
    {
        load(&file.replace(fits, does_not), &[], &[]).unwrap_err();
    }
}

#[test]
fn jobs_and_errors_that_leave_too_little_memory_to_requests_are_refused() {
    for (section, setting) in [
        ("jobs", "waiting_bytes_max = \"256MiB\""),
        ("jobs", "waiting_bytes_max = \"64MiB\""),
        ("errors", "groups_max = 100_000"),
        ("errors", "groups_max = 9223372036854775807"),
    ] {
        let file = format!("[memory]\nlimit = \"256MiB\"\n[{section}]\n{setting}\n");
        let refused = load(&file, &[], &[]).unwrap_err();
        assert!(
            refused.starts_with("telltale.toml:2: memory.limit: of 268435456 bytes"),
            "{refused}"
        );
        assert!(
            refused.contains("jobs.waiting_bytes_max") && refused.contains("errors.groups_max"),
            "{refused}"
        );
    }
    for setting in ["waiting_bytes_max = \"30MiB\"", "waiting_bytes_max = \"auto\""] {
        load(&format!("[memory]\nlimit = \"256MiB\"\n[jobs]\n{setting}\n"), &[], &[]).unwrap();
    }
}

/// Even if all stores are at the maximum of the plan, a quarter of the limit is left to requests.
#[test]
fn full_stores_leave_a_quarter_to_bodies_queries_and_responses() {
    for limit_mib in [256, 512, 1_024, 2_048, 16_384] {
        let file = format!("[memory]\nlimit = \"{limit_mib}MiB\"\n");
        let config = load(&file, &[], &[]).unwrap().config;
        let (plan, memory) = (config.plan, config.memory());
        memory.hold(MemoryOwner::Heads, 2 * plan.head);
        memory.hold(MemoryOwner::Caches, plan.cache + plan.cache / 8 + plan.event_cache);
        // The registry takes all memory that it may before jobs and errors take any.
        let of_data = memory.bytes_left_for_data();
        assert!(of_data >= plan.limit / 16, "{limit_mib} MiB: {of_data}");
        memory.hold(MemoryOwner::Registry, of_data);
        memory.hold(MemoryOwner::Jobs, plan.jobs_waiting);
        memory.hold(MemoryOwner::Errors, plan.errors());
        assert_eq!(memory.bytes_left_for_data(), 0);
        memory.hold(MemoryOwner::Merges, plan.merge);
        let left = plan.limit / 4 - plan.merge;
        assert!(plan.merge <= plan.limit / 16, "{plan:?}");
        let body = memory.take(MemoryOwner::Bodies, left).unwrap();
        drop(body);
        memory.take(MemoryOwner::Queries, plan.limit / 16).unwrap();
        // The maximum number of connections, all idle. With endless headers they would take the
        // rest.
        let connections = plan.limit / limits::CONNECTIONS_SHARE / limits::CONNECTION_BYTES_MAX;
        memory.hold(MemoryOwner::Connections, connections * limits::CONNECTION_BYTES);
        memory.take(MemoryOwner::Answers, plan.limit / 16).unwrap();
    }
}

#[test]
fn the_number_of_error_groups_follows_from_memory() {
    let plan = |limit: &str| {
        let file = format!("[memory]\nlimit = \"{limit}\"\n");
        let plan = load(&file, &[], &[]).unwrap().config.plan;
        (plan.error_groups, plan.error_users >> 20)
    };
    assert_eq!(plan("256MiB"), (13_107, 4));
    assert_eq!(plan("2GiB"), (100_000, 32));
    assert_eq!(plan("16GiB"), (100_000, 32));
    let set = load("[errors]\ngroups_max = 500\n", &[], &[]).unwrap();
    assert_eq!(set.config.plan.error_groups, 500);
    assert_eq!(shown(&set, "errors.groups_max"), "500 from telltale.toml:2");
    assert_eq!(shown(&load("", &[], &[]).unwrap(), "errors.groups_max"), "\"auto\" from default");
}

/// A file, variables, flags, and the expected error.
const WRONG: &[(&str, &[&str], &[&str], &str)] = &[
    (
        "[errors]\ngroups_max = 0\n",
        &[],
        &[],
        "telltale.toml:2: errors.groups_max: expected an integer of at least 1, or \"auto\", found 0",
    ),
    (
        "[storage]\nthreads = 1025\n",
        &[],
        &[],
        "telltale.toml:2: storage.threads: expected an integer from 1 to 1024, or \"auto\", found 1025",
    ),
    (
        "[limits]\nbach = 1\n",
        &[],
        &[],
        "telltale.toml:2: there is no setting limits.bach (did you mean limits.batch?)",
    ),
    ("colour = 1\n", &[], &[], "telltale.toml:1: there is no setting colour"),
    ("\n[colours]\nred = 1\n", &[], &[], "telltale.toml:2: there is no setting colours"),
    (
        "limits = 5\n",
        &[],
        &[],
        "telltale.toml:1: limits: is a section: write [limits] above its settings",
    ),
    (
        "[limits]\n\nbatch = \"ten\"\n",
        &[],
        &[],
        "telltale.toml:3: limits.batch: expected an integer of at least 1 (requests per minute) or \"unlimited\", found \"ten\"",
    ),
    (
        "[limits]\nbatch = 0\n",
        &[],
        &[],
        "telltale.toml:2: limits.batch: expected an integer of at least 1 (requests per minute) or \"unlimited\", found 0",
    ),
    (
        "[storage]\ndisk_free_bytes = \"256XB\"\n",
        &[],
        &[],
        "telltale.toml:2: storage.disk_free_bytes: \"256XB\" has no unit of size: use B, KiB, MiB, GiB or TiB",
    ),
    (
        "[storage]\ndisk_free_bytes = 1.5\n",
        &[],
        &[],
        "telltale.toml:2: storage.disk_free_bytes: expected a size such as \"256MiB\", found a number with a fraction",
    ),
    (
        "[storage]\ndurability = \"interval:0\"\n",
        &[],
        &[],
        "telltale.toml:2: storage.durability: expected \"sync\", \"interval:<milliseconds>\" or \"os\", found \"interval:0\"",
    ),
    (
        "[server\n",
        &[],
        &[],
        "telltale.toml:1: not valid TOML: the name of a section has no closing bracket",
    ),
    (
        "[server]\ndata\n",
        &[],
        &[],
        "telltale.toml:2: not valid TOML: a setting must be written as name = value",
    ),
    (
        "",
        &["TELLTALE_LISTEM=x"],
        &[],
        "environment TELLTALE_LISTEM: there is no setting TELLTALE_LISTEM (did you mean TELLTALE_LISTEN?)",
    ),
    (
        "",
        &["TELLTALE_PORT=8080"],
        &[],
        "environment TELLTALE_PORT: there is no setting TELLTALE_PORT",
    ),
    (
        "",
        &["TELLTALE_LISTEN=8080"],
        &[],
        "environment TELLTALE_LISTEN: server.listen: expected an address and port such as \"127.0.0.1:8080\", found \"8080\"",
    ),
    (
        "",
        &["TELLTALE_LISTEN=[::1]:1", "TELLTALE_SERVER_LISTEN=[::1]:2"],
        &[],
        "environment TELLTALE_LISTEN and environment TELLTALE_SERVER_LISTEN both set server.listen: remove one of them",
    ),
    (
        "",
        &[],
        &["server.lissen=x"],
        "flag --set: there is no setting server.lissen (did you mean server.listen?)",
    ),
    (
        "",
        &["TELLTALE_OUTBOUND_ALLOW=10.0.0.1/8"],
        &[],
        "environment TELLTALE_OUTBOUND_ALLOW: outbound.allow: \"10.0.0.1/8\" has bits beyond its prefix: write 10.0.0.0/8",
    ),
    (
        "[log]\nlevel = \"inof\"\n",
        &[],
        &[],
        "telltale.toml:2: log.level: expected a level such as \"info\", or \"warn,telltale_server::http=debug\", found \"inof\"",
    ),
    // An invalid value is an error even if a higher layer overrides it.
    (
        "[limits]\nbatch = \"ten\"\n",
        &["TELLTALE_LIMITS_BATCH=5"],
        &[],
        "telltale.toml:2: limits.batch: expected an integer of at least 1 (requests per minute) or \"unlimited\", found \"ten\"",
    ),
    (
        "[[storage.retention_override]]\nraw = \"7d\"\n",
        &[],
        &[],
        "telltale.toml:1: storage.retention_override: an override needs a prefix",
    ),
    (
        "[[storage.retention_override]]\nprefix = \"a\"\nrow = \"7d\"\n",
        &[],
        &[],
        "telltale.toml:1: storage.retention_override: an override has no key row: it has prefix, raw, minute, five_minutes, hour and day",
    ),
];

#[test]
fn errors_name_the_key_and_its_origin() {
    for (file, variables, flags, expected) in WRONG {
        let error = load(file, variables, flags).map(|loaded| loaded.to_toml());
        assert_eq!(
            error.as_deref().map_err(String::as_str),
            Err(*expected),
            "{file:?} {variables:?}"
        );
    }
}

#[test]
fn variables_that_are_not_settings_are_ignored() {
    let variables = [
        "TELLTALE_CONFIG=x.toml",
        "TELLTALE_ADMIN_KEY=tt_a_b",
        "TELLTALE_TEST_ANY=1",
        "PATH=/bin",
        "TELLTALE_PORT=tcp://10.0.0.1:80",
        "TELLTALE_SERVICE_HOST=10.0.0.1",
        "TELLTALE_SERVICE_PORT=80",
    ];
    assert!(load("", &variables, &[]).is_ok());
}

#[test]
fn lists_and_overrides_are_read_from_every_layer() {
    let file = "[outbound]\nallow = [\"127.0.0.0/8\", \"::1\"]\n\
                [[storage.retention_override]]\nprefix = \"debug.\"\nraw = \"7d\"\n";
    let loaded = load(file, &[], &[]).unwrap();
    assert_eq!(
        shown(&loaded, "outbound.allow"),
        "[\"127.0.0.0/8\", \"::1/128\"] from telltale.toml:2"
    );
    let retention =
        loaded.config.engine_options(Clock::system(), &loaded.config.memory()).retention;
    assert_eq!(retention.of("debug.x").raw.as_secs(), 7 * 86_400);
    assert_eq!(retention.of("debug.x").hour, retention.of("other").hour);
    assert_eq!(retention.of("other").raw.as_secs(), 30 * 86_400);

    let variables = [
        "TELLTALE_OUTBOUND_ALLOW=10.0.0.0/8, 192.168.0.0/16",
        "TELLTALE_STORAGE_RETENTION_OVERRIDE=[{ prefix = 'x', day = '1y' }]",
    ];
    let loaded = load(file, &variables, &["outbound.allow=[]"]).unwrap();
    assert_eq!(shown(&loaded, "outbound.allow"), "[] from flag --set");
    assert_eq!(loaded.config.storage.retention_override[0].prefix, "x");
}

#[test]
fn the_effective_values_read_back_as_a_file() {
    let file = "[server]\ndata = 'C:\\odd \"path\"'\n[storage]\ndurability = \"interval:200\"\n\
                retention_override = [{ prefix = \"a\\u0001\", raw = \"36h\" }]\n[limits]\nquery = \"unlimited\"\n";
    let first =
        load(file, &["TELLTALE_LOG=warn,telltale_engine::x=trace"], &["http.headers=7"]).unwrap();
    let again = load(&first.to_toml(), &[], &[]).unwrap();
    assert_eq!(first.config, again.config);
    let line = first.to_toml().lines().find(|line| line.starts_with("query ")).unwrap().to_owned();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>().join(" "),
        "query = \"unlimited\" # telltale.toml:7"
    );
}

#[test]
fn the_example_file_yields_the_configuration_it_was_printed_from() {
    let loaded = load("", &[], &["server.data=/var/lib/telltale", "jobs.lease=5m"]).unwrap();
    let example = loaded.to_example();
    let is_set = |line: &&str| line.contains(" = ") && !line.starts_with('#');
    let set: Vec<&str> = example.lines().filter(is_set).collect();
    assert_eq!(set, ["data = \"/var/lib/telltale\"", "lease = \"5m\""]);
    // Both as printed and with all settings uncommented.
    let uncommented: Vec<&str> = example
        .lines()
        .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line))
        .collect();
    for file in [example.clone(), uncommented.join("\n")] {
        assert_eq!(load(&file, &[], &[]).unwrap().config, loaded.config, "{file}");
    }
    let longest = example.lines().filter(|line| line.starts_with("# ")).map(|l| l.chars().count());
    assert!(longest.max().unwrap_or(0) <= 100, "{example}");
}

#[test]
fn the_reference_lists_every_setting() {
    let text = reference();
    for setting in sections::all() {
        assert!(text.contains(&format!("`{}`", setting.variable())), "{} is missing", setting.key);
    }
}

#[test]
fn the_reference_states_how_many_connections_fit_into_memory() {
    let room = |limit: u64| limit / limits::CONNECTIONS_SHARE / limits::CONNECTION_BYTES_MAX;
    let text = format!(
        "if {} KiB for each connection exceed a quarter of `memory.limit`: to {} with 2 GiB, to {} with 256 MiB.",
        limits::CONNECTION_BYTES_MAX >> 10,
        room(2 << 30),
        room(256 << 20)
    );
    assert_eq!(limits::CONNECTIONS_SHARE, 4, "a quarter");
    assert!(reference().contains(&text), "{text}");
}

proptest::proptest! {
    #[test]
    fn any_file_is_read_or_refused_without_a_panic(text in "(\\[{0,2}[a-z._]{0,12}\\]{0,2}|[a-z_]{1,8} ?= ?[\"\\[{]?[a-z0-9.:,]{0,8}[\"\\]}]?|\n|\\PC){0,8}") {
        proptest::prop_assert!(load(&text, &[], &[]).is_ok() || load(&text, &[], &[]).is_err());
    }
}

#[test]
fn parts_of_bulk_bodies_are_smaller_with_less_memory() {
    let points = |limit: &str, points: &str| {
        let flags =
            [&*format!("memory.limit={limit}"), &*format!("bodies.bulk_write_points={points}")];
        load("", &[], &flags).unwrap().config.bulk_write_points()
    };
    assert_eq!(points("2GiB", "1048576"), 1 << 20);
    assert_eq!(points("256MiB", "1048576"), 1 << 18);
    assert_eq!(points("256MiB", "1000"), 1_000, "fewer are configured");
    assert_eq!(points("2GiB", "2000000"), limits::BULK_WRITE_POINTS_MAX);
}

#[test]
fn maxima_derived_from_memory_are_set_where_they_are_enforced() {
    let config = load("", &[], &["memory.limit=256MiB"]).unwrap().config;
    assert_eq!(config.jobs.waiting_bytes_max(), 28 << 20);
    assert_eq!(config.errors.groups_max, Auto::Set(13_107));
    assert_eq!(config.bodies.in_flight, Auto::Set(ByteSize::at_least_one(32 << 20)));
    let chosen = load("", &[], &["jobs.waiting_bytes_max=1MiB"]).unwrap().config;
    assert_eq!(chosen.jobs.waiting_bytes_max(), 1 << 20);
}
