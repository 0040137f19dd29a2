//! The tour of the README works as printed: every block of commands runs, in order, on a real server, and
//! answers what stands below it.

use std::process::Command;

use serde_json::Value;
use telltale_tests::{ADMIN_KEY, Server, masked, same, telltale};

const README: &str = include_str!("../../../README.md");
/// Where the README says that the server listens.
const PRINTED_ADDRESS: &str = "127.0.0.1:8080";

/// A block of the README: its language and its text.
#[derive(Debug)]
struct Block {
    language: String,
    text: String,
}

/// The blocks of the section called "A tour".
fn tour() -> Vec<Block> {
    let section = README.split("\n## ").find(|section| section.starts_with("A tour"));
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in section.unwrap_or_default().lines() {
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

/// Runs a block as a shell would, with the key and the program at hand, and answers its last line.
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
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{said}\n{error}");
    said
}

#[test]
fn the_tour_works_as_printed() {
    let blocks = tour();
    let commands = blocks.iter().filter(|block| block.language == "sh").count();
    assert!(commands >= 6, "the tour has {commands} blocks of commands");
    let server = Server::start();
    let mut said = String::new();
    for block in &blocks {
        match block.language.as_str() {
            "sh" => said = run(&server, &block.text),
            "json" => {
                let (answered, printed) = (parsed(&said), parsed(&block.text));
                same(&masked(&answered), &masked(&printed));
            }
            other => panic!("the tour has a block of {other:?}"),
        }
    }
}

/// The last line that is JSON: a block of several commands shows the last answer.
#[track_caller]
fn parsed(text: &str) -> Value {
    let whole = serde_json::from_str(text);
    match whole.or_else(|_| serde_json::from_str(text.trim().lines().last().unwrap_or_default())) {
        Ok(value) => value,
        Err(error) => panic!("{error}: {text}"),
    }
}
