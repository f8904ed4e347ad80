//! What stands around every page: navigation, messages, the addresses of the files.

use super::assets::{self, Addresses};
use super::csrf;
use super::flash::Flash;
use super::ui::Raw;
use super::visit::Visit;
use domain::sessions::Viewer;
use domain::workspaces::Workspace;
use foundation::id::WorkspaceId;

macro_rules! sections {
    ($($variant:ident = $label:literal, $href:literal, $icon:literal;)*) => {
        /// A place of the navigation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Section { $(#[doc = $label] $variant),* }

        impl Section {
            /// All, as they are listed.
            #[cfg(test)]
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name.
            pub(crate) const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),* }
            }

            /// Its first page.
            pub(crate) const fn href(self) -> &'static str {
                match self { $(Self::$variant => $href),* }
            }

            /// The lines of its icon, in a square of 20.
            pub(crate) const fn icon(self) -> Raw {
                match self { $(Self::$variant => Raw($icon)),* }
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
    /// What the page is called.
    pub title: String,
    /// Where it belongs; `None` on pages for those who are not signed in.
    pub section: Option<Section>,
    /// The signed-in person's address and the workspace's name.
    pub viewer: Option<(String, String)>,
    /// The other workspaces of that person: id and name.
    pub others: Vec<(WorkspaceId, String)>,
    /// What was just done.
    pub flash: Option<Flash>,
    /// The files.
    pub assets: &'static Addresses,
    csrf: String,
}

/// The other workspaces of a person by their names; where two have the same, with their keys.
fn others(viewer: &Viewer) -> Vec<(WorkspaceId, String)> {
    let all = || viewer.others.iter().chain([&viewer.workspace]);
    let label = |other: &Workspace| {
        let alone = all().filter(|one| one.name == other.name).count() == 1;
        if alone { other.name.clone() } else { format!("{} ({})", other.name, other.key) }
    };
    viewer.others.iter().map(|other| (other.id, label(other))).collect()
}

impl Frame {
    pub(super) fn new(visit: &Visit, section: Option<Section>, title: String) -> Self {
        let viewer = visit.viewer.as_ref();
        Self {
            title,
            section,
            viewer: viewer.map(|viewer| (viewer.email.clone(), viewer.workspace.name.clone())),
            others: viewer.map(others).unwrap_or_default(),
            flash: visit.flash.clone(),
            assets: &assets::ADDRESSES,
            csrf: csrf::token(&visit.key),
        }
    }

    /// The hidden field that every form must hold.
    pub(crate) fn csrf(&self) -> Raw<String> {
        // base64url: nothing to escape.
        Raw(format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", csrf::FIELD, self.csrf))
    }

    /// The places of the navigation, by groups; `true` marks where the page belongs.
    pub(crate) fn navigation(&self) -> [(&'static str, Vec<(Section, bool)>); 4] {
        use Section as S;
        let of = |places: &[S]| places.iter().map(|place| (*place, self.section == Some(*place))).collect();
        [
            ("", of(&[S::Overview])),
            ("Developers", of(&[S::Keys, S::Logs, S::Webhooks, S::DeadLetters])),
            ("School", of(&[S::Courses, S::Students, S::Orders])),
            ("Workspace", of(&[S::Settings])),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_in_the_navigation_once() {
        let frame = Frame {
            title: String::new(),
            section: Some(Section::Keys),
            viewer: None,
            others: Vec::new(),
            flash: None,
            assets: &assets::ADDRESSES,
            csrf: String::new(),
        };
        let places: Vec<(Section, bool)> =
            frame.navigation().into_iter().flat_map(|(_, places)| places).collect();
        assert_eq!(places.iter().map(|(place, _)| *place).collect::<Vec<_>>(), Section::ALL);
        assert_eq!(places.iter().filter(|(_, here)| *here).count(), 1);
    }
}
