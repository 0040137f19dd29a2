//! How much work questions are: files that nobody has written by hand, for which each of these
//! questions took minutes when a line was read again for each of its uses.

use super::fixture::ask;
use crate::areas::repositories::answers::answer;
use crate::areas::repositories::index::IndexError;
use crate::areas::repositories::wiki::test_index::index_of;

#[test]
fn a_long_line_is_read_once_for_all_its_uses() {
    let line = format!("    assert!({});\n", "alpha_fn(beta_fn(gamma_fn::<D>(1))),".repeat(1_500));
    let text = format!("pub fn alpha_fn() {{}}\nfn run_all() {{\n{}}}\n", line.repeat(6));
    let index = index_of(&[("src/lib.rs", &text)]);
    let found = ask(&index, &["Who calls alpha_fn?"]);
    assert!(found.text.contains("alpha_fn"), "{found:?}");
}

#[test]
fn imports_are_read_once_for_all_bases() {
    let imports = "from shapes import Shape as Base; ".repeat(1_800);
    let classes: String = (0..100).map(|n| format!("class A{n}(Base):\n    pass\n")).collect();
    let text = format!("{imports}\n{classes}");
    let definitions: Vec<String> = (0..20).map(|n| format!("d{n}/shapes.py")).collect();
    let mut files = vec![("use.py", text.as_str())];
    files.extend(definitions.iter().map(|path| (path.as_str(), "class Shape:\n    pass\n")));
    let index = index_of(&files);
    let found = ask(&index, &["What does A5 extend?"]);
    assert!(found.text.contains("implements or extends `Shape` (use.py:12)"), "{found:?}");
    ask(&index, &["Who extends Shape?"]);
}

#[test]
fn exchanged_names_are_exchanged_once() {
    let text = "from shapes import A as B, B as A\n\n\nclass Q(B):\n    pass\n";
    let shapes = "class A:\n    pass\n\n\nclass B:\n    pass\n";
    let index = index_of(&[("u.py", text), ("shapes.py", shapes)]);
    let found = ask(&index, &["What does Q extend?"]);
    assert!(found.text.contains("implements or extends `A` (u.py:4)"), "{found:?}");
}

#[test]
fn errors_of_a_long_function_are_found() {
    let calls: String = (0..20_000).map(|n| format!("    do{}(f)\n", n % 5_000)).collect();
    let text = format!("def upload(f):\n{calls}    # raise OldError\n    raise Sent(f)\n");
    let index = index_of(&[("big.py", &text)]);
    let found = ask(&index, &["Which errors can upload raise?"]);
    assert!(found.text.contains("names these errors: `Sent` (line 20003)"), "{found:?}");
}

#[test]
fn nobody_waits_for_an_answer_whose_client_left() {
    let index = index_of(&[("a.rs", "pub fn open_all() {}\nfn run() { open_all(); }\n")]);
    let index = index.with_stop(|| true);
    assert_eq!(answer(&index, "Who calls open_all?", &[]), Err(IndexError::Stopped));
}

#[test]
fn comments_of_a_long_function_are_located_in_their_block() {
    let body: String = (0..12_000)
        .map(|n| format!("    // Word{n} is here for item number {n} of set.\n    a({n});\n"))
        .collect();
    let text = format!("/// Closes it.\npub fn closer_fn() {{\n{body}}}\n");
    let index = index_of(&[("src/lib.rs", &text), ("src/o.rs", "pub fn other() {}\n")]);
    let found = ask(&index, &["Does closer_fn work with banana items?"]);
    assert!(found.text.contains("closer_fn"), "{found:?}");
}

#[test]
fn mentions_in_a_file_of_many_symbols_are_found() {
    let symbols: String = (0..12_000).map(|n| format!("static int s{n} = 0;\n")).collect();
    let uses = "  by_name,\n".repeat(40_000);
    let text = format!("{symbols}int by_name(int x) {{ return x; }}\nint *q[] = {{\n{uses}}};\n");
    let index = index_of(&[("a.c", &text)]);
    let found = ask(&index, &["Who calls by_name?"]);
    assert!(found.text.contains("also appears in a.c:12003 as `by_name,`"), "{found:?}");
}

#[test]
fn a_name_that_is_used_often_is_looked_up_once() {
    let calls: String = (0..20_000).map(|n| format!("        f({n})\n")).collect();
    let text = format!("def f(x):\n    return x\n\n\nclass Big:\n    def m(self):\n{calls}");
    let index = index_of(&[("big.py", &text)]);
    let found = ask(&index, &["What does Big.m call?"]);
    assert!(found.text.contains("`Big.m` calls `f` (big.py:1)"), "{found:?}");
}
