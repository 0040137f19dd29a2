//! Pages that open dialogs and windows, download, ask, print, crash or send without end.

use std::time::Duration;

use telltale_server::areas::snapshots::capture::{Selectors, WaitFor};

use crate::site::{Reply, Site};
use crate::support::{Pixels, TestBrowser, request};

const BLUE: [u8; 3] = [0, 0, 255];

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_downloads_prompts_and_popups_do_not_hold_a_capture() {
    let site = Site::start(vec![
        (
            "/",
            Reply::html(
                "<!doctype html><body><iframe src=/frame></iframe><a id=a href=/file download>x</a>
                <script>alert('a'); confirm('b') || prompt('c'); print();
                onbeforeunload = (e) => { e.preventDefault(); return 'stay' };
                const popup = window.open('/popup'); window.open('about:blank');
                document.querySelector('#a').click();
                const denied = async (name) => (await navigator.permissions.query({name})).state;
                (async () => {
                  const states = [await denied('geolocation'), await denied('notifications'),
                    await denied('camera'), await Notification.requestPermission()];
                  const position = await new Promise((resolve) =>
                    navigator.geolocation.getCurrentPosition(() => resolve('found'),
                      (error) => resolve('refused')));
                  const camera = await navigator.mediaDevices.getUserMedia({ video: true })
                    .catch((error) => error.name);
                  await fetch('/note?' + [...states, position, camera].join());
                  document.body.style.background = 'blue';
                })();</script>",
            ),
        ),
        ("/frame", Reply::html("<script>alert('frame'); window.open('/popup')</script>frame")),
        ("/popup", Reply::html("<script>alert('popup'); fetch('/opened')</script>")),
        ("/file", Reply::typed("application/octet-stream", &[0; 1000])),
        ("/note", Reply::html("")),
    ])
    .await;
    let test = TestBrowser::new(&site);
    let capture = test.shoot(&request(&site.url("/"))).await;
    assert_eq!(Pixels::of(&capture).at(700, 500), BLUE, "{:#?}", site.paths());
    let paths = site.paths();
    let note = paths.iter().find(|path| path.starts_with("/note")).unwrap();
    // Machines without a camera have none to refuse.
    let refused = note.strip_suffix("NotAllowedError").or(note.strip_suffix("NotFoundError"));
    assert_eq!(refused, Some("/note?denied,denied,denied,denied,refused,"));
    assert!(!paths.iter().any(|path| path == "/opened"), "{paths:#?}");
    let names = |directory: &std::path::Path| -> Vec<String> {
        let listed = std::process::Command::new("find").arg(directory).output().unwrap().stdout;
        String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect()
    };
    let downloaded = |name: &String| name.ends_with("/file") || name.contains("crdownload");
    assert!(!names(test.root.path()).iter().any(downloaded));
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_takes_all_memory_ends_alone() {
    let site = Site::start(vec![
        (
            "/heap",
            Reply::html(
                "<script>const all = []; for (;;) all.push(new Array(1e6).fill({}));</script>",
            ),
        ),
        (
            "/buffers",
            Reply::html(
                "<script>const all = []; setInterval(() => all.push(new Uint8Array(5e7).fill(1)), 1)
                </script>",
            ),
        ),
        ("/", Reply::html("<p>fine")),
    ])
    .await;
    let test = TestBrowser::new(&site);
    test.shoot(&request(&site.url("/"))).await;
    let process = test.browser.process_id().await;
    for path in ["/heap", "/buffers"] {
        let hog = request(&site.url(path)).wait_for(WaitFor::Selector("#absent".into()));
        let fine = request(&site.url("/"));
        let (hog, fine) = tokio::join!(test.capture(&hog), test.capture(&fine));
        let error = hog.unwrap_err();
        // Collecting garbage until the heap is full may take longer than the limit of the capture.
        let is_slow = path == "/heap" && error.code() == "timeout";
        assert!(error.code() == "browser_crashed" || is_slow, "{path}: {error}");
        assert!(fine.is_ok(), "{fine:?}");
    }
    assert_eq!(test.browser.process_id().await, process);
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_responses_end_at_the_limit() {
    let site = Site::start(vec![("/", Reply::Endless)]).await;
    let test = TestBrowser::new(&site);
    let error = test.capture(&request(&site.url("/"))).await.unwrap_err();
    assert_eq!(error.code(), "page_too_large", "{error}");
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_cannot_deceive_the_scripts_that_settle_them() {
    let site = Site::page(
        "<!doctype html><body><script>
        for (const name of ['setTimeout', 'requestAnimationFrame', 'Promise', 'getComputedStyle'])
          window[name] = () => { throw new Error('no') };
        Document.prototype.querySelectorAll = Element.prototype.querySelectorAll = () => null;
        Document.prototype.getAnimations = () => { throw 1 };
        Array.prototype.map = Array.prototype.flatMap = () => { throw 1 };
        globalThis.settler = { settle() { for (;;); } };
        document.body.innerHTML = '<div id=m style=\"width:99px;height:99px\"></div>';
        </script>",
    )
    .await;
    let test = TestBrowser::new(&site);
    let list = Selectors::new(vec!["#m".to_owned()]).unwrap();
    let request = request(&site.url("/")).mask(list).limit(Duration::from_secs(15));
    let capture = test.shoot(&request).await;
    assert_eq!(Pixels::of(&capture).count([255, 0, 255]), 99 * 99);
    test.end().await;
}
