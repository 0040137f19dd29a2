//! The paths of frames, and which paths of a repository they can be.

use super::find::FramePlace;

/// Folders in which programs have the code of others, by their parts. What is below one in a frame
/// is in a repository only if the repository has the same folder.
const LIBRARY_FOLDERS: &[&[&str]] = &[
    &[".cargo", "registry"],
    &[".cargo", "git"],
    &[".rustup"],
    &["library", "alloc"],
    &["library", "core"],
    &["library", "std"],
    &["site-packages"],
    &["dist-packages"],
    &["node_modules"],
    &["bower_components"],
    &["node:internal"],
    &["go", "pkg", "mod"],
    &["gems"],
    &["vendor"],
    &["third_party"],
    &[".m2", "repository"],
    &[".nuget", "packages"],
];

/// The same, of which only the root of the file system counts.
const ROOT_LIBRARY_FOLDERS: &[&[&str]] = &[
    &["rustc"],
    &["usr", "lib"],
    &["usr", "lib64"],
    &["usr", "include"],
    &["usr", "share"],
    &["usr", "local", "lib"],
    &["usr", "local", "go"],
    &["usr", "local", "include"],
    &["lib"],
    &["lib64"],
];

/// The path of a frame, by its parts.
#[derive(Debug)]
pub(super) struct FrameName<'a> {
    parts: Vec<&'a str>,
    /// From 1; 0 is none.
    pub(super) line: u32,
    /// How many parts at the end a path has in common with it at least.
    parts_min: usize,
}

impl<'a> FrameName<'a> {
    pub(super) fn new(place: &'a FramePlace) -> Self {
        let path = place.file.split(['?', '#']).next().unwrap_or_default();
        // `webpack:///./src/a.js` and `app:///a.js` have no folder of that name.
        let (is_url, path) = match path.split_once("://") {
            Some((_, path)) => (true, path),
            None => (false, path),
        };
        let is_absolute = !is_url && path.starts_with('/');
        let parts = path.split(['/', '\\']);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty() && *part != ".").collect();
        let below = library_folder(&parts, is_absolute).map(|at| parts.len() - at);
        // A name alone is that of many files, so it is compared only if nothing else is known.
        let parts_min = below.unwrap_or_else(|| parts.len().min(2));
        Self { parts, line: place.line, parts_min }
    }

    /// Returns how many parts at the end of a path are the same; 0 unless one of the paths is the
    /// end of the other, and enough are the same.
    pub(super) fn fit(&self, path: &str) -> usize {
        let mut common = 0;
        let mut parts = self.parts.iter().rev();
        for part in path.split('/').rev() {
            match parts.next() {
                Some(of_frame) if *of_frame == part => common += 1,
                Some(_) => return 0,
                None => break,
            }
        }
        if common >= self.parts_min && self.line > 0 { common } else { 0 }
    }
}

/// Returns the position of the first part of a folder of libraries.
fn library_folder(parts: &[&str], is_absolute: bool) -> Option<usize> {
    let is_of_root = is_absolute && ROOT_LIBRARY_FOLDERS.iter().any(|of| parts.starts_with(of));
    if is_of_root {
        return Some(0);
    }
    (0..parts.len()).find(|at| {
        let rest = parts.get(*at..).unwrap_or_default();
        LIBRARY_FOLDERS.iter().any(|of| rest.starts_with(of)) || is_of_python(rest)
    })
}

/// Returns whether parts begin with `lib/python3.12`.
fn is_of_python(parts: &[&str]) -> bool {
    match parts {
        [folder, version, ..] => {
            folder.eq_ignore_ascii_case("lib")
                && version
                    .strip_prefix("python")
                    .is_some_and(|digits| digits.starts_with(|char: char| char.is_ascii_digit()))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &str, path: &str, expected: usize) {
        let place = FramePlace { file: frame.to_owned(), line: 1 };
        assert_eq!(FrameName::new(&place).fit(path), expected, "{frame} {path}");
        assert_eq!(FrameName::new(&FramePlace { line: 0, ..place }).fit(path), 0);
    }

    #[test]
    fn paths_are_compared_from_their_ends() {
        for (frame, path, common) in [
            ("/srv/app/src/a.rs", "src/a.rs", 2),
            ("src/a.rs", "crates/x/src/a.rs", 2),
            ("C:\\app\\src\\a.cs", "src/a.cs", 2),
            ("webpack:///./src/a.js?x", "src/a.js", 2),
            ("app:///a.js", "a.js", 1),
            ("a.rs", "src/a.rs", 1),
            ("a.rs", "a.rs", 1),
            ("/srv/app/a.rs", "a.rs", 0),
            ("lib/a.rs", "a.rs", 0),
            ("/srv/app/lib/a.rs", "src/a.rs", 0),
            ("b.rs", "src/a.rs", 0),
            ("", "src/a.rs", 0),
        ] {
            check(frame, path, common);
        }
    }

    #[test]
    fn frames_of_libraries_are_not_of_a_repository() {
        for (frame, path) in [
            ("/build/.cargo/registry/src/index.crates.io-1/h2-0.4/src/error.rs", "src/error.rs"),
            ("/rustc/abc/library/core/src/sync/mod.rs", "src/sync/mod.rs"),
            ("library/std/src/io/mod.rs", "src/io/mod.rs"),
            ("/usr/lib/python3.11/json/decoder.py", "json/decoder.py"),
            ("/opt/python/lib/python3.12/json/decoder.py", "json/decoder.py"),
            ("/usr/local/lib/ruby/3.3.0/json/common.rb", "json/common.rb"),
            ("/srv/venv/site-packages/shop/retry.py", "shop/retry.py"),
            ("C:\\py\\Lib\\site-packages\\shop\\retry.py", "shop/retry.py"),
            ("/app/node_modules/shop/src/index.js", "src/index.js"),
            ("webpack:///./node_modules/shop/src/index.js", "src/index.js"),
            ("/app/node_modules/a/node_modules/b/i.js", "node_modules/b/i.js"),
            ("/build/go/pkg/mod/example.com/x@v1.2.0/src/a.go", "src/a.go"),
            ("/usr/local/go/src/net/http/server.go", "net/http/server.go"),
            ("/bundle/ruby/3.3.0/gems/rack-3.0/lib/rack.rb", "lib/rack.rb"),
            ("/app/vendor/example.com/x/a.go", "x/a.go"),
        ] {
            check(frame, path, 0);
        }
        check("/app/vendor/example.com/x/a.go", "vendor/example.com/x/a.go", 4);
        check("/app/node_modules/shop/i.js", "web/node_modules/shop/i.js", 0);
        check("node_modules/shop/i.js", "web/node_modules/shop/i.js", 3);
        check("library/std/src/io/mod.rs", "library/std/src/io/mod.rs", 5);
    }
}
