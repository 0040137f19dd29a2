//! Other names that an import gives to what it brings in: `from shapes import Shape as Base`.

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

/// Returns the other names that the imports of a file give.
pub fn aliases(imports: &[Import], text: &str) -> Vec<Alias> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Alias> = Vec::new();
    for import in imports.iter().filter(|import| !import.names.is_empty()) {
        let start = usize::try_from(import.line).unwrap_or(usize::MAX).saturating_sub(1);
        let mut written = String::new();
        for line in lines.iter().skip(start).take(limits::IMPORT_LINES_MAX) {
            written.push_str(line);
            written.push(' ');
            let is_open = written.contains(['(', '{']) && !line.contains([')', '}']);
            if !is_open {
                break;
            }
        }
        if !written.contains(" as ") {
            continue;
        }
        let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
        let words: Vec<&str> =
            written.split(|char: char| !is_part(char)).filter(|word| !word.is_empty()).collect();
        for named in words.windows(3) {
            if let [name, "as", alias] = named
                && import.names.iter().any(|known| known == name)
                && found.len() < limits::IMPORTED_NAMES_MAX
            {
                found.push(Alias { alias: (*alias).to_owned(), name: (*name).to_owned() });
            }
        }
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
}
