//! The environment variables that are not settings.

/// The variables that are not settings, with their descriptions.
pub(super) const OTHER_VARIABLES: [(&str, &str); 4] = [
    (CONFIG_VARIABLE, "The configuration file, as `--config`."),
    (
        ADMIN_KEY_VARIABLE,
        "The admin key of a server that starts on an empty data directory: `tt_<id>_<secret>`. Without it, a key is generated and printed once.",
    ),
    (URL_VARIABLE, "The server that commands connect to, as `--url`."),
    (
        KEY_VARIABLE,
        "The key for that server, as `--key`, which other users of the machine can see.",
    ),
];

/// The variable with the address of a remote server.
pub(super) const URL_VARIABLE: &str = "TELLTALE_URL";
/// The variable with the key for it.
pub(super) const KEY_VARIABLE: &str = "TELLTALE_KEY";

/// The variable with the path of the configuration file.
pub(super) const CONFIG_VARIABLE: &str = "TELLTALE_CONFIG";
/// The variable with the first admin key.
pub(super) const ADMIN_KEY_VARIABLE: &str = "TELLTALE_ADMIN_KEY";
/// Variables with this prefix belong to tests and are ignored.
pub(super) const TEST_VARIABLE_PREFIX: &str = "TELLTALE_TEST_";
