//! Other names that an import gives to what it brings in: `from shapes import Shape as Base`.

use std::collections::HashSet;

use super::limits;
use super::model::Import;

/// Another name of what an import brings in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name in the file that imports it.
    pub alias: String,
    /// The name that it has where it is defined.
    pub name: String,
}

/// Returns the other names that the imports of a file give. Each line is read once, however many
/// imports are on it.
pub fn aliases(imports: &[Import], text: &str) -> Vec<Alias> {
    let names: HashSet<&str> =
        imports.iter().flat_map(|import| &import.names).map(String::as_str).collect();
    let starts: HashSet<u32> = imports
        .iter()
        .filter(|import| !import.names.is_empty())
        .map(|import| import.line)
        .collect();
    let mut found: Vec<Alias> = Vec::new();
    let mut known: HashSet<(&str, &str)> = HashSet::new();
    // The words of the statement, and the lines that it still may go on for.
    let mut before: [&str; 2] = ["", ""];
    let mut rest = 0;
    let mut has_opened = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        if starts.contains(&number) {
            if rest == 0 {
                (before, has_opened) = (["", ""], false);
            }
            rest = limits::IMPORT_LINES_MAX;
        }
        if rest == 0 {
            continue;
        }
        let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
        for word in line.split(|char: char| !is_part(char)).filter(|word| !word.is_empty()) {
            if let [name, "as"] = before
                && names.contains(name)
                && found.len() < limits::IMPORTS_MAX
                && known.insert((name, word))
            {
                found.push(Alias { alias: word.to_owned(), name: name.to_owned() });
            }
            before = [before[1], word];
        }
        has_opened |= line.contains(['(', '{']);
        rest = if has_opened && !line.contains([')', '}']) { rest - 1 } else { 0 };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_found_in_imports() {
        let text = "from a import (\n    B,\n    C as D,\n)\nfrom e import F as G, H\nx = C as D\n";
        let import = |names: &[&str], line| Import {
            path: String::new(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line,
        };
        let found = aliases(&[import(&["B", "C"], 1), import(&["F", "H"], 5)], text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|alias| (alias.alias.as_str(), alias.name.as_str())).collect();
        assert_eq!(found, [("D", "C"), ("G", "F")]);
    }

    #[test]
    fn lines_with_many_imports_are_read_once() {
        // Each of 20,000 imports on one line would read that line again.
        let count = 20_000;
        let text = "from shapes import Shape as Base; ".repeat(count);
        let import = Import { path: "shapes".to_owned(), names: vec!["Shape".to_owned()], line: 1 };
        let found = aliases(&vec![import; count], &text);
        assert_eq!(found, [Alias { alias: "Base".to_owned(), name: "Shape".to_owned() }]);
    }
}
