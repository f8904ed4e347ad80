//! A client that requests random pages of a list, so that it rarely requests a page twice.

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::fetch_json;
use crate::http::{ResponseView, write_get};
use crate::load::RequestScript;
use crate::process::BenchServer;

/// Pages read in a row before the client jumps to another position.
const PAGES_PER_WALK: u32 = 20;

/// A list and the creation times of its items.
#[derive(Debug, Clone)]
pub struct ListSource {
    pub path: &'static str,
    pub key: String,
    /// The creation times of the oldest and the newest item, in milliseconds since the epoch.
    pub created_range_ms: (i64, i64),
}

impl ListSource {
    /// Requests the creation times of the list's oldest and newest item.
    ///
    /// # Errors
    /// Returns an error when the list is empty.
    pub async fn new(server: &BenchServer, path: &'static str, key: &str) -> Result<Self> {
        let mut created_range_ms = [0; 2];
        for (created_ms, sort) in created_range_ms.iter_mut().zip(["created_at", "-created_at"]) {
            let page = fetch_json(server, &format!("{path}?limit=1&sort={sort}"), key).await?;
            let time = page["data"][0]["created_at"].as_str().context("the list is empty")?;
            *created_ms = time.parse::<Timestamp>()?.as_millisecond();
        }
        Ok(Self { path, key: key.to_owned(), created_range_ms: (created_range_ms[0], created_range_ms[1]) })
    }

    /// Returns a random time, in milliseconds since the epoch, before which some items were created.
    pub fn random_time(&self, random: &mut SmallRng) -> i64 {
        let (oldest, newest) = self.created_range_ms;
        random.random_range(oldest + (newest - oldest) / 20..=newest + 1)
    }

    /// Creates a client that reads random pages. Clients with different numbers read different pages.
    pub fn page_walk(&self, number: usize, limit: u32) -> Box<dyn RequestScript> {
        let random = SmallRng::seed_from_u64(number as u64);
        Box::new(PageWalk {
            list: self.clone(),
            limit,
            random,
            created_before_ms: 0,
            cursor: String::new(),
            pages_left: 0,
        })
    }
}

/// Jumps to a random time, follows the cursor from there, and then jumps to another time.
struct PageWalk {
    list: ListSource,
    limit: u32,
    random: SmallRng,
    /// The time before which the items of the current pages were created, in milliseconds since the epoch.
    created_before_ms: i64,
    cursor: String,
    /// Pages to read before the next jump.
    pages_left: u32,
}

impl RequestScript for PageWalk {
    fn request(&mut self, request: &mut Vec<u8>) {
        if self.pages_left == 0 || self.cursor.is_empty() {
            self.pages_left = PAGES_PER_WALK;
            self.cursor.clear();
            self.created_before_ms = self.list.random_time(&mut self.random);
        }
        self.pages_left -= 1;
        let created_before = foundation::clock::from_ms(self.created_before_ms);
        let mut path = format!("{}?limit={}&created_before={created_before}", self.list.path, self.limit);
        if !self.cursor.is_empty() {
            path.push_str("&cursor=");
            path.push_str(&self.cursor);
        }
        write_get(request, &path, Some(&self.list.key));
    }

    fn handle_response(&mut self, response: ResponseView<'_>) {
        self.cursor.clear();
        self.cursor.push_str(cursor(response.body).unwrap_or_default());
    }
}

/// Returns the cursor of the next page. It is near the end of the response body, so only the end is searched.
pub fn cursor(page: &[u8]) -> Option<&str> {
    const NAME: &[u8] = b"\"cursor\":\"";
    let end = &page[page.len().saturating_sub(2048)..];
    let start = end.windows(NAME.len()).rposition(|window| window == NAME)? + NAME.len();
    let length = end[start..].iter().position(|&byte| byte == b'"')?;
    std::str::from_utf8(&end[start..start + length]).ok()
}
