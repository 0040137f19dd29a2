//! Inline markup that is of no use outside of the tools that made it.

/// Returns prose without inline tags: `{@link Cart}` is `Cart`, `{@code n}` is n between backticks.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '<', '[', ':']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        plain.push_str(before);
        let taken = inline_tag(from).or_else(|| html(from)).or_else(|| link(from));
        let taken = taken.or_else(|| role(from));
        let (shown, length) = taken.unwrap_or_else(|| {
            let first = from.chars().next().map_or(0, char::len_utf8);
            (from.get(..first).unwrap_or_default().to_owned(), first)
        });
        plain.push_str(&shown);
        rest = from.get(length..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// `{@link a.B#c label}`, `{@code x}`.
fn inline_tag(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix("{@")?;
    let end = inner.find('}')?;
    let (name, content) = inner.get(..end)?.split_once(char::is_whitespace)?;
    let shown = match name {
        "code" | "literal" if !content.contains('`') => format!("`{}`", content.trim()),
        "link" | "linkplain" | "value" | "see" => {
            let (_, label) = content.trim().rsplit_once([' ', '|']).unwrap_or(("", content.trim()));
            label.trim_start_matches('#').to_owned()
        }
        _ => content.trim().to_owned(),
    };
    Some((shown, "{@".len() + end + 1))
}

/// `<code>x</code>` and the tags that only lay out.
fn html(text: &str) -> Option<(String, usize)> {
    for (open, close) in [("<code>", "</code>"), ("<tt>", "</tt>")] {
        if let Some(inner) = text.strip_prefix(open)
            && let Some((content, _)) = inner.split_once(close)
            && !content.contains(['`', '<', '&'])
        {
            let length = open.len() + content.len() + close.len();
            return Some((format!("`{}`", content.trim()), length));
        }
    }
    ["<p>", "</p>", "<br>", "<br/>", "<br />", "<ul>", "</ul>", "<li>", "</li>", "<i>", "</i>"]
        .iter()
        .find(|tag| text.starts_with(**tag))
        .map(|tag| (String::new(), tag.len()))
}

/// A Markdown link whose text is code: only the code is shown.
fn link(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix("[`")?;
    let (content, after) = inner.split_once("`]")?;
    if content.contains('`') {
        return None;
    }
    let mut length = "[`".len() + content.len() + "`]".len();
    if let Some(target) = after.strip_prefix('(') {
        length += target.find(')').map_or(0, |end| end + "()".len());
    }
    Some((format!("`{content}`"), length))
}

/// A role of Sphinx: `:class:` before code.
fn role(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix(':')?;
    let (name, after) = inner.split_once(":`")?;
    let is_role = !name.is_empty()
        && name.chars().all(|char| char.is_ascii_lowercase() || char == ':' || char == '-');
    let (content, _) = after.split_once('`').filter(|_| is_role)?;
    // `text <target>`, or `~a.b.Name`, of which tools show the name alone.
    let shown = content.split(" <").next().unwrap_or(content).trim();
    let shown = match shown.strip_prefix('~') {
        Some(path) => path.rsplit('.').next().unwrap_or(path),
        None => shown,
    };
    Some((format!("`{shown}`"), name.len() + content.len() + ":".len() * 2 + "`".len() * 2))
}
