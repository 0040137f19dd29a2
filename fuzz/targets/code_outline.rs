//! Source code of any language: any text has an outline, whose lines are in it, and is explained
//! and documented. The first line is the path.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telltale_server::areas::repositories::code_help::{document, explain};
use telltale_server::areas::repositories::source::outline;

fuzz_target!(|input: &str| {
    let (path, text) = input.split_once('\n').unwrap_or(("a.rs", input));
    let outline = outline(path, text);
    let lines = u32::try_from(text.split_inclusive('\n').count()).unwrap_or(u32::MAX);
    for (position, symbol) in (0..).zip(&outline.symbols) {
        assert!(symbol.lines.end() <= lines.max(1), "{symbol:?} is in the text of {lines} lines");
        assert!(symbol.lines.contains(symbol.name_line), "{symbol:?} contains its name");
        assert!(
            symbol.parent.is_none_or(|parent| parent < position),
            "{symbol:?} after its parent"
        );
    }
    for reference in &outline.references {
        let symbols = outline.symbols.len();
        assert!(reference.within.is_none_or(|within| (within as usize) < symbols));
    }
    drop(explain(path, text, &outline, None));
    drop(document(path, text, &outline, &[]));
});
