//! Which routes the tests cover. A test that covers a route declares it, and fails if it never
//! called it; the contract test compares the declarations with the table of routes.

use std::cell::RefCell;
use std::path::Path;

/// The behaviour of a route that a test covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Case {
    /// Its success.
    Happy,
    /// Its refusals.
    Refusal,
}

thread_local! {
    /// The requests of this test so far: method, path without query, status.
    static ASKED: RefCell<Vec<(String, String, u16)>> = const { RefCell::new(Vec::new()) };
}

/// Records a request of this test that got a response.
pub(crate) fn note(method: &str, path: &str, status: u16) {
    let path = path.split('?').next().unwrap_or_default();
    ASKED.with_borrow_mut(|asked| asked.push((method.to_owned(), path.to_owned(), status)));
}

/// The declaration that a test calls a route, made by [`covers!`](crate::covers) and checked when
/// the test ends.
#[derive(Debug)]
pub struct Covered {
    route: &'static str,
    case: Case,
}

impl Covered {
    /// Declares that this test calls `route` (`POST /api/v1/keys`) with this outcome.
    pub fn new(route: &'static str, case: Case) -> Self {
        Self { route, case }
    }

    fn kept(&self) -> bool {
        ASKED.with_borrow(|asked| {
            asked.iter().any(|(method, path, status)| {
                let outcome = if *status < 400 { Case::Happy } else { Case::Refusal };
                outcome == self.case && matches(self.route, method, path)
            })
        })
    }
}

impl Drop for Covered {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.kept(), "the test says that it covers {} and did not", self.route);
        }
    }
}

/// Returns whether a request went to this route. A segment in braces matches any one segment; one
/// that is called `{path}` and is the last matches all that follow.
fn matches(route: &str, method: &str, path: &str) -> bool {
    let Some((wanted, template)) = route.split_once(' ') else { return false };
    if let Some(directory) = template.strip_suffix("{path}") {
        let is_below = |path: &str| matches(&format!("{method} {directory}"), method, path);
        let ends = path.match_indices('/').map(|(at, _)| at + 1);
        return wanted == method
            && ends.filter_map(|end| path.get(..end)).any(is_below)
            && !path.ends_with('/');
    }
    let mut given = path.split('/');
    wanted == method
        && template.split('/').all(|part| {
            given.next().is_some_and(|segment| part == segment || part.starts_with('{'))
        })
        && given.next().is_none()
}

/// Declares that the enclosing test covers a route: `covers!("POST /api/v1/metrics", Happy);`
#[macro_export]
macro_rules! covers {
    ($route:literal, $case:ident) => {
        let _covered = $crate::Covered::new($route, $crate::Case::$case);
    };
}

/// Returns all declarations in the source files in `folder`.
pub fn declarations(folder: &Path) -> Vec<(String, Case)> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        panic!("{} cannot be read", folder.display())
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(declarations(&path));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.extend(text.lines().filter_map(declaration));
        }
    }
    found
}

fn declaration(line: &str) -> Option<(String, Case)> {
    let inner = line.trim().strip_prefix("covers!(\"")?.strip_suffix(");")?;
    let (route, case) = inner.split_once("\", ")?;
    let case = match case {
        "Happy" => Case::Happy,
        "Refusal" => Case::Refusal,
        _ => return None,
    };
    Some((route.to_owned(), case))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_stands_for_one_segment_where_it_has_braces() {
        for (route, method, path, expected) in [
            ("GET /a/{name}", "GET", "/a/b", true),
            ("GET /a/{name}", "GET", "/a/b%2Fc", true),
            ("GET /a/{name}", "POST", "/a/b", false),
            ("GET /a/{name}", "GET", "/a", false),
            ("GET /a/{name}", "GET", "/a/b/c", false),
            ("GET /a/{name}/x", "GET", "/a/b/x", true),
            ("GET /a/{name}/x", "GET", "/a/b/y", false),
        ] {
            assert_eq!(matches(route, method, path), expected, "{route} {method} {path}");
        }
    }

    #[test]
    fn a_promise_that_was_not_kept_fails_the_test() {
        note("GET", "/kept", 404);
        assert!(Covered::new("GET /kept", Case::Refusal).kept());
        let broken = std::panic::catch_unwind(|| drop(Covered::new("GET /kept", Case::Happy)));
        assert!(broken.is_err());
    }

    #[test]
    fn declarations_are_read_from_the_text() {
        let line = "    covers!(\"GET /a/{b}\", Refusal);";
        assert_eq!(declaration(line), Some(("GET /a/{b}".to_owned(), Case::Refusal)));
        assert_eq!(declaration("// covers nothing"), None);
    }
}
