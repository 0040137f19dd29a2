//! The command line of Chromium.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;

/// Flags that do not depend on anything.
const FLAGS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-startup-window",
    // Nothing that a person would see, and nothing that Chromium does for itself.
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    "--disable-prompt-on-repost",
    "--disable-print-preview",
    "--deny-permission-prompts",
    // The same pixels on all machines.
    "--disable-gpu",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--disable-lcd-text",
    "--disable-skia-runtime-opts",
    "--disable-partial-raster",
    "--disable-checker-imaging",
    "--disable-image-animation-resync",
    "--disable-smooth-scrolling",
    "--force-prefers-reduced-motion",
    "--blink-settings=imageAnimationPolicy=2",
    "--lang=en-US",
    "--accept-lang=en-US",
    // Pages are not slowed down because nobody looks at them.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    // The frames of a page are in one process, so that they are painted at the same time. Pages of
    // different captures never share one.
    "--disable-site-isolation-trials",
    // Nothing goes around the proxy. Each browser context has one; the one of the command line, for
    // everything else, accepts no connection. Names are resolved by the proxies.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    // A page that allocates without end loses its own process.
    "--js-flags=--max-old-space-size=512",
];

/// Features that are disabled.
const DISABLED_FEATURES: &[&str] = &[
    // Further windows of the browser itself.
    "WebUIOmniboxPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxAimPopup",
    "GlobalMediaControls",
    "InitialWebUI",
    // Requests that no page makes.
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "MediaRouter",
    "OptimizationGuideModelDownloading",
    "OptimizationHints",
    "OptimizationTargetPrediction",
    "Prerender2",
    "SpeculationRulesPrefetchFuture",
    "Translate",
    // The URL is loaded as it is given.
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    // The proxy decides about addresses.
    "LocalNetworkAccessChecks",
    "AsyncDns",
    "DnsOverHttps",
    "EncryptedClientHello",
    // One process for the frames of a page.
    "IsolateOrigins",
    "IsolateSandboxedIframes",
    "site-per-process",
    // The new page is painted at once.
    "PaintHolding",
    "BackForwardCache",
    "AcceptCHFrame",
    "DestroyProfileOnBrowserClose",
];

/// Whether the processes of pages are confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sandbox {
    /// They are.
    Confined,
    /// They have the rights of the server.
    Unconfined,
}

/// Returns the arguments of Chromium. `closed` is an address that accepts no connection.
pub(super) fn arguments(profile: &Path, sandbox: Sandbox, closed: SocketAddr) -> Vec<OsString> {
    let mut user_data_dir = OsString::from("--user-data-dir=");
    user_data_dir.push(profile);
    let mut arguments: Vec<OsString> = FLAGS.iter().map(OsString::from).collect();
    arguments.push(format!("--disable-features={}", DISABLED_FEATURES.join(",")).into());
    arguments.push(format!("--proxy-server=http://{closed}").into());
    arguments.push(user_data_dir);
    if sandbox == Sandbox::Unconfined {
        arguments.push("--no-sandbox".into());
    }
    arguments
}
