//! What the code around a call says about the type of the value whose method is called: a method
//! such as `local_addr` may be that of a type which is not in the repository.

use super::occurrences::{Qualifier, occurrences};
use super::resolution::{UsePlace, owner_of};
use crate::areas::repositories::source::{Language, LineRange, SymbolKind};

/// Lines above a call that are searched for the declaration of a variable.
const DECLARATION_LINES_MAX: u32 = 60;
/// Bytes of these lines: those of code that a person has written.
const DECLARATION_BYTES_MAX: usize = 16 << 10;

/// Returns the type of the value before a name, if the code around the place says it.
pub(super) fn type_of_value(place: UsePlace<'_>, value: &Qualifier<'_>) -> Option<String> {
    let declared = match value.parts.as_slice() {
        ["self" | "this", name] => field(place, name),
        [variable, name] if receiver_variable(place) == Some(variable) => field(place, name),
        [name] => parameter(place, name).or_else(|| variable(place, name)).or_else(|| {
            let language = place.file.outline.language;
            let has_fields = matches!(language, Some(Language::Java | Language::Cpp));
            if has_fields { field(place, name) } else { None }
        }),
        _ => None,
    };
    declared_type(&declared?).map(str::to_owned)
}

/// Returns the name by which a method of Go calls the value that it is called on.
pub(super) fn receiver_variable<'files>(place: UsePlace<'files>) -> Option<&'files str> {
    let within = place.within?;
    let is_method = within.file.outline.language == Some(Language::Go)
        && within.symbol.kind == SymbolKind::Method;
    let receiver = within.symbol.signature.strip_prefix("func (")?.split([' ', ')']).next()?;
    is_method.then_some(receiver)
}

/// Returns the type of a parameter of the function that contains a place.
fn parameter(place: UsePlace<'_>, name: &str) -> Option<String> {
    let parameters = &place.within?.symbol.parameters;
    parameters.iter().find(|known| known.name == name)?.type_name.clone()
}

/// Returns what the last line above a place that declares a variable says after its name.
fn variable(place: UsePlace<'_>, name: &str) -> Option<String> {
    let within = place.within?.symbol.lines;
    let start = within.start().max(place.line.saturating_sub(DECLARATION_LINES_MAX));
    let lines = LineRange::new(start, place.line.saturating_sub(1))?;
    let mut bytes = 0;
    let above = (lines.start()..=lines.end()).rev().map(|number| place.file.line(number));
    let mut near = above.take_while(|line| {
        bytes += line.len();
        bytes <= DECLARATION_BYTES_MAX
    });
    near.find_map(|line| declaration(line, name)).map(str::to_owned)
}

/// Returns what a field of the type that contains a place is declared as, in the same file.
fn field(place: UsePlace<'_>, name: &str) -> Option<String> {
    let owner = owner_of(place.within)?;
    let symbols = &place.file.outline.symbols;
    let field = symbols.iter().find(|symbol| {
        symbol.kind == SymbolKind::Field
            && symbol.name == name
            && symbol.container.as_deref() == Some(owner)
    })?;
    let (before, after) = field.signature.split_once(name)?;
    let is_after = after.trim_start().starts_with([':', '=']) || before.trim().is_empty();
    Some(if is_after { after } else { before }.to_owned())
}

/// Returns the rest of a line that declares a variable of a name, or gives it a value; what is
/// before the name where the type is there, as in `Store store = …`.
fn declaration<'line>(line: &'line str, name: &str) -> Option<&'line str> {
    let is_member =
        |(before, after): &(&str, &str)| before.ends_with('.') || after.starts_with('.');
    let (before, after) = occurrences(line, name).find(|around| !is_member(around))?;
    let (before, after) = (before.trim(), after.trim_start());
    let gives = after.starts_with(":=") || after.starts_with('=') && !after.starts_with("==");
    let says_type = after.starts_with(':') && !after.starts_with("::");
    let is_type = |of: &str| of.starts_with(char::is_uppercase) || before.ends_with('*');
    let is_after_type = (gives || after.starts_with(';') || after.starts_with('('))
        && declared_type(before).is_some_and(is_type);
    if is_after_type {
        return Some(before);
    }
    (gives || says_type).then_some(after)
}

/// Returns the name of the type that a declaration gives or a constructor has: that of `Arc<Store>`
/// is `Store`, and that of `Vec<Store>` is `Vec`. `None` if it cannot be seen.
fn declared_type(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', ':', '=', '&', '*', '<', '\t']);
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        let after = rest.trim_start_matches(is_part);
        let word = rest.get(..rest.len() - after.len()).unwrap_or_default();
        if word.is_empty() {
            // A lifetime.
            rest = rest.strip_prefix('\'')?.trim_start_matches(is_part);
            continue;
        }
        let is_module = after.starts_with("::") || after.starts_with('.');
        let is_type = word.starts_with(char::is_uppercase) && word.chars().nth(1).is_some();
        if WRAPPERS.contains(&word) && !is_module {
            rest = after.trim_start_matches(['(', '[']);
            continue;
        }
        if is_type {
            return is_whole(after).then_some(word);
        }
        rest = match after.strip_prefix("::").or(after.strip_prefix('.')) {
            Some(inner) => inner,
            None if KEYWORDS.contains(&word) => after,
            // A type in lower case, as in Go and C.
            None if is_end(after) && !word.starts_with(char::is_numeric) => return Some(word),
            None => return None,
        };
    }
}

/// Returns whether nothing is called on what was made: `Store::open(path)?`, not
/// `Store::open(path).events()`.
fn is_whole(after: &str) -> bool {
    let Some((_, call)) = after.split_once('(') else { return true };
    let mut depth = 1_usize;
    let end = call.char_indices().find_map(|(at, char)| {
        depth = match char {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        (depth == 0).then_some(at + 1)
    });
    let mut rest = end.and_then(|end| call.get(end..)).unwrap_or_default();
    loop {
        let unwrapped = ["?", ".await", ".unwrap()", ".clone()", ".unwrap_or_default()"]
            .iter()
            .find_map(|end| rest.strip_prefix(end));
        match unwrapped {
            Some(inner) => rest = inner,
            None => return !rest.starts_with(['.', '-', '[']) || rest.starts_with(".expect("),
        }
    }
}

fn is_end(after: &str) -> bool {
    let after = after.trim();
    after.is_empty() || after == "*" || after == "&"
}

/// Types that are about the one in them.
const WRAPPERS: [&str; 13] = [
    "Arc",
    "Box",
    "Mutex",
    "Ok",
    "Optional",
    "Pin",
    "Rc",
    "RefCell",
    "RwLock",
    "Some",
    "Awaited",
    "Readonly",
    "Annotated",
];

/// Words before a type or a constructor.
const KEYWORDS: [&str; 16] = [
    "mut",
    "dyn",
    "impl",
    "new",
    "const",
    "final",
    "static",
    "await",
    "ref",
    "volatile",
    "struct",
    "private",
    "public",
    "protected",
    "readonly",
    "pub",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_name_types() {
        for (line, expected) in [
            ("let store = Store::open(path)?;", Some("Store")),
            ("let store = crate::store::Store::open(path).await?;", Some("Store")),
            ("let mut store: Arc<Mutex<Store>> = make();", Some("Store")),
            ("let mut store: Vec<Store> = make();", Some("Vec")),
            ("let mut store: &'a mut Store = make();", Some("Store")),
            ("let store = Store::open(path)?.events();", None),
            ("store := NewStore(path)", Some("NewStore")),
            ("Store store = new FileStore(path);", Some("Store")),
            ("const store = new Store();", Some("Store")),
            ("store = Store()", Some("Store")),
            ("Store *store;", Some("Store")),
            ("store.open(Other::new());", None),
            ("if store == Other::A {", None),
            ("let restore = Other::new();", None),
            ("let store = open(path);", None),
            ("let store = opened;", None),
            ("return store;", None),
            ("let store = [Store::new()];", None),
        ] {
            assert_eq!(declaration(line, "store").and_then(declared_type), expected, "{line}");
        }
    }
}
