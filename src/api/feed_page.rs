//! Serializes pages of the event feed, for the Platform API and the Developer API, and events of a sandbox. The bodies of the events
//! are stored as JSON, and become part of a response byte for byte.

use domain::event_feed::{FeedEvent, FeedPage};
use domain::sandbox::events::SandboxEvents;

/// Returns the JSON of a page with this cursor.
pub(crate) fn body(page: &FeedPage, cursor: &str) -> Vec<u8> {
    let event_bytes: usize = page.events.iter().map(|event| event.body.len() + 64).sum();
    let mut body = Vec::with_capacity(event_bytes + 256);
    body.extend_from_slice(b"{\"data\":");
    push_list(&mut body, &page.events);
    let end = format!(",\"pagination\":{{\"cursor\":\"{cursor}\",\"has_more\":{}}}}}", page.has_more);
    body.extend_from_slice(end.as_bytes());
    body
}

/// Returns the JSON of the events of a change in a sandbox.
pub(crate) fn sandbox_event(created: &SandboxEvents) -> Vec<u8> {
    let mut body = b"{\"other_events\":".to_vec();
    push_list(&mut body, &created.others);
    body.push(b',');
    push_event(&mut body, &created.event);
    body
}

/// Adds a list of events.
fn push_list(json: &mut Vec<u8>, events: &[FeedEvent]) {
    json.push(b'[');
    for (index, event) in events.iter().enumerate() {
        json.extend_from_slice(if index == 0 { b"{" } else { b",{" });
        push_event(json, event);
    }
    json.push(b']');
}

/// Adds the fields of an event, and the end of their object.
pub(crate) fn push_event(json: &mut Vec<u8>, event: &FeedEvent) {
    json.extend_from_slice(format!("\"sequence\":\"{}\",\"event\":", event.position).as_bytes());
    json.extend_from_slice(&event.body);
    json.push(b'}');
}
