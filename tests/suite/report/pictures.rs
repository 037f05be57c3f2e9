//! Files: written whole, PNG the same picture as SVG.

use std::{fs, io::Read, path::PathBuf};

use burn_calibration::report::Reliability;

use super::data::{all, folder, parsed, report, sample};

#[test]
fn files_are_written_whole() {
    let folder = folder("files");
    let (predictions, labels) = sample(60, 3, 7);
    let diagram = Reliability::default()
        .diagram(&predictions, &labels)
        .unwrap();
    diagram.save(folder.join("a.svg")).unwrap();
    assert_eq!(
        fs::read_to_string(folder.join("a.svg")).unwrap(),
        diagram.to_svg()
    );
    diagram.save(folder.join("a.PNG")).unwrap();
    report().save(folder.join("page.html")).unwrap();
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.PNG", "a.svg", "page.html"]); // nothing is left aside
    let complaint = |path: PathBuf| diagram.save(path).unwrap_err().to_string();
    let gif = folder.join("a.gif");
    assert_eq!(
        complaint(gif.clone()),
        format!(
            "{}: the extension is \"gif\", expected svg or png",
            gif.display()
        )
    );
    assert!(complaint(folder.join("a")).ends_with("the extension is \"\", expected svg or png"));
    assert!(complaint(folder.join("none/a.svg")).contains("No such file"));
}

/// The pixels of a PNG file without filters, of which each checksum is looked at.
fn decoded(file: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut rest = file.strip_prefix(b"\x89PNG\r\n\x1a\n").unwrap();
    let mut chunks = Vec::new();
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let end = 4 + u32::from_be_bytes(*length) as usize;
        let (body, tail) = tail.split_at(end);
        let (checksum, tail) = tail.split_first_chunk::<4>().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(body);
        assert_eq!(crc.sum(), u32::from_be_bytes(*checksum));
        chunks.push(body.split_at(4));
        rest = tail;
    }
    let names: Vec<&[u8]> = chunks.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, [b"IHDR", b"IDAT", b"IEND"]);
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    assert_eq!(chunks[0].1, [&size[..], &[8, 2, 0, 0, 0]].concat());
    let mut rows = Vec::new();
    let mut decoder = flate2::read::ZlibDecoder::new(chunks[1].1);
    decoder.read_to_end(&mut rows).unwrap();
    let row = 1 + 3 * width as usize;
    assert_eq!(rows.len(), row * height as usize);
    rows.chunks(row)
        .flat_map(|row| &row[1..])
        .copied()
        .collect()
}

/// The file has the size it says, ink where the frame of the plot is, and text.
#[test]
fn png_is_the_same_picture() {
    let (predictions, labels) = sample(60, 3, 8);
    let diagram = Reliability::default()
        .diagram(&predictions, &labels)
        .unwrap();
    let path = folder("png").join("diagram.png");
    diagram.save(&path).unwrap();
    let pixels = decoded(&fs::read(path).unwrap(), 960, 1220);
    let dark = |x: usize, y: usize| pixels[3 * (y * 960 + x)] < 100;
    let frame_at = |x: usize, y: usize| (x - 3..=x + 3).any(|x| dark(x, y));
    // the left and right edges of the plot, at pixels of twice the units of the SVG
    assert!(frame_at(144, 400) && frame_at(932, 400));
    let ink = |x: std::ops::Range<usize>, y: std::ops::Range<usize>| {
        x.flat_map(|x| y.clone().map(move |y| (x, y)))
            .filter(|&(x, y)| dark(x, y))
            .count()
    };
    assert!(ink(140..928, 10..60) > 500, "the heading");
    assert!(ink(0..50, 200..700) > 500, "the name of the vertical axis");
    assert!(
        ink(300..800, 1158..1218) > 500,
        "the name of the horizontal axis"
    );
    // nothing touches the edge of the paper
    assert_eq!(
        ink(0..960, 0..4) + ink(0..960, 1216..1220) + ink(0..4, 0..1220) + ink(956..960, 0..1220),
        0
    );
}

#[test]
fn svg_is_well_formed_and_named() {
    let (predictions, labels) = sample(60, 3, 9);
    let diagram = Reliability::default()
        .diagram(&predictions, &labels)
        .unwrap();
    let svg = diagram.to_svg();
    let document = parsed(&svg);
    let root = document.root_element();
    assert_eq!(root.attribute("viewBox"), Some("0 0 480 610"));
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.w3.org/2000/svg")
    );
    let texts: Vec<&str> = all(&document, "text")
        .filter_map(|text| text.text())
        .collect();
    for name in ["confidence", "observed frequency", "samples"] {
        assert!(texts.contains(&name), "{texts:?}");
    }
}
