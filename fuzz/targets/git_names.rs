//! URLs of repositories and names of branches, which become arguments of git: what is accepted is
//! no option and has the form that is promised.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telltale_server::areas::repositories::git::{BranchName, RepositoryUrl};

fuzz_target!(|text: &str| {
    if let Ok(url) = RepositoryUrl::of_stored(text) {
        let url = url.to_string();
        let schemes = ["https://", "http://", "file://"];
        assert!(schemes.iter().any(|scheme| url.starts_with(scheme)), "{url}");
        assert!(!url.contains(['\n', '\0', ' ']) && !url.contains("::/"), "{url}");
        assert_eq!(RepositoryUrl::of_stored(&url).map(|url| url.to_string()), Ok(url));
    }
    if let Ok(branch) = BranchName::parse(text) {
        assert!(!text.starts_with('-') && !text.contains("..") && !text.contains(char::is_control));
        assert_eq!(branch.to_string(), text);
    }
});
