//! The heads of `impl` blocks in Rust: an outline has no symbol for such a block.

/// Returns the name of the type that a line begins an `impl` block of: `Store` for
/// `impl<T> Storage for Store<T> {`. `None` if it begins none, or if the type has no name.
pub fn implementing_type(line: &str) -> Option<&str> {
    let head = line.trim_start();
    let head = head.strip_prefix("unsafe ").unwrap_or(head).strip_prefix("impl")?;
    let head = match head.strip_prefix('<') {
        Some(generics) => after_generics(generics)?,
        None => head.strip_prefix(' ')?,
    };
    let of = head.split_once(" for ").map_or(head, |(_, of)| of).trim_start();
    let of = of.trim_start_matches(['&', ' ']);
    let end = of.find(|char: char| !char.is_alphanumeric() && !"_:".contains(char));
    let path = of.get(..end.unwrap_or(of.len()))?;
    let name = path.rsplit("::").next()?;
    (!name.is_empty()).then_some(name)
}

/// Returns what follows the end of generic parameters.
fn after_generics(text: &str) -> Option<&str> {
    let mut depth = 1_u32;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        match char {
            '<' => depth += 1,
            // The arrow of `Fn() -> T` ends no parameters.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..);
        }
        before = char;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_impl_blocks_are_read() {
        for (line, expected) in [
            ("impl Store {", Some("Store")),
            ("impl Storage for Store {", Some("Store")),
            (
                "    unsafe impl<T: Fn() -> u8, const N: usize> A<T> for b::Store<T> {",
                Some("Store"),
            ),
            ("impl<'a> Store<'a> {", Some("Store")),
            ("impl<T> From<T> for [u8] {", None),
            ("implement(Store)", None),
            ("let x = 1;", None),
        ] {
            assert_eq!(implementing_type(line), expected, "{line}");
        }
    }
}
