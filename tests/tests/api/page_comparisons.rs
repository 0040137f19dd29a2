//! Comparisons of snapshots with baselines: made, reviewed, approved, rejected; and baselines with
//! their history.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, WebSite, covers, eventually};

use crate::cli::stdout_of;
use crate::keys::text;
use crate::page_snapshots::{SNAPSHOTS, capture, page_with_box, path_of, start};

const COMPARISONS: &str = "/api/v1/comparisons";
const BASELINES: &str = "/api/v1/baselines";

#[track_caller]
pub(crate) fn compare(client: &Client, snapshot: &Value, body: &Value) -> Value {
    client.post(&format!("{SNAPSHOTS}/{}/compare", text(&snapshot["id"])), body).expect(201)
}

#[track_caller]
fn comparison_path(comparison: &Value) -> String {
    format!("{COMPARISONS}/{}", text(&comparison["comparison_id"]))
}

#[test]
fn a_change_is_found_shown_and_approved() {
    covers!("POST /api/v1/snapshots/{id}/compare", Happy);
    covers!("GET /api/v1/comparisons", Happy);
    covers!("GET /api/v1/comparisons/{id}", Happy);
    covers!("GET /api/v1/comparisons/{id}/images/{image}", Happy);
    covers!("GET /api/v1/comparisons/{id}/review", Happy);
    covers!("POST /api/v1/comparisons/{id}/approve", Happy);
    covers!("DELETE /api/v1/comparisons/{id}", Happy);
    let site = WebSite::new([("/", &page_with_box("#fff"))]);
    let server = start();
    let client = server.client();
    let first = capture(&client, &site.url("/"));
    let same = compare(&client, &first, &json!({}));
    assert_eq!((&same["diff_percentage"], &same["diff_pixels"]), (&json!(0.0), &json!(0)));
    assert_eq!((&same["passed"], &same["status"]), (&json!(true), &json!("pending_review")));
    assert_eq!(same["threshold"], 0.1);

    site.show("/", &page_with_box("#00f"));
    let changed = capture(&client, &site.url("/"));
    let found = compare(&client, &changed, &json!({}));
    assert_eq!((&found["diff_pixels"], &found["passed"]), (&json!(100), &json!(false)));
    assert_eq!(found["diff_percentage"], 0.1302, "100 of 76 800 pixels");
    assert_eq!(found["baseline_id"], same["baseline_id"]);
    let region = json!([{"x": 20, "y": 30, "width": 10, "height": 10, "diff_pixels": 100}]);
    assert_eq!((&found["regions"], &found["regions_total"]), (&region, &json!(1)));
    let lenient = compare(&client, &changed, &json!({"threshold": 0.2}));
    assert_eq!((&lenient["passed"], &lenient["threshold"]), (&json!(true), &json!(0.2)));
    let ignored = json!({"ignore_regions": [{"x": 0, "y": 30, "width": 25, "height": 999}]});
    assert_eq!(compare(&client, &changed, &ignored)["diff_pixels"], 50);

    let path = comparison_path(&found);
    let stranger = client.without_key();
    for image in ["baseline_url", "snapshot_url", "diff_url"] {
        let response = stranger.get(&path_of(&found[image]));
        assert_eq!((response.status, response.must_header("content-type")), (200, "image/png"));
    }
    client.get(&format!("{path}/images/diff")).expect_status(200);
    let review = stranger.get(&path_of(&found["review_url"]));
    assert_eq!(review.must_header("content-type"), "text/html; charset=utf-8");
    let policy = review.must_header("content-security-policy").to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    let html = review.text();
    assert!(html.contains("0.1302") && html.contains("signature=") && html.contains("Approve"));

    let listed = client.get(&format!("{COMPARISONS}?status=pending_review")).expect(200);
    assert_eq!(listed["comparisons"].as_array().map(Vec::len), Some(4), "{listed}");
    let of_page = format!("{COMPARISONS}?page_id={}&limit=1", text(&first["page_id"]));
    assert_eq!(client.get(&of_page).expect(200)["comparisons"].as_array().map(Vec::len), Some(1));

    let reason = json!({"reason": "The new box is intended"});
    let approved = client.post(&format!("{path}/approve"), &reason).expect(200);
    assert_eq!((&approved["status"], &approved["reason"]), (&json!("approved"), &reason["reason"]));
    assert!(text(&approved["approved_by"]).contains('@'), "{approved}");
    assert!(text(&approved["new_baseline_id"]).starts_with("base_"), "{approved}");
    assert!(approved["approved_at"].is_string());
    client.post(&format!("{path}/approve"), &json!({})).refused(409, "invalid_state");
    client.post(&format!("{path}/reject"), &json!({})).refused(409, "invalid_state");
    let next = compare(&client, &changed, &json!({}));
    assert_eq!(
        (&next["diff_pixels"], &next["baseline_id"]),
        (&json!(0), &approved["new_baseline_id"])
    );

    let outdated = compare(&client, &first, &json!({}));
    let newer = capture(&client, &site.url("/"));
    let chosen = format!("{SNAPSHOTS}/{}/baseline", text(&newer["id"]));
    client.post(&chosen, &json!({})).expect(201);
    let approve = format!("{}/approve", comparison_path(&outdated));
    client.post(&approve, &json!({})).refused(409, "invalid_state");

    // What it shows stays when its snapshot goes.
    client.delete(&format!("{SNAPSHOTS}/{}", text(&changed["id"]))).expect(200);
    stranger.get(&path_of(&found["snapshot_url"])).expect_status(200);
    assert_eq!(client.get(&path).expect(200)["id"], found["comparison_id"]);
    client.delete(&path).expect(200);
    client.get(&path).refused(404, "comparison_not_found");
}

#[test]
fn a_comparison_is_rejected_and_its_snapshot_may_still_become_the_baseline() {
    covers!("POST /api/v1/comparisons/{id}/reject", Happy);
    covers!("POST /api/v1/comparisons/{id}/update_baseline", Happy);
    covers!("POST /api/v1/snapshots/{id}/baseline", Happy);
    covers!("GET /api/v1/baselines", Happy);
    covers!("GET /api/v1/baselines/{id}", Happy);
    covers!("GET /api/v1/baselines/{id}/image", Happy);
    covers!("POST /api/v1/baselines/{id}/restore", Happy);
    covers!("DELETE /api/v1/baselines/{id}", Happy);
    let site = WebSite::new([("/", &page_with_box("#fff"))]);
    let mut server = start();
    let client = server.client();
    let first = capture(&client, &site.url("/"));
    site.show("/", &page_with_box("#00f"));
    let changed = capture(&client, &site.url("/"));
    let found = compare(&client, &changed, &json!({}));
    let path = comparison_path(&found);
    let rejected =
        client.post(&format!("{path}/reject"), &json!({"reason": "Cut off"})).expect(200);
    assert_eq!((&rejected["status"], &rejected["reason"]), (&json!("rejected"), &json!("Cut off")));
    assert!(rejected["rejected_by"].is_string() && rejected["rejected_at"].is_string());
    client.post(&format!("{path}/approve"), &json!({})).refused(409, "invalid_state");
    assert_eq!(compare(&client, &changed, &json!({}))["diff_pixels"], 100, "the baseline stays");

    let updated = client.post(&format!("{path}/update_baseline"), &json!({})).expect(200);
    assert_eq!((&updated["id"], &updated["status"]), (&found["comparison_id"], &json!("rejected")));
    assert_eq!(compare(&client, &changed, &json!({}))["diff_pixels"], 0);
    let chosen = client
        .post(&format!("{SNAPSHOTS}/{}/baseline", text(&first["id"])), &json!({}))
        .expect(201);
    assert_eq!((&chosen["origin"], &chosen["current"]), (&json!("chosen"), &json!(true)));

    server.restart();
    let client = server.client();
    let of_page = format!("{BASELINES}?page_id={}", text(&first["page_id"]));
    let baselines = client.get(&of_page).expect(200)["baselines"].clone();
    let origins: Vec<_> = (0..3).map(|i| baselines[i]["origin"].clone()).collect();
    assert_eq!(origins, ["chosen", "updated", "first"]);
    let current = client.get(&format!("{of_page}&current=true")).expect(200)["baselines"].clone();
    assert_eq!((&current[0]["id"], current.as_array().map(Vec::len)), (&chosen["id"], Some(1)));
    let before = format!("{BASELINES}/{}", text(&updated["new_baseline_id"]));
    let restored = client.post(&format!("{before}/restore"), &json!({})).expect(201);
    assert_eq!((&restored["origin"], &restored["current"]), (&json!("restored"), &json!(true)));
    assert_eq!(restored["restored_from"], updated["new_baseline_id"]);
    assert_eq!(client.get(&before).expect(200)["current"], false);
    assert_eq!(compare(&client, &changed, &json!({}))["diff_pixels"], 0);
    let image = client.without_key().get(&path_of(&restored["image_url"]));
    let stored = client.get(&format!("{before}/image"));
    assert_eq!(image.body, stored.body);
    let etag = stored.must_header("etag");
    let path = format!("{before}/image");
    let again = client.request("GET", &path).header("If-None-Match", etag);
    let again = again.send();
    assert_eq!((again.status, again.body.len()), (304, 0));

    // Without the current one, the one before it is current.
    let path = format!("{BASELINES}/{}", text(&restored["id"]));
    client.delete(&path).expect(200);
    client.get(&path).refused(404, "baseline_not_found");
    let path = format!("{BASELINES}/{}", text(&chosen["id"]));
    assert_eq!(client.get(&path).expect(200)["current"], true);
    assert_eq!(compare(&client, &first, &json!({}))["baseline_id"], chosen["id"]);
}

#[test]
fn invalid_comparisons_are_refused() {
    covers!("POST /api/v1/snapshots/{id}/compare", Refusal);
    covers!("POST /api/v1/snapshots/{id}/baseline", Refusal);
    covers!("GET /api/v1/comparisons", Refusal);
    covers!("GET /api/v1/comparisons/{id}", Refusal);
    covers!("GET /api/v1/comparisons/{id}/images/{image}", Refusal);
    covers!("GET /api/v1/comparisons/{id}/review", Refusal);
    covers!("POST /api/v1/comparisons/{id}/approve", Refusal);
    covers!("POST /api/v1/comparisons/{id}/reject", Refusal);
    covers!("POST /api/v1/comparisons/{id}/update_baseline", Refusal);
    covers!("DELETE /api/v1/comparisons/{id}", Refusal);
    covers!("GET /api/v1/baselines", Refusal);
    covers!("GET /api/v1/baselines/{id}", Refusal);
    covers!("GET /api/v1/baselines/{id}/image", Refusal);
    covers!("POST /api/v1/baselines/{id}/restore", Refusal);
    covers!("DELETE /api/v1/baselines/{id}", Refusal);
    let site = WebSite::new([("/", &page_with_box("#fff"))]);
    let server = start();
    let client = server.client();
    let first = capture(&client, &site.url("/"));
    let of_first = format!("{SNAPSHOTS}/{}/compare", text(&first["id"]));
    for threshold in [-0.1, 100.1] {
        let body = json!({"threshold": threshold});
        client.post(&of_first, &body).refused_for(422, "invalid_field", "threshold");
    }
    let area = json!({"x": 0, "y": 0, "width": 1, "height": 1});
    let body = json!({"ignore_regions": vec![area; 101]});
    client.post(&of_first, &body).refused_for(422, "invalid_field", "ignore_regions");
    let snapshot = format!("{SNAPSHOTS}/snap_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    client.post(&format!("{snapshot}/compare"), &json!({})).refused(404, "snapshot_not_found");
    client.post(&format!("{snapshot}/baseline"), &json!({})).refused(404, "snapshot_not_found");
    let missing = format!("{COMPARISONS}/cmp_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    for verb in ["approve", "reject", "update_baseline"] {
        let path = format!("{missing}/{verb}");
        client.post(&path, &json!({})).refused(404, "comparison_not_found");
    }
    for path in [missing.clone(), format!("{missing}/review"), format!("{missing}/images/diff")] {
        client.get(&path).refused(404, "comparison_not_found");
    }
    client.get(&format!("{missing}/images/other")).refused(404, "not_found");
    client.delete(&missing).refused(404, "comparison_not_found");
    client.get(&format!("{COMPARISONS}?status=x")).refused(400, "invalid_parameter");
    client.get(&format!("{BASELINES}?page_id=x")).refused(400, "invalid_parameter");
    let missing = format!("{BASELINES}/base_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    client.get(&missing).refused(404, "baseline_not_found");
    client.delete(&missing).refused(404, "baseline_not_found");
    client.get(&format!("{missing}/image")).refused(404, "baseline_not_found");
    client.post(&format!("{missing}/restore"), &json!({})).refused(404, "baseline_not_found");
    let current = client.get(BASELINES).expect(200)["baselines"][0].clone();
    let restore = format!("{BASELINES}/{}/restore", text(&current["id"]));
    client.post(&restore, &json!({})).refused(409, "invalid_state");
    let made = compare(&client, &first, &json!({}));
    let path = comparison_path(&made);
    let blank = json!({"reason": "  "});
    client.post(&format!("{path}/approve"), &blank).refused_for(422, "invalid_field", "reason");
    // The images of one comparison are not those of another, nor is its review.
    let stolen = path_of(&made["diff_url"]).replace("/images/diff", "/review");
    client.without_key().get(&stolen).refused(401, "unauthorized");
}

#[test]
fn images_that_nothing_shows_are_deleted() {
    let site = WebSite::new([("/", &page_with_box("#00f"))]);
    let mut server = start();
    let kept = capture(&server.client(), &site.url("/"));
    site.show("/", &page_with_box("#f00"));
    let deleted = capture(&server.client(), &site.url("/"));
    let sizes = [&kept, &deleted].map(|made| made["image_size_bytes"].clone());
    assert_eq!(stored_images(&server).len(), 2, "{sizes:?}");
    server.client().delete(&format!("{SNAPSHOTS}/{}", text(&deleted["id"]))).expect(200);
    // The server deletes them each minute, and when it has started.
    server.kill9();
    server.restart();
    eventually("the image is deleted", || (stored_images(&server).len() == 1).then_some(()));
    let image = format!("{SNAPSHOTS}/{}/image", text(&kept["id"]));
    server.client().get(&image).expect_status(200);
}

/// Returns the paths of the files that contain images.
fn stored_images(server: &Server) -> Vec<std::path::PathBuf> {
    let folders = std::fs::read_dir(server.data().join("files")).into_iter().flatten().flatten();
    let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten();
    files.flatten().map(|file| file.path()).collect()
}

#[test]
fn images_are_in_backups_and_damage_to_them_is_said() {
    let site = WebSite::new([("/", &page_with_box("#00f"))]);
    let mut server = start();
    let client = server.client();
    let made = capture(&client, &site.url("/"));
    let image = format!("{SNAPSHOTS}/{}/image", text(&made["id"]));
    let contents = client.get(&image).body.clone();
    let copy = server.home().join("copy");
    stdout_of(&server.cli(["backup", copy.to_str().unwrap_or_default()]));
    let other = Server::start_on_copy(&copy);
    assert_eq!(other.client().get(&image).body, contents);

    // One flipped byte.
    server.kill9();
    let file = stored_images(&server).remove(0);
    let mut damaged = contents.clone();
    damaged[contents.len() / 2] ^= 1;
    std::fs::write(&file, damaged).unwrap();
    server.restart();
    let client = server.client();
    client.get(&image).refused(409, "invalid_state");
    std::fs::remove_file(&file).unwrap();
    server.restart();
    let client = server.client();
    let damage = client.get("/readyz").expect(200)["damage"].to_string();
    assert!(damage.contains(text(&made["id"])) && damage.contains("are missing"), "{damage}");
    client.get(&image).refused(409, "invalid_state");
    let baseline = format!("{SNAPSHOTS}/{}/baseline", text(&made["id"]));
    client.post(&baseline, &json!({})).refused(409, "invalid_state");
    let compare = format!("{SNAPSHOTS}/{}/compare", text(&made["id"]));
    client.post(&compare, &json!({})).refused(409, "invalid_state");
    capture(&client, &site.url("/"));
    assert_eq!(client.get(&image).body, contents, "the same image was stored again");
}
