//! What is in an image: hidden and masked elements, the whole page, device pixels.

use telltale_server::areas::snapshots::capture::{CaptureRequest, PageArea, Selectors, Viewport};

use crate::site::{Reply, Site};
use crate::support::{Pixels, TestBrowser, full_page, request};

const MASK: [u8; 3] = [255, 0, 255];
const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const WHITE: [u8; 3] = [255, 255, 255];

fn selectors(list: &[&str]) -> Selectors {
    Selectors::new(list.iter().map(|&text| text.to_owned()).collect()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_elements_keep_their_place_and_masks_cover_theirs() {
    let site = Site::page(
        "<!doctype html><style>body, p { margin: 0 } div { width: 100px; height: 50px }
        #a { background: red } #b { background: blue }
        #a p { visibility: visible; color: red } dialog { padding: 0; margin: 0; border: 0;
        left: 300px; top: 200px; width: 40px; height: 30px; background: red; outline: none }
        dialog::backdrop { background: none }</style>
        <div id=a><p>x</div><div id=b></div><x-s></x-s><dialog id=d></dialog>
        <script>document.querySelector('x-s').attachShadow({ mode: 'open' }).innerHTML =
        '<div id=c style=\"background:red;width:100px;height:50px\"></div>';
        document.querySelector('#d').showModal();</script>",
    )
    .await;
    let test = TestBrowser::new(&site);
    let page = request(&site.url("/"));
    let plain = Pixels::of(&test.shoot(&page).await);
    assert_eq!((plain.at(50, 45), plain.at(50, 75), plain.at(50, 125)), (RED, BLUE, RED));
    assert_eq!(plain.count(MASK), 0);

    let hidden = page.clone().hide(selectors(&["#a", "#c"]));
    let hidden = Pixels::of(&test.shoot(&hidden).await);
    assert_eq!((hidden.at(50, 45), hidden.at(50, 75), hidden.at(50, 125)), (WHITE, BLUE, WHITE));
    assert_eq!(hidden.count(RED), 40 * 30, "only the dialog");

    let masked = page.mask(selectors(&["#b", "#c", "#d", ".absent"]));
    let masked = Pixels::of(&test.shoot(&masked).await);
    assert_eq!((masked.at(50, 45), masked.at(0, 50), masked.at(99, 149)), (RED, MASK, MASK));
    assert_eq!(masked.count(MASK), 2 * 100 * 50 + 40 * 30);
    assert_eq!(masked.count(BLUE), 0);
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_page_is_captured_with_its_header_once() {
    let site = Site::start(vec![
        (
            "/",
            Reply::html(
                "<!doctype html><style>body { margin: 0; height: 5000px }
                header { position: sticky; top: 0; height: 40px; background: red }
                nav { position: fixed; bottom: 0; right: 0; width: 50px; height: 20px;
                background: blue }
                i { position: absolute; top: 4990px; width: 10px; height: 10px; background: lime }
                </style><header></header><nav></nav><i></i><p id=seen></p><script>
                new IntersectionObserver((all) => all.forEach((one) => {
                  if (one.isIntersecting) document.querySelector('i').style.background = 'blue';
                })).observe(document.querySelector('i'));</script>",
            ),
        ),
        ("/high", Reply::html("<!doctype html><body style='margin:0;height:20000px'>")),
    ])
    .await;
    let test = TestBrowser::new(&site);
    let page = test.shoot(&full_page(&site.url("/"))).await;
    assert_eq!((page.width, page.height), (800, 5_000));
    assert!(!page.is_truncated && !page.is_unstable);
    let pixels = Pixels::of(&page);
    assert_eq!(pixels.count(RED), 800 * 40, "the header is there once, at the top");
    assert_eq!((pixels.at(0, 0), pixels.at(0, 39)), (RED, RED));
    assert_eq!((pixels.at(799, 599), pixels.at(799, 4_999)), (BLUE, WHITE));
    assert_eq!(pixels.count(BLUE), 50 * 20 + 10 * 10, "what is below was seen");

    let high = test.shoot(&full_page(&site.url("/high"))).await;
    assert_eq!((high.width, high.height, high.is_truncated), (800, 16_384, true));

    let viewport = Viewport::new(400, 300).unwrap().with_device_scale_factor(2.0).unwrap();
    let sharp = CaptureRequest::new(&site.url("/"), viewport).unwrap();
    let small = test.shoot(&sharp).await;
    assert_eq!((small.width, small.height), (800, 600));
    let whole = test.shoot(&sharp.area(PageArea::FullPage)).await;
    assert_eq!((whole.width, whole.height, whole.is_truncated), (800, 10_000, false));
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn images_with_too_many_pixels_are_refused() {
    let site = Site::page("<!doctype html><body style='margin:0;height:20000px'>").await;
    let test = TestBrowser::new(&site);
    let wide = Viewport::new(3_840, 2_160).unwrap();
    let request = CaptureRequest::new(&site.url("/"), wide).unwrap();
    let error = test.capture(&request.area(PageArea::FullPage)).await.unwrap_err();
    assert_eq!(error.code(), "page_too_large");
    test.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_are_no_html_are_captured() {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' width='300' height='300'>
        <rect width='100' height='50' fill='red'><animate attributeName='width' to='9' dur='1s'
        repeatCount='indefinite'/></rect></svg>";
    let types: [(&str, &str, &[u8]); 7] = [
        ("/text", "text/plain", b"Hello"),
        ("/json", "application/json", b"{\"a\": 1}"),
        ("/xml", "application/xml", b"<a><rect>b</rect></a>"),
        ("/xhtml", "application/xhtml+xml", b"<html xmlns='http://www.w3.org/1999/xhtml'/>"),
        ("/frames", "text/html", b"<frameset cols='50%,50%'><frame src='/text'><frame src='/svg'>"),
        ("/nothing", "text/html", b""),
        ("/svg", "image/svg+xml", svg),
    ];
    let gif = Reply::typed("image/gif", &crate::stable::moving_gif());
    let reply = |(path, kind, body)| (path, Reply::typed(kind, body));
    let replies = types.into_iter().map(reply).chain([("/gif", gif)]).collect();
    let site = Site::start(replies).await;
    let test = TestBrowser::new(&site);
    for path in types.map(|(path, _, _)| path).into_iter().chain(["/gif"]) {
        let page = full_page(&site.url(path)).mask(selectors(&["rect", "img"]));
        let captured = test.shoot(&page).await;
        assert!(!captured.is_unstable && captured.http_status == Some(200), "{path}");
        let masked = Pixels::of(&captured).count(MASK);
        match path {
            "/svg" | "/frames" => assert_eq!(masked, 100 * 50, "{path}"),
            // In the middle, at half a pixel; masks cover all pixels they touch.
            "/gif" => assert!((1..=4).contains(&masked)),
            // Chromium shows XML in a document of its own.
            _ => assert_eq!(masked, 0, "{path}"),
        }
    }
    test.end().await;
}
