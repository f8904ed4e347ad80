//! Lists and maps of strings that are stored as JSON in one column.

use std::{collections::BTreeMap, fmt, str::FromStr};

use sea_orm::DeriveValueType;

/// A list of strings, stored as a JSON array in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, DeriveValueType)]
#[sea_orm(value_type = "String", column_type = "Text")]
pub struct StringList(pub Vec<String>);

/// A map of strings, stored as a JSON object in the order of its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, DeriveValueType)]
#[sea_orm(value_type = "String", column_type = "Text")]
pub struct StringMap(pub BTreeMap<String, String>);

impl fmt::Display for StringList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for StringList {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text).map(Self)
    }
}

impl fmt::Display for StringMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for StringMap {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_and_a_map_survive_a_round_trip() {
        let list = StringList(vec!["b".into(), "a\"\u{1f980}".into()]);
        assert_eq!(list.to_string().parse::<StringList>().unwrap(), list);
        let map = StringMap(BTreeMap::from([("k".into(), String::new()), ("a".into(), "ä".into())]));
        assert_eq!(map.to_string(), r#"{"a":"ä","k":""}"#);
        assert_eq!(map.to_string().parse::<StringMap>().unwrap(), map);
    }
}
