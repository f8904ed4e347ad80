//! 401 and 429 for guessed keys, compared with a fixed body of the same bytes.

use anyhow::Result;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::fetch;
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, HttpLoad, compare};
use crate::http::{Connection, get};
use crate::load::RequestScript;
use crate::measurement::Measurement;
use crate::report::{Goal, ResultRow, describe};
use crate::site::BenchSite;
use crate::{fixed, keys};

pub const NAME: &str = "guessing";

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let server = site.serve().await?;
    let body = fetch(&server, &get("/api/v1/courses", Some("svc_live_guessed")), 401).await?;
    let limit = fixed::start(bench, &body, 401).await?;
    // A random key almost always has a wrong checksum and is rejected without a query. A key with a correct checksum
    // causes a query, as often as the rate limit of the client address allows. No load exhausts that limit here.
    let well_formed_goal = Goal::NotEvaluated("none: each queries the database");
    for (name, well_formed, goal) in [
        ("401, random keys", false, Goal::AtLeast(0.75)),
        ("401, well-formed unknown keys", true, well_formed_goal),
    ] {
        let side = |server| {
            let script = move |number| GuessedKeys::script(number, well_formed);
            HttpLoad { server, connections: CONNECTIONS, status: 401, script }
        };
        let (fixed, ours) =
            compare(bench, Measurement::per_second, &mut side(&limit), &mut side(&server)).await?;
        let row = ResultRow::new(
            NAME,
            format!("{name}, {}", site.kind.name()),
            (ours.per_second(), "req/s"),
            Some(("fixed body", fixed.per_second())),
            goal,
        );
        bench.report(row.detail(describe(&ours, Some(&fixed))));
    }
    limit.stop().await?;
    server.stop().await?;
    measure_exhausted(bench, site).await
}

/// Measures guesses with correct checksums from a client address whose rate limit is exhausted. They do not query the
/// database.
async fn measure_exhausted(bench: &mut Bench, site: &BenchSite) -> Result<()> {
    let server = site.serve_limited().await?;
    let request = get("/api/v1/courses", Some("svc_live_guessed"));
    // The first request of an address is admitted, unless another server has counted requests of it in the same database.
    let mut connection = Connection::open(server.address).await?;
    connection.exchange(&request).await?;
    let limit = fixed::start(bench, &fetch(&server, &request, 429).await?, 429).await?;
    let side = |server| {
        let script = |number| GuessedKeys::script(number, true);
        HttpLoad { server, connections: CONNECTIONS, status: 429, script }
    };
    let (fixed, ours) =
        compare(bench, Measurement::per_second, &mut side(&limit), &mut side(&server)).await?;
    let row = ResultRow::new(
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

/// Guesses a different key with every request.
struct GuessedKeys {
    random: SmallRng,
    well_formed: bool,
}

impl GuessedKeys {
    fn script(number: usize, well_formed: bool) -> Box<dyn RequestScript> {
        Box::new(Self { random: SmallRng::seed_from_u64(number as u64), well_formed })
    }
}

impl RequestScript for GuessedKeys {
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
