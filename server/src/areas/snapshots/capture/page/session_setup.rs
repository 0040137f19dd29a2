//! The commands that prepare a page, a frame or a worker before it runs.

use serde_json::{Value, json};

use super::settle::SETTLE_SCRIPT;
use crate::areas::snapshots::capture::sizes::Viewport;

/// The world in which our scripts run: they see the document, but not what the page's scripts have
/// replaced, and the page's scripts do not see them.
pub(super) const WORLD: &str = "telltale";

/// Replaces, in the world of the page, what would wait for a person.
const PAGE_SCRIPT: &str = "window.print = () => {};";

/// A command and its parameters.
pub(super) type SetupCommand = (&'static str, Value);

/// Returns the commands for a page.
pub(super) fn page_commands(viewport: Viewport) -> Vec<SetupCommand> {
    let metrics = json!({
        "width": viewport.width(),
        "height": viewport.height(),
        "deviceScaleFactor": viewport.device_scale_factor(),
        "mobile": false,
        "screenWidth": viewport.width(),
        "screenHeight": viewport.height(),
    });
    let media = json!({
        "media": "screen",
        "features": [
            { "name": "prefers-reduced-motion", "value": "reduce" },
            { "name": "prefers-color-scheme", "value": "light" },
        ],
    });
    let mut commands = frame_commands();
    commands.extend([
        ("Emulation.setDeviceMetricsOverride", metrics),
        ("Emulation.setEmulatedMedia", media),
        ("Emulation.setTimezoneOverride", json!({ "timezoneId": "UTC" })),
        ("Emulation.setLocaleOverride", json!({ "locale": "en-US" })),
        ("Emulation.setScrollbarsHidden", json!({ "hidden": true })),
        ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
        ("Page.setInterceptFileChooserDialog", json!({ "enabled": true })),
    ]);
    commands
}

/// Returns the commands for a page or for a frame that is in another process.
pub(super) fn frame_commands() -> Vec<SetupCommand> {
    let settle = json!({
        "source": SETTLE_SCRIPT,
        "worldName": WORLD,
        "runImmediately": true,
    });
    vec![
        ("Page.enable", json!({})),
        ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
        ("Network.enable", json!({})),
        ("Network.setBypassServiceWorker", json!({ "bypass": true })),
        (
            "Fetch.enable",
            json!({ "patterns": [{ "urlPattern": "*" }], "handleAuthRequests": true }),
        ),
        ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": PAGE_SCRIPT })),
        ("Page.addScriptToEvaluateOnNewDocument", settle),
        auto_attach(),
    ]
}

/// Returns the commands for a worker.
pub(super) fn worker_commands() -> Vec<SetupCommand> {
    vec![("Network.enable", json!({})), auto_attach()]
}

/// Attaches to the frames and workers that a page, frame or worker starts, before they run.
fn auto_attach() -> SetupCommand {
    let params = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    ("Target.setAutoAttach", params)
}
