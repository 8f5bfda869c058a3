//! Compressed tar archives: one for users without a package manager, and those for npm.

use flate2::{Compression, GzBuilder};
use tar::{Builder, Header};

use crate::{Content, Entry, Failure, ReleaseFile};

/// The time of every entry, in seconds since 1970: the one that npm gives to entries, in the year 1985. Some programs complain
/// about times before 1980.
const TIME: u64 = 499_162_500;

/// The archive with everything: `omen-VERSION-TARGET.tar.gz`.
pub(crate) fn release(content: &Content) -> Result<ReleaseFile, Failure> {
    let folder = format!("omen-{}-{}", content.version, content.system.platform.target);
    let mut entries = vec![Entry::program("omen", content.binary.clone())];
    entries.push(Entry::text("README.md", content.readme.clone()));
    entries.extend(content.licenses.iter().chain([&content.third_party]).cloned());
    let completions = content.completions.iter();
    entries.extend(completions.map(|(shell, script)| Entry::text(format!("completions/{}", shell.file), &**script)));
    entries.extend(content.manual.iter().map(|page| page.below("man/man1")));
    Ok(ReleaseFile { name: format!("{folder}.tar.gz"), bytes: tar_gz(&folder, entries)? })
}

/// An archive whose entries are all in one folder.
pub(crate) fn tar_gz(folder: &str, mut entries: Vec<Entry>) -> Result<Vec<u8>, Failure> {
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    // The system in the header of gzip is by default that on which it is packed.
    let unknown = 255;
    let gzip = GzBuilder::new().operating_system(unknown).write(Vec::new(), Compression::default());
    let mut tar = Builder::new(gzip);
    for entry in &entries {
        let mut header = Header::new_ustar();
        header.set_mode(entry.mode());
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(TIME);
        header.set_size(entry.bytes.len() as u64);
        tar.append_data(&mut header, format!("{folder}/{}", entry.path), entry.bytes.as_slice())?;
    }
    Ok(tar.into_inner()?.finish()?)
}
