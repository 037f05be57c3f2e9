//! Batches of images of the base loss, followed by others of the penalty.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress, batcher::Batcher},
        dataset::DatasetError,
    },
    tensor::Device,
};

use crate::{
    batch::{Batch, ImageBatcher},
    held_out::{HoldOutSampler, StepSamples},
    images::{Image, Images},
};

/// Images of the base loss and of the penalty, another epoch at each iteration.
#[derive(Clone)]
pub struct HoldOutLoader {
    images: Arc<Vec<Image>>,
    batcher: Arc<ImageBatcher>,
    sampler: HoldOutSampler,
    epoch: Arc<AtomicUsize>,
    device: Device,
}

impl HoldOutLoader {
    /// Begins with a 0-based epoch.
    pub fn start(
        images: &Images,
        batcher: ImageBatcher,
        sampler: HoldOutSampler,
        epoch: usize,
        device: &Device,
    ) -> Arc<dyn DataLoader<Batch>> {
        Arc::new(Self {
            images: Arc::new(images.images.clone()),
            batcher: Arc::new(batcher),
            sampler,
            epoch: Arc::new(epoch.into()),
            device: device.clone(),
        })
    }

    fn batch(&self, samples: StepSamples) -> Batch {
        let base = samples.base.len();
        let rows = samples.base.into_iter().chain(samples.penalty);
        let images = rows.map(|row| self.images[row].clone()).collect();
        Batch {
            base,
            ..self.batcher.batch(images, &self.device)
        }
    }
}

impl DataLoader<Batch> for HoldOutLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<Batch> + 'a> {
        let epoch = self.epoch.fetch_add(1, Ordering::Relaxed);
        let batches = self.sampler.epoch(epoch);
        Box::new(Batches {
            total: batches.len(),
            batches: batches.into_iter(),
            loader: self,
        })
    }

    /// Batches, which is what progress is counted in.
    fn num_items(&self) -> usize {
        self.sampler.steps(self.epoch.load(Ordering::Relaxed))
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<Batch>> {
        Arc::new(Self {
            device: device.clone(),
            ..self.clone()
        })
    }

    /// # Panics
    ///
    /// Always: this program trains on one device.
    fn slice(&self, _start: usize, _end: usize) -> Arc<dyn DataLoader<Batch>> {
        panic!("batches with held-out images are of all of them, for one device")
    }
}

/// The batches of an epoch.
struct Batches<'a> {
    loader: &'a HoldOutLoader,
    batches: std::vec::IntoIter<StepSamples>,
    total: usize,
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let samples = self.batches.next()?;
        Some(Ok(self.loader.batch(samples)))
    }
}

impl DataLoaderIterator<Batch> for Batches<'_> {
    fn progress(&self) -> Progress {
        let done = self.total - self.batches.len();
        Progress::new(done, self.total, Some("batches".into()))
    }
}
