//! When pages are captured, and those that never are ready.

use std::time::Duration;

use telltale_server::areas::snapshots::capture::{Selectors, WaitFor};

use crate::site::{Reply, Site};
use crate::support::{Pixels, TestBrowser, children, eventually, request};

const BLUE: [u8; 3] = [0, 0, 255];

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_captured_when_the_condition_holds() {
    let late = |body: &str, ms| {
        Reply::Late(
            Duration::from_millis(ms),
            Box::new(Reply::typed("text/plain", body.as_bytes())),
        )
    };
    let site = Site::start(vec![
        (
            "/",
            Reply::html(
                "<!doctype html><body><img src=/hang><script>
                fetch('/one').then(() => setTimeout(() => fetch('/two').then(() => {
                  document.body.style.background = 'blue';
                  document.body.innerHTML += '<p id=ready>'; }), 300));</script>",
            ),
        ),
        (
            "/mail",
            Reply::html(
                "<!doctype html><body style='background:blue'>
                <script>location = 'mailto:a@b.example'</script>",
            ),
        ),
        ("/one", late("1", 300)),
        ("/two", late("2", 300)),
        ("/hang", Reply::Hang),
        (
            "/idle",
            Reply::html(
                "<!doctype html><body><script>new EventSource('/hang');
                fetch('/one').then(() => setTimeout(() => fetch('/two').then(() => {
                  document.body.style.background = 'blue'; }), 300));</script>",
            ),
        ),
    ])
    .await;
    let test = TestBrowser::new(&site);
    let page = request(&site.url("/"));
    let dom = test.shoot(&page.clone().wait_for(WaitFor::DomContentLoaded)).await;
    assert_eq!(dom.http_status, Some(200));
    let ready = page.clone().wait_for(WaitFor::parse("selector:#ready").unwrap());
    assert_eq!(Pixels::of(&test.shoot(&ready).await).at(400, 500), BLUE);
    let idle = test.shoot(&request(&site.url("/idle"))).await;
    assert_eq!(Pixels::of(&idle).at(400, 500), BLUE);

    // Another program opens it: the page stays.
    let mail = test.shoot(&request(&site.url("/mail"))).await;
    assert_eq!(Pixels::of(&mail).at(400, 500), BLUE);

    let short = page.limit(Duration::from_secs(3));
    for (condition, message) in [
        (WaitFor::Load, "the load event took longer than 3 s"),
        (WaitFor::NetworkIdle, "an idle network took longer than 3 s"),
        (
            WaitFor::Selector("#absent".into()),
            "an element that matches the selector took longer than 3 s",
        ),
    ] {
        let error = test.capture(&short.clone().wait_for(condition)).await.unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), ("timeout", message));
    }
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_never_settle_end_in_time_and_leave_no_process() {
    let site = Site::start(vec![
        ("/poll", Reply::html("<script>(async () => { for (;;) await fetch('/x') })()</script>")),
        ("/loop", Reply::html("<p>x<script>onload = () => { for (;;); }</script>")),
        ("/silent", Reply::Hang),
        ("/reload", Reply::html("<script>setTimeout(() => location.reload(), 50)</script>")),
        (
            "/paint",
            Reply::html(
                "<canvas id=c width=300 height=300></canvas><script>let n = 0;
                const c = document.querySelector('#c').getContext('2d');
                (function paint() { c.fillStyle = '#' + (n++ % 4096).toString(16).padStart(3, 0);
                c.fillRect(0, 0, 300, 300); requestAnimationFrame(paint); })();</script>",
            ),
        ),
    ])
    .await;
    let test = TestBrowser::new(&site);
    for path in ["/poll", "/loop", "/silent", "/reload"] {
        let page = request(&site.url(path)).limit(Duration::from_secs(4));
        let error = test.capture(&page).await.unwrap_err();
        assert_eq!(error.code(), "timeout", "{path}: {error}");
    }
    let painted = test.shoot(&request(&site.url("/paint"))).await;
    assert!(painted.is_unstable);
    let group = test.browser.process_id().await.unwrap();
    eventually("the processes of closed pages end", async || {
        children(group, "renderer").len() <= 1
    })
    .await;
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selectors_that_are_no_css_are_named() {
    let site = Site::page("<p>x").await;
    let test = TestBrowser::new(&site);
    let page = request(&site.url("/"));
    let list = |text: &str| Selectors::new(vec!["p".into(), text.into()]).unwrap();
    for request in [
        page.clone().hide(list("p[")),
        page.clone().mask(list("p[")),
        page.clone().wait_for(WaitFor::Selector("p[".into())),
    ] {
        let error = test.capture(&request).await.unwrap_err();
        assert_eq!(error.code(), "invalid_selector");
        assert_eq!(error.to_string(), "the selector \"p[\" is not valid");
    }
    assert!(site.heads().is_empty(), "the page is not loaded");
    // Text that would leave a string or a rule.
    let odd = page.hide(list("p\"], x[a='}{</style>\\']"));
    drop(test.capture(&odd).await);
    test.end().await;
}
