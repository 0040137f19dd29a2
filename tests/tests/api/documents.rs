//! The pages of `docs` and the README are consistent with the program: settings, variables,
//! commands and files.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use telltale_tests::telltale;

use crate::cli::stdout_of;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// The pages that are checked.
const PAGES: [&str; 4] =
    ["README.md", "docs/configuration.md", "docs/guides.md", "docs/operations.md"];

/// Returns what the program prints for these arguments.
#[track_caller]
pub(crate) fn printed(arguments: &[&str]) -> String {
    match Command::new(telltale()).args(arguments).env_clear().output() {
        Ok(output) => stdout_of(&output),
        Err(error) => panic!("telltale did not start: {error}"),
    }
}

/// Returns the commands that `--help` lists.
#[track_caller]
pub(crate) fn commands() -> BTreeSet<String> {
    let help = printed(&["--help"]);
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let names = list.unwrap_or_default().lines().filter_map(|line| line.split_whitespace().next());
    let commands: BTreeSet<String> = names.map(str::to_owned).collect();
    assert!(commands.contains("serve") && commands.len() > 10, "{help}");
    commands
}

/// Returns a file of the repository.
#[track_caller]
pub(crate) fn file(path: &str) -> String {
    match std::fs::read_to_string(Path::new(ROOT).join(path)) {
        Ok(text) => text,
        Err(error) => panic!("{path}: {error}"),
    }
}

/// Returns the strings between backticks on one line.
fn code(page: &str) -> impl Iterator<Item = &str> {
    page.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn the_settings_reference_is_what_the_program_prints() {
    let reference = printed(&["config", "--reference"]);
    assert!(
        file("docs/configuration.md") == reference,
        "write it again: telltale config --reference > docs/configuration.md"
    );
}

#[test]
fn settings_and_variables_in_documents_exist() {
    let effective = printed(&["config"]);
    let reference = printed(&["config", "--reference"]);
    let (mut settings, mut sections) = (BTreeSet::new(), BTreeSet::new());
    let mut section = "";
    for line in effective.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            sections.insert(name);
        } else if let Some((name, _)) = line.split_once(" = ") {
            settings.insert(format!("{section}.{name}"));
        }
    }
    let mut named = 0;
    for page in PAGES {
        let text = file(page);
        for name in code(&text) {
            let section = name.rsplit_once('.').map_or("", |(section, _)| section);
            let key = name.split([' ', '=']).next().unwrap_or_default();
            if sections.contains(section) && !sections.contains(name) {
                assert!(settings.contains(key), "{page}: there is no setting {name}");
                named += 1;
            }
        }
        for after in text.split("TELLTALE_").skip(1) {
            let word = |c: char| c.is_ascii_uppercase() || c == '_';
            let variable: String = after.chars().take_while(|c| word(*c)).collect();
            let variable = format!("`TELLTALE_{variable}`");
            let known = variable == "`TELLTALE_`" || reference.contains(&variable);
            assert!(known, "{page}: there is no variable {variable}");
        }
    }
    assert!(named > 10, "only {named} settings were found");
}

#[test]
fn commands_in_documents_exist() {
    let commands = commands();
    let mut named = 0;
    for page in PAGES {
        let text = file(page);
        // In inline code, and in blocks after the flags that all commands accept.
        let blocks = text.split("```").skip(1).step_by(2).flat_map(str::lines);
        let places: Vec<&str> = code(&text).chain(blocks).collect();
        for place in places {
            let place = place.replace("--config /etc/telltale/telltale.toml ", "");
            let mut words = place.split_whitespace().skip_while(|word| *word != "telltale");
            // A container may be named like the program.
            let command = words.find(|word| *word != "telltale").unwrap_or_default();
            let is_word = !command.is_empty() && command.chars().all(|c| c.is_ascii_lowercase());
            if is_word && place.contains("telltale ") && !place.contains("systemctl") {
                assert!(
                    commands.contains(command),
                    "{page}: there is no command {command}: {place}"
                );
                named += 1;
            }
        }
    }
    assert!(named > 15, "only {named} commands were found");
}

#[test]
fn links_between_documents_lead_to_files() {
    for page in PAGES.into_iter().chain(["docs/benchmarks/FIGURES.md"]) {
        let text = file(page);
        let folder = Path::new(ROOT).join(page);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let path = target.split('#').next().unwrap_or_default();
            let exists = folder.parent().is_some_and(|parent| parent.join(path).is_file());
            assert!(exists, "{page}: {target} is not there");
        }
    }
}
