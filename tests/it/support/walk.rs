//! A walk over the dashboard: from the first page along every link and every form that only asks. It notes all forms on
//! the way.
//!
//! So stories that hold for all pages need no list of them, and a new page is walked on as soon as another leads to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use regex::Regex;
use url::form_urlencoded;

use super::Browser;
use super::browser::html;

/// An id of any kind.
pub const ID: &str = "[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}";
/// Pages of one kind that are looked at: records differ in their state, and so in what can be done with them.
const OF_A_KIND: usize = 4;

/// What a page offers to send: a link, or a form with what it holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offer {
    pub is_form: bool,
    /// Without a query.
    pub path: String,
    /// The fields of the form, but for its token, or of the query.
    pub fields: Vec<(String, String)>,
}

/// What a walk came by.
#[derive(Debug, Default)]
pub struct Walk {
    /// The addresses of pages, and what they said.
    pub pages: BTreeMap<String, String>,
    /// Everything that they offered.
    pub offers: BTreeSet<Offer>,
}

impl Walk {
    /// Goes everywhere that links lead to, and forms that change nothing.
    pub async fn of(browser: &Browser<'_>) -> Self {
        let mut walk = Self::default();
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut ahead = VecDeque::from(["/dashboard".to_owned()]);
        while let Some(address) = ahead.pop_front() {
            let seen = kinds.entry(kind(&address)).or_default();
            if walk.pages.contains_key(&address) || *seen == OF_A_KIND {
                continue;
            }
            *seen += 1;
            let answer = browser.get(&address).await;
            // What cannot be done any more leads back to where it was offered.
            if answer.status == 303 {
                continue;
            }
            let page = html(&answer.assert_status(200));
            for link in links(&page) {
                walk.offers.insert(Offer::of(false, &link, Vec::new()));
                ahead.push_back(link);
            }
            let forms = forms(&page);
            ahead.extend(forms.iter().filter(|form| !form.is_form).map(Offer::address));
            walk.offers.extend(forms);
            walk.pages.insert(address, page);
        }
        walk
    }

    /// The ids that it came by, by their prefix: the last of each kind.
    pub fn ids(&self) -> BTreeMap<String, String> {
        let offers = self.offers.iter().map(|offer| format!("{offer:?}"));
        let text: String = self.pages.keys().cloned().chain(offers).collect();
        pattern(ID).find_iter(&text).map(|id| (id.as_str()[..3].to_owned(), id.as_str().to_owned())).collect()
    }
}

impl Offer {
    fn of(is_form: bool, address: &str, fields: Vec<(String, String)>) -> Self {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut all: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        all.extend(fields);
        Self { is_form, path: path.to_owned(), fields: all }
    }

    /// The path with the query; of a form, the path.
    pub fn address(&self) -> String {
        if self.is_form || self.fields.is_empty() {
            return self.path.clone();
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.fields).finish();
        format!("{}?{query}", self.path)
    }

    /// The ids in it, in their order.
    pub fn ids(&self) -> Vec<String> {
        let values = self.fields.iter().map(|(_, value)| value.as_str());
        let places = std::iter::once(self.path.as_str()).chain(values);
        let id = pattern(ID);
        places
            .flat_map(|place| id.find_iter(place).map(|id| id.as_str().to_owned()).collect::<Vec<_>>())
            .collect()
    }

    /// The same with these ids in place of its own.
    pub fn with(&self, ids: &[String]) -> Self {
        let mut ids = ids.iter();
        let id = pattern(ID);
        let mut put = |text: &str| {
            id.replace_all(text, |_: &regex::Captures<'_>| ids.next().expect("an id for each").clone())
                .into_owned()
        };
        let path = put(&self.path);
        let fields = self.fields.iter().map(|(name, value)| (name.clone(), put(value))).collect();
        Self { is_form: self.is_form, path, fields }
    }
}

/// What pages of one kind have in common.
fn kind(address: &str) -> String {
    let address = pattern("after=[^&]+").replace_all(address, "after=");
    pattern(ID).replace_all(&address, "ID").into_owned()
}

fn links(page: &str) -> BTreeSet<String> {
    let link = pattern("(?:href|hx-get)=\"((?:/dashboard|/logout)[^\"#]*)\"");
    let links = link.captures_iter(page).map(|found| plain(&found[1]));
    links.filter(|link| !link.starts_with("/dashboard/static/")).collect()
}

fn forms(page: &str) -> Vec<Offer> {
    let form = pattern("(?s)<form([^>]*)>(.*?)</form>");
    let offers = form.captures_iter(page).map(|found| {
        let action = attribute(&found[1], "action").expect("a form says where it goes");
        let is_form =
            attribute(&found[1], "method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
        let mut fields = inputs(&found[2]);
        fields.extend(selects(&found[2]));
        Offer::of(is_form, &action, fields)
    });
    offers.collect()
}

/// Inputs with a value: hidden ones, boxes, and what was written.
fn inputs(form: &str) -> Vec<(String, String)> {
    let inputs = pattern("<input([^>]*)>");
    let field = |tag: &str| Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default()));
    inputs
        .captures_iter(form)
        .filter_map(|found| field(&found[1]))
        .filter(|(name, _)| name != "csrf")
        .collect()
}

/// Lists to choose from: the first choice that is an id, or the first of all.
fn selects(form: &str) -> Vec<(String, String)> {
    let (select, option, id) =
        (pattern("(?s)<select([^>]*)>(.*?)</select>"), pattern("<option([^>]*)>"), pattern(ID));
    let field = |tag: &str, choices: &str| {
        let values: Vec<String> =
            option.captures_iter(choices).filter_map(|found| attribute(&found[1], "value")).collect();
        let chosen = values.iter().find(|value| id.is_match(value)).or_else(|| values.first());
        Some((attribute(tag, "name")?, chosen.cloned().unwrap_or_default()))
    };
    select.captures_iter(form).filter_map(|found| field(&found[1], &found[2])).collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    pattern(&format!("\\s{name}=\"([^\"]*)\"")).captures(tag).map(|found| plain(&found[1]))
}

/// An attribute's text.
fn plain(text: &str) -> String {
    let entities =
        [("&#38;", "&"), ("&amp;", "&"), ("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">")];
    entities.iter().fold(text.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}
