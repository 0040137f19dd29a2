//! What of a stack stays the same from build to build and from machine to machine: modules or paths of files within the program,
//! and functions; no lines and nothing that compilers, proxies and bundlers make up. However often functions call each other
//! in turn, the turn counts once.

use std::borrow::Cow;

use super::super::occurrence::Frame;
use super::shared::{Line, own_frames};
use super::{bundles, names, paths};

/// What the frames of the program itself say, or all of them where none is.
pub(super) fn lines<'f>(stack: &'f [Frame<'_>]) -> Vec<Line<'f>> {
    let plain = own_frames(stack).filter(|frame| !is_reflection(frame));
    let said = once_each_turn(plain.filter_map(line));
    if said.is_empty() { once_each_turn(own_frames(stack).filter_map(line)) } else { said }
}

/// The lines without repetitions: of any lines that come twice in a row, the second ones are left out.
fn once_each_turn<'f>(lines: impl Iterator<Item = Line<'f>>) -> Vec<Line<'f>> {
    let mut kept: Vec<Line<'f>> = Vec::new();
    for line in lines {
        kept.push(line);
        let repeated = (1..=kept.len() / 2).find(|turn| {
            let (before, last) = kept.split_at(kept.len() - turn);
            before.ends_with(last)
        });
        if let Some(turn) = repeated {
            kept.truncate(kept.len() - turn);
        }
    }
    kept
}

/// Whether a frame is of reflection on the JVM, which calls through other classes once a method has been called often.
fn is_reflection(frame: &Frame<'_>) -> bool {
    const PACKAGES: [&str; 3] = ["sun.reflect.", "jdk.internal.reflect.", "java.lang.reflect."];
    let module = frame.module.as_deref().unwrap_or_default();
    PACKAGES.iter().any(|package| module.starts_with(package))
}

fn line<'f>(frame: &'f Frame<'_>) -> Option<Line<'f>> {
    let path = path_of(frame);
    let place = match frame.module.as_deref() {
        Some(module) if path.is_some_and(bundles::is_bundle) => Cow::Owned(of_bundle(module)),
        Some(module) => names::stable(module),
        None => path.map(|path| Cow::Owned(paths::stable(path))).unwrap_or_default(),
    };
    let is_go = path.is_some_and(|path| path.ends_with(".go"));
    let function = frame.function.as_deref().map(|name| names::function(name, is_go));
    let function = function.unwrap_or_default();
    (!place.is_empty() || !function.is_empty()).then_some(Line { place, function })
}

/// The path that tells most: a name without folders is also the end of the absolute path.
fn path_of<'f>(frame: &'f Frame<'_>) -> Option<&'f str> {
    let (name, whole) = (frame.filename.as_deref(), frame.abs_path.as_deref());
    match (name, whole) {
        (Some(name), Some(whole)) if !name.contains(['/', '\\']) => {
            Some(if whole.ends_with(name) { whole } else { name })
        }
        (name, whole) => name.or(whole),
    }
}

/// The module of a frame in a bundle, which SDKs make of the path of the file: `static/js/main.3f2a1b`.
fn of_bundle(module: &str) -> String {
    let named = paths::stable(&[module, ".js"].concat());
    named.strip_suffix(".js").map(str::to_owned).unwrap_or(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(names: &str) -> String {
        let frame = |name: &str| Frame {
            function: Some(name.to_owned().into()),
            in_app: Some(!name.starts_with('_')),
            ..Frame::default()
        };
        let stack: Vec<Frame<'_>> = names.split(' ').map(frame).collect();
        let lines = lines(&stack);
        lines.iter().map(|line| line.function.as_ref()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_turn_of_calls_counts_once() {
        for (stack, expected) in [
            ("main a b", "main a b"),
            ("main a a a b", "main a b"),
            ("main a b a b a b", "main a b"),
            ("main a b a", "main a b a"),
            ("main a b a b a", "main a b a"),
            ("main a b c a b c a b c end", "main a b c end"),
            ("a b a c", "a b a c"),
        ] {
            assert_eq!(functions(stack), expected, "{stack}");
        }
    }

    #[test]
    fn frames_of_others_count_where_there_are_no_own() {
        assert_eq!(functions("a _lib b"), "a b");
        assert_eq!(functions("_x _y"), "_x _y");
        assert!(lines(&[Frame::default()]).is_empty());
    }
}
