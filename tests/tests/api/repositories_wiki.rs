//! The wiki and the diagrams that syncs make: pages about every module, with lines that are there,
//! and diagrams that Mermaid draws.

use serde_json::{Value, json};
use telltale_tests::{Client, covers, folder, node};

use crate::keys::text;
use crate::repositories_git::{
    GitServer, REPOSITORIES, Source, connect, encoded, must, path_text, setup, sync,
};
use crate::repositories_shop::shop;

const PACKAGES: [&str; 2] = ["mermaid@11.17.2", "jsdom@29.1.1"];
/// Parses each diagram with Mermaid, and prints the errors as an array.
const PARSER: &str = r#"
(async () => {
    const { JSDOM } = require("jsdom");
    const dom = new JSDOM("<!DOCTYPE html><body></body>");
    globalThis.window = dom.window;
    globalThis.document = dom.window.document;
    const { default: mermaid } = await import("mermaid");
    mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });
    const errors = [];
    for (const { slug, mermaid: text } of JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))) {
        try {
            const { diagramType } = await mermaid.parse(text);
            if (!diagramType) errors.push(`${slug}: no type`);
        } catch (error) {
            errors.push(`${slug}: ${error}`);
        }
    }
    console.log(JSON.stringify(errors));
})();
"#;

#[track_caller]
fn pages(client: &Client, id: &str) -> Vec<Value> {
    let path = format!("{REPOSITORIES}/{id}/wiki");
    let listed = client.get(&path).expect(200);
    let summaries = listed["pages"].as_array().cloned().unwrap_or_default();
    let read = |summary: &Value| {
        let page = client.get(&format!("{path}/{}", encoded(text(&summary["slug"])))).expect(200);
        assert_eq!(page["title"], summary["title"], "{page}");
        page
    };
    summaries.iter().map(read).collect()
}

#[track_caller]
fn diagrams(client: &Client, id: &str) -> Vec<Value> {
    let listed = client.get(&format!("{REPOSITORIES}/{id}/diagrams")).expect(200);
    listed["diagrams"].as_array().cloned().unwrap_or_default()
}

/// Checks that all diagrams are drawn by Mermaid.
#[track_caller]
fn check_diagrams(diagrams: &[Value]) {
    assert!(!diagrams.is_empty());
    let folder = folder();
    let file = folder.path().join("diagrams.json");
    must(std::fs::write(&file, json!(diagrams).to_string()));
    let errors = node(&PACKAGES, PARSER, [path_text(&file)]);
    assert_eq!(errors.trim(), "[]");
}

/// Checks that the references of pages are lines of a commit.
#[track_caller]
fn check_pages(source: &Source, commit: &str, pages: &[Value]) {
    for page in pages {
        assert!(!text(&page["content"]).trim().is_empty(), "{page}");
        assert!(commit.starts_with(text(&page["commit"])), "{page}");
        for reference in page["references"].as_array().into_iter().flatten() {
            let line = |name: &str| reference[name].as_u64().unwrap_or_default();
            let path = text(&reference["file_path"]);
            source.lines(commit, path, line("line_start"), line("line_end"));
        }
    }
}

#[test]
fn the_wiki_has_a_page_for_each_module_and_diagrams_that_mermaid_draws() {
    covers!("GET /api/v1/repositories/{id}/wiki", Happy);
    covers!("GET /api/v1/repositories/{id}/wiki/{page}", Happy);
    covers!("GET /api/v1/repositories/{id}/diagrams", Happy);
    let git = GitServer::start();
    let (source, commit) = shop(&git);
    let mut server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let made = pages(&client, &id);
    check_pages(&source, &commit, &made);
    let drawn = diagrams(&client, &id);
    check_diagrams(&drawn);
    let stats = client.get(&format!("{REPOSITORIES}/{id}")).expect(200)["stats"].clone();
    assert_eq!(
        (&stats["wiki_pages"], &stats["diagrams"]),
        (&json!(made.len()), &json!(drawn.len()))
    );
    let all = made.iter().map(|page| text(&page["content"])).collect::<Vec<_>>().join("\n");
    for part in [
        "Repeats operations that fail for a while",
        "PaymentGateway",
        "order_total",
        "The queue of shipments",
        "ShipmentQueue",
        "ShoppingCart",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let graphs =
        drawn.iter().map(|diagram| text(&diagram["mermaid"])).collect::<Vec<_>>().join("\n");
    assert!(graphs.contains("retry") && graphs.contains("payments"), "{graphs}");
    server.restart();
    let client = server.client();
    assert_eq!((pages(&client, &id), diagrams(&client, &id)), (made.clone(), drawn));

    // What is gone from the code is gone from the wiki.
    source.git(["rm", "-r", "--quiet", "server"]);
    let commit = source.commit([(
        "src/shop/gifts.py",
        "\"\"\"Wraps gifts.\"\"\"\n\n\ndef wrap_gift(paper):\n    return paper\n",
    )]);
    let run = sync(&client, &id);
    assert!(run["stats"]["pages_generated"].as_u64() > Some(0), "{run}");
    let made = pages(&client, &id);
    check_pages(&source, &commit, &made);
    let all = made.iter().map(|page| text(&page["content"])).collect::<Vec<_>>().join("\n");
    assert!(all.contains("wrap_gift") && !all.contains("ShipmentQueue"), "{all}");
    let unchanged = sync(&client, &id);
    assert_eq!(unchanged["stats"]["files_processed"], 0, "{unchanged}");
    assert_eq!(pages(&client, &id), made);
}

#[test]
fn diagrams_of_odd_names_are_drawn() {
    let git = GitServer::start();
    let source = git.source("odd");
    let names = [
        "end",
        "graph",
        "subgraph",
        "class",
        "click",
        "style",
        "default",
        "quote\"s",
        "brackets[]()",
        "semi;colon",
        "per%%cent",
        "hash#35;",
        "ünï",
        "日本語",
        "a-->b",
        "o---x",
        "pipe|s",
        "back`tick",
        "<script>",
        "amp&amp",
        "new\nline",
        "back\\slash",
        "1digit",
        "space s",
        "@at",
        "{braces}",
    ];
    let mut previous = String::new();
    for (number, name) in names.iter().enumerate() {
        let body = format!(
            "{previous}class Thing{number}:\n    \"\"\"--> {name}\"\"\"\n\n    def end(self):\n        return 1\n"
        );
        source.write(&format!("{name}/module_{number}.py"), body);
        previous = format!("from module_{number} import Thing{number}\n\n\n");
    }
    source.write("end.py", "class end:\n    pass\n\n\nclass graph(end):\n    pass\n");
    source.write("generic.rs", "pub struct Map<K, V>(Vec<(K, V)>);\nimpl<K: Fn(&str) -> Vec<u8>, V> Map<K, V> { pub fn r#end(&self) {} }\npub trait Draw: Send {}\nimpl<K, V> Draw for Map<K, V> {}\n");
    source.write("generic.ts", "export class Box<T extends { a: string; b: [number] }> extends Map<string, T> { #end = 1; \"a b\"() {} }\n");
    source.commit([]);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("odd"));
    check_diagrams(&diagrams(&client, &id));
    check_pages(&source, &source.head(), &pages(&client, &id));
}

#[test]
fn many_modules_have_diagrams_that_can_be_drawn() {
    let git = GitServer::start();
    let source = git.source("many");
    for number in 0..300 {
        let imports: String = (1..=5)
            .map(|step| format!("from m{0}.a import f{0}\n", (number + step * 7) % 300))
            .collect();
        source.write(
            &format!("m{number}/a.py"),
            format!("{imports}\n\ndef f{number}():\n    return f{}()\n", (number + 7) % 300),
        );
    }
    source.commit([]);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("many"));
    check_diagrams(&diagrams(&client, &id));
}

#[test]
fn unknown_pages_are_reported() {
    covers!("GET /api/v1/repositories/{id}/wiki", Refusal);
    covers!("GET /api/v1/repositories/{id}/wiki/{page}", Refusal);
    covers!("GET /api/v1/repositories/{id}/diagrams", Refusal);
    let git = GitServer::start();
    shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    for page in ["nothing", "%2e%2e", "a%2Fb", "%00"] {
        let refused = client.get(&format!("{REPOSITORIES}/{id}/wiki/{page}"));
        assert_eq!(refused.status, 404, "{page}: {}", refused.summary());
    }
    let missing = format!("{REPOSITORIES}/repo_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    for of in ["wiki", "wiki/overview", "diagrams"] {
        client.get(&format!("{missing}/{of}")).refused(404, "repository_not_found");
    }
}
