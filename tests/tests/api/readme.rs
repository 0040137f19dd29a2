//! The tour of the README and the guides work as printed: every block of commands is run in order
//! on a real server, and returns the response printed below it.

use std::process::Command;

use serde_json::Value;
use telltale_tests::{ADMIN_KEY, Server, Setup, masked, same, telltale};

const README: &str = include_str!("../../../README.md");
const GUIDES: &str = include_str!("../../../docs/guides.md");
/// The server address in the pages.
const PRINTED_ADDRESS: &str = "127.0.0.1:8080";

/// A block of a page: its language and its text.
#[derive(Debug)]
struct Block {
    language: String,
    text: String,
}

/// Returns the blocks of a page, or of a section of it.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                blocks.push(Block { language: language.to_owned(), text: String::new() });
            }
            None if open => {
                if let Some(block) = blocks.last_mut() {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
            None => {}
        }
    }
    blocks
}

/// Runs a block in a shell with the key and the program, and returns its output.
#[track_caller]
fn run(server: &Server, text: &str) -> String {
    let script = text.replace(PRINTED_ADDRESS, &server.address().to_string());
    let folder = telltale().parent().map(|path| path.to_string_lossy()).unwrap_or_default();
    let output = Command::new("sh")
        .args(["-eu", "-c", &script])
        .current_dir(server.home())
        .env_clear()
        .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
        .env("KEY", ADMIN_KEY)
        .output();
    let Ok(output) = output else { panic!("there is no shell") };
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{stdout}\n{error}");
    stdout
}

/// Runs the blocks of commands in order, each with the functions that earlier blocks define, and
/// compares their output with the following block of JSON, if there is one. A response with an
/// error that is not printed is a failure.
#[track_caller]
fn works(page: &str, commands_min: usize) {
    let blocks = blocks(page);
    let commands = blocks.iter().filter(|block| block.language == "sh").count();
    assert!(commands >= commands_min, "the page has {commands} blocks of commands");
    // What the tour asks for, so that a receiver on this machine gets its alerts, and soon.
    let server = Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("repositories.schemes", "\"https file\"")
        .set("alerting.evaluation_interval", "\"500ms\"")
        .start();
    let mut functions = String::new();
    for (at, block) in blocks.iter().enumerate() {
        match block.language.as_str() {
            "sh" => {
                let responses = responses(&run(&server, &format!("{functions}{}", block.text)));
                let printed = blocks.get(at + 1).filter(|next| next.language == "json");
                let last = responses.len().saturating_sub(usize::from(printed.is_some()));
                for response in responses.iter().take(last) {
                    // A resource may have a field `error`, which says what went wrong with it.
                    let has_failed = response.get("error").is_some_and(|error| !error.is_null());
                    assert!(!has_failed, "{}\n{response}", block.text);
                }
                if let Some(printed) = printed {
                    let Some(response) = responses.last() else {
                        panic!("no response: {}", block.text)
                    };
                    same(&masked(response), &masked(&parsed(&printed.text)));
                }
                let defines = |line: &&str| line.contains("() {") && line.ends_with('}');
                functions.extend(block.text.lines().filter(defines).map(|f| format!("{f}\n")));
            }
            "json" | "yaml" => {}
            other => panic!("the page has a block of {other:?}"),
        }
    }
}

#[test]
fn the_tour_works_as_printed() {
    let tour = README.split("\n## ").find(|section| section.starts_with("A tour"));
    works(tour.unwrap_or_default(), 8);
}

#[test]
fn the_guides_work_as_printed() {
    works(GUIDES, 20);
}

/// Returns the responses in the output of a block: JSON values, one per line.
fn responses(printed: &str) -> Vec<Value> {
    printed
        .lines()
        .flat_map(|line| {
            serde_json::Deserializer::from_str(line).into_iter::<Value>().map_while(Result::ok)
        })
        .collect()
}

#[track_caller]
fn parsed(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => panic!("{error}: {text}"),
    }
}
