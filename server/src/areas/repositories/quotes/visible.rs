//! Which characters people see.

/// Returns whether a character can be seen and leaves the direction of the text after it as it is.
/// Others can make a name or a sentence look like another one, or hide text in it.
pub fn is_visible(char: char) -> bool {
    let is_hidden = matches!(
        char,
        // Soft hyphen, joiners and fillers, which have no width or look like a space.
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{3164}'
            | '\u{ffa0}'
            | '\u{feff}'
            // Marks of direction.
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            // Separators of lines and paragraphs.
            | '\u{2028}'..='\u{2029}'
            | '\u{fff9}'..='\u{fffb}'
            // Tags and selectors of variants, which can carry a text of their own.
            | '\u{e0000}'..='\u{e0fff}'
    );
    !char.is_control() && !is_hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_hide_or_turn_text_are_not_visible() {
        for char in "\0\u{1b}\u{7f}\u{ad}\u{61c}\u{115f}\u{1160}\u{180e}\u{200b}\u{200f}\u{2028}\
                     \u{2029}\u{202a}\u{202e}\u{2060}\u{206f}\u{3164}\u{feff}\u{ffa0}\u{e0000}\
                     \u{e0041}\u{e007f}"
            .chars()
        {
            assert!(!is_visible(char), "{char:?}");
        }
        for char in "aZ_ é漢😀\u{301}ｱ-".chars() {
            assert!(is_visible(char), "{char:?}");
        }
    }
}
