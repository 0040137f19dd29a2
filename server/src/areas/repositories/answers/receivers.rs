//! What the code around a call says about the type of the value whose method is called: a method
//! such as `local_addr` may be that of a type which is not in the repository.

use super::resolution::{UsePlace, owner_of};
use crate::areas::repositories::source::{LineRange, SymbolKind};

/// Lines above a call that are searched for the declaration of a variable.
const DECLARATION_LINES_MAX: u32 = 60;

/// What is known about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receiver {
    /// Its declaration names the type.
    IsOf,
    /// Its declaration names other types only.
    IsOther,
    /// Nothing around the call says what it is.
    Unknown,
}

impl Receiver {
    /// Returns whether a value, by its name at a place, is of a type.
    pub(super) fn at(place: UsePlace<'_>, name: &str, owner: &str) -> Self {
        if name.is_empty() {
            return Self::Unknown;
        }
        if name.starts_with(char::is_uppercase) {
            return Self::IsOther;
        }
        let declarations = [parameter(place, name), variable(place, name), field(place, name)];
        match declarations.into_iter().flatten().find(|text| type_names(text).next().is_some()) {
            Some(text) if type_names(&text).any(|known| known == owner) => Self::IsOf,
            Some(_) => Self::IsOther,
            None => Self::Unknown,
        }
    }
}

/// Returns the type of a parameter of the function that contains a place.
fn parameter(place: UsePlace<'_>, name: &str) -> Option<String> {
    let parameters = &place.within?.symbol.parameters;
    parameters.iter().find(|known| known.name == name)?.type_name.clone()
}

/// Returns the line that declares a variable, the last one above a place, after the name.
fn variable(place: UsePlace<'_>, name: &str) -> Option<String> {
    let within = place.within?.symbol.lines;
    let start = within.start().max(place.line.saturating_sub(DECLARATION_LINES_MAX));
    let lines = LineRange::new(start, place.line.saturating_sub(1))?;
    let declared = place.file.numbered(lines).filter_map(|(_, line)| declaration(line, name));
    declared.last().map(str::to_owned)
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
    Some(field.signature.clone())
}

/// Returns the rest of a line that declares a variable of a name, or gives it a value; with what is
/// before the name where the type is there, as in `Store store = …`.
fn declaration<'line>(line: &'line str, name: &str) -> Option<&'line str> {
    let (at, _) = line.match_indices(name).find(|(at, found)| {
        let [before, after] = [line.get(..*at), line.get(at + found.len()..)];
        let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '.';
        !before.is_some_and(|text| text.ends_with(is_part))
            && !after.is_some_and(|text| text.starts_with(is_part))
    })?;
    let after = line.get(at + name.len()..)?.trim_start();
    let gives = after.starts_with(":=") || after.starts_with('=') && !after.starts_with("==");
    let says_type = after.starts_with(':') && !after.starts_with("::");
    let before = line.get(..at)?.trim();
    let is_after_type = (gives || after.starts_with(';') || after.starts_with('('))
        && before.rsplit(' ').next().is_some_and(|word| type_names(word).next().is_some());
    if is_after_type {
        return Some(before);
    }
    (gives || says_type).then_some(after)
}

/// Returns the names of types in a text: words that begin with an upper-case letter and have more
/// than one; `T` stands for any type.
fn type_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric() && char != '_')
        .filter(|word| word.starts_with(char::is_uppercase) && word.chars().nth(1).is_some())
        .filter(|word| !WRAPPERS.contains(word))
}

/// Types that are about the one in them.
const WRAPPERS: [&str; 14] = [
    "Arc", "Box", "Cell", "Mutex", "None", "Ok", "Optional", "Option", "Pin", "Rc", "RefCell",
    "Result", "RwLock", "Some",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_name_types() {
        for (line, expected) in [
            ("let store = Store::open(path)?;", vec!["Store"]),
            ("let mut store: Arc<Mutex<Store>> = make();", vec!["Store"]),
            ("store := NewStore(path)", vec!["NewStore"]),
            ("Store store = new FileStore(path);", vec!["Store"]),
            ("const store = new Store();", vec!["Store"]),
            ("Store *store;", vec![]),
            ("store.open(Other::new());", vec![]),
            ("if store == Other::A {", vec![]),
            ("let restore = Other::new();", vec![]),
            ("let store = open(path);", vec![]),
        ] {
            let found = declaration(line, "store").map(|text| type_names(text).collect());
            assert_eq!(found.unwrap_or(Vec::new()), expected, "{line}");
        }
    }
}
