//! Tests that changes that share a transaction have the same effects as changes that are applied one by one.

use std::collections::HashMap;

use entity::{
    applied_changes, certificates, courses, enrollments, entitlements, lesson_completions, lessons,
    live_sessions, modules, order_items, orders, recordings, refunds, student_tags, students, workspaces,
};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sea_orm::EntityTrait;
use serde_json::{Value, json};

use super::FeedFixture;
use crate::ApplyOutcome;
use domain::analytics::{self, AnalyticsQuery};

/// Generates random changes of all kinds for two workspaces. Most are valid. Some refer to records that do not exist, use
/// values that are taken, or repeat an earlier change.
struct RandomChanges {
    random: StdRng,
    /// Number of students, courses and orders to which changes refer. Fewer make conflicts more frequent.
    records: u32,
    lines: Vec<String>,
}

impl RandomChanges {
    fn lines(seed: u64, records: u32, count: usize) -> Vec<String> {
        let mut changes = Self { random: StdRng::seed_from_u64(seed), records, lines: Vec::new() };
        for workspace in ["acme", "beta"] {
            let data = json!({"key": workspace, "name": workspace, "owner_email": "ada@example.com"});
            changes.push(workspace, "workspace.upsert", data);
            for course in 0..4 {
                let data = changes.course(course);
                changes.push(workspace, "course.upsert", data);
            }
        }
        while changes.lines.len() < count {
            let workspace = if changes.random.random_ratio(1, 3) { "beta" } else { "acme" };
            let (kind, data) = changes.change(workspace);
            changes.push(workspace, kind, data);
            if changes.random.random_ratio(1, 50) {
                let repeated = changes.number(changes.lines.len() as u32) as usize;
                changes.lines.push(changes.lines[repeated].clone());
            }
        }
        changes.lines
    }

    fn push(&mut self, workspace: &str, kind: &str, data: Value) {
        let number = self.lines.len();
        let at = format!("2026-05-{:02}T{:02}:00:00Z", 1 + number * 20 / 2_000, number % 24);
        let line = json!({"change": kind, "id": format!("{number}"), "workspace": workspace, "at": at, "data": data});
        self.lines.push(format!("{line}\n"));
    }

    fn number(&mut self, below: u32) -> u32 {
        self.random.random_range(0..below)
    }

    fn key(&mut self, prefix: &str) -> String {
        let number = self.number(self.records);
        format!("{prefix}-{number}")
    }

    fn course_key(&mut self) -> String {
        let missing = u32::from(self.random.random_ratio(1, 60));
        format!("c-{}", self.number(4) + 9 * missing)
    }

    fn course(&mut self, number: u32) -> Value {
        let lessons = 1 + self.number(3);
        let lessons: Vec<Value> = (0..lessons)
            .map(|lesson| json!({"key": format!("l-{number}-{lesson}"), "title": "L", "type": "video"}))
            .collect();
        let modules = json!([{"key": format!("m-{number}"), "title": "M", "lessons": lessons}]);
        json!({"key": format!("c-{number}"), "slug": format!("c-{number}"), "title": "C", "status": "published", "modules": modules})
    }

    fn student(&mut self) -> Value {
        let number = self.number(self.records);
        let email = if self.random.random_ratio(1, 12) { self.number(self.records) } else { number };
        let mut data = json!({"key": format!("s-{number}"), "email": format!("S-{email}@example.com")});
        if self.random.random_ratio(1, 2) {
            data["name"] = json!(format!("Name {}", self.number(3)));
        }
        if self.random.random_ratio(1, 2) {
            data["tags"] = json!(["a", "b", "c"][..self.number(4) as usize]);
        }
        data
    }

    fn order(&mut self) -> Value {
        let number = self.number(self.records * 8);
        let items: Vec<Value> = (0..=self.number(2))
            .map(|_| json!({"course": self.course_key(), "unit_amount": 100 + self.number(900)}))
            .collect();
        json!({"key": format!("o-{number}"), "number": format!("A-{}", number - number % 2 * self.number(2)),
            "student": self.key("s"), "currency": "EUR", "items": items})
    }

    fn change(&mut self, workspace: &str) -> (&'static str, Value) {
        let pair = json!({"student": self.key("s"), "course": self.course_key()});
        match self.number(100) {
            0..30 => ("student.upsert", self.student()),
            30..31 => ("student.delete", json!({"student": self.key("s")})),
            31..43 => {
                let mut grant = pair;
                if self.random.random_ratio(1, 2) {
                    grant["expires_at"] = json!(format!("2026-07-{:02}T00:00:00Z", 1 + self.number(28)));
                }
                ("enrollment.grant", grant)
            }
            43..46 => ("enrollment.revoke", pair),
            46..61 => {
                let course = self.number(4);
                let lesson = format!("l-{course}-{}", self.number(3));
                let course = format!("c-{course}");
                ("progress.record", json!({"student": self.key("s"), "course": course, "lesson": lesson}))
            }
            61..80 => ("order.pay", self.order()),
            80..86 => {
                let order = format!("o-{}", self.number(self.records * 8));
                match self.random.random_ratio(1, 2) {
                    true => ("order.refund", json!({"order": order})),
                    false => ("order.refund", json!({"order": order, "amount": 1 + self.number(200)})),
                }
            }
            86..88 => {
                let number = self.number(4);
                ("course.upsert", self.course(number))
            }
            88..89 => {
                let owner_email = format!("owner-{}@example.com", self.number(2));
                ("workspace.upsert", json!({"key": workspace, "name": "W", "owner_email": owner_email}))
            }
            89..92 => ("live_session.upsert", json!({"key": self.key("live"), "title": "T"})),
            92..94 => ("live_session.start", json!({"live_session": self.key("live")})),
            94..95 => ("live_session.end", json!({"live_session": self.key("live")})),
            95..96 => {
                let session = self.key("live");
                (
                    "recording.ready",
                    json!({"key": self.key("r"), "live_session": session, "duration_seconds": 1,
                    "size_bytes": 1, "content_type": "video/mp4"}),
                )
            }
            _ => {
                let mut issue = pair;
                issue["number"] = json!(format!("N-{}", self.number(self.records * 4)));
                ("certificate.issue", issue)
            }
        }
    }
}

/// Returns all rows of a table.
#[expect(clippy::disallowed_methods, reason = "compares the rows of all workspaces")]
async fn all<E: EntityTrait>(fixture: &FeedFixture) -> Vec<E::Model> {
    E::find().all(fixture.app.db.read()).await.unwrap()
}

/// Returns the rows of all tables that changes write, sorted, with names instead of ids.
async fn records(fixture: &FeedFixture) -> Vec<String> {
    let mut names = HashMap::<String, String>::new();
    let mut rows = Vec::<String>::new();
    macro_rules! add {
        ($table:ident, $row:ident, $name:expr) => {
            for $row in all::<$table::Entity>(fixture).await {
                let name: String = $name;
                names.insert($row.id.to_string(), name);
                rows.push(format!("{} {:?}", stringify!($table), $row));
            }
        };
    }
    macro_rules! add_unnamed {
        ($($table:ident),*) => {
            $(rows.extend(all::<$table::Entity>(fixture).await.iter().map(|row| format!("{} {row:?}", stringify!($table))));)*
        };
    }
    add!(workspaces, row, row.key.clone());
    add!(courses, row, format!("{:?}", row.key));
    add!(modules, row, row.key.clone());
    add!(lessons, row, row.key.clone());
    add!(students, row, format!("{:?} {}", row.key, row.email));
    add!(orders, row, format!("{:?}", row.key));
    add!(live_sessions, row, row.key.clone());
    add!(recordings, row, row.key.clone());
    let enrolled = all::<enrollments::Entity>(fixture).await;
    for row in &enrolled {
        let name = format!("{} in {}", names[&row.student_id.to_string()], names[&row.course_id.to_string()]);
        names.insert(row.id.to_string(), name);
    }
    add_unnamed!(
        applied_changes,
        student_tags,
        order_items,
        refunds,
        enrollments,
        entitlements,
        lesson_completions,
        certificates
    );
    let is_id = |word: &str| word.len() == 36 && word.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let mut rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let words = row.split_inclusive(|c: char| !c.is_ascii_hexdigit() && c != '-');
            words
                .map(|word| match word.split_at(word.len().min(36)) {
                    (id, rest) if is_id(id) => {
                        names.get(id).map_or("other", String::as_str).to_owned() + rest
                    }
                    _ => word.to_owned(),
                })
                .collect()
        })
        .collect();
    rows.sort();
    rows
}

/// Returns the events in their order, with numbers instead of ids.
async fn events(fixture: &FeedFixture) -> Vec<String> {
    let mut events = all::<entity::events::Entity>(fixture).await;
    events.sort_by_key(|event| event.id);
    let mut numbers = HashMap::<String, usize>::new();
    let mut number = |word: &str| {
        let is_id = word.split_once('_').is_some_and(|(prefix, id)| prefix.len() <= 5 && id.len() == 26);
        match is_id {
            true => {
                let next = numbers.len();
                format!("#{}", numbers.entry(word.to_owned()).or_insert(next))
            }
            false => word.to_owned(),
        }
    };
    let words = |body: &str| -> Vec<String> {
        body.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned).collect()
    };
    let text = |event: &entity::events::Model| {
        let body = String::from_utf8(event.body.clone()).unwrap();
        words(&body).iter().map(|word| number(word)).collect::<Vec<_>>().join(" ")
    };
    events.iter().map(text).collect()
}

/// Returns the figures of each workspace by day.
async fn figures(fixture: &FeedFixture) -> Vec<String> {
    let mut figures = Vec::new();
    for workspace in ["acme", "beta"] {
        let workspace = domain::workspaces::by_key(&fixture.app, workspace).await.unwrap().id;
        for course in all::<courses::Entity>(fixture).await.into_iter().map(Some).chain([None]) {
            let course_id = course.as_ref().map(|course| foundation::id::CourseId::from_uuid(course.id));
            if course.as_ref().is_some_and(|course| course.workspace_id != workspace.uuid()) {
                continue;
            }
            let query = AnalyticsQuery { course: course_id, ..AnalyticsQuery::default() };
            let summary = analytics::summarize(&fixture.app, workspace, query).await.unwrap();
            let days = summary.series.iter().map(|day| format!("{:?}", day.figures));
            figures.push(format!("{:?} {:?}", course.map(|course| course.key), days.collect::<Vec<_>>()));
        }
    }
    figures.sort();
    figures
}

/// Removes the number of the line from a message.
fn without_line(reason: &str) -> String {
    reason
        .split_once(' ')
        .and_then(|(_, rest)| rest.split_once(' '))
        .map_or(reason, |(_, rest)| rest)
        .to_owned()
}

#[tokio::test]
#[ignore = "slow"]
async fn changes_in_groups_have_the_same_effects_as_single_changes() {
    tokio::join!(compare_groups(1, 40), compare_groups(2, 12), compare_groups(3, 4));
}

/// Applies random changes one by one and in groups, and compares the effects.
async fn compare_groups(seed: u64, record_count: u32) {
    let lines = RandomChanges::lines(seed, record_count, 600);
    let one_by_one = FeedFixture::sqlite().await;
    let (mut outcome, mut reasons) = (ApplyOutcome::default(), Vec::new());
    for line in &lines {
        let (applied, rejected) = one_by_one.apply(line).await;
        outcome.applied += applied.applied;
        outcome.repeated += applied.repeated;
        outcome.rejected += applied.rejected;
        reasons.extend(rejected.iter().map(|reason| without_line(reason)));
    }
    assert!(outcome.applied > 250 && outcome.rejected > 10 && outcome.repeated > 5, "{outcome:?}");
    let expected = (records(&one_by_one).await, events(&one_by_one).await, figures(&one_by_one).await);
    for fixture in FeedFixture::on_all_databases().await {
        let (grouped, rejected) = fixture.apply(&lines.concat()).await;
        let rejected: Vec<String> = rejected.iter().map(|reason| without_line(reason)).collect();
        assert_eq!(rejected, reasons);
        assert_eq!(grouped, outcome);
        assert_same(&events(&fixture).await, &expected.1);
        assert_same(&records(&fixture).await, &expected.0);
        assert_same(&figures(&fixture).await, &expected.2);
    }
}

/// Asserts that two lists are equal. Otherwise shows the first difference.
fn assert_same(actual: &[String], expected: &[String]) {
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert_eq!(actual, expected, "at {index}");
    }
    assert_eq!(actual.len(), expected.len());
}
