//! Style sheet, scripts and icon: in the binary, each under an address that changes with its bytes.
//!
//! So they are kept by browsers for a year and never stale. The folder `static` holds them.

use std::fmt::Write as _;
use std::sync::LazyLock;

use poem::http::{HeaderValue, header};
use poem::{Body, Response};
use sha2::{Digest, Sha256};

/// Where they are.
const FOLDER: &str = "/dashboard/static/";

/// A file, ready to be sent.
struct File {
    media_type: &'static str,
    bytes: &'static [u8],
    address: String,
}

/// The addresses of the files, as pages name them.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// The style sheet.
    pub style: &'static str,
    /// Partial updates.
    pub htmx: &'static str,
    /// Copying, local times.
    pub script: &'static str,
    /// The icon of the tab.
    pub icon: &'static str,
}

static FILES: LazyLock<[File; 4]> = LazyLock::new(|| {
    [
        File::new("style.css", "text/css; charset=utf-8", include_bytes!("static/style.css")),
        File::new("htmx.js", "text/javascript; charset=utf-8", include_bytes!("static/htmx.min.js")),
        File::new("script.js", "text/javascript; charset=utf-8", include_bytes!("static/script.js")),
        File::new("icon.svg", "image/svg+xml", include_bytes!("static/icon.svg")),
    ]
});

/// The addresses of all files.
pub(crate) static ADDRESSES: LazyLock<Addresses> = LazyLock::new(|| {
    let [style, htmx, script, icon] = &*FILES;
    Addresses { style: &style.address, htmx: &htmx.address, script: &script.address, icon: &icon.address }
});

impl File {
    fn new(name: &'static str, media_type: &'static str, bytes: &'static [u8]) -> Self {
        let mut address = FOLDER.to_owned();
        for byte in &Sha256::digest(bytes)[..8] {
            let _ = write!(address, "{byte:02x}");
        }
        address.push('/');
        address.push_str(name);
        Self { media_type, bytes, address }
    }
}

/// The file at this address. An address of an earlier version leads nowhere: its page is gone too.
pub(super) fn find(path: &str) -> Option<Response> {
    let file = FILES.iter().find(|file| file.address == path)?;
    let mut response = Response::builder().content_type(file.media_type).body(Body::from(file.bytes));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_an_address_of_its_own_bytes() {
        for file in &*FILES {
            assert!(find(&file.address).is_some(), "{}", file.address);
            assert!(find(&file.address.replace(FOLDER, "/dashboard/static/0")).is_none());
        }
        assert!(ADDRESSES.style.ends_with("/style.css"));
    }

    #[test]
    fn nothing_here_writes_a_style_or_a_script_into_a_page() {
        let script = include_str!("static/script.js");
        for forbidden in ["innerHTML", "eval(", ".style", "document.write"] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
