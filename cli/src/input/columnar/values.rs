//! The numbers, lists and text of arrays. The crate `arrow-cast` can make any type of any other, and is larger
//! than the readers of files.

use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, ListLikeArray,
    cast::AsArray,
    downcast_integer_array,
    types::{
        Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
        Float32Type, Float64Type,
    },
};
use arrow_schema::DataType as D;

use crate::{
    error::Result,
    input::{cells::Cells, limits::check_unpacked},
};

/// The numbers of an array, whose type is one of numbers; NaN where there is none.
pub fn numbers(array: &dyn Array) -> Vec<f64> {
    downcast_integer_array!(
        array => all(array.iter(), |number| number as f64),
        D::Boolean => all(array.as_boolean().iter(), f64::from),
        D::Float16 => all(array.as_primitive::<Float16Type>().iter(), f64::from),
        D::Float32 => all(array.as_primitive::<Float32Type>().iter(), f64::from),
        D::Float64 => all(array.as_primitive::<Float64Type>().iter(), |number| number),
        D::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale),
        D::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale),
        D::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale),
        D::Decimal256(_, scale) => decimals::<Decimal256Type>(array, *scale),
        D::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let values = numbers(dictionary.values());
            all(places(dictionary), |place| values[place])
        },
        other => unreachable!("{other:?} is no type of numbers"),
    )
}

fn all<T>(values: impl IntoIterator<Item = Option<T>>, number: impl Fn(T) -> f64) -> Vec<f64> {
    let values = values.into_iter();
    values
        .map(|value| value.map_or(f64::NAN, &number))
        .collect()
}

fn decimals<T: DecimalType>(array: &dyn Array, scale: i8) -> Vec<f64> {
    let decimals = array.as_primitive::<T>().iter();
    all(decimals, |decimal| {
        let text = T::format_decimal(decimal, T::MAX_PRECISION, scale);
        text.parse().unwrap_or(f64::NAN)
    })
}

/// The place of each row among the values of a dictionary; none of a null.
fn places(dictionary: &dyn AnyDictionaryArray) -> Vec<Option<usize>> {
    if dictionary.values().is_empty() {
        return vec![None; dictionary.len()];
    }
    let places = dictionary.normalized_keys().into_iter().enumerate();
    places
        .map(|(row, place)| dictionary.keys().is_valid(row).then_some(place))
        .collect()
}

/// The lengths of lists, and their numbers one after the other.
pub fn lists(array: &dyn Array) -> (Vec<usize>, ArrayRef) {
    let lists: &dyn ListLikeArray = match array.data_type() {
        D::List(_) => array.as_list::<i32>(),
        D::LargeList(_) => array.as_list::<i64>(),
        _ => array.as_fixed_size_list(),
    };
    let places = || (0..lists.len()).map(|row| lists.element_range(row));
    let start = places().next().map_or(0, |first| first.start);
    let lengths: Vec<usize> = places().map(|place| place.len()).collect();
    let count = lengths.iter().sum();
    (lengths, lists.values().slice(start, count))
}

/// Adds a cell of each row, within what a file of so many bytes may unpack to. Whole numbers keep all their digits.
/// A null is a cell without text, or NaN among numbers with decimals.
pub fn push_cells(array: &dyn Array, cells: &mut Cells, size: u64) -> Result<()> {
    let mut push = |cell: Option<&str>| {
        cells.push_field(cell.unwrap_or_default());
        check_unpacked(cells.as_byte_record().as_slice().len() as u64, size)
    };
    downcast_integer_array!(
        array => array.iter().try_for_each(|number| {
            push(number.map(|number| number.to_string()).as_deref())
        }),
        D::Utf8 => array.as_string::<i32>().iter().try_for_each(push),
        D::LargeUtf8 => array.as_string::<i64>().iter().try_for_each(push),
        D::Utf8View => array.as_string_view().iter().try_for_each(push),
        D::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let mut words = Cells::default();
            push_cells(dictionary.values(), &mut words, size)?;
            let mut places = places(dictionary).into_iter();
            places.try_for_each(|place| push(place.map(|place| &words[place])))
        },
        _ => numbers(array).iter().try_for_each(|number| push(Some(&number.to_string()))),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        BooleanArray, Decimal32Array, Decimal256Array, DictionaryArray, FixedSizeListArray,
        Float64Array, Int8Array, LargeListArray, StringArray, UInt64Array,
        types::{Int8Type, Int32Type},
    };
    use arrow_buffer::i256;

    use super::*;

    fn cells(array: &dyn Array) -> Vec<String> {
        let mut cells = Cells::default();
        push_cells(array, &mut cells, 1000).unwrap();
        cells.iter().map(str::to_owned).collect()
    }

    #[test]
    fn numbers_of_every_type() {
        let is = |array: &dyn Array, expected: [f64; 3]| {
            let found = numbers(array);
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        };
        let nan = f64::NAN;
        let floats: Arc<dyn Array> = Arc::new(Float64Array::from(vec![0.25, -0.0]));
        let keys = Int8Array::from(vec![Some(1), None, Some(0)]);
        is(&DictionaryArray::new(keys, floats), [-0.0, nan, 0.25]);
        let none: Arc<dyn Array> = Arc::new(Float64Array::from(Vec::<f64>::new()));
        let keys = Int8Array::from(vec![None, None, None]);
        is(&DictionaryArray::new(keys, none), [nan, nan, nan]);
        let flags = BooleanArray::from(vec![Some(true), Some(false), None]);
        is(&flags, [1.0, 0.0, nan]);
        let whole = UInt64Array::from(vec![Some(u64::MAX), None, Some(3)]);
        is(&whole, [2f64.powi(64), nan, 3.0]);
        // the nearest f64, also where that of the digits divided by a power of ten is another
        let decimals = Decimal32Array::from(vec![Some(-3), None, Some(123_456_789)]);
        let decimals = decimals.with_precision_and_scale(9, 8).unwrap();
        is(&decimals, [-3e-8, nan, 1.234_567_89]);
        let large = i256::from_i128(10i128.pow(30));
        let decimals = Decimal256Array::from(vec![Some(large), Some(i256::ONE), None]);
        let scaled = decimals.clone().with_precision_and_scale(60, 23).unwrap();
        is(&scaled, [1e7, 1e-23, nan]);
        let scaled = decimals.with_precision_and_scale(60, -2).unwrap();
        is(&scaled, [1e32, 100.0, nan]);
    }

    #[test]
    fn lists_of_every_type() {
        let rows = || [Some(vec![Some(1.0), None]), Some(vec![Some(3.0)])];
        let lists = LargeListArray::from_iter_primitive::<Float64Type, _, _>(
            [Some(vec![Some(7.0)])].into_iter().chain(rows()),
        );
        let (lengths, values) = super::lists(&lists.slice(1, 2));
        assert_eq!(lengths, [2, 1]);
        assert_eq!(format!("{:?}", numbers(&values)), "[1.0, NaN, 3.0]");
        let pairs = [0, 2, 4].map(|x| Some(vec![Some(x), Some(x + 1)]));
        let lists = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(pairs, 2);
        let (lengths, values) = super::lists(&lists.slice(1, 2));
        assert_eq!(lengths, [2, 2]);
        assert_eq!(numbers(&values), [2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn cells_keep_all_digits() {
        let ids = UInt64Array::from(vec![Some(u64::MAX), None]);
        assert_eq!(cells(&ids), ["18446744073709551615", ""]);
        let words = StringArray::from(vec!["cat", "", "dog"]);
        assert_eq!(cells(&words), ["cat", "", "dog"]);
        let words: DictionaryArray<Int8Type> = [Some("b"), None, Some("a"), Some("b")]
            .into_iter()
            .collect();
        assert_eq!(cells(&words), ["b", "", "a", "b"]);
        let numbers = Float64Array::from(vec![0.5, 2.0]);
        assert_eq!(cells(&numbers), ["0.5", "2"]);
    }

    /// A long word of a dictionary in many rows is refused before memory is taken for all of them.
    #[test]
    fn text_needs_bounded_memory() {
        let word: Arc<dyn Array> = Arc::new(StringArray::from(vec!["x".repeat(1 << 20)]));
        let words = DictionaryArray::new(Int8Array::from(vec![0; 1 << 20]), word);
        let mut cells = Cells::default();
        let error = push_cells(&words, &mut cells, 1 << 10).unwrap_err();
        assert!(
            error.to_string().starts_with("unpacks to more than 64 MiB"),
            "{error}"
        );
        assert!(cells.as_byte_record().as_slice().len() < 100 << 20);
    }
}
