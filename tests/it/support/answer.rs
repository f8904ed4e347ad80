//! What came back, with the questions that stories ask of it.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// A response, read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub async fn read(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.bytes().await.expect("the body arrives whole").to_vec();
        Self { status, headers, body }
    }

    #[track_caller]
    pub fn assert_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// One header's text; empty when it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("headers are ASCII"))
    }

    /// `error.code`.
    #[track_caller]
    pub fn code(&self) -> String {
        text(&self.json()["error"]["code"])
    }

    /// `error.message`.
    #[track_caller]
    pub fn message(&self) -> String {
        text(&self.json()["error"]["message"])
    }

    /// The faults, each as `in field: message`, in order.
    #[track_caller]
    pub fn faults(&self) -> Vec<String> {
        let body = self.json();
        let Some(details) = body["error"]["details"].as_array() else { return Vec::new() };
        let line = |d: &Value| format!("{} {}: {}", text(&d["in"]), text(&d["field"]), text(&d["message"]));
        details.iter().map(line).collect()
    }

    /// The places of the faults, each as `in field`, in order.
    #[track_caller]
    pub fn places(&self) -> Vec<String> {
        let cut = |line: String| line.split(": ").next().unwrap_or_default().to_owned();
        self.faults().into_iter().map(cut).collect()
    }

    /// Asserts a 422 whose faults stand at exactly these places.
    #[track_caller]
    pub fn assert_faults_at(&self, places: &[&str]) {
        assert_eq!(self.status, 422, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.code(), "invalid_request");
        assert_eq!(self.places(), places, "{:?}", self.faults());
    }

    /// The ids of a page's items.
    #[track_caller]
    pub fn ids(&self) -> Vec<String> {
        let page = self.json();
        page["data"].as_array().expect("a page has data").iter().map(|item| text(&item["id"])).collect()
    }

    /// The cursor of the next page.
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
    value.as_str().unwrap_or_else(|| panic!("a text is expected, not {value}")).to_owned()
}
