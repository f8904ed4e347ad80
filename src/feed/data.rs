//! What the data of each kind of change says, field by field, as the table in [`change`](super::change) has it.
//!
//! Never looks at the line around the data, nor into the database.

use super::fields::{Fields, word};
use domain::certificates::CertificateIssue;
use domain::courses::{CourseStatus, CourseUpsert, LessonType, LessonUpsert, ModuleUpsert, Money};
use domain::enrollments::{EnrollmentGrant, EnrollmentRevoke, EnrollmentSource, ProgressRecord};
use domain::live_sessions::LiveSessionUpsert;
use domain::orders::{ItemPay, OrderPay, OrderRefund, ReceiptPay};
use domain::recordings::RecordingReady;
use domain::students::StudentUpsert;
use domain::workspaces::WorkspaceUpsert;

word!(CourseStatus, LessonType, EnrollmentSource);

pub(super) fn workspace(data: &mut Fields<'_>) -> WorkspaceUpsert {
    WorkspaceUpsert {
        key: data.required("key"),
        name: data.required("name"),
        owner_email: data.required("owner_email"),
        per_minute: data.given("per_minute"),
        per_day: data.given("per_day"),
    }
}

pub(super) fn course(data: &mut Fields<'_>) -> CourseUpsert {
    CourseUpsert {
        key: data.required("key"),
        slug: data.required("slug"),
        title: data.required("title"),
        status: data.required("status"),
        description: data.given("description"),
        language: data.given("language"),
        image_url: data.given("image_url"),
        url: data.given("url"),
        price: data.given_object("price", |price| Money {
            amount: price.required("amount"),
            currency: price.required("currency"),
        }),
        modules: data.objects("modules", module),
    }
}

fn module(data: &mut Fields<'_>) -> ModuleUpsert {
    let lessons = data.objects("lessons", |lesson| LessonUpsert {
        key: lesson.required("key"),
        title: lesson.required("title"),
        lesson_type: lesson.required("type"),
        duration_seconds: lesson.optional("duration_seconds"),
        free_preview: lesson.optional("free_preview").unwrap_or(false),
    });
    ModuleUpsert {
        key: data.required("key"),
        title: data.required("title"),
        lessons: data.must_have("lessons", lessons),
    }
}

pub(super) fn student(data: &mut Fields<'_>) -> StudentUpsert {
    StudentUpsert {
        key: data.required("key"),
        email: data.required("email"),
        name: data.given("name"),
        external_id: data.given("external_id"),
        tags: data.kept("tags"),
        metadata: data.kept("metadata"),
    }
}

pub(super) fn grant(data: &mut Fields<'_>) -> EnrollmentGrant {
    EnrollmentGrant {
        student: data.required("student"),
        course: data.required("course"),
        source: data.optional("source").unwrap_or(EnrollmentSource::Manual),
        expires_at: data.optional("expires_at"),
    }
}

pub(super) fn revoke(data: &mut Fields<'_>) -> EnrollmentRevoke {
    EnrollmentRevoke {
        student: data.required("student"),
        course: data.required("course"),
        reason: data.optional("reason"),
    }
}

pub(super) fn progress(data: &mut Fields<'_>) -> ProgressRecord {
    ProgressRecord {
        student: data.required("student"),
        course: data.required("course"),
        lesson: data.required("lesson"),
    }
}

pub(super) fn pay(data: &mut Fields<'_>) -> OrderPay {
    let items = data.objects("items", |item| ItemPay {
        course: item.required("course"),
        title: item.optional("title"),
        quantity: item.optional("quantity").unwrap_or(1),
        unit_amount: item.required("unit_amount"),
    });
    let receipt = data.given_object("receipt", |receipt| ReceiptPay {
        number: receipt.required("number"),
        url: receipt.optional("url"),
    });
    OrderPay {
        key: data.required("key"),
        number: data.required("number"),
        student: data.required("student"),
        currency: data.required("currency"),
        items: data.must_have("items", items),
        discount_amount: data.optional("discount_amount").unwrap_or(0),
        tax_amount: data.optional("tax_amount").unwrap_or(0),
        receipt: receipt.or(None),
    }
}

pub(super) fn refund(data: &mut Fields<'_>) -> OrderRefund {
    OrderRefund {
        order: data.required("order"),
        amount: data.optional("amount"),
        reason: data.optional("reason"),
    }
}

pub(super) fn live_session(data: &mut Fields<'_>) -> LiveSessionUpsert {
    LiveSessionUpsert {
        key: data.required("key"),
        title: data.required("title"),
        course: data.given("course"),
        scheduled_at: data.given("scheduled_at"),
    }
}

pub(super) fn recording(data: &mut Fields<'_>) -> RecordingReady {
    RecordingReady {
        key: data.required("key"),
        live_session: data.required("live_session"),
        title: data.optional("title"),
        duration_seconds: data.required("duration_seconds"),
        size_bytes: data.required("size_bytes"),
        content_type: data.required("content_type"),
    }
}

pub(super) fn certificate(data: &mut Fields<'_>) -> CertificateIssue {
    CertificateIssue {
        student: data.required("student"),
        course: data.required("course"),
        number: data.optional("number"),
    }
}
