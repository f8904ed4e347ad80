//! 401 and 429 for keys that somebody guesses, beside a fixed body of the same bytes.

use anyhow::Result;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::fetch;
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, Http, compare};
use crate::http::get;
use crate::load::Script;
use crate::measured::Measured;
use crate::report::{Goal, Row, describe};
use crate::site::Site;
use crate::{fixed, keys};

pub const NAME: &str = "guessing";

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let server = site.serve().await?;
    let body = fetch(&server, &get("/api/v1/courses", Some("svc_live_guessed")), 401).await?;
    let limit = fixed::start(bench, &body, 401).await?;
    // What is guessed at random has a wrong checksum. Whoever knows how the checksum is made asks the database, as often as
    // the limit of an address allows, which is off here.
    let checksummed = Goal::Without("none: each asks the database");
    for (what, well_formed, goal) in
        [("401, garbage", false, Goal::AtLeast(0.8)), ("401, well-formed unknown keys", true, checksummed)]
    {
        let side = |server| {
            let script = move |number| Guess::script(number, well_formed);
            Http { server, connections: CONNECTIONS, status: 401, script }
        };
        let (fixed, ours) =
            compare(bench, Measured::per_second, &mut side(&limit), &mut side(&server)).await?;
        let row = Row::new(
            NAME,
            format!("{what}, {}", site.kind.name()),
            (ours.per_second(), "req/s"),
            Some(("fixed body", fixed.per_second())),
            goal,
        );
        bench.report(row.detail(describe(&ours, Some(&fixed))));
    }
    limit.stop().await?;
    server.stop().await?;
    exhausted(bench, site).await
}

/// What is guessed from an address whose limit is exhausted, with the right checksum: no database is asked.
async fn exhausted(bench: &mut Bench, site: &Site) -> Result<()> {
    let server = site.serve_limited().await?;
    let request = get("/api/v1/courses", Some("svc_live_guessed"));
    fetch(&server, &request, 401).await?;
    let limit = fixed::start(bench, &fetch(&server, &request, 429).await?, 429).await?;
    let side = |server| {
        let script = |number| Guess::script(number, true);
        Http { server, connections: CONNECTIONS, status: 429, script }
    };
    let (fixed, ours) = compare(bench, Measured::per_second, &mut side(&limit), &mut side(&server)).await?;
    let row = Row::new(
        NAME,
        format!("429, well-formed unknown keys, {}", site.kind.name()),
        (ours.per_second(), "req/s"),
        Some(("fixed body", fixed.per_second())),
        Goal::AtLeast(0.5),
    );
    bench.report(row.detail(describe(&ours, Some(&fixed))));
    limit.stop().await?;
    server.stop().await
}

/// Guesses another key with every request.
struct Guess {
    random: SmallRng,
    well_formed: bool,
}

impl Guess {
    fn script(number: usize, well_formed: bool) -> Box<dyn Script> {
        Box::new(Self { random: SmallRng::seed_from_u64(number as u64), well_formed })
    }
}

impl Script for Guess {
    fn request(&mut self, request: &mut Vec<u8>) {
        request.extend_from_slice(b"GET /api/v1/courses HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ");
        if self.well_formed {
            keys::write_random(&mut self.random, request);
        } else {
            request.extend_from_slice(b"svc_live_");
            request.extend((0..38).map(|_| self.random.random_range(b'a'..=b'z')));
        }
        request.extend_from_slice(b"\r\n\r\n");
    }
}
