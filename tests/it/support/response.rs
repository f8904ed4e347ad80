//! A response, with accessors for tests.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response with its whole body.
#[derive(Debug, Clone)]
pub struct TestResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl TestResponse {
    /// Reads the whole body.
    pub async fn read(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.bytes().await.expect("the body is complete").to_vec();
        Self { status, headers, body }
    }

    /// Asserts the status, and returns the response.
    #[track_caller]
    pub fn assert_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// Returns the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Returns a header's value; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("headers are ASCII"))
    }

    /// Returns `error.code`.
    #[track_caller]
    pub fn code(&self) -> String {
        text(&self.json()["error"]["code"])
    }

    /// Returns `error.message`.
    #[track_caller]
    pub fn message(&self) -> String {
        text(&self.json()["error"]["message"])
    }

    /// Returns the entries of `error.details` in order, each as `<in> <field>: <message>`.
    #[track_caller]
    pub fn errors(&self) -> Vec<String> {
        let body = self.json();
        let Some(details) = body["error"]["details"].as_array() else { return Vec::new() };
        let line = |detail: &Value| {
            format!("{} {}: {}", text(&detail["in"]), text(&detail["field"]), text(&detail["message"]))
        };
        details.iter().map(line).collect()
    }

    /// Returns the locations of the entries of `error.details` in order, each as `<in> <field>`.
    #[track_caller]
    pub fn error_locations(&self) -> Vec<String> {
        let location = |error: String| error.split(": ").next().unwrap_or_default().to_owned();
        self.errors().into_iter().map(location).collect()
    }

    /// Asserts that the status is 422, with errors at exactly these locations, each as `<in> <field>`.
    #[track_caller]
    pub fn assert_errors_at(&self, error_locations: &[&str]) {
        assert_eq!(self.status, 422, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.code(), "invalid_request");
        assert_eq!(self.error_locations(), error_locations, "{:?}", self.errors());
    }

    /// Returns the ids of the items of a list page.
    #[track_caller]
    pub fn ids(&self) -> Vec<String> {
        let page = self.json();
        page["data"].as_array().expect("`data` is a list").iter().map(|item| text(&item["id"])).collect()
    }

    /// Returns the cursor of the next page; `None` on the last page.
    #[track_caller]
    pub fn cursor(&self) -> Option<String> {
        let page = self.json();
        let pagination = &page["pagination"];
        assert_eq!(pagination["has_more"], !pagination["cursor"].is_null(), "{pagination}");
        pagination["cursor"].as_str().map(str::to_owned)
    }
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("expected a string, got {value}")).to_owned()
}
