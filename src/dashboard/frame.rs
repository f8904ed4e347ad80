//! The frame of every page: navigation, flash message and the URLs of static files.

use super::assets::{self, AssetUrls};
use super::context::BrowserContext;
use super::csrf;
use super::flash::Flash;
use super::ui::{PageZone, RawHtml};
use domain::roles::{Permission, Roles};
use domain::sessions::Viewer;
use domain::workspaces::Workspace;
use foundation::id::WorkspaceId;
use secrecy::SecretString;

macro_rules! sections {
    ($($variant:ident = $label:literal, $href:literal, $icon:literal;)*) => {
        /// A section of the navigation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Section { $(#[doc = $label] $variant),* }

        impl Section {
            /// All sections, in the order of the navigation.
            #[cfg(test)]
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the section's label.
            pub(crate) const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),* }
            }

            /// Returns the path of the section's first page.
            pub(crate) const fn href(self) -> &'static str {
                match self { $(Self::$variant => $href),* }
            }

            /// Returns the SVG elements of the section's icon, in a 20 by 20 view box.
            pub(crate) const fn icon(self) -> RawHtml {
                match self { $(Self::$variant => RawHtml($icon)),* }
            }
        }
    };
}

sections! {
    Overview = "Overview", "/dashboard", r#"<path d="M3 16V9M8 16V4M13 16v-5M18 16V7"/>"#;
    Keys = "API keys", "/dashboard/developer", r#"<circle cx="7" cy="13" r="3.5"/><path d="m9.5 10.5 7-7M13 7l2.5 2.5"/>"#;
    Logs = "Logs", "/dashboard/developer/logs", r#"<path d="M4 5h12M4 10h12M4 15h7"/>"#;
    Webhooks = "Webhooks", "/dashboard/developer/webhooks", r#"<circle cx="10" cy="4.500" r="2.500"/><circle cx="4.500" cy="15" r="2.500"/><circle cx="15.500" cy="15" r="2.500"/><path d="m8.500 7-3 5.500M11.500 7l3 5.500M7 15h6"/>"#;
    DeadLetters = "Dead letters", "/dashboard/developer/webhooks/dead-letters", r#"<path d="M3 5h14v10H3zM3 5.500l7 5 7-5"/>"#;
    Courses = "Courses", "/dashboard/courses", r#"<path d="M10 5C8 3.5 5.500 3.500 3 4v11c2.500-.5 5-.5 7 1 2-1.500 4.500-1.500 7-1V4c-2.500-.5-5-.5-7 1zM10 5v11"/>"#;
    Students = "Students", "/dashboard/students", r#"<circle cx="10" cy="7" r="3"/><path d="M4 17c0-3.500 2.500-5 6-5s6 1.500 6 5"/>"#;
    Orders = "Orders", "/dashboard/orders", r#"<path d="M5 3h10v14l-2.500-1.500L10 17l-2.500-1.500L5 17zM8 7h4M8 10.500h4"/>"#;
    Settings = "Settings", "/dashboard/settings", r#"<path d="M3 6h8M15 6h2M3 14h2M9 14h8"/><circle cx="13" cy="6" r="2"/><circle cx="7" cy="14" r="2"/>"#;
}

/// The frame of one page.
pub(crate) struct Frame {
    /// The page's title.
    pub title: String,
    /// The section that the page belongs to. `None` on error pages and on pages that do not require a session.
    pub section: Option<Section>,
    /// The signed-in user's email address and the workspace's name.
    pub viewer: Option<(String, String)>,
    /// What the signed-in user may do. `None` for visitors.
    pub roles: Option<Roles>,
    /// Whether the page shows the sandbox.
    pub is_sandbox: bool,
    /// The user's other workspaces: id and name.
    pub other_workspaces: Vec<(WorkspaceId, String)>,
    /// The flash message.
    pub flash: Option<Flash>,
    /// The time zone of the page.
    pub zone: PageZone,
    /// The form that shows the page in the other time zone. `None` if the browser's time zone is unknown or UTC, and on pages
    /// that cannot be opened again.
    pub zone_switch: Option<ZoneSwitch>,
    /// The URLs of the static files.
    pub assets: &'static AssetUrls,
    csrf: String,
}

/// The form that switches between the browser's time zone and UTC.
pub(crate) struct ZoneSwitch {
    /// The value of the field `show`: [`UTC`](Self::UTC) or `local`.
    pub show: &'static str,
    /// The label of the button.
    pub label: &'static str,
    /// Path and query of the page.
    pub back: String,
}

impl ZoneSwitch {
    /// The value of the field `show` that shows pages in UTC.
    pub(crate) const UTC: &'static str = "utc";

    /// Returns the form of a page; `None` if the page has none.
    fn new(context: &BrowserContext) -> Option<Self> {
        if context.browser_zone == PageZone::UTC || !context.is_get {
            return None;
        }
        let back = context.path.clone();
        Some(match context.page_zone == PageZone::UTC {
            true => Self { show: "local", label: "Use local time", back },
            false => Self { show: Self::UTC, label: "Use UTC", back },
        })
    }
}

/// Returns the id and name of each of the user's other workspaces. Appends the key to a name that several workspaces
/// have.
fn other_workspaces(viewer: &Viewer) -> Vec<(WorkspaceId, String)> {
    let all = || viewer.other_workspaces.iter().chain([&viewer.live_workspace]);
    let label = |other: &Workspace| {
        let is_unique = all().filter(|workspace| workspace.name == other.name).count() == 1;
        if is_unique { other.name.clone() } else { format!("{} ({})", other.name, other.key) }
    };
    viewer.other_workspaces.iter().map(|other| (other.id, label(other))).collect()
}

impl Frame {
    pub(super) fn new(context: &BrowserContext, section: Option<Section>, title: String) -> Self {
        let viewer = context.viewer.as_ref();
        Self {
            title,
            section,
            viewer: viewer.map(|viewer| (viewer.email.clone(), viewer.workspace.name.clone())),
            roles: viewer.map(|viewer| viewer.roles),
            is_sandbox: viewer.is_some_and(Viewer::is_in_sandbox),
            other_workspaces: viewer.map(other_workspaces).unwrap_or_default(),
            flash: context.flash.clone(),
            zone: context.page_zone.clone(),
            zone_switch: ZoneSwitch::new(context),
            assets: &assets::ASSET_URLS,
            csrf: csrf::token(&context.browser_token, context.shown_workspace()),
        }
    }

    /// Returns the frame of a page whose response sets a new token of the session.
    pub(super) fn for_session(self, context: &BrowserContext, token: &SecretString) -> Self {
        Self { csrf: csrf::token(token, context.shown_workspace()), ..self }
    }

    /// Returns the hidden field with the CSRF token. Every form must contain it.
    pub(crate) fn csrf(&self) -> RawHtml<String> {
        // A base64url token needs no escaping.
        RawHtml(format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", csrf::FIELD, self.csrf))
    }

    /// Returns whether the signed-in user may do what the permission stands for, with the data that the page shows. Pages hide
    /// everything else.
    pub(crate) fn can(&self, permission: Permission) -> bool {
        let is_possible = !self.is_sandbox || !permission.needs_live_data();
        is_possible && self.roles.is_some_and(|roles| roles.allow(permission))
    }

    /// Returns whether the signed-in user may switch to the sandbox, and manage it.
    pub(crate) fn can_use_sandbox(&self) -> bool {
        self.can(Permission::UseSandbox)
    }

    /// Returns the navigation in groups. `true` marks the page's section.
    pub(crate) fn navigation(&self) -> [(&'static str, Vec<(Section, bool)>); 4] {
        use Section as S;
        let marked = |sections: &[S]| {
            sections.iter().map(|section| (*section, self.section == Some(*section))).collect()
        };
        [
            ("", marked(&[S::Overview])),
            ("Developers", marked(&[S::Keys, S::Logs, S::Webhooks, S::DeadLetters])),
            ("School", marked(&[S::Courses, S::Students, S::Orders])),
            ("Workspace", marked(&[S::Settings])),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_in_the_navigation_once() {
        let frame = Frame {
            title: String::new(),
            section: Some(Section::Keys),
            viewer: None,
            roles: None,
            is_sandbox: false,
            other_workspaces: Vec::new(),
            flash: None,
            zone: PageZone::UTC,
            zone_switch: None,
            assets: &assets::ASSET_URLS,
            csrf: String::new(),
        };
        let sections: Vec<(Section, bool)> =
            frame.navigation().into_iter().flat_map(|(_, sections)| sections).collect();
        assert_eq!(sections.iter().map(|(section, _)| *section).collect::<Vec<_>>(), Section::ALL);
        assert_eq!(sections.iter().filter(|(_, is_current)| *is_current).count(), 1);
    }
}
