//! Serializes pages of the event feed, for the Platform API and the Developer API. The bodies of the events are stored as JSON, and
//! become part of a response byte for byte.

use domain::event_feed::{FeedEvent, FeedPage};

/// Returns the JSON of a page with this cursor.
pub(crate) fn body(page: &FeedPage, cursor: &str) -> Vec<u8> {
    let event_bytes: usize = page.events.iter().map(|event| event.body.len() + 64).sum();
    let mut body = Vec::with_capacity(event_bytes + 256);
    body.extend_from_slice(b"{\"data\":[");
    for (index, event) in page.events.iter().enumerate() {
        body.extend_from_slice(if index == 0 { b"{" } else { b",{" });
        push_event(&mut body, event);
    }
    let end = format!("],\"pagination\":{{\"cursor\":\"{cursor}\",\"has_more\":{}}}}}", page.has_more);
    body.extend_from_slice(end.as_bytes());
    body
}

/// Adds the fields of an event, and the end of their object.
pub(crate) fn push_event(json: &mut Vec<u8>, event: &FeedEvent) {
    json.extend_from_slice(format!("\"sequence\":\"{}\",\"event\":", event.position).as_bytes());
    json.extend_from_slice(&event.body);
    json.push(b'}');
}
