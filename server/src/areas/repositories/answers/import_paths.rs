//! Which file the path of an import names: `dup.b.util` is `dup/b/util.py`, not `dup/a/util.py`.

use super::files::OpenFile;
use crate::areas::repositories::source::Language;

/// Files that stand for their folder.
const FOLDER_FILES: [&str; 6] = ["mod", "lib", "main", "index", "__init__", "package-info"];
/// The crates of Rust's standard library.
const STANDARD_CRATES: [&str; 3] = ["std", "core", "alloc"];
/// Endings that imports of JavaScript may have.
const SCRIPT_ENDINGS: [&str; 6] = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs"];

/// Returns how well the path of an import in a file names the module at another path, or one around
/// it, which may export what is in it; 0 if it names another module.
pub(super) fn import_fit(import: &str, from: &OpenFile, to: &str) -> usize {
    fit(import, from.outline.language, &from.path, to)
}

fn fit(import: &str, language: Option<Language>, from: &str, to: &str) -> usize {
    let modules = modules(to, language);
    match language {
        Some(Language::Rust) => rust_fit(import, &self::modules(from, language), &modules),
        Some(Language::Python) => python_fit(import, from, &modules),
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
            script_fit(import, from, &modules)
        }
        Some(Language::Java) => suffix_fit(&import.split('.').collect::<Vec<_>>(), &modules),
        _ => {
            let parts: Vec<&str> = import.split(['/', ':', '\\']).filter(is_named).collect();
            let last = parts.last().map(|part| stem(part));
            let parts = parts.iter().rev().skip(1).copied();
            let parts = last.into_iter().chain(parts);
            2 * parts.zip(modules.iter().rev()).take_while(|(left, right)| left == *right).count()
        }
    }
}

fn rust_fit(import: &str, own: &[&str], modules: &[&str]) -> usize {
    let parts: Vec<&str> = import.split("::").filter(is_named).collect();
    let Some((first, rest)) = parts.split_first() else { return 0 };
    match *first {
        "crate" | "$crate" if rest.is_empty() => 1,
        "crate" | "$crate" => suffix_fit(rest, modules),
        "self" => {
            let full: Vec<&str> = own.iter().chain(rest).copied().collect();
            prefix_fit(&full, modules)
        }
        "super" => {
            let levels = parts.iter().take_while(|part| **part == "super").count();
            // In a module within the file, one level less leads out of the file.
            let outer = |levels: usize| {
                let outer = own.get(..own.len().saturating_sub(levels)).unwrap_or_default();
                let inner = parts.iter().skip_while(|part| **part == "super");
                let full: Vec<&str> = outer.iter().chain(inner).copied().collect();
                prefix_fit(&full, modules)
            };
            outer(levels).max(outer(levels - 1))
        }
        root if STANDARD_CRATES.contains(&root) => 0,
        root => match suffix_fit(&parts, modules) {
            0 if rest.is_empty() => usize::from(modules.contains(&root)),
            0 => suffix_fit(rest, modules),
            fit => fit,
        },
    }
}

fn python_fit(import: &str, from: &str, modules: &[&str]) -> usize {
    let name = import.trim_start_matches('.');
    let levels = import.len() - name.len();
    let parts = name.split('.').filter(is_named);
    if levels == 0 {
        return suffix_fit(&parts.collect::<Vec<_>>(), modules);
    }
    let folders: Vec<&str> = from.split('/').collect();
    let outer = folders.get(..folders.len().saturating_sub(levels)).unwrap_or_default();
    prefix_fit(&outer.iter().copied().chain(parts).collect::<Vec<_>>(), modules)
}

fn script_fit(import: &str, from: &str, modules: &[&str]) -> usize {
    let path = SCRIPT_ENDINGS.iter().find_map(|end| import.strip_suffix(end)).unwrap_or(import);
    if !path.starts_with('.') {
        let is_alias = |part: &&str| part.starts_with(['@', '~']);
        let parts = path.split('/').filter(is_named).filter(|part| !is_alias(part));
        return suffix_fit(&parts.collect::<Vec<_>>(), modules);
    }
    let mut full: Vec<&str> = from.split('/').collect();
    full.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                full.pop();
            }
            part => full.push(part),
        }
    }
    if full.last() == Some(&"index") {
        full.pop();
    }
    prefix_fit(&full, modules)
}

fn is_named(part: &&str) -> bool {
    !part.is_empty()
}

/// Returns the file and folders of a path, as parts of the path of its module.
fn modules(path: &str, language: Option<Language>) -> Vec<&str> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let file = parts.pop().map(stem).unwrap_or_default();
    // A package of Go is a folder.
    if !FOLDER_FILES.contains(&file) && language != Some(Language::Go) {
        parts.push(file);
    }
    parts
}

fn stem(file: &str) -> &str {
    file.split('.').next().unwrap_or_default()
}

/// Returns the fit of the last parts of the path of a module, or of one around it.
fn suffix_fit(parts: &[&str], modules: &[&str]) -> usize {
    let ends = (0..=modules.len()).rev();
    let fits = |end: &usize| modules.get(..*end).is_some_and(|outer| outer.ends_with(parts));
    fit_at(parts, modules, ends.filter(|_| !parts.is_empty()).find(fits))
}

/// Returns the fit of all parts of the path of a module, or of one around it.
fn prefix_fit(parts: &[&str], modules: &[&str]) -> usize {
    fit_at(parts, modules, modules.starts_with(parts).then_some(parts.len()))
}

fn fit_at(parts: &[&str], modules: &[&str], end: Option<usize>) -> usize {
    end.map_or(0, |end| 2 * parts.len().max(1) + usize::from(end == modules.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_modules_and_those_around_them() {
        for (import, from, to, fits) in [
            ("dup.b.util", "dup/main.py", "dup/b/util.py", true),
            ("dup.b.util", "dup/main.py", "dup/a/util.py", false),
            ("flask", "tests/test_a.py", "src/flask/templating.py", true),
            ("os.path", "a.py", "src/path.py", false),
            (".util", "dup/b/x.py", "dup/b/util.py", true),
            ("..util", "dup/b/x.py", "dup/b/util.py", false),
            ("crate::store", "src/main.rs", "src/store.rs", true),
            ("crate::store", "src/main.rs", "src/store/log.rs", true),
            ("crate::store", "src/main.rs", "src/other.rs", false),
            ("super::util", "src/b/main.rs", "src/b/util.rs", true),
            ("super", "src/store.rs", "src/store.rs", true),
            ("std::fs", "src/main.rs", "src/fs/mod.rs", false),
            ("tokio::fs", "src/main.rs", "src/fs/mod.rs", true),
            ("./util", "web/a/x.ts", "web/a/util.ts", true),
            ("../b/util.js", "web/a/x.ts", "web/b/util/index.ts", true),
            ("./util", "web/a/x.ts", "web/b/util.ts", false),
            ("github.com/x/y/store", "main.go", "store/log.go", true),
            ("github.com/x/y/store", "main.go", "other/log.go", false),
            ("com.x.util", "src/com/x/A.java", "src/com/x/util/B.java", true),
            ("lib/util.h", "main.c", "lib/util.c", true),
        ] {
            let found = fit(import, Language::of(from, ""), from, to);
            assert_eq!(found > 0, fits, "{import} in {from}: {to}");
        }
    }
}
