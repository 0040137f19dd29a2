//! Browsers that are killed, replaced or left behind.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use telltale_server::areas::snapshots::capture::{Browser, BrowserSettings, SandboxMode, WaitFor};

use crate::site::{Reply, Site};
use crate::support::{TestBrowser, children, eventually, full_page, kill, processes, request};

/// Makes the test below hold a browser until it is killed.
const HOLD: &str = "CAPTURE_HOLD_BROWSER_IN";

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_browser_fails_its_captures_and_is_replaced() {
    let site = Site::start(vec![("/", Reply::html("<p>x")), ("/hang", Reply::Hang)]).await;
    let test = TestBrowser::new(&site);
    test.shoot(&request(&site.url("/"))).await;
    let first = test.browser.process_id().await.unwrap();
    let hanging = request(&site.url("/hang"));
    let killing = async {
        eventually("the page is requested", async || site.paths().contains(&"/hang".to_owned()))
            .await;
        kill(first);
    };
    let (failed, ()) = tokio::join!(test.capture(&hanging), killing);
    let error = failed.unwrap_err();
    assert_eq!(error.code(), "browser_crashed", "{error}");
    test.shoot(&request(&site.url("/"))).await;
    let second = test.browser.process_id().await.unwrap();
    assert_ne!(first, second);
    assert!(children(first, "").is_empty(), "the rest of the group was killed");

    let killing = async {
        eventually("the page is requested again", async || {
            site.paths().iter().filter(|path| *path == "/hang").count() == 2
        })
        .await;
        children(second, "renderer").into_iter().for_each(kill);
    };
    let hanging = full_page(&site.url("/hang")).wait_for(WaitFor::Load);
    let (failed, ()) = tokio::join!(test.capture(&hanging), killing);
    let error = failed.unwrap_err();
    assert_eq!(error.code(), "browser_crashed", "only the page was killed: {error}");
    test.shoot(&request(&site.url("/"))).await;
    assert_eq!(test.browser.process_id().await, Some(second));
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_starts_however_long_the_path_of_its_profile_is() {
    let site = Site::start(vec![("/", Reply::html("<p>x"))]).await;
    let root = tempfile::tempdir().unwrap();
    let profile_root = root.path().join("p".repeat(150));
    let settings = BrowserSettings { profile_root, ..BrowserSettings::default() };
    let test = TestBrowser::with_settings(&site, 1, settings, root);
    test.shoot(&request(&site.url("/"))).await;
    test.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_captures_and_cancelled_ones_leave_nothing() {
    let site = Site::start(vec![("/", Reply::html("<p>x")), ("/hang", Reply::Hang)]).await;
    let test = TestBrowser::with_slots(&site, 3);
    let page = request(&site.url("/")).wait_for(WaitFor::Load);
    for _ in 0..10 {
        let (a, b, c) = tokio::join!(test.capture(&page), test.capture(&page), test.capture(&page));
        assert!(a.unwrap().png == b.unwrap().png && c.is_ok());
    }
    let hanging = request(&site.url("/hang"));
    for ms in [0, 30, 100, 300] {
        let cancelled = tokio::time::timeout(Duration::from_millis(ms), test.capture(&hanging));
        assert!(cancelled.await.is_err());
    }
    let group = test.browser.process_id().await.unwrap();
    eventually("the processes of pages end", async || children(group, "renderer").len() <= 1).await;
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_replaced_after_many_captures_and_ended_when_idle() {
    let site = Site::page("<p>x").await;
    let test = TestBrowser::with_slots(&site, 4);
    let page = request(&site.url("/")).wait_for(WaitFor::DomContentLoaded);
    test.shoot(&page).await;
    let first = test.browser.process_id().await;
    for _ in 0..24 {
        let (a, b, c, d) = tokio::join!(
            test.capture(&page),
            test.capture(&page),
            test.capture(&page),
            test.capture(&page)
        );
        assert!([a, b, c, d].iter().all(Result::is_ok));
    }
    for _ in 0..3 {
        test.shoot(&page).await;
    }
    assert_eq!(test.browser.process_id().await, first);
    test.shoot(&page).await;
    let second = test.browser.process_id().await;
    assert!(first != second && children(first.unwrap(), "").is_empty());

    test.browser.end_if_idle(Duration::from_secs(3600)).await;
    assert_eq!(test.browser.process_id().await, second);
    test.browser.end_if_idle(Duration::ZERO).await;
    assert_eq!(test.browser.process_id().await, None);
    assert!(processes(test.root.path()).is_empty());
    test.shoot(&page).await;
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_is_dropped_leaves_nothing() {
    let site = Site::page("<p>x").await;
    let test = TestBrowser::new(&site);
    test.shoot(&request(&site.url("/"))).await;
    let TestBrowser { browser, root } = test;
    assert!(processes(root.path()).len() > 4);
    drop(browser);
    assert!(processes(root.path()).is_empty());
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}

/// Not a test of its own: holds a browser for the test below.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "a process of a test has one setting of its own")]
async fn hold_a_browser() {
    let Ok(root) = std::env::var(HOLD) else { return };
    let site = Site::page("<p>x").await;
    let mut test = TestBrowser::new(&site);
    let settings = BrowserSettings { profile_root: root.into(), ..BrowserSettings::default() };
    let slots = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
    let dialler = std::sync::Arc::new(crate::support::OnlySite(site.address));
    test.browser = Browser::new(settings, dialler, slots);
    test.shoot(&request(&site.url("/"))).await;
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_of_a_killed_server_ends_and_its_profile_is_deleted_by_the_next() {
    let root = tempfile::tempdir().unwrap();
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::hold_a_browser", "--nocapture"])
        .env(HOLD, root.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the browser runs", async || processes(root.path()).len() > 4).await;
    server.kill().unwrap();
    server.wait().unwrap();
    eventually("the browser ends", async || processes(root.path()).is_empty()).await;
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);

    let site = Site::page("<p>x").await;
    let settings =
        BrowserSettings { profile_root: root.path().to_owned(), ..BrowserSettings::default() };
    let slots = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
    let dialler = std::sync::Arc::new(crate::support::OnlySite(site.address));
    let browser = Browser::new(settings, dialler, slots);
    browser.capture(&request(&site.url("/"))).await.unwrap();
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1, "the new profile only");
    browser.close().await;
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    assert_eq!(browser.capture(&request(&site.url("/"))).await.unwrap_err().code(), "unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn root_has_to_give_up_the_sandbox_knowingly() {
    let site = Site::page("<p>x").await;
    for (sandbox, starts) in
        [(SandboxMode::Auto, true), (SandboxMode::Off, true), (SandboxMode::On, false)]
    {
        let root = tempfile::tempdir().unwrap();
        let settings = BrowserSettings {
            sandbox,
            profile_root: root.path().to_owned(),
            ..BrowserSettings::default()
        };
        let test = TestBrowser::with_settings(&site, 1, settings, root);
        let page = request(&site.url("/")).wait_for(WaitFor::Load);
        let captured = test.capture(&page).await;
        if starts || std::fs::metadata("/proc/self").unwrap().uid() != 0 {
            assert!(captured.is_ok(), "{sandbox:?}: {captured:?}");
        } else {
            let error = captured.unwrap_err();
            assert_eq!(error.code(), "unavailable");
            assert!(error.to_string().contains("no-sandbox"), "{error}");
        }
        test.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_cannot_start_says_why() {
    let site = Site::page("<p>x").await;
    let root = tempfile::tempdir().unwrap();
    let with = |executable: &str| {
        let settings = BrowserSettings {
            executable: Some(executable.into()),
            profile_root: root.path().to_owned(),
            ..BrowserSettings::default()
        };
        let slots = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
        let dialler = std::sync::Arc::new(crate::support::OnlySite(site.address));
        Browser::new(settings, dialler, slots)
    };
    for (executable, words) in [
        ("/nowhere/chromium", "is not an executable file"),
        ("/bin/false", "the browser did not start"),
        ("/bin/ls", "(Try '/bin/ls --help' for more information.)"),
    ] {
        let error = with(executable).capture(&request(&site.url("/"))).await.unwrap_err();
        assert_eq!(error.code(), "unavailable");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}
