//! Numbers that are not finite in what is about to be printed.

use std::fmt;

use serde::{
    Serialize, Serializer,
    ser::{
        self, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};

/// Checks that every number of an outcome is finite: JSON has no others.
pub fn check(outcome: &(impl Serialize + ?Sized)) -> Result<(), String> {
    let found = outcome.serialize(&mut Search::default());
    found.map_err(|NotFinite(reason)| reason)
}

/// A walk over an outcome, with the names of the members on the way.
#[derive(Default)]
struct Search(Vec<String>);

#[derive(Debug)]
struct NotFinite(String);

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFinite {}

impl ser::Error for NotFinite {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self(reason.to_string())
    }
}

type Found = Result<(), NotFinite>;

impl Search {
    fn within(&mut self, name: String, value: &(impl Serialize + ?Sized)) -> Found {
        self.0.push(name);
        value.serialize(&mut *self)?;
        self.0.pop();
        Ok(())
    }
}

macro_rules! pass {
    ($($name:ident: $type:ty),*) => {$(
        fn $name(self, _: $type) -> Found {
            Ok(())
        }
    )*};
}

impl Serializer for &mut Search {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    pass!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    );

    fn serialize_f64(self, value: f64) -> Found {
        match value.is_finite() {
            true => Ok(()),
            false => Err(NotFinite(format!(
                "{} is {}, expected a finite number: there are too few samples, or numbers that are \
                 too large or too small",
                self.0.join("."),
                match value {
                    value if value.is_nan() => "not a number",
                    _ => "infinite",
                }
            ))),
        }
    }

    fn serialize_f32(self, value: f32) -> Found {
        self.serialize_f64(value.into())
    }

    fn serialize_none(self) -> Found {
        Ok(())
    }

    fn serialize_unit(self) -> Found {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Found {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Found {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Found {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Found {
        self.within(variant.into(), value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }
}

/// What has elements, which have no names.
macro_rules! elements {
    ($($compound:ident: $element:ident),*) => {$(
        impl $compound for &mut Search {
            type Ok = ();
            type Error = NotFinite;

            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Found {
                value.serialize(&mut **self)
            }

            fn end(self) -> Found {
                Ok(())
            }
        }
    )*};
}

elements!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

/// What has members with names.
macro_rules! members {
    ($($compound:ident),*) => {$(
        impl $compound for &mut Search {
            type Ok = ();
            type Error = NotFinite;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Found {
                self.within(name.into(), value)
            }

            fn end(self) -> Found {
                Ok(())
            }
        }
    )*};
}

members!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for &mut Search {
    type Ok = ();
    type Error = NotFinite;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Found {
        let name = serde_json::to_string(key).unwrap_or_default();
        self.0.push(name.trim_matches('"').to_owned());
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Found {
        value.serialize(&mut **self)?;
        self.0.pop();
        Ok(())
    }

    fn end(self) -> Found {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Inner {
        numbers: Vec<f64>,
        word: Option<&'static str>,
    }

    #[derive(Serialize)]
    struct Outer {
        name: &'static str,
        #[serde(flatten)]
        inner: Inner,
    }

    #[test]
    fn what_is_not_finite_is_named() {
        let of = |numbers: Vec<f64>| {
            let (name, word) = ("NaN", None);
            check(&[Outer {
                name,
                inner: Inner { numbers, word },
            }])
        };
        assert_eq!(of(vec![0.0, -f64::MAX]), Ok(()));
        for (value, expected) in [
            (f64::NAN, "numbers is not a number,"),
            (-f64::INFINITY, "numbers is infinite,"),
        ] {
            let reason = of(vec![1.0, value]).unwrap_err();
            assert!(reason.starts_with(expected), "{reason}");
        }
        let map = std::collections::BTreeMap::from([("a", 1.0), ("b", f64::INFINITY)]);
        assert!(
            check(&map)
                .unwrap_err()
                .starts_with("b is infinite, expected a finite number")
        );
    }
}
