//! The numbers, lists and text of arrays.

use arrow_array::{Array, ArrayRef, ListLikeArray, cast::AsArray, types::Float64Type};
use arrow_cast::{
    cast,
    display::{ArrayFormatter, FormatOptions},
};
use arrow_schema::DataType as D;

use crate::{Cells, error::Result, limits::check_unpacked};

/// The numbers of an array, whose type is one of numbers; NaN where there is none.
pub fn numbers(array: &dyn Array) -> Result<Vec<f64>> {
    let is_decimal = |data_type: &D| {
        use D::*;
        matches!(
            data_type,
            Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..)
        )
    };
    // the number nearest to the digits, not their quotient by a power of ten
    let text = match array.data_type() {
        D::Dictionary(_, value) if is_decimal(value) => Some(cast(&cast(array, value)?, &D::Utf8)?),
        decimal if is_decimal(decimal) => Some(cast(array, &D::Utf8)?),
        _ => None,
    };
    let floats = cast(text.as_deref().unwrap_or(array), &D::Float64)?;
    let floats = floats.as_primitive::<Float64Type>();
    Ok(floats.iter().map(|x| x.unwrap_or(f64::NAN)).collect())
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

/// How dates and times are written: as pandas writes them to CSV.
const TIMES: FormatOptions = FormatOptions::new()
    .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
    .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"));

/// Adds the text of each row, within what a file of so many bytes may unpack to. Whole numbers keep all their digits,
/// a UUID has its hyphens, and a null is a cell without text.
pub fn push_cells(array: &dyn Array, cells: &mut Cells, size: u64) -> Result<()> {
    // names of zones are not known here: the times are those of UTC
    let utc = match array.data_type() {
        D::Timestamp(unit, Some(_)) => {
            Some(cast(array, &D::Timestamp(*unit, Some("+00:00".into())))?)
        }
        _ => None,
    };
    let formatter = ArrayFormatter::try_new(utc.as_deref().unwrap_or(array), &TIMES)?;
    let is_uuid = *array.data_type() == D::FixedSizeBinary(16);
    let mut cell = String::new();
    for row in 0..array.len() {
        cell.clear();
        formatter.value(row).write(&mut cell)?;
        if is_uuid && cell.len() == 32 {
            [8, 13, 18, 23]
                .into_iter()
                .for_each(|at| cell.insert(at, '-'));
        }
        cells.push_field(&cell);
        check_unpacked(cells.as_byte_record().as_slice().len() as u64, size)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        BooleanArray, Date32Array, Decimal32Array, Decimal256Array, DictionaryArray,
        FixedSizeBinaryArray, FixedSizeListArray, Float32Array, Float64Array, Int8Array,
        LargeListArray, StringArray, TimestampMicrosecondArray, UInt64Array,
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
            let found = numbers(array).unwrap();
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
        assert_eq!(
            format!("{:?}", numbers(&values).unwrap()),
            "[1.0, NaN, 3.0]"
        );
        let pairs = [0, 2, 4].map(|x| Some(vec![Some(x), Some(x + 1)]));
        let lists = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(pairs, 2);
        let (lengths, values) = super::lists(&lists.slice(1, 2));
        assert_eq!(lengths, [2, 2]);
        assert_eq!(numbers(&values).unwrap(), [2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn cells_are_as_text_has_them() {
        let ids = UInt64Array::from(vec![Some(u64::MAX), None]);
        assert_eq!(cells(&ids), ["18446744073709551615", ""]);
        let words: DictionaryArray<Int8Type> = [Some("b"), None, Some("a"), Some("b")]
            .into_iter()
            .collect();
        assert_eq!(cells(&words), ["b", "", "a", "b"]);
        assert_eq!(
            cells(&Float32Array::from(vec![0.1, 2024.01])),
            ["0.1", "2024.01"]
        );
        assert_eq!(cells(&Date32Array::from(vec![19_723])), ["2024-01-01"]);
        let time = TimestampMicrosecondArray::from(vec![1_704_067_200_500_000]);
        assert_eq!(cells(&time), ["2024-01-01 00:00:00.500"]);
        assert_eq!(
            cells(&time.with_timezone("UTC")),
            ["2024-01-01 00:00:00.500+00:00"]
        );
        let uuid = FixedSizeBinaryArray::try_from_iter([(0..16).collect::<Vec<u8>>()].iter());
        let expected = ["00010203-0405-0607-0809-0a0b0c0d0e0f"];
        assert_eq!(cells(&uuid.unwrap()), expected);
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
