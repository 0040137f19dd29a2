//! Explanations of texts without a grammar.

use super::harness::{explained, told};

#[test]
fn a_text_is_explained_by_its_headings() {
    let text = "# Shop\n\nSells books over\nthe web. And more.\n\n## Run it\n\n```sh\n# no heading\nrun\n```\n\nThen open it.\n\n## Parts\n\n- `web` is the page,\n- `server` is the queue.\n";
    let found = explained("docs/README.md", text, None);
    assert_eq!(
        told(&found),
        r#"README.md has 18 lines. Shop. Sells books over the web. No grammar is known for it, so only its text is described.
  Lines 1 to 4, under the heading "Shop": Sells books over the web.
  Lines 6 to 13, under the heading "Run it": Then open it.
  Lines 15 to 18, under the heading "Parts": `web` is the page.
success: Nothing is known of it but its text.
failure: Nothing is known of it but its text.
uses: 
"#
    );
    let found = explained("docs/README.md", text, Some((6, 13)));
    assert_eq!(
        told(&found),
        r#"Lines 6 to 13 of README.md. Run it. Then open it. No grammar is known for it, so only its text is described.
  Lines 6 to 13, under the heading "Run it": Then open it.
success: Nothing is known of it but its text.
failure: Nothing is known of it but its text.
uses: 
"#
    );
}

#[test]
fn a_text_without_headings_is_explained_by_its_paragraphs() {
    let found = explained("Makefile", "all: shop\n\tcargo build\n\n\nclean:\n\trm -r out\n", None);
    assert_eq!(
        told(&found),
        r#"Makefile has 6 lines. all: shop cargo build. No grammar is known for it, so only its text is described.
  Lines 1 to 2: all: shop cargo build.
  Lines 5 to 6: clean: rm -r out.
success: Nothing is known of it but its text.
failure: Nothing is known of it but its text.
uses: 
"#
    );
    let found = explained("empty.txt", "", None);
    assert_eq!(
        told(&found),
        r#"empty.txt is empty.
success: Nothing is known of it but its text.
failure: Nothing is known of it but its text.
uses: 
"#
    );
}
