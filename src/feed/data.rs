//! Parses the data of each kind of change, as specified in the table of [`change`](super::change).

use super::fields::{ObjectFields, text_enum_fields};
use domain::certificates::CertificateIssue;
use domain::courses::{CourseStatus, CourseUpsert, LessonType, LessonUpsert, ModuleUpsert, Money};
use domain::enrollments::{EnrollmentGrant, EnrollmentRevoke, EnrollmentSource, ProgressRecord};
use domain::live_sessions::LiveSessionUpsert;
use domain::orders::{OrderPay, OrderPayItem, OrderPayReceipt, OrderRefund};
use domain::recordings::RecordingReady;
use domain::students::StudentUpsert;
use domain::workspaces::WorkspaceUpsert;

text_enum_fields!(CourseStatus, LessonType, EnrollmentSource);

pub(super) fn workspace(data: &mut ObjectFields<'_>) -> WorkspaceUpsert {
    WorkspaceUpsert {
        key: data.required("key"),
        name: data.required("name"),
        owner_email: data.required("owner_email"),
        per_minute: data.nullable("per_minute"),
        per_day: data.nullable("per_day"),
    }
}

pub(super) fn course(data: &mut ObjectFields<'_>) -> CourseUpsert {
    CourseUpsert {
        key: data.required("key"),
        slug: data.required("slug"),
        title: data.required("title"),
        status: data.required("status"),
        description: data.nullable("description"),
        language: data.nullable("language"),
        image_url: data.nullable("image_url"),
        url: data.nullable("url"),
        price: data.nullable_object("price", |price| Money {
            amount: price.required("amount"),
            currency: price.required("currency"),
        }),
        modules: data.objects("modules", module),
    }
}

fn module(data: &mut ObjectFields<'_>) -> ModuleUpsert {
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
        lessons: data.require_list("lessons", lessons),
    }
}

pub(super) fn student(data: &mut ObjectFields<'_>) -> StudentUpsert {
    StudentUpsert {
        key: data.required("key"),
        email: data.required("email"),
        name: data.nullable("name"),
        external_id: data.nullable("external_id"),
        tags: data.optional_not_null("tags"),
        metadata: data.optional_not_null("metadata"),
    }
}

pub(super) fn grant(data: &mut ObjectFields<'_>) -> EnrollmentGrant {
    EnrollmentGrant {
        student: data.required("student"),
        course: data.required("course"),
        source: data.optional("source").unwrap_or(EnrollmentSource::Manual),
        expires_at: data.optional("expires_at"),
    }
}

pub(super) fn revoke(data: &mut ObjectFields<'_>) -> EnrollmentRevoke {
    EnrollmentRevoke {
        student: data.required("student"),
        course: data.required("course"),
        reason: data.optional("reason"),
    }
}

pub(super) fn progress(data: &mut ObjectFields<'_>) -> ProgressRecord {
    ProgressRecord {
        student: data.required("student"),
        course: data.required("course"),
        lesson: data.required("lesson"),
    }
}

pub(super) fn pay(data: &mut ObjectFields<'_>) -> OrderPay {
    let items = data.objects("items", |item| OrderPayItem {
        course: item.required("course"),
        title: item.optional("title"),
        quantity: item.optional("quantity").unwrap_or(1),
        unit_amount: item.required("unit_amount"),
    });
    let receipt = data.nullable_object("receipt", |receipt| OrderPayReceipt {
        number: receipt.required("number"),
        url: receipt.optional("url"),
    });
    OrderPay {
        key: data.required("key"),
        number: data.required("number"),
        student: data.required("student"),
        currency: data.required("currency"),
        items: data.require_list("items", items),
        discount_amount: data.optional("discount_amount").unwrap_or(0),
        tax_amount: data.optional("tax_amount").unwrap_or(0),
        receipt: receipt.apply_to(None),
    }
}

pub(super) fn refund(data: &mut ObjectFields<'_>) -> OrderRefund {
    OrderRefund {
        order: data.required("order"),
        amount: data.optional("amount"),
        reason: data.optional("reason"),
    }
}

pub(super) fn live_session(data: &mut ObjectFields<'_>) -> LiveSessionUpsert {
    LiveSessionUpsert {
        key: data.required("key"),
        title: data.required("title"),
        course: data.nullable("course"),
        scheduled_at: data.nullable("scheduled_at"),
    }
}

pub(super) fn recording(data: &mut ObjectFields<'_>) -> RecordingReady {
    RecordingReady {
        key: data.required("key"),
        live_session: data.required("live_session"),
        title: data.optional("title"),
        duration_seconds: data.required("duration_seconds"),
        size_bytes: data.required("size_bytes"),
        content_type: data.required("content_type"),
    }
}

pub(super) fn certificate(data: &mut ObjectFields<'_>) -> CertificateIssue {
    CertificateIssue {
        student: data.required("student"),
        course: data.required("course"),
        number: data.optional("number"),
    }
}
