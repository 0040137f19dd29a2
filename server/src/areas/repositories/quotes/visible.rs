//! Which characters people see.

/// Returns whether a character can be seen and leaves the direction of the text after it as it is.
/// Others can make a name or a sentence look like another one.
pub fn is_visible(char: char) -> bool {
    let is_hidden = matches!(
        char,
        '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    );
    !char.is_control() && !is_hidden
}
