//! The preferences of a new profile: what flags cannot say.

use std::io;
use std::path::Path;

use serde_json::json;

/// The value of a content setting or preference that denies.
const DENY: u8 = 2;

/// Writes the preferences of a profile that was not used yet.
pub(super) fn write(profile: &Path) -> io::Result<()> {
    let directory = profile.join("Default");
    std::fs::create_dir(&directory)?;
    let preferences = json!({
        "settings": { "a11y": { "animation_policy": "none" } },
        "net": { "network_prediction_options": DENY },
        "dns_prefetching": { "enabled": false },
        "webrtc": { "ip_handling_policy": "disable_non_proxied_udp" },
        "download_restrictions": 3,
        "printing": { "enabled": false },
        "safebrowsing": { "enabled": false, "enhanced": false },
        "search": { "suggest_enabled": false },
        "signin": { "allowed": false },
        "credentials_enable_service": false,
        "browser": { "enable_spellchecking": false },
        "alternate_error_pages": { "enabled": false },
        "intl": { "accept_languages": "en-US", "selected_languages": "en-US" },
        "profile": {
            "default_content_setting_values": {
                "automatic_downloads": DENY,
                "geolocation": DENY,
                "media_stream_camera": DENY,
                "media_stream_mic": DENY,
                "notifications": DENY,
                "popups": DENY,
            },
        },
    });
    std::fs::write(directory.join("Preferences"), preferences.to_string())
}
