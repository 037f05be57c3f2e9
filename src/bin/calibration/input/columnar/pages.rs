//! Pages of Parquet, of which all is checked that the decoders of the crate take for granted.

use parquet::{
    basic::{Encoding, Type},
    column::page::{Page, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    schema::types::ColumnDescPtr,
};

use crate::input::limits::check_unpacked;

/// The pages of a column.
pub struct Pages {
    pages: Box<dyn PageReader>,
    leaf: ColumnDescPtr,
    has_dictionary: bool,
    /// How many values the pages so far say they have.
    values: u64,
    /// The bytes of the file.
    size: usize,
}

impl Pages {
    pub fn new(pages: Box<dyn PageReader>, leaf: ColumnDescPtr, size: usize) -> Self {
        Self {
            pages,
            leaf,
            has_dictionary: false,
            values: 0,
            size,
        }
    }

    fn check(&mut self, page: &Page) -> Result<(), String> {
        self.values += u64::from(page.num_values());
        check_unpacked(8 * self.values, self.size as u64)?;
        let (start, nulls) = match page {
            Page::DictionaryPage { .. } => (Some(0), 0),
            Page::DataPage { .. } => (self.end_of_levels(page), 0),
            Page::DataPageV2 {
                def_levels_byte_len,
                rep_levels_byte_len,
                num_nulls,
                ..
            } => {
                let levels = def_levels_byte_len.checked_add(*rep_levels_byte_len);
                (levels.map(|levels| levels as usize), *num_nulls)
            }
        };
        let values = start.and_then(|start| page.buffer().get(start..));
        let values = values.ok_or("levels that are not those of a page")?;
        let count = page.num_values().saturating_sub(nulls) as usize;
        let is_text = self.leaf.physical_type() == Type::BYTE_ARRAY;
        let encoding = match page.encoding() {
            Encoding::PLAIN_DICTIONARY if page.is_dictionary_page() => Encoding::PLAIN,
            Encoding::PLAIN_DICTIONARY => Encoding::RLE_DICTIONARY,
            other => other,
        };
        let is_whole = match encoding {
            Encoding::PLAIN if is_text => has_texts(values, count),
            Encoding::PLAIN => true,
            other if page.is_dictionary_page() => return Err(unknown(other)),
            Encoding::BYTE_STREAM_SPLIT if !is_text => {
                let size = match self.leaf.physical_type() {
                    Type::FLOAT | Type::INT32 => 4,
                    Type::FIXED_LEN_BYTE_ARRAY => self.leaf.type_length().max(0) as usize,
                    _ => 8,
                };
                values.len() >= count.saturating_mul(size)
            }
            Encoding::RLE if self.leaf.physical_type() == Type::BOOLEAN => values.len() >= 4,
            Encoding::RLE_DICTIONARY if !self.has_dictionary => return Err("no dictionary".into()),
            // the number of bits of a place in the dictionary
            Encoding::RLE_DICTIONARY => matches!(values.first(), Some(0..=32)),
            other => return Err(unknown(other)),
        };
        self.has_dictionary |= page.is_dictionary_page();
        match is_whole {
            true => Ok(()),
            false => Err("a page that holds nulls, or fewer values than it says".into()),
        }
    }

    /// Where the values of a page of the first version begin, after levels with their lengths.
    fn end_of_levels(&self, page: &Page) -> Option<usize> {
        let Page::DataPage {
            buf,
            def_level_encoding,
            rep_level_encoding,
            ..
        } = page
        else {
            return None;
        };
        let mut at = 0usize;
        for (most, encoding) in [
            (self.leaf.max_rep_level(), rep_level_encoding),
            (self.leaf.max_def_level(), def_level_encoding),
        ] {
            if most > 0 {
                let length = buf.get(at..)?.first_chunk()?;
                let end = at.checked_add(4 + u32::from_le_bytes(*length) as usize);
                at = end.filter(|_| *encoding == Encoding::RLE)?;
            }
        }
        Some(at)
    }
}

fn unknown(encoding: Encoding) -> String {
    format!("encoded as {encoding}, expected plain, of a dictionary, or split by bytes")
}

/// Whether there are so many texts, each after its length.
fn has_texts(mut bytes: &[u8], count: usize) -> bool {
    let mut next = || {
        let (length, rest) = bytes.split_first_chunk()?;
        bytes = rest.get(u32::from_le_bytes(*length) as usize..)?;
        Some(())
    };
    (0..count).all(|_| next().is_some())
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page).map_err(ParquetError::General)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}
