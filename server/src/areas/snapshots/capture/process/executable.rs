//! Where Chromium is installed.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::areas::snapshots::capture::error::CaptureError;
use crate::areas::snapshots::capture::settings::BrowserSettings;

/// The names of Chromium and of what it is built into.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Returns the executable of the settings, or the one on the search path of the server.
pub(in super::super) fn find_executable(
    settings: &BrowserSettings,
) -> Result<PathBuf, CaptureError> {
    find(settings.executable.as_deref(), search_path().as_deref())
}

#[expect(clippy::disallowed_methods, reason = "the search path of programs is not a setting")]
fn search_path() -> Option<OsString> {
    std::env::var_os("PATH")
}

/// Returns the configured executable, or the first one of a search path (`/usr/bin:/bin`).
fn find(configured: Option<&Path>, search_path: Option<&OsStr>) -> Result<PathBuf, CaptureError> {
    if let Some(path) = configured {
        return is_executable(path).then(|| path.to_owned()).ok_or_else(|| {
            let path = path.display();
            CaptureError::unavailable(format!("the browser {path} is not an executable file"))
        });
    }
    let directories = search_path.map(std::env::split_paths).into_iter().flatten();
    // A relative directory would depend on where the server was started.
    let absolute: Vec<PathBuf> = directories.filter(|path| path.is_absolute()).collect();
    let candidates = NAMES.iter().flat_map(|name| absolute.iter().map(move |dir| dir.join(name)));
    candidates.into_iter().find(|path| is_executable(path)).ok_or_else(|| {
        CaptureError::unavailable(
            "Chromium is not installed: install the Debian package chromium, or configure the \
             path of the browser",
        )
    })
}

fn is_executable(path: &Path) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_browser_is_configured_or_on_the_search_path() {
        let root = tempfile::tempdir().unwrap();
        let (empty, bin) = (root.path().join("empty"), root.path().join("bin"));
        fs::create_dir_all(&empty).unwrap();
        fs::create_dir_all(&bin).unwrap();
        let path = std::env::join_paths([&empty, &bin]).unwrap();
        let missing = find(None, Some(&path)).unwrap_err();
        assert_eq!(missing.code(), "unavailable");
        assert!(missing.to_string().contains("the Debian package chromium"));
        let chrome = bin.join("google-chrome");
        fs::write(&chrome, "").unwrap();
        assert!(find(None, Some(&path)).is_err(), "not executable");
        fs::set_permissions(&chrome, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(None, Some(&path)), Ok(chrome.clone()));
        assert_eq!(find(Some(&chrome), None), Ok(chrome));
        assert!(find(Some(&empty), Some(&path)).is_err(), "a directory");
        assert!(find(None, None).is_err());
    }
}
