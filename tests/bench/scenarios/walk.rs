//! A reader that never asks for the same page twice.

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::fetch_json;
use crate::http::{Answer, write_get};
use crate::load::Script;
use crate::process::Server;

/// Pages read from one place before the reader goes to another.
const PAGES: u32 = 20;

/// A list and the time its items were made in.
#[derive(Debug, Clone)]
pub struct List {
    pub path: &'static str,
    pub key: String,
    /// When the first and the last item were made, in milliseconds.
    pub made: (i64, i64),
}

impl List {
    /// Asks the server for the times of the list's first and last item.
    ///
    /// # Errors
    /// The list is empty.
    pub async fn new(server: &Server, path: &'static str, key: &str) -> Result<Self> {
        let mut made = [0; 2];
        for (made, sort) in made.iter_mut().zip(["created_at", "-created_at"]) {
            let page = fetch_json(server, &format!("{path}?limit=1&sort={sort}"), key).await?;
            let time = page["data"][0]["created_at"].as_str().context("the list is empty")?;
            *made = time.parse::<Timestamp>()?.as_millisecond();
        }
        Ok(Self { path, key: key.to_owned(), made: (made[0], made[1]) })
    }

    /// A time before which some items were made.
    pub fn somewhere(&self, random: &mut SmallRng) -> i64 {
        let (first, last) = self.made;
        random.random_range(first + (last - first) / 20..=last + 1)
    }

    /// A reader of pages; each number gives other pages.
    pub fn walk(&self, number: usize, limit: u32) -> Box<dyn Script> {
        let random = SmallRng::seed_from_u64(number as u64);
        Box::new(Walk { list: self.clone(), limit, random, before: 0, cursor: String::new(), left: 0 })
    }
}

/// Goes to a random time, follows the cursor from there, and then goes to another.
struct Walk {
    list: List,
    limit: u32,
    random: SmallRng,
    before: i64,
    cursor: String,
    left: u32,
}

impl Script for Walk {
    fn request(&mut self, request: &mut Vec<u8>) {
        if self.left == 0 || self.cursor.is_empty() {
            self.left = PAGES;
            self.cursor.clear();
            self.before = self.list.somewhere(&mut self.random);
        }
        self.left -= 1;
        let before = foundation::clock::from_ms(self.before);
        let mut path = format!("{}?limit={}&created_before={before}", self.list.path, self.limit);
        if !self.cursor.is_empty() {
            path.push_str("&cursor=");
            path.push_str(&self.cursor);
        }
        write_get(request, &path, Some(&self.list.key));
    }

    fn answer(&mut self, answer: Answer<'_>) {
        self.cursor.clear();
        self.cursor.push_str(cursor(answer.body).unwrap_or_default());
    }
}

/// The cursor of the next page. It stands near the end of a page, so that is where it is looked for.
pub fn cursor(page: &[u8]) -> Option<&str> {
    const NAME: &[u8] = b"\"cursor\":\"";
    let end = &page[page.len().saturating_sub(2048)..];
    let start = end.windows(NAME.len()).rposition(|window| window == NAME)? + NAME.len();
    let length = end[start..].iter().position(|&byte| byte == b'"')?;
    std::str::from_utf8(&end[start..start + length]).ok()
}
