//! Clients that follow changes: readers of the event feed, and of a list sorted by the time of update.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::client::ApiClient;

/// Follows the feed until `stopping` and then until there are no more events, on all servers in turn. Returns the ids of the events.
///
/// # Errors
/// Returns an error when the TLS library cannot be used.
pub async fn read_feed(
    token: String,
    urls: Vec<String>,
    mut cursor: Option<String>,
    stopping: Arc<AtomicBool>,
) -> Result<Vec<String>> {
    let (client, mut received) = (ApiClient::new(&token)?, Vec::new());
    for url in urls.iter().cycle() {
        let was_stopping = stopping.load(Ordering::Relaxed);
        // Servers are killed, so requests fail.
        let Ok((page, next)) = read_page(&client, url, cursor.as_deref(), 1).await else { continue };
        cursor = Some(next);
        if page.is_empty() && was_stopping {
            break;
        }
        received.extend(page);
    }
    Ok(received)
}

/// Reads one page. Returns the ids of the events, and the next cursor.
///
/// # Errors
/// Returns an error when the request fails.
pub async fn read_page(
    client: &ApiClient,
    url: &str,
    cursor: Option<&str>,
    wait: u32,
) -> Result<(Vec<String>, String)> {
    let after = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
    let url = format!("{url}/platform/v1/events?limit=1000&wait={wait}{after}");
    let page = client.get(&url).await.body()?;
    let items = page["data"].as_array().context("expected a list")?;
    let id = |item: &serde_json::Value| item["event"]["id"].as_str().unwrap_or_default().to_owned();
    let next = page["pagination"]["cursor"].as_str().context("expected a cursor")?;
    Ok((items.iter().map(id).collect(), next.to_owned()))
}

/// Keeps a copy of all students up to date as the contract describes, until `stopping` and then once more, on all servers in turn.
/// Returns the email addresses in the copy.
///
/// # Errors
/// Returns an error when the TLS library cannot be used.
pub async fn delta_sync(
    client: Result<ApiClient>,
    urls: Vec<String>,
    stopping: Arc<AtomicBool>,
) -> Result<HashSet<String>> {
    let (client, mut copy, mut since) = (client?, HashSet::new(), String::new());
    let mut servers = urls.iter().cycle();
    let mut last_round = false;
    loop {
        let (mut cursor, mut latest) = (String::new(), since.clone());
        loop {
            let url = servers.next().context("there are no servers")?;
            let list = format!("{url}/api/v1/students?sort=updated_at&limit=100{since}{cursor}");
            // Servers are killed, so requests fail.
            let Ok(page) = client.get(&list).await.body() else { continue };
            for student in page["data"].as_array().context("expected a list")? {
                copy.insert(student["email"].as_str().context("expected an email address")?.to_owned());
                latest = format!("&updated_after={}", student["updated_at"].as_str().unwrap_or_default());
            }
            match page["pagination"]["cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        since = latest;
        if last_round {
            return Ok(copy);
        }
        if stopping.load(Ordering::Relaxed) {
            // A delta sync shows a write at the latest a second after its commit, and no earlier write is running.
            tokio::time::sleep(Duration::from_secs(1)).await;
            last_round = true;
        }
    }
}
