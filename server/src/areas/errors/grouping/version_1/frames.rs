//! What version 1 takes from a stack, and never changes: modules or names of files, and functions; no lines, no folders, no
//! numbers that compilers and bundlers make up.

use std::borrow::Cow;

use super::super::super::occurrence::Frame;
use super::super::shared::{Line, own_frames};

/// What the frames of the program itself say, or all of them where none is. A function that calls itself counts once.
pub(super) fn lines<'f>(stack: &'f [Frame<'_>]) -> Vec<Line<'f>> {
    let mut lines: Vec<Line<'f>> = own_frames(stack).filter_map(line).collect();
    lines.dedup();
    lines
}

fn line<'f>(frame: &'f Frame<'_>) -> Option<Line<'f>> {
    let file = frame.filename.as_deref().or(frame.abs_path.as_deref());
    let place = match frame.module.as_deref() {
        Some(module) => Cow::Borrowed(module),
        None => file.map(file_name).unwrap_or_default(),
    };
    let function = frame.function.as_deref().map(function_name).unwrap_or_default();
    (!place.is_empty() || !function.is_empty()).then_some(Line { place, function })
}

/// The name of a file in lower case, without folders, query and the hashes that bundlers add.
fn file_name(path: &str) -> Cow<'_, str> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_hash = |part: &str| {
        part.len() >= 8
            && part.bytes().all(|b| b.is_ascii_hexdigit())
            && part.bytes().any(|b| b.is_ascii_digit())
    };
    let parts = || name.split(['.', '-']);
    if parts().any(is_hash) {
        let kept: Vec<String> =
            parts().filter(|part| !is_hash(part)).map(str::to_lowercase).collect();
        return Cow::Owned(kept.join("."));
    }
    if name.chars().any(char::is_uppercase) {
        return Cow::Owned(name.to_lowercase());
    }
    Cow::Borrowed(name)
}

/// The name of a function; one that a compiler made up for a function without a name is none, and has no numbers.
fn function_name(function: &str) -> Cow<'_, str> {
    const NAMELESS: [&str; 6] =
        ["?", "<anonymous>", "anonymous", "<lambda>", "<module>", "Object.<anonymous>"];
    const MADE_UP: [&str; 3] = ["lambda", "anonymous", "closure"];
    if NAMELESS.contains(&function) {
        return Cow::Borrowed("");
    }
    if MADE_UP.iter().any(|word| function.contains(word)) {
        return Cow::Owned(function.chars().filter(|c| !c.is_ascii_digit()).collect());
    }
    Cow::Borrowed(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_what_stays_between_builds() {
        for (path, expected) in [
            ("/srv/app/Views.py", "views.py"),
            (r"C:\app\Main.cs", "main.cs"),
            ("https://example.com/static/main.3f2a9c1b.js?v=2#x", "main.js"),
            ("app-1a2b3c4d5e6f.min.js", "app.min.js"),
            ("my-deadbeef.js", "my-deadbeef.js"),
            ("<stdin>", "<stdin>"),
            ("", ""),
        ] {
            assert_eq!(file_name(path), expected, "{path}");
        }
    }

    #[test]
    fn names_that_a_compiler_made_up_have_no_numbers() {
        for (function, expected) in [
            ("handle", "handle"),
            ("step2", "step2"),
            ("<lambda>", ""),
            ("lambda$main$0", "lambda$main$"),
            ("app::run::{{closure}}#3", "app::run::{{closure}}#"),
        ] {
            assert_eq!(function_name(function), expected, "{function}");
        }
    }

    #[test]
    fn frames_of_others_count_where_there_are_no_own() {
        let frame = |name: &'static str, in_app| Frame {
            function: Some(name.into()),
            in_app: Some(in_app),
            ..Frame::default()
        };
        let functions = |stack: &[Frame<'_>]| {
            lines(stack).iter().map(|line| line.function.to_string()).collect::<Vec<_>>().join(" ")
        };
        let mixed = [frame("a", true), frame("a", true), frame("lib", false), frame("b", true)];
        assert_eq!(functions(&mixed), "a b");
        assert_eq!(functions(&[frame("x", false), frame("y", false)]), "x y");
        assert_eq!(functions(&[Frame::default()]), "");
    }
}
