//! Search and files of repositories: what is found is there, byte for byte; what is not there is
//! not found; paths and lines outside of the commit are refused.

use serde_json::{Value, json};
use telltale_tests::covers;

use crate::keys::text;
use crate::repositories_git::{
    GitServer, REPOSITORIES, connect, connect_with, contents, create, encoded, failed, search,
    settled, setup, sync,
};
use crate::repositories_shop::{SHOP, shop};

/// Words, and the file that has the best answer.
const SEARCHES: [(&str, &str); 12] = [
    ("retry_with_backoff", "src/shop/retry.py"),
    ("retry with backoff", "src/shop/retry.py"),
    ("exponentially growing delays", "src/shop/retry.py"),
    ("enqueue shipment", "server/src/queue.rs"),
    ("ShipmentQueue", "server/src/queue.rs"),
    ("shipments that a courier takes", "server/src/queue.rs"),
    ("addBook", "web/cart.ts"),
    ("add book to the cart", "web/cart.ts"),
    ("checkoutLabel", "web/checkout.ts"),
    ("voucher percent order total", "src/shop/orders.py"),
    ("refunds within fourteen days", "docs/operations.md"),
    ("charge card receipt bank", "src/shop/payments.py"),
];

/// Names of definitions, with their file and first line.
const DEFINITIONS: [(&str, &str, &str); 12] = [
    ("retry_with_backoff", "src/shop/retry.py", "def retry_with_backoff("),
    ("RetriesExhausted", "src/shop/retry.py", "class RetriesExhausted("),
    ("PaymentGateway", "src/shop/payments.py", "class PaymentGateway:"),
    ("charge_card", "src/shop/payments.py", "    def charge_card("),
    ("PaymentGateway.charge_card", "src/shop/payments.py", "    def charge_card("),
    ("order_total", "src/shop/orders.py", "def order_total("),
    ("ShipmentQueue", "server/src/queue.rs", "pub struct ShipmentQueue {"),
    ("ShipmentQueue::load_courier", "server/src/queue.rs", "    pub fn load_courier("),
    ("GRAMS_MAX", "server/src/queue.rs", "pub const GRAMS_MAX: u32"),
    ("ShoppingCart", "web/cart.ts", "export class ShoppingCart {"),
    ("countCopies", "web/cart.ts", "  countCopies(): number {"),
    ("checkoutLabel", "web/checkout.ts", "export function checkoutLabel("),
];

#[test]
fn code_is_found_by_words_and_results_are_lines_of_the_commit() {
    covers!("GET /api/v1/repositories/{id}/search", Happy);
    let git = GitServer::start();
    let (source, commit) = shop(&git);
    let mut server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    for restarted in [false, true] {
        let client = server.client();
        for (words, path) in SEARCHES {
            let found = search(&client, &id, words);
            let best = found.first().map(|hit| text(&hit["file_path"]));
            assert_eq!(best, Some(path), "{words}: {found:?}");
            source.check_references(&commit, &json!(found));
            let scores: Vec<f64> = found.iter().filter_map(|hit| hit["score"].as_f64()).collect();
            assert!(scores.windows(2).all(|two| two[0] >= two[1]), "best first: {scores:?}");
        }
        if !restarted {
            server.restart();
        }
    }
    let client = server.client();
    let limited = client.get(&format!("{REPOSITORIES}/{id}/search?q=shop&limit=2")).expect(200);
    assert_eq!(limited["results"].as_array().map(Vec::len), Some(2), "{limited}");
    assert!(commit.starts_with(text(&limited["commit"])), "{limited}");
    for words in ["kangaroo marsupial", "qzxv"] {
        assert_eq!(search(&client, &id, words), Vec::<Value>::new(), "{words}");
    }
}

#[test]
fn definitions_are_found_by_name() {
    let git = GitServer::start();
    let (source, commit) = shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    for (name, path, line) in DEFINITIONS {
        let url = format!("{REPOSITORIES}/{id}/search?symbol={}", encoded(name));
        let found = client.get(&url).expect(200)["results"].clone();
        let best = &found[0];
        assert_eq!(best["file_path"], path, "{name}: {found}");
        assert!(text(&best["snippet"]).contains(line), "{name}: {best}");
        let file = String::from_utf8_lossy(&source.show(&commit, path)).into_owned();
        let number = file.lines().position(|of_file| of_file.starts_with(line)).map(|at| at + 1);
        let number = number.unwrap_or_default() as u64;
        let (start, end) = (best["line_start"].as_u64(), best["line_end"].as_u64());
        assert!(start <= Some(number) && Some(number) <= end, "{name} is in line {number}: {best}");
        source.check_references(&commit, &found);
    }
    let missing = client.get(&format!("{REPOSITORIES}/{id}/search?symbol=no_such_name_at_all"));
    assert_eq!(missing.expect(200)["results"], json!([]));
}

#[test]
fn files_are_read_as_a_whole_and_by_lines() {
    covers!("GET /api/v1/repositories/{id}/files", Happy);
    covers!("GET /api/v1/repositories/{id}/files/{path}", Happy);
    let git = GitServer::start();
    let (source, commit) = shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let path = format!("{REPOSITORIES}/{id}/files");
    for (file, contents) in contents(&source) {
        let read = client.get(&format!("{path}/{file}")).expect(200);
        assert_eq!(text(&read["content"]).as_bytes(), contents, "{file}");
        assert_eq!(read["bytes"], contents.len());
        let lines = contents.split_inclusive(|byte| *byte == b'\n').count() as u64;
        assert_eq!(read["lines"], lines, "{file}");
        assert!(commit.starts_with(text(&read["commit"])), "{read}");
        for (start, end) in [(1, 1), (1, lines), (lines, lines), (2, lines - 1)] {
            let read = client.get(&format!("{path}/{file}?lines={start}-{end}")).expect(200);
            assert_eq!(read["content"], source.lines(&commit, &file, start, end), "{file}");
            assert_eq!((&read["line_start"], &read["line_end"]), (&json!(start), &json!(end)));
        }
    }
    let listed = client.get(&path).expect(200);
    let mut expected = SHOP.map(|(path, _)| path);
    expected.sort_unstable();
    let names = |listed: &Value| {
        let files = listed["files"].as_array().into_iter().flatten();
        files.map(|file| text(&file["file_path"]).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&listed), expected);
    let page = client.get(&format!("{path}?limit=2&offset=3")).expect(200);
    assert_eq!(names(&page), expected[3..5]);
    let python = client.get(&format!("{path}/src/shop/retry.py")).expect(200);
    assert_eq!(python["language"], "python");
    assert_eq!(client.get(&format!("{path}/src%2Fshop%2Fretry.py")).expect(200), python);
}

#[test]
fn files_and_lines_outside_of_the_commit_are_refused() {
    covers!("GET /api/v1/repositories/{id}/files", Refusal);
    covers!("GET /api/v1/repositories/{id}/files/{path}", Refusal);
    let git = GitServer::start();
    let (source, _) = shop(&git);
    source.commit([("empty.py", "")]);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let path = format!("{REPOSITORIES}/{id}/files");
    for file in [
        "nothing.py",
        "docs",
        "web",
        "docs/operations.md/x",
        "Docs/Operations.md",
        "..%2F..%2Fetc%2Fpasswd",
        "%2Fetc%2Fpasswd",
        "docs%2F..%2FREADME.md",
        ".git%2Fconfig",
        ".git/config",
        "docs%5Coperations.md",
    ] {
        client.get(&format!("{path}/{file}")).refused(404, "file_not_found");
    }
    for file in
        ["../../../../etc/passwd", "/etc/passwd", "%FF%FE", "./README.md", "a//b", "a.py%00"]
    {
        let refused = client.get(&format!("{path}/{file}"));
        assert!(matches!(refused.status, 400 | 404), "{file}: {}", refused.summary());
    }
    let lines = "src/shop/retry.py?lines";
    for range in ["0-1", "2-1", "1-4294967295", "400-401", "1-4000"] {
        client.get(&format!("{path}/{lines}={range}")).refused_for(422, "invalid_field", "lines");
    }
    client.get(&format!("{path}/empty.py?lines=1-1")).refused_for(422, "invalid_field", "lines");
    for range in ["a-b", "1-", "-1", "-1-2", "1-2-3", "1.5-2", "%2B1-2"] {
        client.get(&format!("{path}/{lines}={range}")).refused(400, "invalid_parameter");
    }
    client.get(&format!("{path}/README.md?line=1-2")).refused(400, "invalid_parameter");
    client.get(&format!("{path}?limit=-1")).refused(400, "invalid_parameter");
    assert_eq!(client.get(&format!("{path}/empty.py")).expect(200)["content"], "");
}

#[test]
fn invalid_searches_are_refused_and_odd_ones_find_nothing() {
    covers!("GET /api/v1/repositories/{id}/search", Refusal);
    let git = GitServer::start();
    shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let path = format!("{REPOSITORIES}/{id}/search");
    let long = format!("q={}", "a".repeat(4_001));
    for query in ["", "q=", "q=%20", "symbol=", "q=a&symbol=b", "q=a&limit=x", "q=a&limt=1", &long]
    {
        client.get(&format!("{path}?{query}")).refused(400, "invalid_parameter");
    }
    for words in
        ["(((", "\"", "*", "a AND", "\u{0}", "..", "日本語", "-", "'; DROP TABLE", "\u{202e}"]
    {
        client.get(&format!("{path}?q={}", encoded(words))).expect(200);
        client.get(&format!("{path}?symbol={}", encoded(words))).expect(200);
    }
    let missing = format!("{REPOSITORIES}/repo_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    client.get(&format!("{missing}/search?q=a")).refused(404, "repository_not_found");
    client.get(&format!("{missing}/files/README.md")).refused(404, "repository_not_found");
}

#[test]
fn a_repository_that_was_never_synced_has_no_files() {
    let git = GitServer::start();
    git.source("empty");
    let server = setup().start();
    let client = server.client();
    let id = text(&create(&client, &json!({"url": git.url("empty")}))["id"]).to_owned();
    failed(&client, &id);
    let path = format!("{REPOSITORIES}/{id}");
    for of in ["search?q=a", "search?symbol=a", "files", "files/a.py", "wiki", "wiki/a", "diagrams"]
    {
        client.get(&format!("{path}/{of}")).refused(409, "repository_not_synced");
    }
    assert_eq!(settled(&client, &id)["stats"]["files_indexed"], 0);
}

#[test]
fn responses_are_about_one_commit_while_a_sync_replaces_it() {
    let git = GitServer::start();
    let source = git.source("moving");
    let files = |number: usize| -> Vec<(String, String)> {
        let file = |at: usize| {
            (format!("file_{at}.py"), format!("def shared_function_{at}():\n    return {number}\n"))
        };
        (0..30).map(file).collect()
    };
    let commit = |number: usize| {
        let files = files(number);
        source.commit(files.iter().map(|(path, contents)| (path.as_str(), contents.as_str())))
    };
    commit(0);
    let server = setup().start();
    let client = server.client();
    let id = connect_with(&client, &json!({"url": git.url("moving"), "auto_sync": false}));
    let reading = std::thread::spawn({
        let (client, id) = (client.clone(), id.clone());
        move || {
            let mut seen = Vec::new();
            while seen.last() != Some(&5) {
                // All results of a response are of the same commit.
                let found = search(&client, &id, "shared function");
                let numbers = found.iter().filter_map(|hit| {
                    let snippet = text(&hit["snippet"]);
                    snippet.rsplit("return ").next()?.trim().parse::<usize>().ok()
                });
                let numbers: Vec<usize> = numbers.collect();
                assert!(!numbers.is_empty(), "{found:?}");
                assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
                seen.push(numbers[0]);
            }
            seen
        }
    });
    for number in 1..=5 {
        commit(number);
        let run = sync(&client, &id);
        assert_eq!(run["stats"]["files_processed"], 30, "{run}");
    }
    let seen = reading.join().unwrap_or_default();
    assert!(seen.is_sorted() && seen.last() == Some(&5), "{seen:?}");
}
