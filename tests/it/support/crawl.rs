//! Crawls the dashboard: follows links and GET forms from the first page, up to a few pages of each kind, and collects
//! all links and forms.
//!
//! Tests of all pages need no list of pages, and a new page is included as soon as another page links to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use regex::Regex;
use url::form_urlencoded;

use super::browser::html;
use super::{Browser, TestResponse};

/// A regular expression that matches an id of any type.
pub const ID: &str = "[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}";
/// The maximum number of pages of one kind. It is more than one, because the actions on a page depend on the record's
/// state.
const MAX_PAGES_OF_A_KIND: usize = 4;

/// A link or a form on a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageAction {
    /// Whether this is a form with the method POST. A form with the method GET counts as a link.
    pub is_post_form: bool,
    /// The path without a query.
    pub path: String,
    /// The fields of the query and of the form, without the CSRF token.
    pub fields: Vec<(String, String)>,
}

/// The result of a crawl.
#[derive(Debug, Default)]
pub struct Crawl {
    /// The pages by path and query, with their HTML.
    pub pages: BTreeMap<String, String>,
    /// The links and forms on all pages.
    pub actions: BTreeSet<PageAction>,
}

impl Crawl {
    /// Follows links and GET forms from the first page of the dashboard.
    pub async fn run(browser: &Browser<'_>) -> Self {
        let mut crawl = Self::default();
        let mut requests_by_kind: BTreeMap<String, usize> = BTreeMap::new();
        let mut queue = VecDeque::from(["/dashboard".to_owned()]);
        while let Some(address) = queue.pop_front() {
            let requests = requests_by_kind.entry(kind(&address)).or_default();
            if crawl.pages.contains_key(&address) || *requests == MAX_PAGES_OF_A_KIND {
                continue;
            }
            *requests += 1;
            let response = browser.get(&address).await;
            // The page of an action that is no longer possible redirects to the page that links to it.
            if response.status == 303 {
                continue;
            }
            assert_eq!(response.status, 200, "{address}: {response:?}");
            let page = html(&response);
            for link in links(&page) {
                crawl.actions.insert(PageAction::new(false, &link, Vec::new()));
                queue.push_back(link);
            }
            let forms = forms(&page);
            queue.extend(forms.iter().filter(|form| !form.is_post_form).map(PageAction::address));
            crawl.actions.extend(forms);
            crawl.pages.insert(address, page);
        }
        crawl
    }

    /// Returns one id of each type in the addresses, links and forms, by its prefix, for example `stu`. If there are
    /// several, the last one found: addresses are searched first, then actions.
    pub fn ids(&self) -> BTreeMap<String, String> {
        let actions = self.actions.iter().map(|action| format!("{action:?}"));
        let text: String = self.pages.keys().cloned().chain(actions).collect();
        pattern(ID).find_iter(&text).map(|id| (id.as_str()[..3].to_owned(), id.as_str().to_owned())).collect()
    }
}

impl PageAction {
    fn new(is_post_form: bool, address: &str, fields: Vec<(String, String)>) -> Self {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut all_fields: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        all_fields.extend(fields);
        Self { is_post_form, path: path.to_owned(), fields: all_fields }
    }

    /// Returns the path with the query; for a POST form, only the path.
    pub fn address(&self) -> String {
        if self.is_post_form || self.fields.is_empty() {
            return self.path.clone();
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.fields).finish();
        format!("{}?{query}", self.path)
    }

    /// Returns the ids in the path and the fields, in order.
    pub fn ids(&self) -> Vec<String> {
        let values = self.fields.iter().map(|(_, value)| value.as_str());
        let texts = std::iter::once(self.path.as_str()).chain(values);
        let id = pattern(ID);
        texts
            .flat_map(|text| id.find_iter(text).map(|id| id.as_str().to_owned()).collect::<Vec<_>>())
            .collect()
    }

    /// Returns a copy with its ids replaced by these, in order.
    pub fn with_ids(&self, ids: &[String]) -> Self {
        let mut ids = ids.iter();
        let id = pattern(ID);
        let mut replace_ids = |text: &str| {
            id.replace_all(text, |_: &regex::Captures<'_>| {
                ids.next().expect("one id for each id in the action").clone()
            })
            .into_owned()
        };
        let path = replace_ids(&self.path);
        let fields = self.fields.iter().map(|(name, value)| (name.clone(), replace_ids(value))).collect();
        Self { is_post_form: self.is_post_form, path, fields }
    }
}

/// Returns the kind of a page: its address with ids and cursors masked.
fn kind(address: &str) -> String {
    let address = pattern("after=[^&]+").replace_all(address, "after=");
    pattern(ID).replace_all(&address, "ID").into_owned()
}

fn links(page: &str) -> BTreeSet<String> {
    let link = pattern("(?:href|hx-get)=\"((?:/dashboard|/logout)[^\"#]*)\"");
    let links = link.captures_iter(page).map(|captures| unescape(&captures[1]));
    links.filter(|link| !link.starts_with("/dashboard/static/")).collect()
}

fn forms(page: &str) -> Vec<PageAction> {
    let form = pattern("(?s)<form([^>]*)>(.*?)</form>");
    let actions = form.captures_iter(page).map(|captures| {
        let address = attribute(&captures[1], "action").expect("a form has an action");
        let is_post_form =
            attribute(&captures[1], "method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
        let mut fields = inputs(&captures[2]);
        fields.extend(selects(&captures[2]));
        PageAction::new(is_post_form, &address, fields)
    });
    actions.collect()
}

/// Returns the names and values of the inputs of a form, without the CSRF token.
fn inputs(form: &str) -> Vec<(String, String)> {
    let inputs = pattern("<input([^>]*)>");
    let field = |tag: &str| Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default()));
    inputs
        .captures_iter(form)
        .filter_map(|captures| field(&captures[1]))
        .filter(|(name, _)| name != "csrf")
        .collect()
}

/// Returns the names of the selects of a form, each with its first option that is an id, or else its first option.
fn selects(form: &str) -> Vec<(String, String)> {
    let (select, option, id) =
        (pattern("(?s)<select([^>]*)>(.*?)</select>"), pattern("<option([^>]*)>"), pattern(ID));
    let field = |tag: &str, options: &str| {
        let values: Vec<String> =
            option.captures_iter(options).filter_map(|captures| attribute(&captures[1], "value")).collect();
        let selected = values.iter().find(|value| id.is_match(value)).or_else(|| values.first());
        Some((attribute(tag, "name")?, selected.cloned().unwrap_or_default()))
    };
    select.captures_iter(form).filter_map(|captures| field(&captures[1], &captures[2])).collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    pattern(&format!("\\s{name}=\"([^\"]*)\"")).captures(tag).map(|captures| unescape(&captures[1]))
}

/// Replaces the HTML entities in the value of an attribute.
fn unescape(text: &str) -> String {
    let entities =
        [("&#38;", "&"), ("&amp;", "&"), ("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">")];
    entities.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Returns the status and the text of a response without the parts that differ each time: tokens and ids.
pub fn without_random_parts(response: &TestResponse) -> (u16, String) {
    let text = String::from_utf8_lossy(&response.body);
    let text = Regex::new("name=\"csrf\" value=\"[^\"]+\"").unwrap().replace_all(&text, "").into_owned();
    (response.status, Regex::new(ID).unwrap().replace_all(&text, "ID").into_owned())
}
