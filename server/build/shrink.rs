//! Scripts and style sheets without what browsers do not read: comments, and white space outside of
//! texts. Names stay as they are, so that what a browser reports can be found in the source.
//!
//! A test compares the syntax trees of all scripts before and after, so what this does not know
//! about JavaScript shows there. A text that ends in the middle of something is returned as it is.

/// What surrounds a position in a script.
enum Surroundings {
    /// Code: that of the script, or of a `${…}` in a template.
    Code,
    /// The text of a template. White space at the begin of its lines stays, unless it is markup.
    Template { is_markup: bool },
}

/// Characters next to which white space separates nothing.
const PUNCTUATION: &[u8] = b"=,;:(){}[]<>?&|!\"`";
/// Characters after which the end of a line can be left out.
const ENDLESS: &[u8] = b"{([,;\n";
/// Characters before which the end of a line can be left out.
const ENDING: &[u8] = b"})]";
/// Words after which `/` begins a regular expression.
const OPERATORS: [&str; 12] = [
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "else", "do", "await",
    "yield",
];

/// Returns a script that does the same.
pub(crate) fn script(source: &str) -> String {
    Script { source: source.as_bytes(), at: 0, out: Vec::with_capacity(source.len()) }
        .run()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| source.to_owned())
}

struct Script<'s> {
    source: &'s [u8],
    at: usize,
    out: Vec<u8>,
}

impl Script<'_> {
    fn run(mut self) -> Option<Vec<u8>> {
        let mut places = vec![Surroundings::Code];
        // Braces that are open in each piece of code.
        let mut braces = vec![0_u32];
        while let Some(byte) = self.peek(0) {
            match places.last()? {
                Surroundings::Template { is_markup } => match byte {
                    b'`' => {
                        self.copy(1);
                        places.pop();
                    }
                    b'\\' => self.copy(2),
                    b'$' if self.peek(1) == Some(b'{') => {
                        self.copy(2);
                        places.push(Surroundings::Code);
                        braces.push(0);
                    }
                    b'\n' if *is_markup => {
                        self.copy(1);
                        self.skip_while(|byte| byte == b' ');
                    }
                    _ => self.copy(1),
                },
                Surroundings::Code => match byte {
                    b'`' => {
                        let is_markup = self.out.ends_with(b"html");
                        self.copy(1);
                        places.push(Surroundings::Template { is_markup });
                    }
                    b'"' | b'\'' => self.string(byte)?,
                    b'/' if self.peek(1) == Some(b'/') => self.skip_while(|byte| byte != b'\n'),
                    b'/' if self.peek(1) == Some(b'*') => self.block_comment()?,
                    b'/' if self.begins_expression() => self.regular_expression()?,
                    b' ' | b'\t' | b'\n' => self.space(),
                    b'}' if braces.last() == Some(&0) && places.len() > 1 => {
                        self.trim();
                        self.copy(1);
                        places.pop();
                        braces.pop();
                    }
                    _ => {
                        if ENDING.contains(&byte) && self.out.last() == Some(&b'\n') {
                            self.out.pop();
                        }
                        match byte {
                            b'{' => *braces.last_mut()? += 1,
                            b'}' => *braces.last_mut()? = braces.last()?.checked_sub(1)?,
                            _ => {}
                        }
                        self.copy(1);
                    }
                },
            }
        }
        (places.len() == 1).then_some(self.out)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn copy(&mut self, count: usize) {
        let end = (self.at + count).min(self.source.len());
        self.out.extend_from_slice(self.source.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&is_skipped) {
            self.at += 1;
        }
    }

    fn string(&mut self, quote: u8) -> Option<()> {
        self.literal(|byte| byte == quote)
    }

    fn regular_expression(&mut self) -> Option<()> {
        let mut is_in_class = false;
        self.literal(|byte| {
            match byte {
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                _ => {}
            }
            byte == b'/' && !is_in_class
        })
    }

    /// Copies a literal that begins here, through the first byte that `ends` it. `None` if the line
    /// ends before.
    fn literal(&mut self, mut ends: impl FnMut(u8) -> bool) -> Option<()> {
        self.copy(1);
        loop {
            match self.peek(0)? {
                b'\\' => self.copy(2),
                b'\n' => return None,
                byte => {
                    self.copy(1);
                    if ends(byte) {
                        return Some(());
                    }
                }
            }
        }
    }

    /// Leaves out a comment, and separates what it separates.
    fn block_comment(&mut self) -> Option<()> {
        let rest = self.source.get(self.at..)?;
        let length = rest.windows(2).skip(2).position(|two| two == b"*/")? + 4;
        let has_lines = rest.get(..length)?.contains(&b'\n');
        self.at += length;
        self.separate(has_lines);
        Some(())
    }

    /// Shortens white space in code.
    fn space(&mut self) {
        let begin = self.at;
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
        let skipped = self.source.get(begin..self.at).unwrap_or_default();
        self.separate(skipped.contains(&b'\n'));
    }

    /// Separates what was before from what follows: by the end of a line, at which a statement may
    /// end, or by a space.
    fn separate(&mut self, has_line_end: bool) {
        let before = self.out.last().copied();
        if !has_line_end {
            self.space_between();
        } else if !before.is_none_or(|byte| ENDLESS.contains(&byte)) {
            self.trim();
            self.out.push(b'\n');
        }
    }

    /// Adds a space, if what is before and what is next need one.
    fn space_between(&mut self) {
        let is_free =
            |byte: Option<u8>| byte.is_none_or(|byte| PUNCTUATION.contains(&byte) || byte == b'\n');
        let before = self.out.last().copied();
        if !is_free(before) && !is_free(self.peek(0)) && before != Some(b' ') {
            self.out.push(b' ');
        }
    }

    fn trim(&mut self) {
        while self.out.last() == Some(&b' ') {
            self.out.pop();
        }
    }

    /// Returns whether `/` begins a regular expression here: after an operator, or nothing.
    fn begins_expression(&self) -> bool {
        let before = self.out.trim_ascii_end();
        let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        let word = before.iter().rev().take_while(is_of_word).count();
        let word = before.get(before.len() - word..).unwrap_or_default();
        match before.last() {
            None => true,
            Some(_) if before.ends_with(b"++") || before.ends_with(b"--") => false,
            Some(byte) if byte.is_ascii_alphanumeric() => {
                OPERATORS.iter().any(|one| one.as_bytes() == word)
            }
            Some(byte) => !matches!(byte, b')' | b']' | b'}' | b'_' | b'$' | b'"' | b'\'' | b'`'),
        }
    }
}

/// Returns a style sheet that does the same: without comments, and white space that separates
/// nothing. One that ends in the middle of something, or has a string over several lines, is
/// returned as it is.
pub(crate) fn style_sheet(source: &str) -> String {
    pieces(source).map_or_else(|| source.to_owned(), |pieces| joined(&pieces))
}

/// A part of a style sheet.
enum Piece<'s> {
    Rules(&'s str),
    /// A string or an address, in which white space counts.
    Verbatim(&'s str),
    /// A comment, which separates what is around it.
    Comment,
}

fn pieces(source: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/', 'u']) {
        let (before, found) = rest.split_at(at);
        pieces.push(Piece::Rules(before));
        if let Some(comment) = found.strip_prefix("/*") {
            pieces.push(Piece::Comment);
            rest = comment.split_once("*/")?.1;
            continue;
        }
        let is_string = found.starts_with(['"', '\'']);
        let length = if found.starts_with("url(") {
            found.find(')')? + 1
        } else if is_string {
            string_length(found)?
        } else {
            1
        };
        let (copied, after) = found.split_at(length);
        pieces.push(if length > 1 { Piece::Verbatim(copied) } else { Piece::Rules(copied) });
        rest = after;
    }
    pieces.push(Piece::Rules(rest));
    Some(pieces)
}

/// Returns the length of the string that a text begins with.
fn string_length(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends || *c == '\n'
    });
    Some(end.filter(|(_, c)| *c == quote)?.0 + 1)
}

fn joined(pieces: &[Piece<'_>]) -> String {
    let (mut out, mut has_space) = (String::new(), false);
    for piece in pieces {
        match piece {
            Piece::Comment => has_space = true,
            Piece::Verbatim(text) => push(&mut out, std::mem::take(&mut has_space), text),
            Piece::Rules(text) => {
                for part in text.split_inclusive(char::is_whitespace) {
                    let word = part.trim_end();
                    if !word.is_empty() {
                        push(&mut out, std::mem::take(&mut has_space), word);
                    }
                    has_space |= word.len() < part.len();
                }
            }
        }
    }
    out
}

/// Appends a word, after a space if there was one that separates something: not after a colon, but
/// before one, since `a :hover` is not `a:hover`.
fn push(out: &mut String, has_space: bool, word: &str) {
    let is_needed = !out.is_empty()
        && !out.ends_with([':', '{', '}', ';', ','])
        && !word.starts_with(['{', '}', ';', ',']);
    if has_space && is_needed {
        out.push(' ');
    }
    out.push_str(word);
}

/// Returns a picture in SVG without comments.
pub(crate) fn picture(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, comment)) = rest.split_once("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { break };
        out.push_str(before);
        rest = after.trim_start();
    }
    out.push_str(rest);
    out
}
