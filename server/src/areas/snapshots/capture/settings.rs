//! The settings of the browser.

use std::path::PathBuf;

/// The settings of the browser.
#[derive(Clone, Debug)]
pub struct BrowserSettings {
    /// The Chromium executable; without one it is looked for on the search path.
    pub executable: Option<PathBuf>,
    /// Whether Chromium confines the processes of pages.
    pub sandbox: SandboxMode,
    /// The directory in which profiles are made; they are deleted when the browser ends.
    pub profile_root: PathBuf,
}

/// Whether Chromium confines the processes of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// Unless the server runs as root, as which Chromium refuses to start with a sandbox.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never: a page that exploits the browser has the rights of the server.
    Off,
}

impl Default for BrowserSettings {
    fn default() -> Self {
        Self {
            executable: None,
            sandbox: SandboxMode::default(),
            profile_root: std::env::temp_dir(),
        }
    }
}
