//! Captures of the same page are equal.

use std::time::Duration;

use crate::site::{Reply, Site};
use crate::support::{TestBrowser, request};

const STATIC: &str = "<!doctype html><title>Static</title><style>
    body { font: 16px sans-serif; background: linear-gradient(#eef, #fee) }
    .card { border-radius: 12px; box-shadow: 0 4px 20px #0006; padding: 20px; margin: 30px }
    </style><h1>Hello, Wörld</h1><div class=card>Text with <a href=#>links</a> and <b>bold</b>.
    <svg width=100 height=100><circle cx=50 cy=50 r=40 fill=teal /></svg></div>";

const MOVING: &str = "<!doctype html><title>Moving</title><style>
    @font-face { font-family: Served; src: url(/font.ttf) }
    h1 { font-family: Served }
    @keyframes spin { to { transform: rotate(360deg) } }
    @keyframes in { from { opacity: 0; margin-left: 300px } }
    .spin { width: 80px; height: 80px; background: teal; animation: spin 0.7s linear infinite }
    .in { animation: in 20s }
    .later { transition: background 5s; background: red }
    .later.on { background: blue }
    .space { height: 2000px }
    </style><h1>Served font</h1><div class=spin></div><div class=in>Arrives</div>
    <div class=later>Changes</div><img src=/moving.gif width=60 height=60>
    <input autofocus value=caret><textarea>misspeled wrods</textarea>
    <svg width=60 height=60><rect width=20 height=20><animate attributeName=x from=0 to=40
    dur=1s repeatCount=indefinite /></rect></svg>
    <x-shadow></x-shadow>
    <iframe srcdoc='<style>@keyframes b{to{margin-left:99px}}p{animation:b 1s infinite alternate}
    </style><p>In a frame' height=60></iframe>
    <div class=space></div><img loading=lazy src=/late.png>
    <script>
    document.querySelector('.later').classList.add('on');
    customElements.define('x-shadow', class extends HTMLElement { constructor() { super();
      this.attachShadow({mode: 'open'}).innerHTML =
        `<style>@keyframes k { to { margin-left: 200px } }
         p { animation: k 1s infinite alternate }</style><p>In the shadow</p>`; } });
    setTimeout(() => document.querySelector('.spin').animate(
        [{ opacity: 0 }, { opacity: 1 }], { duration: 300, iterations: Infinity }), 100);
    </script>";

/// A GIF of two frames of one pixel, red and blue, of 100 ms each.
pub(crate) fn moving_gif() -> Vec<u8> {
    let mut gif = b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\xff".to_vec();
    gif.extend_from_slice(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0");
    for pixel in [0x44, 0x4c] {
        gif.extend_from_slice(b"\x21\xf9\x04\x04\x0a\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02");
        gif.extend_from_slice(&[pixel, 0x01, 0]);
    }
    gif.push(0x3b);
    gif
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_page_is_captured_twenty_times_with_equal_bytes() {
    let site = Site::page(STATIC).await;
    let test = TestBrowser::new(&site);
    let request = request(&site.url("/"));
    let first = test.shoot(&request).await;
    assert_eq!((first.width, first.height, first.http_status), (800, 600, Some(200)));
    assert_eq!(first.url, site.url("/"));
    assert!(!first.is_unstable && !first.is_truncated);
    for round in 1..20 {
        let next = test.shoot(&request).await;
        assert!(next.png == first.png && !next.is_unstable, "capture {round} differs");
    }
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moving_page_is_captured_ten_times_with_equal_bytes() {
    let font = std::fs::read("/usr/share/fonts/truetype/dejavu/DejaVuSerif-Bold.ttf").unwrap();
    let font = Reply::typed("font/ttf", &font);
    let site = Site::start(vec![
        ("/", Reply::html(MOVING)),
        ("/font.ttf", Reply::Late(Duration::from_millis(200), Box::new(font))),
        ("/moving.gif", Reply::typed("image/gif", &moving_gif())),
        ("/late.png", Reply::typed("image/gif", &moving_gif())),
    ])
    .await;
    let test = TestBrowser::new(&site);
    let request = request(&site.url("/"));
    let first = test.shoot(&request).await;
    for round in 1..10 {
        let next = test.shoot(&request).await;
        assert!(!next.is_unstable, "capture {round} is unstable");
        assert!(next.png == first.png, "capture {round} differs");
    }
    assert!(!first.is_unstable);
    let paths = site.paths();
    for path in ["/font.ttf", "/moving.gif", "/late.png"] {
        assert!(paths.iter().any(|seen| seen == path), "{path}");
    }
    test.end().await;
}
