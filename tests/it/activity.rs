//! After a random history, the student figures of the analytics summary equal those computed from `listStudents`.

use jiff::Timestamp;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::support::{TestApp, TestWorkspace, course_data, time};

const HOUR_MS: i64 = 3_600_000;
/// 2026-01-01T00:00:00Z in milliseconds since the epoch. The changes cover about fifty days from then.
const START_MS: i64 = 1_767_225_600_000;
const SPAN_MS: i64 = 50 * 24 * HOUR_MS;
const COURSES: [&str; 3] = ["a", "b", "c"];

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).expect("a time in the supported range")
}

/// Returns random changes in order of time: students enroll, complete lessons, lose and regain access, and are
/// deleted. About a third of the changes happen at a quarter-hour or one millisecond before it.
fn random_history(workspace: &TestWorkspace<'_>, random: &mut SmallRng) -> Vec<Value> {
    let mut changes = Vec::new();
    let mut now = START_MS;
    while now < START_MS + SPAN_MS {
        let pause = random.random_range(0..5 * HOUR_MS);
        now += pause;
        if random.random_range(0..3) == 0 {
            now = (now / (HOUR_MS / 4) + 1) * (HOUR_MS / 4) - random.random_range(0..2);
        }
        let (student, course_key) =
            (format!("s{}", random.random_range(0..25)), COURSES[random.random_range(0..3)]);
        let enrollment = json!({"student": student, "course": course_key});
        let (change, data) = match random.random_range(0..20) {
            0..5 => ("student.upsert", json!({"key": student, "email": format!("{student}@example.com")})),
            5..9 => ("enrollment.grant", enrollment),
            9 => {
                let expires_at = at(now + random.random_range(0..2 * SPAN_MS));
                let data =
                    json!({"student": student, "course": course_key, "expires_at": expires_at.to_string()});
                ("enrollment.grant", data)
            }
            10..12 => ("enrollment.revoke", enrollment),
            12..18 => {
                let lesson = format!("{course_key}-{}", random.random_range(1..4));
                ("progress.record", json!({"student": student, "course": course_key, "lesson": lesson}))
            }
            18 => ("course.upsert", course_data(course_key, "published", random.random_range(1..4))),
            _ => ("student.delete", json!({"student": student})),
        };
        changes.push(workspace.build_change(&at(now).to_string(), change, data));
    }
    changes
}

/// Computes the figures of a window from the listed students, in the form of a summary or a point of its series.
fn figures_of_students(students: &[Value], from: Timestamp, to: Timestamp, course: Option<&str>) -> Value {
    let inside = |value: &Value| !value.is_null() && (from..to).contains(&time(value));
    let (mut new, mut total, mut created, mut revoked, mut active) = (0, 0, 0, 0, 0);
    let (mut completed, mut percents) = (0, Vec::new());
    for student in students {
        let enrollments = student["enrollments"].as_array().expect("enrollments are a list").iter();
        let of_course: Vec<&Value> = enrollments
            .filter(|enrollment| course.is_none_or(|course| enrollment["courseId"] == course))
            .collect();
        if course.is_none() || !of_course.is_empty() {
            new += i64::from(inside(&student["created_at"]));
            total += i64::from(time(&student["created_at"]) < to);
        }
        for enrollment in of_course {
            active += i64::from(enrollment["status"] == "active" && time(&enrollment["created_at"]) < to);
            revoked += i64::from(enrollment["status"] == "revoked" && inside(&enrollment["revoked_at"]));
            if inside(&enrollment["created_at"]) {
                created += 1;
                let percent =
                    enrollment["progress"]["percent_complete"].as_i64().expect("a percentage is a number");
                completed += i64::from(percent == 100);
                percents.push(percent);
            }
        }
    }
    let per_enrollment = |sum: i64| (created > 0).then(|| sum / created);
    json!({
        "students": {"new": new, "total": total},
        "enrollments": {"created": created, "revoked": revoked, "active": active},
        "completion": {
            "enrollments_in_cohort": created,
            "completed": completed,
            "completion_rate_percent": per_enrollment(completed * 100),
            "average_percent_complete": per_enrollment(percents.iter().sum()),
        },
    })
}

/// Returns the same fields of a summary or of a point of its series.
fn figures_of_summary(figures: &Value) -> Value {
    json!({
        "students": figures["students"],
        "enrollments": figures["enrollments"],
        "completion": figures["completion"],
    })
}

#[tokio::test]
#[ignore = "slow"]
async fn the_summary_equals_the_listed_students_in_every_window() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let mut courses = Vec::new();
    for name in COURSES {
        courses.push(workspace.course(name, 3).await);
    }
    let mut random = SmallRng::seed_from_u64(20_260_303);
    let changes = random_history(&workspace, &mut random);
    let lines: String = changes.iter().map(|change| format!("{change}\n")).collect();
    // Some random changes are rejected, because their student, lesson or enrollment does not exist.
    let (outcome, _) = app.try_apply(&lines).await;
    assert!(outcome.applied > 150, "{outcome:?}");
    let students = key.list_all("/api/v1/students?limit=100").await;

    for round in 0..30 {
        let [first, second] = [0, 1].map(|_| {
            let ms = START_MS + random.random_range(0..SPAN_MS);
            let rounding_ms = [1, HOUR_MS / 4, 24 * HOUR_MS][random.random_range(0..3)];
            ms / rounding_ms * rounding_ms
        });
        let (from, to) = (at(first.min(second)), at(first.max(second) + 1));
        let course = (round % 2 == 0).then(|| courses[round % 3].as_str());
        let mut query = format!("from={from}&to={to}&interval=week&timezone=Asia/Kathmandu");
        if let Some(course) = course {
            query += &format!("&courseId={course}");
        }
        let summary = key.get(&format!("/api/v1/analytics/summary?{query}")).await.assert_status(200).json();
        assert_eq!(figures_of_summary(&summary), figures_of_students(&students, from, to, course), "{query}");
        let series = summary["series"].as_array().expect("the summary has a series");
        let mut starts: Vec<Timestamp> = series.iter().map(|point| time(&point["starts_at"])).collect();
        starts.push(to);
        for (point, span) in series.iter().zip(starts.windows(2)) {
            assert_eq!(
                figures_of_summary(point),
                figures_of_students(&students, span[0], span[1], course),
                "{query} at {}",
                span[0]
            );
        }
    }
}
