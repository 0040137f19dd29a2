//! Prints the configuration: the effective values as a TOML file, an example file, and the
//! reference as Markdown.

use super::load::Loaded;
use super::sections::SECTIONS;
use super::variables::OTHER_VARIABLES;
use crate::platform::settings::{Origin, Setting};

/// Maximum line length of the comments in the example file, in columns.
const EXAMPLE_COLUMNS: usize = 100;
/// The introduction of the example file.
const EXAMPLE_HEAD: &str = "Settings of Telltale. Settings that are commented out show their defaults: remove the `#` to set \
    another value, and restart the server. Environment variables (`TELLTALE_*`) and flags override this file. \
    `telltale config --config FILE` prints the effective settings.";

/// The introduction of the reference.
const REFERENCE_HEAD: &str = "\
# Settings

Printed by `telltale config --reference`. Flags override environment variables, which override the file (`--config FILE`),
which overrides the defaults. Every setting is also a flag: `--set limits.batch=unlimited`. An unknown key is an error in
all of them. `telltale config` prints the effective values and their origins; `telltale config --example` prints a file to
start from.

";

impl Loaded {
    /// Returns the effective values as TOML, with the origin of each value in a comment. Read as a
    /// file, it gives the same values.
    pub fn to_toml(&self) -> String {
        let width = self.effective.iter().map(|e| name_of(e.key).len() + e.value.len()).max();
        // A cap, so that long lists do not move all comments to the right.
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

    /// Returns an example file: every setting with its description. Settings with default values
    /// are commented out, so that they follow the defaults of later versions.
    pub fn to_example(&self) -> String {
        let mut text = commented(EXAMPLE_HEAD);
        for section in SECTIONS {
            text.push_str(&format!("\n{}[{}]\n", commented(section.doc), section.path));
            for setting in section.settings {
                let Some(one) = self.effective.iter().find(|one| one.key == setting.key) else {
                    continue;
                };
                let mark = if one.origin == Origin::Default { "#" } else { "" };
                let meaning = commented(setting.doc);
                text.push_str(&format!("\n{meaning}{mark}{} = {}\n", name_of(one.key), one.value));
            }
        }
        text
    }
}

/// Formats a paragraph as comment lines.
fn commented(text: &str) -> String {
    let mut lines = String::new();
    let mut column = EXAMPLE_COLUMNS;
    for word in text.split_whitespace() {
        let width = word.chars().count() + 1;
        if column + width > EXAMPLE_COLUMNS {
            lines.push_str(if lines.is_empty() { "#" } else { "\n#" });
            column = 1;
        }
        lines.push(' ');
        lines.push_str(word);
        column += width;
    }
    lines.push('\n');
    lines
}

fn name_of(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, name)| name)
}

/// Returns the reference of all settings as Markdown: the content of `docs/configuration.md`.
pub fn reference() -> String {
    let mut text = REFERENCE_HEAD.to_owned();
    for section in SECTIONS {
        text.push_str(&format!("## [{}]\n\n{}\n\n", section.path, section.doc.trim()));
        text.push_str(
            "| setting | default | value | environment | meaning |\n|---|---|---|---|---|\n",
        );
        section.settings.iter().for_each(|setting| text.push_str(&row(setting)));
        text.push('\n');
    }
    text.push_str("## Other environment variables\n\n| variable | meaning |\n|---|---|\n");
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
