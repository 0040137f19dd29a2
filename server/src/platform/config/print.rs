//! Showing the configuration: the effective values as a file that reads back, and the reference as Markdown.

use super::load::Loaded;
use super::settings::{OTHER_VARIABLES, SECTIONS, Setting};

impl Loaded {
    /// The effective values as TOML; a comment on each line says where the value comes from. Read as a
    /// file, it gives the same values.
    pub fn to_toml(&self) -> String {
        let width = self.effective.iter().map(|e| name_of(e.key).len() + e.value.len()).max();
        // Long lists do not push all comments to the right.
        let column = width.unwrap_or(0).min(48);
        let mut text = String::new();
        let mut section = "";
        for one in &self.effective {
            let (path, name) = one.key.rsplit_once('.').unwrap_or(("", one.key));
            if path != section {
                let gap = if section.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{gap}[{path}]\n"));
                section = path;
            }
            let pad = column.saturating_sub(name.len() + one.value.len());
            text.push_str(&format!("{name} = {}{:pad$}  # {}\n", one.value, "", one.origin));
        }
        text
    }
}

fn name_of(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

/// All settings as Markdown, for `docs/configuration.md`.
pub fn reference() -> String {
    let mut text = String::new();
    for section in SECTIONS {
        text.push_str(&format!("## [{}]\n\n{}\n\n", section.path, section.doc.trim()));
        text.push_str(
            "| setting | default | value | environment | meaning |\n|---|---|---|---|---|\n",
        );
        section.settings.iter().for_each(|setting| text.push_str(&row(setting)));
        text.push('\n');
    }
    text.push_str("## Other variables of the environment\n\n| variable | meaning |\n|---|---|\n");
    for (name, doc) in OTHER_VARIABLES {
        text.push_str(&format!("| `{name}` | {doc} |\n"));
    }
    text
}

fn row(setting: &Setting) -> String {
    let name = name_of(setting.key);
    let flag = setting.flag.map_or(String::new(), |flag| format!(" (`{flag}`)"));
    let default = if setting.default.is_empty() { "none" } else { setting.default };
    let mut variables = format!("`{}`", setting.variable());
    if let Some(short) = setting.short_variable {
        variables = format!("`{short}` or {variables}");
    }
    format!(
        "| `{name}`{flag} | `{default}` | {} | {variables} | {} |\n",
        setting.expects.replace('|', "\\|"),
        setting.doc.trim()
    )
}
