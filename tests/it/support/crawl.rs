//! Crawls the dashboard: from the first page along every link and every form that changes nothing. It collects all forms on the
//! way.
//!
//! Tests of all pages need no list of pages this way, and a new page is crawled as soon as another links to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use regex::Regex;
use url::form_urlencoded;

use super::Browser;
use super::browser::html;

/// An id of any type.
pub const ID: &str = "[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}";
/// Pages to visit of one kind: records differ in state, and so in their actions.
const MAX_PAGES_OF_A_KIND: usize = 4;

/// A link, or a form with its values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageAction {
    pub is_form: bool,
    /// The path without a query.
    pub path: String,
    /// The fields of the form without its token, or of the query.
    pub fields: Vec<(String, String)>,
}

/// The result of a crawl.
#[derive(Debug, Default)]
pub struct Crawl {
    /// The pages by path and query, with their HTML.
    pub pages: BTreeMap<String, String>,
    /// All links and forms on the pages.
    pub offers: BTreeSet<PageAction>,
}

impl Crawl {
    /// Follows all links, and all forms that change nothing.
    pub async fn of(browser: &Browser<'_>) -> Self {
        let mut crawl = Self::default();
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut queue = VecDeque::from(["/dashboard".to_owned()]);
        while let Some(address) = queue.pop_front() {
            let seen = kinds.entry(kind(&address)).or_default();
            if crawl.pages.contains_key(&address) || *seen == MAX_PAGES_OF_A_KIND {
                continue;
            }
            *seen += 1;
            let response = browser.get(&address).await;
            // An action that is no longer possible redirects to the page that offered it.
            if response.status == 303 {
                continue;
            }
            let page = html(&response.assert_status(200));
            for link in links(&page) {
                crawl.offers.insert(PageAction::of(false, &link, Vec::new()));
                queue.push_back(link);
            }
            let forms = forms(&page);
            queue.extend(forms.iter().filter(|form| !form.is_form).map(PageAction::address));
            crawl.offers.extend(forms);
            crawl.pages.insert(address, page);
        }
        crawl
    }

    /// Returns the ids found, by prefix: the last one of each type.
    pub fn ids(&self) -> BTreeMap<String, String> {
        let offers = self.offers.iter().map(|offer| format!("{offer:?}"));
        let text: String = self.pages.keys().cloned().chain(offers).collect();
        pattern(ID).find_iter(&text).map(|id| (id.as_str()[..3].to_owned(), id.as_str().to_owned())).collect()
    }
}

impl PageAction {
    fn of(is_form: bool, address: &str, fields: Vec<(String, String)>) -> Self {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut all: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        all.extend(fields);
        Self { is_form, path: path.to_owned(), fields: all }
    }

    /// Returns the path with the query; of a form, the path.
    pub fn address(&self) -> String {
        if self.is_form || self.fields.is_empty() {
            return self.path.clone();
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.fields).finish();
        format!("{}?{query}", self.path)
    }

    /// Returns the ids in it, in order.
    pub fn ids(&self) -> Vec<String> {
        let values = self.fields.iter().map(|(_, value)| value.as_str());
        let places = std::iter::once(self.path.as_str()).chain(values);
        let id = pattern(ID);
        places
            .flat_map(|place| id.find_iter(place).map(|id| id.as_str().to_owned()).collect::<Vec<_>>())
            .collect()
    }

    /// Returns a copy with its ids replaced by these.
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

/// Returns the kind of a page: its address with ids masked.
fn kind(address: &str) -> String {
    let address = pattern("after=[^&]+").replace_all(address, "after=");
    pattern(ID).replace_all(&address, "ID").into_owned()
}

fn links(page: &str) -> BTreeSet<String> {
    let link = pattern("(?:href|hx-get)=\"((?:/dashboard|/logout)[^\"#]*)\"");
    let links = link.captures_iter(page).map(|found| unescape(&found[1]));
    links.filter(|link| !link.starts_with("/dashboard/static/")).collect()
}

fn forms(page: &str) -> Vec<PageAction> {
    let form = pattern("(?s)<form([^>]*)>(.*?)</form>");
    let offers = form.captures_iter(page).map(|found| {
        let action = attribute(&found[1], "action").expect("a form says where it goes");
        let is_form =
            attribute(&found[1], "method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
        let mut fields = inputs(&found[2]);
        fields.extend(selects(&found[2]));
        PageAction::of(is_form, &action, fields)
    });
    offers.collect()
}

/// Returns the inputs with a value: hidden fields, checkboxes and text fields.
fn inputs(form: &str) -> Vec<(String, String)> {
    let inputs = pattern("<input([^>]*)>");
    let field = |tag: &str| Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default()));
    inputs
        .captures_iter(form)
        .filter_map(|found| field(&found[1]))
        .filter(|(name, _)| name != "csrf")
        .collect()
}

/// Returns the selects: with the first option that is an id, or else the first option.
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
    pattern(&format!("\\s{name}=\"([^\"]*)\"")).captures(tag).map(|found| unescape(&found[1]))
}

/// Decodes the text of an attribute.
fn unescape(text: &str) -> String {
    let entities =
        [("&#38;", "&"), ("&amp;", "&"), ("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">")];
    entities.iter().fold(text.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}
