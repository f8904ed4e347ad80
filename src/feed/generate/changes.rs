//! Writes the synthetic workspace as changes, one per line.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::model::{self, LESSON_SECONDS, LESSONS_PER_MODULE, MODULES_PER_COURSE};
use super::{RecordCounts, Spec, WORKSPACE};

/// Writes the whole workspace as NDJSON, one JSON object per line. Calls `progress` with the number of students and
/// orders written so far.
///
/// # Errors
/// Returns an error when the spec is invalid or the writer fails.
pub fn write_changes(
    spec: &Spec,
    output: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<RecordCounts> {
    spec.validate()?;
    let mut lines = ChangeWriter { output, next_id: 0 };
    let mut counts = RecordCounts::default();
    let workspace_created_ms = model::workspace_created_ms(spec);
    let workspace = json!({"key": WORKSPACE, "name": "Synthetic", "owner_email": "owner@example.com"});
    lines.change("workspace.upsert", workspace_created_ms, workspace)?;
    for course in 0..spec.courses {
        lines.change("course.upsert", workspace_created_ms, course_data(spec, course))?;
        counts.courses += 1;
    }
    for student in 0..spec.students {
        let at_ms = model::student_created_ms(spec, student);
        lines.change("student.upsert", at_ms, student_data(spec, student))?;
        counts.students += 1;
        progress(counts.students);
    }
    for number in 0..spec.orders {
        let order = model::order(spec, number);
        write_order(&order, &mut lines)?;
        counts.add(&order);
        progress(counts.students + counts.orders);
    }
    lines.output.flush()?;
    Ok(counts)
}

/// Counts the records of a spec.
pub(super) fn count(spec: &Spec) -> RecordCounts {
    let mut counts = RecordCounts {
        courses: spec.courses.into(),
        students: spec.students.into(),
        ..RecordCounts::default()
    };
    for number in 0..spec.orders {
        counts.add(&model::order(spec, number));
    }
    counts
}

impl RecordCounts {
    fn add(&mut self, order: &model::SyntheticOrder) {
        self.orders += 1;
        self.refunds += u64::from(order.refund.is_some());
        for item in &order.items {
            self.enrollments += u64::from(order.creates_enrollment(item));
            self.completions += item.lesson_completions_ms.len() as u64;
            self.certificates += u64::from(item.certificate_issued_ms.is_some());
        }
    }
}

/// Writes changes with consecutive ids.
struct ChangeWriter<'a> {
    output: &'a mut dyn Write,
    next_id: u64,
}

impl ChangeWriter<'_> {
    fn change(&mut self, kind: &str, at_ms: i64, data: Value) -> io::Result<()> {
        let id = format!("synthetic-{}", self.next_id);
        self.next_id += 1;
        let at = foundation::clock::from_ms(at_ms).to_string();
        let line = json!({"change": kind, "id": id, "workspace": WORKSPACE, "at": at, "data": data});
        writeln!(self.output, "{line}")
    }
}

fn course_data(spec: &Spec, course: u32) -> Value {
    let title = model::course_title(course);
    let lesson = |lesson: u32| {
        json!({
            "key": lesson_key(course, lesson), "title": format!("Lesson {}", lesson + 1), "type": "video",
            "duration_seconds": LESSON_SECONDS, "free_preview": lesson == 0,
        })
    };
    let module = |module: u32| {
        let lessons: Vec<Value> =
            (module * LESSONS_PER_MODULE..(module + 1) * LESSONS_PER_MODULE).map(lesson).collect();
        json!({"key": module_key(course, module), "title": format!("Part {}", module + 1), "lessons": lessons})
    };
    json!({
        "key": course_key(course), "slug": course_key(course), "title": title, "status": "published",
        "language": "en", "price": {"amount": model::course_price(spec, course), "currency": "EUR"},
        "modules": (0..MODULES_PER_COURSE).map(module).collect::<Vec<_>>(),
    })
}

fn student_data(spec: &Spec, student: u32) -> Value {
    json!({
        "key": student_key(student), "email": student_email(student), "name": model::student_name(spec, student),
        "tags": model::student_tags(spec, student),
    })
}

/// Writes an order, the progress of its student, and its refund.
fn write_order(order: &model::SyntheticOrder, lines: &mut ChangeWriter<'_>) -> io::Result<()> {
    let number = order.number;
    let student = student_key(order.student);
    let items: Vec<Value> = order
        .items
        .iter()
        .map(|item| json!({"course": course_key(item.course), "unit_amount": item.amount}))
        .collect();
    let pay = json!({
        "key": order_key(number), "number": order_number(number), "student": student, "currency": order.currency,
        "items": items, "discount_amount": order.discount, "tax_amount": order.tax,
    });
    lines.change("order.pay", order.paid_ms, pay)?;
    for item in &order.items {
        let course = course_key(item.course);
        for (lesson, at_ms) in (0..).zip(&item.lesson_completions_ms) {
            let data =
                json!({"student": student, "course": course, "lesson": lesson_key(item.course, lesson)});
            lines.change("progress.record", *at_ms, data)?;
        }
        if let Some(at_ms) = item.certificate_issued_ms {
            let number = certificate_number(number, item.course);
            let data = json!({"student": student, "course": course, "number": number});
            lines.change("certificate.issue", at_ms, data)?;
        }
    }
    if let Some(refund) = order.refund {
        let amount = if refund.is_full { Value::Null } else { refund.amount.into() };
        lines.change("order.refund", refund.at_ms, json!({"order": order_key(number), "amount": amount}))?;
    }
    Ok(())
}

pub(super) fn course_key(course: u32) -> String {
    format!("course-{course}")
}

pub(super) fn module_key(course: u32, module: u32) -> String {
    format!("course-{course}-part-{module}")
}

pub(super) fn lesson_key(course: u32, lesson: u32) -> String {
    format!("course-{course}-lesson-{lesson}")
}

pub(super) fn student_key(student: u32) -> String {
    format!("student-{student}")
}

pub(super) fn student_email(student: u32) -> String {
    format!("student-{student}@example.com")
}

pub(super) fn order_key(order: u32) -> String {
    format!("order-{order}")
}

pub(super) fn order_number(order: u32) -> String {
    format!("SYN-{order:07}")
}

pub(super) fn certificate_number(order: u32, course: u32) -> String {
    format!("SYN-C-{order}-{course}")
}
