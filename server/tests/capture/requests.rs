//! Headers and cookies, statuses, redirects and failures of the page itself.

use telltale_server::areas::snapshots::capture::{PageCookie, PageHeader};

use crate::site::{Reply, Site};
use crate::support::{TestBrowser, request};

#[tokio::test(flavor = "multi_thread")]
async fn headers_and_cookies_are_sent_only_to_the_origin_of_the_page() {
    let site = Site::start(vec![
        (
            "/",
            Reply::html("<img src=/own><img src=http://b.test/other><iframe src=/frame></iframe>"),
        ),
        ("/frame", Reply::html("<script>fetch('/deep', {headers: {'x-own': '1'}})</script>")),
        ("/go", Reply::redirect("http://b.test/elsewhere")),
        ("/elsewhere", Reply::html("<p>there")),
    ])
    .await;
    let test = TestBrowser::new(&site);
    let with = |url: &str| {
        request(url)
            .headers(vec![
                PageHeader::new("Authorization", "Bearer s3cret").unwrap(),
                PageHeader::new("X-Preview", "yes").unwrap(),
            ])
            .unwrap()
            .cookies(vec![PageCookie::new("session", "c00kie").unwrap()])
            .unwrap()
    };
    let capture = test.shoot(&with("http://a.test/")).await;
    assert_eq!(capture.url, "http://a.test/");
    let moved = test.shoot(&with("http://a.test/go#part")).await;
    assert_eq!(
        (moved.url.as_str(), moved.http_status),
        ("http://b.test/elsewhere#part", Some(200))
    );
    let without = test.shoot(&request("http://a.test/")).await;
    assert_eq!(without.http_status, Some(200));
    let mut heads = site.heads();
    heads.retain(|head| !head.contains("/favicon.ico"));
    let mut seen = 0;
    for head in &heads[..heads.len() - 5] {
        let is_own = head.to_lowercase().contains("host: a.test");
        for secret in ["Bearer s3cret", "c00kie"] {
            assert_eq!(head.contains(secret), is_own, "{head}");
        }
        assert_eq!(head.to_lowercase().contains("x-own: 1"), head.contains(" /deep "), "{head}");
        seen += u32::from(is_own);
    }
    assert_eq!(seen, 5, "{heads:#?}");
    for head in &heads[heads.len() - 5..] {
        assert!(!head.contains("s3cret") && !head.contains("c00kie"), "contexts share nothing");
    }
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_cannot_be_loaded_fail_with_the_reason() {
    let site = Site::start(vec![
        ("/missing", Reply::Full(404, Vec::new(), b"gone".to_vec())),
        ("/empty", Reply::Full(500, Vec::new(), Vec::new())),
        ("/none", Reply::Full(204, Vec::new(), Vec::new())),
        ("/to-refused", Reply::redirect("http://10.0.0.1/admin")),
        ("/to-refused-tls", Reply::redirect("https://10.0.0.1/admin")),
        ("/to-file", Reply::redirect("file:///etc/passwd")),
        ("/to-data", Reply::redirect("data:text/html,hi")),
        ("/script-refused", Reply::html("<script>location = 'http://10.0.0.1/x'</script>")),
        ("/round", Reply::redirect("/round")),
        (
            "/load",
            Reply::Full(
                200,
                vec![
                    ("Content-Type".into(), "application/octet-stream".into()),
                    ("Content-Disposition".into(), "attachment; filename=a.bin".into()),
                ],
                vec![0; 100],
            ),
        ),
        (
            "/auth",
            Reply::Full(
                401,
                vec![("WWW-Authenticate".into(), "Basic realm=x".into())],
                b"who".to_vec(),
            ),
        ),
    ])
    .await;
    let test = TestBrowser::new(&site);
    for (path, status) in [("/missing", 404), ("/auth", 401)] {
        let capture = test.shoot(&request(&site.url(path))).await;
        assert_eq!(capture.http_status, Some(status));
    }
    let url = |path: &str| site.url(path);
    for (url, code, words) in [
        (url("/empty"), "navigation_failed", "HTTP 500 without content"),
        (url("/none"), "navigation_failed", "ERR_ABORTED"),
        (url("/load"), "navigation_failed", "ERR_ABORTED"),
        (url("/round"), "navigation_failed", "ERR_TOO_MANY_REDIRECTS"),
        (url("/to-refused"), "blocked_url", "http://10.0.0.1/admin must not be fetched: 10.0.0.1"),
        (url("/to-refused-tls"), "blocked_url", "https://10.0.0.1/admin must not be fetched"),
        (url("/to-file"), "blocked_url", "not http or https"),
        (url("/to-data"), "blocked_url", "not http or https"),
        (url("/script-refused"), "blocked_url", "10.0.0.1 is not a public address"),
        ("http://127.0.0.1:8081/".into(), "blocked_url", "127.0.0.1 is not a public address"),
        ("https://[::1]:8443/".into(), "blocked_url", "::1 is not a public address"),
        ("http://[::1]:8080/".into(), "blocked_url", "::1 is not a public address"),
        ("http://2130706433:8081/".into(), "blocked_url", "127.0.0.1 is not a public address"),
        ("http://localhost:8081/".into(), "blocked_url", "localhost is not a public address"),
        ("http://a.invalid/".into(), "navigation_failed", "the name has no address"),
        ("https://a.invalid/".into(), "navigation_failed", "the name has no address"),
    ] {
        let error = test.capture(&request(&url)).await.unwrap_err();
        assert_eq!(error.code(), code, "{url}: {error}");
        assert!(error.to_string().contains(words), "{url}: {error}");
    }
    test.end().await;
}
