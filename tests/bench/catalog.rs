//! A catalog of several workspaces with slightly more than a page of courses each, as changes of the change feed.

use serde_json::{Value, json};

/// The number of workspaces.
pub const WORKSPACES: usize = 20;

/// Published courses per workspace: one more than a page contains.
pub const COURSES: usize = 26;

/// API keys per workspace.
pub const KEYS: usize = 10;

/// The time of all changes.
const CHANGE_TIME: &str = "2026-01-05T09:00:00Z";

/// Returns the key of a workspace.
pub fn workspace(number: usize) -> String {
    format!("shop-{number:02}")
}

/// Returns the changes that create all workspaces and courses, one per line.
pub fn changes() -> String {
    let mut lines = String::new();
    for number in 0..WORKSPACES {
        let workspace = workspace(number);
        let owner = format!("{workspace}@example.com");
        let data = json!({"key": workspace, "name": format!("Shop {number}"), "owner_email": owner});
        push(&mut lines, "workspace.upsert", "workspace", &workspace, data);
        for course in 0..COURSES {
            push(&mut lines, "course.upsert", &format!("course-{course}"), &workspace, self::course(course));
        }
    }
    lines
}

fn push(lines: &mut String, change: &str, id: &str, workspace: &str, data: Value) {
    let line = json!({"change": change, "id": id, "workspace": workspace, "at": CHANGE_TIME, "data": data});
    lines.push_str(&line.to_string());
    lines.push('\n');
}

/// Returns a course of three modules with four lessons each.
fn course(number: usize) -> Value {
    let module = |module: usize| {
        let lesson = |lesson: usize| {
            json!({
                "key": format!("course-{number}-{module}-{lesson}"),
                "title": format!("Lesson {lesson} of module {module}"),
                "type": "video", "duration_seconds": 300 + 60 * lesson, "free_preview": lesson == 1,
            })
        };
        let lessons: Vec<Value> = (1..=4).map(lesson).collect();
        json!({"key": format!("course-{number}-{module}"), "title": format!("Module {module}"), "lessons": lessons})
    };
    json!({
        "key": format!("course-{number}"), "slug": format!("course-{number}"),
        "title": format!("Course {number}: from the first sketch to the finished work"),
        "status": "published", "language": "en",
        "description": "Eight weeks of practice, with feedback on every exercise.",
        "image_url": format!("https://media.example.com/courses/{number}.jpg"),
        "url": format!("https://academy.example.com/courses/{number}"),
        "price": {"amount": 9900, "currency": "USD"},
        "modules": (1..=3).map(module).collect::<Vec<_>>(),
    })
}
