//! Iterates over all items of a list.

use std::future::Future;

use futures::stream::{self, Stream, TryStreamExt};

use crate::{Error, builder, types};

/// The items of a page and the cursor of the next one.
type Page<Item> = (Vec<Item>, Option<String>);

/// A request for a page of a list.
pub trait List: Clone + Send {
    /// The type of the items.
    type Item: Send;

    /// Requests the page of a cursor, or the first page.
    fn page(self, cursor: Option<String>) -> impl Future<Output = Result<Page<Self::Item>, Error>> + Send;
}

macro_rules! lists {
    ($($builder:ident => $item:ident,)*) => {
        $(impl List for builder::$builder<'_> {
            type Item = types::$item;

            async fn page(self, cursor: Option<String>) -> Result<Page<Self::Item>, Error> {
                let request = match cursor {
                    Some(cursor) => self.cursor(cursor),
                    None => self,
                };
                let page = request.send().await?.into_inner();
                let next = page.pagination.cursor.filter(|_| page.pagination.has_more);
                Ok((page.data, next))
            }
        })*
    };
}

include!(concat!(env!("OUT_DIR"), "/lists.rs"));

/// Returns all items of a list, and requests further pages when they are needed. `list` is the request for the first page.
pub fn paginate<L: List>(list: L) -> impl Stream<Item = Result<L::Item, Error>> {
    // The cursor of the next page: `Some(None)` before the first page, and `None` after the last one.
    let pages = stream::try_unfold(Some(None), move |next: Option<Option<String>>| {
        let list = list.clone();
        async move {
            let Some(cursor) = next else { return Ok(None) };
            let (items, next) = list.page(cursor).await?;
            let items = stream::iter(items.into_iter().map(Ok::<_, Error>));
            Ok::<_, Error>(Some((items, next.map(Some))))
        }
    });
    pages.try_flatten()
}
