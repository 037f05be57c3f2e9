//! Training, validation and test images.

use std::path::PathBuf;

use crate::{Result, arguments::Arguments, images::Images};

pub struct Data {
    pub training: Images,
    pub validation: Images,
    pub test: Images,
}

/// The order of the training images, and so the split, is the same for all seeds of training.
const SPLIT_SEED: u64 = 0;

impl Data {
    pub fn read(arguments: &Arguments) -> Result<Self> {
        let folder = match &arguments.data {
            Some(folder) => folder.clone(),
            None => download()?,
        };
        let training = Images::read(&folder.join("train"))?;
        let test = Images::read(&folder.join("test"))?;
        if training.classes != test.classes {
            return Err(format!(
                "classes {:?} to train on, {:?} to test",
                training.classes, test.classes
            )
            .into());
        }
        let (training, validation) = training.shuffled(SPLIT_SEED).split(arguments.validation)?;
        Ok(Self {
            training: training.limited(arguments.limit),
            validation,
            test,
        })
    }
}

#[cfg(not(feature = "download"))]
fn download() -> Result<PathBuf> {
    Err("no --data DIR, and this program was compiled without the feature `download`".into())
}

/// The folder to which Burn downloads.
#[cfg(feature = "download")]
fn download() -> Result<PathBuf> {
    use burn_dataset::{
        Dataset,
        vision::{CifarDataset, CifarType},
    };

    let image = CifarDataset::new(CifarType::Cifar10).train().get(0)?;
    let file = PathBuf::from(image.image_path); // …/train/<class>/<image>
    let folder = file
        .ancestors()
        .nth(3)
        .ok_or("the downloaded images are not in folders")?;
    Ok(folder.to_path_buf())
}
