//! Where a file is within its program: its path without what differs from machine to machine and from release to release.
//!
//! 1. Queries, schemes and hosts go.
//! 2. What a package manager installed begins behind its folder (`site-packages`, `node_modules`, …), without versions.
//! 3. An absolute path loses the folder that programs are installed in or a person works in, and begins at the folder of its
//!    sources where it has one; else it loses the folder of its program, and its last folders stay.
//! 4. Folders that are versions, commits, build ids or dates go, and so do the hashes of bundles.

use super::bundles;

/// Folders of package managers: what is behind the last of them is the path within the packages.
const OF_PACKAGES: [&str; 4] = ["site-packages", "dist-packages", "node_modules", "gems"];
/// Pairs of folders that do the same, and how many folders follow that are not part of the path.
const PAIRS_OF_PACKAGES: [(&str, &str, usize); 4] =
    [("pkg", "mod", 0), ("registry", "src", 1), ("git", "checkouts", 1), ("rustlib", "src", 0)];
/// Folders that one program is in, on servers, in containers and where it is built. `*` stands for any folder.
const OF_PROGRAM: [&[&str]; 14] = [
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
/// Folders that have programs in folders of their own.
const OF_PROGRAMS: [&[&str]; 19] = [
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
/// Folders below these in which people keep their programs.
const WORKED_IN: [&str; 11] = [
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
/// Folders that programs keep their sources in.
const OF_SOURCES: [&str; 6] = ["src", "lib", "app", "dist", "packages", "cmd"];
/// Folders that stay of an absolute path without a folder of sources.
const FOLDERS_KEPT: usize = 2;
/// From so many digits on, a folder of digits is a date, a build or an id.
const NUMBER_CHARS_MIN: usize = 4;

/// The path of a file within its program.
pub(super) fn stable(path: &str) -> String {
    if path.starts_with(['<', '[']) {
        // `<stdin>`, `<ipython-input-3-0123abcd>`
        return path.chars().filter(|c| !c.is_ascii_digit()).collect::<String>().to_lowercase();
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (path, is_absolute) = without_origin(path);
    let all: Vec<&str> =
        path.split(['/', '\\']).filter(|folder| !matches!(*folder, "" | "." | "..")).collect();
    let Some((name, folders)) = all.split_last() else { return String::new() };
    let lower: Vec<String> = folders.iter().map(|folder| folder.to_lowercase()).collect();
    let within = match of_package(&lower) {
        Some(packages) => packages.len(),
        None if is_absolute => of_program(&lower).len(),
        None => lower.len(),
    };
    // Build ids are told by their capitals.
    let folders = folders.iter().skip(folders.len() - within);
    let kept = folders.filter_map(|folder| stable_folder(folder)).map(str::to_lowercase);
    kept.chain([bundles::unhashed(name)]).collect::<Vec<_>>().join("/")
}

/// The path without scheme, host and drive, and whether it begins at the root of a machine.
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

/// The folders within packages, of a file that is of one.
fn of_package(folders: &[String]) -> Option<&[String]> {
    let single = folders.iter().rposition(|folder| OF_PACKAGES.contains(&folder.as_str()));
    let begin = single.map(|at| at + 1).or_else(|| {
        let pair = |pair: &[String]| {
            let [first, second] = pair else { return None };
            PAIRS_OF_PACKAGES.iter().find(|(a, b, _)| first == a && second == b)
        };
        let mut found =
            folders.windows(2).enumerate().filter_map(|(at, two)| Some((at, pair(two)?)));
        found.next_back().map(|(at, (_, _, skipped))| at + 2 + skipped)
    });
    let begin = begin.or_else(|| {
        // The standard libraries of Python and Ruby: `lib/python3.11`, `lib/ruby/3.2.0`.
        folders
            .windows(2)
            .position(|two| match two {
                [lib, language] => {
                    lib == "lib" && (language.starts_with("python") || language == "ruby")
                }
                _ => false,
            })
            .map(|at| at + 2)
    })?;
    Some(folders.get(begin..).unwrap_or_default())
}

/// The folders within a program, of the absolute path of a file.
fn of_program(folders: &[String]) -> &[String] {
    // A file of a container, as its host sees it.
    let folders = match folders.iter().position(|folder| folder == "merged") {
        Some(at) => folders.get(at + 1..).unwrap_or_default(),
        None => folders,
    };
    // What tools deploy: the program begins behind.
    let released = |at: usize| {
        let two = folders.get(at..).unwrap_or_default();
        match two {
            [first, second, ..] if first == "releases" && is_of_digits(second) => Some(at + 2),
            [first, ..] if first == "current" => Some(at + 1),
            _ => None,
        }
    };
    if let Some(begin) = (0..folders.len()).filter_map(released).next_back() {
        return folders.get(begin..).unwrap_or_default();
    }
    let longest = |prefixes: &[&[&str]]| {
        let fits = |prefix: &&&[&str]| {
            let wanted = prefix.iter().zip(folders);
            prefix.len() <= folders.len()
                && wanted.into_iter().all(|(wanted, folder)| *wanted == "*" || wanted == folder)
        };
        prefixes.iter().filter(fits).map(|prefix| prefix.len()).max().unwrap_or(0)
    };
    let (program, programs) = (longest(&OF_PROGRAM), longest(&OF_PROGRAMS));
    let is_one_of_several = programs > program;
    let mut rest = folders.get(programs.max(program)..).unwrap_or_default();
    // Sources of a program are below its own folder: directly here it is one that programs are kept in.
    if let [first, below @ ..] = rest
        && is_one_of_several
        && first == "src"
        && below.len() > 1
    {
        rest = below;
    }
    while let [first, below @ ..] = rest
        && is_one_of_several
        && !below.is_empty()
        && WORKED_IN.contains(&first.as_str())
    {
        rest = below;
    }
    if let Some(begin) = rest.iter().position(|folder| OF_SOURCES.contains(&folder.as_str())) {
        return rest.get(begin..).unwrap_or_default();
    }
    if let [_own, below @ ..] = rest
        && is_one_of_several
        && !below.is_empty()
    {
        rest = below;
    }
    rest.get(rest.len().saturating_sub(FOLDERS_KEPT)..).unwrap_or_default()
}

/// A folder without its version; none where it is nothing else, or is of one build alone.
fn stable_folder(folder: &str) -> Option<&str> {
    let is_build = is_version(folder) || is_of_digits(folder) || bundles::is_hashed_folder(folder);
    if is_build {
        return None;
    }
    let version = folder.char_indices().find(|(at, c)| {
        *at > 0 && matches!(c, '-' | '@' | '_') && folder.get(at + 1..).is_some_and(is_version)
    });
    match version {
        Some((at, _)) => folder.get(..at),
        None => Some(folder),
    }
}

fn is_of_digits(folder: &str) -> bool {
    folder.len() >= NUMBER_CHARS_MIN && folder.bytes().all(|b| b.is_ascii_digit())
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
    fn a_path_is_the_one_within_the_program_on_every_machine() {
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
