// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! Platform API: the types of `Change`.

use poem_openapi::types::MaybeUndefined;
use contract_runtime::scalar::Timestamp;

/// The schemas of the types as JSON, at the same JSON pointers as in the contract.
pub const SCHEMAS: &str = include_str!("schemas.json");

/// A change. `workspace` is the key that the platform assigned to the workspace, `id` is unique in the workspace, and `at` is when the change happened. Unknown fields are rejected.
///
/// A field such as `student` or `course` contains the id of the record, or the key that the platform assigned to it. In an upsert, a missing field keeps its value and null clears it; lists and maps replace the previous ones.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Change {
    /// `workspace.upsert`.
    WorkspaceUpsert(WorkspaceUpsert),
    /// `course.upsert`.
    CourseUpsert(CourseUpsert),
    /// `student.upsert`.
    StudentUpsert(StudentUpsert),
    /// `student.delete`.
    StudentDelete(StudentDelete),
    /// `enrollment.grant`.
    EnrollmentGrant(EnrollmentGrant),
    /// `enrollment.revoke`.
    EnrollmentRevoke(EnrollmentRevoke),
    /// `progress.record`.
    ProgressRecord(ProgressRecord),
    /// `order.pay`.
    OrderPay(OrderPay),
    /// `order.refund`.
    OrderRefund(OrderRefund),
    /// `live_session.upsert`.
    LiveSessionUpsert(LiveSessionUpsert),
    /// `live_session.start`.
    LiveSessionStart(LiveSessionStart),
    /// `live_session.end`.
    LiveSessionEnd(LiveSessionEnd),
    /// `recording.ready`.
    RecordingReady(RecordingReady),
    /// `certificate.issue`.
    CertificateIssue(CertificateIssue),
}

impl<'de> serde::Deserialize<'de> for Change {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let member = match value.get("change").and_then(serde_json::Value::as_str) {
            Some("workspace.upsert") => {
                serde_json::from_value(value).map(Self::WorkspaceUpsert)
            }
            Some("course.upsert") => {
                serde_json::from_value(value).map(Self::CourseUpsert)
            }
            Some("student.upsert") => {
                serde_json::from_value(value).map(Self::StudentUpsert)
            }
            Some("student.delete") => {
                serde_json::from_value(value).map(Self::StudentDelete)
            }
            Some("enrollment.grant") => {
                serde_json::from_value(value).map(Self::EnrollmentGrant)
            }
            Some("enrollment.revoke") => {
                serde_json::from_value(value).map(Self::EnrollmentRevoke)
            }
            Some("progress.record") => {
                serde_json::from_value(value).map(Self::ProgressRecord)
            }
            Some("order.pay") => serde_json::from_value(value).map(Self::OrderPay),
            Some("order.refund") => serde_json::from_value(value).map(Self::OrderRefund),
            Some("live_session.upsert") => {
                serde_json::from_value(value).map(Self::LiveSessionUpsert)
            }
            Some("live_session.start") => {
                serde_json::from_value(value).map(Self::LiveSessionStart)
            }
            Some("live_session.end") => {
                serde_json::from_value(value).map(Self::LiveSessionEnd)
            }
            Some("recording.ready") => {
                serde_json::from_value(value).map(Self::RecordingReady)
            }
            Some("certificate.issue") => {
                serde_json::from_value(value).map(Self::CertificateIssue)
            }
            _ => {
                return Err(
                    serde::de::Error::custom(
                        concat!("unknown value of `", "change", "`"),
                    ),
                );
            }
        };
        member.map_err(serde::de::Error::custom)
    }
}

impl poem_openapi::types::Type for Change {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;
    fn name() -> std::borrow::Cow<'static, str> {
        "Change".into()
    }
    fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
        poem_openapi::registry::MetaSchemaRef::Reference("Change".to_owned())
    }
    fn register(registry: &mut poem_openapi::registry::Registry) {
        registry
            .create_schema::<
                Self,
                _,
            >(
                "Change".to_owned(),
                |registry| {
                    <WorkspaceUpsert as poem_openapi::types::Type>::register(registry);
                    <CourseUpsert as poem_openapi::types::Type>::register(registry);
                    <StudentUpsert as poem_openapi::types::Type>::register(registry);
                    <StudentDelete as poem_openapi::types::Type>::register(registry);
                    <EnrollmentGrant as poem_openapi::types::Type>::register(registry);
                    <EnrollmentRevoke as poem_openapi::types::Type>::register(registry);
                    <ProgressRecord as poem_openapi::types::Type>::register(registry);
                    <OrderPay as poem_openapi::types::Type>::register(registry);
                    <OrderRefund as poem_openapi::types::Type>::register(registry);
                    <LiveSessionUpsert as poem_openapi::types::Type>::register(registry);
                    <LiveSessionStart as poem_openapi::types::Type>::register(registry);
                    <LiveSessionEnd as poem_openapi::types::Type>::register(registry);
                    <RecordingReady as poem_openapi::types::Type>::register(registry);
                    <CertificateIssue as poem_openapi::types::Type>::register(registry);
                    poem_openapi::registry::MetaSchema {
                        one_of: vec![
                            < WorkspaceUpsert as poem_openapi::types::Type >
                            ::schema_ref(), < CourseUpsert as poem_openapi::types::Type >
                            ::schema_ref(), < StudentUpsert as poem_openapi::types::Type
                            > ::schema_ref(), < StudentDelete as
                            poem_openapi::types::Type > ::schema_ref(), < EnrollmentGrant
                            as poem_openapi::types::Type > ::schema_ref(), <
                            EnrollmentRevoke as poem_openapi::types::Type >
                            ::schema_ref(), < ProgressRecord as poem_openapi::types::Type
                            > ::schema_ref(), < OrderPay as poem_openapi::types::Type >
                            ::schema_ref(), < OrderRefund as poem_openapi::types::Type >
                            ::schema_ref(), < LiveSessionUpsert as
                            poem_openapi::types::Type > ::schema_ref(), <
                            LiveSessionStart as poem_openapi::types::Type >
                            ::schema_ref(), < LiveSessionEnd as poem_openapi::types::Type
                            > ::schema_ref(), < RecordingReady as
                            poem_openapi::types::Type > ::schema_ref(), <
                            CertificateIssue as poem_openapi::types::Type >
                            ::schema_ref()
                        ],
                        discriminator: Some(poem_openapi::registry::MetaDiscriminatorObject {
                            property_name: "change",
                            mapping: vec![
                                ("workspace.upsert".to_owned(),
                                format!("#/components/schemas/{}", < WorkspaceUpsert as
                                poem_openapi::types::Type > ::name())), ("course.upsert"
                                .to_owned(), format!("#/components/schemas/{}", <
                                CourseUpsert as poem_openapi::types::Type > ::name())),
                                ("student.upsert".to_owned(),
                                format!("#/components/schemas/{}", < StudentUpsert as
                                poem_openapi::types::Type > ::name())), ("student.delete"
                                .to_owned(), format!("#/components/schemas/{}", <
                                StudentDelete as poem_openapi::types::Type > ::name())),
                                ("enrollment.grant".to_owned(),
                                format!("#/components/schemas/{}", < EnrollmentGrant as
                                poem_openapi::types::Type > ::name())), ("enrollment.revoke"
                                .to_owned(), format!("#/components/schemas/{}", <
                                EnrollmentRevoke as poem_openapi::types::Type > ::name())),
                                ("progress.record".to_owned(),
                                format!("#/components/schemas/{}", < ProgressRecord as
                                poem_openapi::types::Type > ::name())), ("order.pay"
                                .to_owned(), format!("#/components/schemas/{}", < OrderPay
                                as poem_openapi::types::Type > ::name())), ("order.refund"
                                .to_owned(), format!("#/components/schemas/{}", <
                                OrderRefund as poem_openapi::types::Type > ::name())),
                                ("live_session.upsert".to_owned(),
                                format!("#/components/schemas/{}", < LiveSessionUpsert as
                                poem_openapi::types::Type > ::name())),
                                ("live_session.start".to_owned(),
                                format!("#/components/schemas/{}", < LiveSessionStart as
                                poem_openapi::types::Type > ::name())), ("live_session.end"
                                .to_owned(), format!("#/components/schemas/{}", <
                                LiveSessionEnd as poem_openapi::types::Type > ::name())),
                                ("recording.ready".to_owned(),
                                format!("#/components/schemas/{}", < RecordingReady as
                                poem_openapi::types::Type > ::name())), ("certificate.issue"
                                .to_owned(), format!("#/components/schemas/{}", <
                                CertificateIssue as poem_openapi::types::Type > ::name()))
                            ],
                        }),
                        ..poem_openapi::registry::MetaSchema::ANY
                    }
                },
            );
    }
    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }
    fn raw_element_iter<'a>(
        &'a self,
    ) -> std::boxed::Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        std::boxed::Box::new(std::iter::once(self))
    }
}

impl poem_openapi::types::ParseFromJSON for Change {
    fn parse_from_json(
        value: Option<serde_json::Value>,
    ) -> poem_openapi::types::ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default())
            .map_err(poem_openapi::types::ParseError::custom)
    }
}

impl poem_openapi::types::ToJSON for Change {
    fn to_json(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }
}

/// A workspace was created or changed. Another `owner_email` moves the ownership.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceUpsert {
    /// `change`.
    pub change: WorkspaceUpsertChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: WorkspaceUpsertData,
}

/// `WorkspaceUpsert.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum WorkspaceUpsertChange {
    /// `workspace.upsert`.
    #[oai(rename = "workspace.upsert")]
    #[default]
    #[serde(rename = "workspace.upsert")]
    WorkspaceUpsert,
}

impl WorkspaceUpsertChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::WorkspaceUpsert];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WorkspaceUpsert => "workspace.upsert",
        }
    }
}

/// `WorkspaceUpsertData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceUpsertData {
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub key: String,
    /// The name.
    pub name: String,
    /// Email address of the owner, who signs in to the dashboard. The rules of `createDashboardLink` apply.
    pub owner_email: String,
    /// Maximum number of API requests per key and minute.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub per_minute: MaybeUndefined<i32>,
    /// Maximum number of API requests per key and UTC day.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub per_day: MaybeUndefined<i32>,
}

/// A course was created or changed. `modules` replaces all modules and lessons.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct CourseUpsert {
    /// `change`.
    pub change: CourseUpsertChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: CourseUpsertData,
}

/// `CourseUpsert.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CourseUpsertChange {
    /// `course.upsert`.
    #[oai(rename = "course.upsert")]
    #[default]
    #[serde(rename = "course.upsert")]
    CourseUpsert,
}

impl CourseUpsertChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CourseUpsert];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CourseUpsert => "course.upsert",
        }
    }
}

/// `CourseUpsertData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct CourseUpsertData {
    /// The key that the platform assigns to the record. At most 255 characters, on one line.
    pub key: String,
    /// The slug, unique in the workspace.
    pub slug: String,
    /// The title.
    pub title: String,
    /// The status.
    pub status: CourseUpsertDataStatus,
    /// The description.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub description: MaybeUndefined<String>,
    /// The language, as a BCP 47 tag.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub language: MaybeUndefined<String>,
    /// URL of the image.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub image_url: MaybeUndefined<String>,
    /// URL of the course.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub url: MaybeUndefined<String>,
    /// The price of a course.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub price: MaybeUndefined<CoursePrice>,
    /// The modules in their order.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<CourseModule>>,
}

/// The status.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CourseUpsertDataStatus {
    /// `draft`.
    #[oai(rename = "draft")]
    #[serde(rename = "draft")]
    Draft,
    /// `published`.
    #[oai(rename = "published")]
    #[serde(rename = "published")]
    Published,
    /// `archived`.
    #[oai(rename = "archived")]
    #[serde(rename = "archived")]
    Archived,
}

impl CourseUpsertDataStatus {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Draft, Self::Published, Self::Archived];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
            Self::Archived => "archived",
        }
    }
}

/// A student was created or changed.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct StudentUpsert {
    /// `change`.
    pub change: StudentUpsertChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: StudentUpsertData,
}

/// `StudentUpsert.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum StudentUpsertChange {
    /// `student.upsert`.
    #[oai(rename = "student.upsert")]
    #[default]
    #[serde(rename = "student.upsert")]
    StudentUpsert,
}

impl StudentUpsertChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentUpsert];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StudentUpsert => "student.upsert",
        }
    }
}

/// `StudentUpsertData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct StudentUpsertData {
    /// The key that the platform assigns to the record. At most 255 characters, on one line.
    pub key: String,
    /// Email address, unique in the workspace. The case of the letters A to Z is ignored, and domains are compared in their ASCII form (IDNA).
    pub email: String,
    /// The name.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub name: MaybeUndefined<String>,
    /// Id of the student in another system.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub external_id: MaybeUndefined<String>,
    /// All tags.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// All metadata: strings by name.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<std::collections::BTreeMap<String, String>>,
}

/// A student was deleted.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct StudentDelete {
    /// `change`.
    pub change: StudentDeleteChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: StudentDeleteData,
}

/// `StudentDelete.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum StudentDeleteChange {
    /// `student.delete`.
    #[oai(rename = "student.delete")]
    #[default]
    #[serde(rename = "student.delete")]
    StudentDelete,
}

impl StudentDeleteChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentDelete];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StudentDelete => "student.delete",
        }
    }
}

/// `StudentDeleteData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct StudentDeleteData {
    /// The id of the record, or the key that the platform assigned to it.
    pub student: String,
}

/// A student got access to a course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct EnrollmentGrant {
    /// `change`.
    pub change: EnrollmentGrantChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: EnrollmentGrantData,
}

/// `EnrollmentGrant.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EnrollmentGrantChange {
    /// `enrollment.grant`.
    #[oai(rename = "enrollment.grant")]
    #[default]
    #[serde(rename = "enrollment.grant")]
    EnrollmentGrant,
}

impl EnrollmentGrantChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::EnrollmentGrant];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EnrollmentGrant => "enrollment.grant",
        }
    }
}

/// `EnrollmentGrantData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct EnrollmentGrantData {
    /// The id of the record, or the key that the platform assigned to it.
    pub student: String,
    /// The id of the record, or the key that the platform assigned to it.
    pub course: String,
    /// How the student got access. By default `manual`.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub source: MaybeUndefined<EnrollmentGrantDataSource>,
    /// When the access ends. Without it, the access does not end.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub expires_at: MaybeUndefined<Timestamp>,
}

/// How the student got access. By default `manual`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EnrollmentGrantDataSource {
    /// `api`.
    #[oai(rename = "api")]
    #[serde(rename = "api")]
    Api,
    /// `order`.
    #[oai(rename = "order")]
    #[serde(rename = "order")]
    Order,
    /// `manual`.
    #[oai(rename = "manual")]
    #[serde(rename = "manual")]
    Manual,
    /// `import`.
    #[oai(rename = "import")]
    #[serde(rename = "import")]
    Import,
}

impl EnrollmentGrantDataSource {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Api,
        Self::Order,
        Self::Manual,
        Self::Import,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Order => "order",
            Self::Manual => "manual",
            Self::Import => "import",
        }
    }
}

/// The access of a student to a course was revoked.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct EnrollmentRevoke {
    /// `change`.
    pub change: EnrollmentRevokeChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: EnrollmentRevokeData,
}

/// `EnrollmentRevoke.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EnrollmentRevokeChange {
    /// `enrollment.revoke`.
    #[oai(rename = "enrollment.revoke")]
    #[default]
    #[serde(rename = "enrollment.revoke")]
    EnrollmentRevoke,
}

impl EnrollmentRevokeChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::EnrollmentRevoke];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EnrollmentRevoke => "enrollment.revoke",
        }
    }
}

/// `EnrollmentRevokeData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct EnrollmentRevokeData {
    /// The id of the record, or the key that the platform assigned to it.
    pub student: String,
    /// The id of the record, or the key that the platform assigned to it.
    pub course: String,
    /// The reason.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub reason: MaybeUndefined<String>,
}

/// A student completed a lesson.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct ProgressRecord {
    /// `change`.
    pub change: ProgressRecordChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: ProgressRecordData,
}

/// `ProgressRecord.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum ProgressRecordChange {
    /// `progress.record`.
    #[oai(rename = "progress.record")]
    #[default]
    #[serde(rename = "progress.record")]
    ProgressRecord,
}

impl ProgressRecordChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::ProgressRecord];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProgressRecord => "progress.record",
        }
    }
}

/// `ProgressRecordData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct ProgressRecordData {
    /// The id of the record, or the key that the platform assigned to it.
    pub student: String,
    /// The id of the record, or the key that the platform assigned to it.
    pub course: String,
    /// The id of the record, or the key that the platform assigned to it.
    pub lesson: String,
}

/// An order was paid. The student gets access to its courses.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct OrderPay {
    /// `change`.
    pub change: OrderPayChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: OrderPayData,
}

/// `OrderPay.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum OrderPayChange {
    /// `order.pay`.
    #[oai(rename = "order.pay")]
    #[default]
    #[serde(rename = "order.pay")]
    OrderPay,
}

impl OrderPayChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::OrderPay];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OrderPay => "order.pay",
        }
    }
}

/// `OrderPayData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct OrderPayData {
    /// The key that the platform assigns to the record. At most 255 characters, on one line.
    pub key: String,
    /// The number of the order, unique in the workspace.
    pub number: String,
    /// The id of the record, or the key that the platform assigned to it.
    pub student: String,
    /// ISO 4217 currency, such as `USD`.
    pub currency: String,
    /// The items, at least one.
    pub items: Vec<PaidItem>,
    /// Discount. By default 0.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub discount_amount: MaybeUndefined<i64>,
    /// Tax. By default 0.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub tax_amount: MaybeUndefined<i64>,
    /// The receipt of an order.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub receipt: MaybeUndefined<PaidReceipt>,
}

/// An order was refunded, in full or in part.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct OrderRefund {
    /// `change`.
    pub change: OrderRefundChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: OrderRefundData,
}

/// `OrderRefund.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum OrderRefundChange {
    /// `order.refund`.
    #[oai(rename = "order.refund")]
    #[default]
    #[serde(rename = "order.refund")]
    OrderRefund,
}

impl OrderRefundChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::OrderRefund];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OrderRefund => "order.refund",
        }
    }
}

/// `OrderRefundData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct OrderRefundData {
    /// The id of the record, or the key that the platform assigned to it.
    pub order: String,
    /// The amount. By default what is left of the order.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub amount: MaybeUndefined<i64>,
    /// The reason.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub reason: MaybeUndefined<String>,
}

/// A live session was created or changed.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct LiveSessionUpsert {
    /// `change`.
    pub change: LiveSessionUpsertChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: LiveSessionUpsertData,
}

/// `LiveSessionUpsert.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum LiveSessionUpsertChange {
    /// `live_session.upsert`.
    #[oai(rename = "live_session.upsert")]
    #[default]
    #[serde(rename = "live_session.upsert")]
    LiveSessionUpsert,
}

impl LiveSessionUpsertChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::LiveSessionUpsert];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LiveSessionUpsert => "live_session.upsert",
        }
    }
}

/// `LiveSessionUpsertData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct LiveSessionUpsertData {
    /// The key that the platform assigns to the record. At most 255 characters, on one line.
    pub key: String,
    /// The title.
    pub title: String,
    /// The course.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub course: MaybeUndefined<String>,
    /// When it is planned to start.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub scheduled_at: MaybeUndefined<Timestamp>,
}

/// A live session started.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct LiveSessionStart {
    /// `change`.
    pub change: LiveSessionStartChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: LiveSessionStartData,
}

/// `LiveSessionStart.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum LiveSessionStartChange {
    /// `live_session.start`.
    #[oai(rename = "live_session.start")]
    #[default]
    #[serde(rename = "live_session.start")]
    LiveSessionStart,
}

impl LiveSessionStartChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::LiveSessionStart];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LiveSessionStart => "live_session.start",
        }
    }
}

/// `LiveSessionStartData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct LiveSessionStartData {
    /// The id of the record, or the key that the platform assigned to it.
    pub live_session: String,
}

/// A live session ended.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct LiveSessionEnd {
    /// `change`.
    pub change: LiveSessionEndChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: LiveSessionEndData,
}

/// `LiveSessionEnd.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum LiveSessionEndChange {
    /// `live_session.end`.
    #[oai(rename = "live_session.end")]
    #[default]
    #[serde(rename = "live_session.end")]
    LiveSessionEnd,
}

impl LiveSessionEndChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::LiveSessionEnd];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LiveSessionEnd => "live_session.end",
        }
    }
}

/// `LiveSessionEndData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct LiveSessionEndData {
    /// The id of the record, or the key that the platform assigned to it.
    pub live_session: String,
}

/// The recording of a live session became ready.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct RecordingReady {
    /// `change`.
    pub change: RecordingReadyChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: RecordingReadyData,
}

/// `RecordingReady.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum RecordingReadyChange {
    /// `recording.ready`.
    #[oai(rename = "recording.ready")]
    #[default]
    #[serde(rename = "recording.ready")]
    RecordingReady,
}

impl RecordingReadyChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::RecordingReady];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RecordingReady => "recording.ready",
        }
    }
}

/// `RecordingReadyData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct RecordingReadyData {
    /// The key that the platform assigns to the record. At most 255 characters, on one line.
    pub key: String,
    /// The id of the record, or the key that the platform assigned to it.
    pub live_session: String,
    /// The title.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub title: MaybeUndefined<String>,
    /// The duration.
    pub duration_seconds: i32,
    /// The size of the file.
    pub size_bytes: i64,
    /// The media type, such as `video/mp4`.
    pub content_type: String,
}

/// A certificate was issued to a student.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct CertificateIssue {
    /// `change`.
    pub change: CertificateIssueChange,
    /// The platform's id of the change, unique in the workspace. It is stored for 90 days.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub id: String,
    /// The key that the platform assigns to the workspace: at most 64 characters of `a-z`, `0-9` and `-`.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// When the change happened.
    pub at: Timestamp,
    /// `data`.
    pub data: CertificateIssueData,
}

/// `CertificateIssue.change`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CertificateIssueChange {
    /// `certificate.issue`.
    #[oai(rename = "certificate.issue")]
    #[default]
    #[serde(rename = "certificate.issue")]
    CertificateIssue,
}

impl CertificateIssueChange {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CertificateIssue];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CertificateIssue => "certificate.issue",
        }
    }
}

/// `CertificateIssueData`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct CertificateIssueData {
    /// The id of the record, or the key that the platform assigned to it.
    pub student: String,
    /// The id of the record, or the key that the platform assigned to it.
    pub course: String,
    /// The number. By default it is generated.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub number: MaybeUndefined<String>,
}

/// The price of a course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct CoursePrice {
    /// The amount.
    pub amount: i64,
    /// ISO 4217 currency.
    pub currency: String,
}

/// A module of a course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct CourseModule {
    /// The key that the platform assigns to the record. At most 255 characters, on one line.
    pub key: String,
    /// The title.
    pub title: String,
    /// The lessons in their order.
    pub lessons: Vec<CourseLesson>,
}

/// An item of an order.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct PaidItem {
    /// The id of the record, or the key that the platform assigned to it.
    pub course: String,
    /// The title. By default that of the course.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub title: MaybeUndefined<String>,
    /// The quantity. By default 1.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub quantity: MaybeUndefined<i32>,
    /// The price of one.
    pub unit_amount: i64,
}

/// The receipt of an order.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct PaidReceipt {
    /// The number.
    pub number: String,
    /// URL of the receipt.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub url: MaybeUndefined<String>,
}

/// A lesson.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct CourseLesson {
    /// The key that the platform assigns to the record. At most 255 characters, on one line.
    pub key: String,
    /// The title.
    pub title: String,
    /// The type.
    pub r#type: CourseLessonType,
    /// The duration.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub duration_seconds: MaybeUndefined<i32>,
    /// Whether visitors can see it. By default false.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub free_preview: MaybeUndefined<bool>,
}

/// The type.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CourseLessonType {
    /// `video`.
    #[oai(rename = "video")]
    #[serde(rename = "video")]
    Video,
    /// `audio`.
    #[oai(rename = "audio")]
    #[serde(rename = "audio")]
    Audio,
    /// `text`.
    #[oai(rename = "text")]
    #[serde(rename = "text")]
    Text,
    /// `download`.
    #[oai(rename = "download")]
    #[serde(rename = "download")]
    Download,
    /// `quiz`.
    #[oai(rename = "quiz")]
    #[serde(rename = "quiz")]
    Quiz,
    /// `assignment`.
    #[oai(rename = "assignment")]
    #[serde(rename = "assignment")]
    Assignment,
    /// `live`.
    #[oai(rename = "live")]
    #[serde(rename = "live")]
    Live,
}

impl CourseLessonType {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Video,
        Self::Audio,
        Self::Text,
        Self::Download,
        Self::Quiz,
        Self::Assignment,
        Self::Live,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Text => "text",
            Self::Download => "download",
            Self::Quiz => "quiz",
            Self::Assignment => "assignment",
            Self::Live => "live",
        }
    }
}
