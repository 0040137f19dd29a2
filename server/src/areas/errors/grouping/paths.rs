//! Returns the path of a file within its program, without what differs between machines and
//! releases:
//!
//! 1. Query strings, schemes and hosts are removed.
//! 2. The path of an installed package begins after the directory of its package manager
//!    (`site-packages`, `node_modules`, …), without versions.
//! 3. An absolute path loses the directory that programs are installed in or a person works in. It
//!    begins at the source directory of the program if there is one; otherwise it loses the
//!    program's own directory, and its last directories remain.
//! 4. Directories that are versions, commits, build ids or dates are removed, and so are the hashes
//!    of bundles.
//!
//! Slices are taken at positions that were found in the same path, so they always exist.

use super::bundles;

/// Directories of package managers: the path within the packages begins after the last of them.
const PACKAGE_DIRS: [&str; 4] = ["site-packages", "dist-packages", "node_modules", "gems"];
/// Pairs of directories with the same meaning, and how many directories after them are not part of
/// the path.
const PACKAGE_DIR_PAIRS: [(&str, &str, usize); 4] =
    [("pkg", "mod", 0), ("registry", "src", 1), ("git", "checkouts", 1), ("rustlib", "src", 0)];
/// Directories that contain one program, on servers, in containers and on build machines. `*`
/// matches any directory.
const PROGRAM_DIRS: [&[&str]; 14] = [
    &["app"],
    &["srv", "app"],
    &["opt", "app"],
    &["usr", "app"],
    &["usr", "src", "app"],
    &["usr", "local", "app"],
    &["var", "www", "html"],
    &["var", "task"],
    &["var", "app", "current"],
    &["home", "*", "app"],
    &["home", "runner", "work", "*", "*"],
    &["builds", "*", "*"],
    &["github", "workspace"],
    &["inetpub", "wwwroot"],
];
/// Directories that contain programs in directories of their own.
const PROGRAM_PARENT_DIRS: [&[&str]; 19] = [
    &["home", "*"],
    &["users", "*"],
    &["root"],
    &["srv"],
    &["opt"],
    &["var", "www"],
    &["var", "lib"],
    &["usr", "src"],
    &["usr", "local", "lib"],
    &["usr", "local"],
    &["usr", "lib"],
    &["usr", "share"],
    &["private", "tmp"],
    &["tmp"],
    &["workspace"],
    &["workspaces"],
    &["code"],
    &["mnt"],
    &["data"],
];
/// Directories below these in which people keep their programs.
const WORKSPACE_DIRS: [&str; 11] = [
    "projects",
    "code",
    "work",
    "workspace",
    "repos",
    "git",
    "github",
    "dev",
    "documents",
    "desktop",
    "source",
];
/// Source directories of programs.
const SOURCE_DIRS: [&str; 6] = ["src", "lib", "app", "dist", "packages", "cmd"];
/// How many directories remain of an absolute path without a source directory.
const DIRS_KEPT: usize = 2;
/// The minimum digits of a directory name that is a date, a build or an id.
const NUMBER_CHARS_MIN: usize = 4;

/// Returns the path of a file within its program, in lower case.
pub(super) fn stable(path: &str) -> String {
    if path.starts_with(['<', '[']) {
        // `<stdin>`, `<ipython-input-3-0123abcd>`
        return path.chars().filter(|c| !c.is_ascii_digit()).collect::<String>().to_lowercase();
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (path, is_absolute) = without_origin(path);
    let all: Vec<&str> =
        path.split(['/', '\\']).filter(|dir| !matches!(*dir, "" | "." | "..")).collect();
    let Some((name, dirs)) = all.split_last() else { return String::new() };
    let lower: Vec<String> = dirs.iter().map(|dir| dir.to_lowercase()).collect();
    let within = match within_package(&lower) {
        Some(packages) => packages.len(),
        None if is_absolute => within_program(&lower).len(),
        None => lower.len(),
    };
    // Build ids are recognised by their capitals, so the names are lowered only afterwards.
    let dirs = dirs.iter().skip(dirs.len() - within);
    let kept = dirs.filter_map(|dir| stable_dir(dir)).map(str::to_lowercase);
    kept.chain([bundles::unhashed(name)]).collect::<Vec<_>>().join("/")
}

/// Returns the path without scheme, host and drive, and whether it is absolute.
fn without_origin(path: &str) -> (&str, bool) {
    if let Some((scheme, rest)) = path.split_once("://") {
        let (_host, below) = rest.split_once('/').unwrap_or((rest, ""));
        return (below, scheme.eq_ignore_ascii_case("file"));
    }
    match path.as_bytes() {
        [b'/' | b'\\', ..] => (path, true),
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => {
            (path.get(2..).unwrap_or_default(), true)
        }
        _ => (path, false),
    }
}

/// Returns the directories within the packages; `None` if the file is not part of a package.
fn within_package(dirs: &[String]) -> Option<&[String]> {
    let single = dirs.iter().rposition(|dir| PACKAGE_DIRS.contains(&dir.as_str()));
    let start = single.map(|at| at + 1).or_else(|| {
        let pair = |pair: &[String]| {
            let [first, second] = pair else { return None };
            PACKAGE_DIR_PAIRS.iter().find(|(a, b, _)| first == a && second == b)
        };
        let mut found = dirs.windows(2).enumerate().filter_map(|(at, two)| Some((at, pair(two)?)));
        found.next_back().map(|(at, (_, _, skipped))| at + 2 + skipped)
    });
    let start = start.or_else(|| {
        // The standard libraries of Python and Ruby: `lib/python3.11`, `lib/ruby/3.2.0`.
        dirs.windows(2)
            .position(|two| match two {
                [lib, language] => {
                    lib == "lib" && (language.starts_with("python") || language == "ruby")
                }
                _ => false,
            })
            .map(|at| at + 2)
    })?;
    Some(dirs.get(start..).unwrap_or_default())
}

/// Returns the directories within the program, given those of an absolute path.
fn within_program(dirs: &[String]) -> &[String] {
    // A file in a container's overlay, as seen by its host.
    let dirs = match dirs.iter().position(|dir| dir == "merged") {
        Some(at) => dirs.get(at + 1..).unwrap_or_default(),
        None => dirs,
    };
    // Deployment tools: the program begins after the release directory.
    let released = |at: usize| {
        let two = dirs.get(at..).unwrap_or_default();
        match two {
            [first, second, ..] if first == "releases" && is_numeric(second) => Some(at + 2),
            [first, ..] if first == "current" => Some(at + 1),
            _ => None,
        }
    };
    if let Some(start) = (0..dirs.len()).filter_map(released).next_back() {
        return dirs.get(start..).unwrap_or_default();
    }
    let longest = |prefixes: &[&[&str]]| {
        let fits = |prefix: &&&[&str]| {
            let wanted = prefix.iter().zip(dirs);
            prefix.len() <= dirs.len()
                && wanted.into_iter().all(|(wanted, dir)| *wanted == "*" || wanted == dir)
        };
        prefixes.iter().filter(fits).map(|prefix| prefix.len()).max().unwrap_or(0)
    };
    let (program, programs) = (longest(&PROGRAM_DIRS), longest(&PROGRAM_PARENT_DIRS));
    let is_below_parent = programs > program;
    let mut rest = dirs.get(programs.max(program)..).unwrap_or_default();
    // Sources of a program are below its own directory, so `src` directly below a parent directory
    // is one that programs are kept in.
    if let [first, below @ ..] = rest
        && is_below_parent
        && first == "src"
        && below.len() > 1
    {
        rest = below;
    }
    while let [first, below @ ..] = rest
        && is_below_parent
        && !below.is_empty()
        && WORKSPACE_DIRS.contains(&first.as_str())
    {
        rest = below;
    }
    if let Some(start) = rest.iter().position(|dir| SOURCE_DIRS.contains(&dir.as_str())) {
        return rest.get(start..).unwrap_or_default();
    }
    if let [_own, below @ ..] = rest
        && is_below_parent
        && !below.is_empty()
    {
        rest = below;
    }
    rest.get(rest.len().saturating_sub(DIRS_KEPT)..).unwrap_or_default()
}

/// Returns a directory name without its version; `None` if the name is only a version or is
/// specific to a build.
fn stable_dir(dir: &str) -> Option<&str> {
    let is_build = is_version(dir) || is_numeric(dir) || bundles::is_hashed_dir(dir);
    if is_build {
        return None;
    }
    let version = dir.char_indices().find(|(at, c)| {
        *at > 0 && matches!(c, '-' | '@' | '_') && dir.get(at + 1..).is_some_and(is_version)
    });
    match version {
        Some((at, _)) => dir.get(..at),
        None => Some(dir),
    }
}

fn is_numeric(dir: &str) -> bool {
    dir.len() >= NUMBER_CHARS_MIN && dir.bytes().all(|b| b.is_ascii_digit())
}

/// `1.2`, `v1.2.3`, `3.2.0-beta.1`
fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix('v').unwrap_or(text);
    let mut numbers = digits.split('.');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| part.bytes().next().is_some_and(|b| b.is_ascii_digit()))
    };
    is_number(numbers.next())
        && is_number(numbers.next())
        && digits.split('.').next().is_some_and(|major| major.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_program_on_every_machine() {
        for (path, expected) in [
            ("app/views.py", "app/views.py"),
            ("./src/cart/index.js", "src/cart/index.js"),
            ("/srv/app/orders/views.py", "orders/views.py"),
            (concat!("/ho", "me/ann/shop/api/views.py"), "api/views.py"),
            (concat!("/ho", "me/ann/src/shop/app/views.py"), "app/views.py"),
            (concat!("/ho", "me/ann/shop/views.py"), "shop/views.py"),
            (concat!("/ho", "me/ann/wo", "rk/views.py"), "work/views.py"),
            ("/srv/shop/api/views.py", "api/views.py"),
            ("/srv/shop/views.py", "shop/views.py"),
            ("/usr/local/app/api/views.py", "api/views.py"),
            ("/app/api/views.py", "api/views.py"),
            ("/app/orders/api/views.py", "orders/api/views.py"),
            (concat!("/ho", "me/bob/projects/shop/api/views.py"), "api/views.py"),
            (concat!("/Users/ann/wo", "rk/shop/src/api/Views.py"), "src/api/views.py"),
            ("/srv/shop/releases/20260102030405/app/models/cart.rb", "app/models/cart.rb"),
            ("/var/www/shop/current/app/models/cart.rb", "app/models/cart.rb"),
            ("/opt/shop-1.2.3/bin/run.py", "bin/run.py"),
            (r"C:\Users\ann\source\repos\Shop\src\Cart.cs", "src/cart.cs"),
            ("/x/.venv/lib/python3.11/site-packages/django/db/models.py", "django/db/models.py"),
            ("/usr/lib/python3.11/json/decoder.py", "json/decoder.py"),
            ("/app/node_modules/.pnpm/react@18.2.0/node_modules/react/index.js", "react/index.js"),
            ("/usr/local/bundle/gems/rack-3.0.8/lib/rack/head.rb", "rack/lib/rack/head.rb"),
            (
                concat!("/ho", "me/u/go/pkg/mod/github.com/gorilla/mux@v1.8.0/mux.go"),
                "github.com/gorilla/mux/mux.go",
            ),
            (
                concat!(
                    "/ro",
                    "ot/.cargo/registry/src/index.crates.io-6f17d22bba15001f/serde-1.0.188/src/de.rs"
                ),
                "serde/src/de.rs",
            ),
            ("/var/lib/docker/overlay2/0123456789abcdef/merged/app/main.py", "main.py"),
            ("https://cdn.example.com/static/js/main.3f2a1b.js?v=2#x", "static/js/main.js"),
            ("https://other.example.com/1.2.3/static/js/main.BxK3_a9Q.js", "static/js/main.js"),
            ("webpack:///./src/cart/index.js?ab12", "src/cart/index.js"),
            ("app:///dist/server.js", "dist/server.js"),
            ("file:///app/dist/server.js", "dist/server.js"),
            ("node:internal/process/task_queues", "node:internal/process/task_queues"),
            ("<stdin>", "<stdin>"),
            ("https://example.com/", ""),
            ("", ""),
        ] {
            assert_eq!(stable(path), expected, "{path}");
        }
    }
}
