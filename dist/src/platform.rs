//! Platforms for which releases are made, and their requirements.

use elf::ElfBytes;
use elf::abi::{DT_NEEDED, EM_AARCH64, EM_X86_64, SHT_GNU_VERNEED};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::gnu_symver::VerNeedIterator;
use elf::parse::ParseError;

/// A system, as each package manager names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The target of rustc.
    pub target: &'static str,
    /// The machine, as the headers of ELF number it.
    machine: u16,
    /// The machine in the tag of a wheel.
    pub wheel: &'static str,
    /// The system and the machine, as Node.js names them.
    pub node: (&'static str, &'static str),
}

/// All systems for which releases are made.
pub static PLATFORMS: [Platform; 2] = [
    Platform { target: "aarch64-unknown-linux-gnu", machine: EM_AARCH64, wheel: "aarch64", node: ("linux", "arm64") },
    Platform { target: "x86_64-unknown-linux-gnu", machine: EM_X86_64, wheel: "x86_64", node: ("linux", "x64") },
];

/// The libraries of the C library and the compiler, which each system with glibc has. Another one could be missing.
const LIBRARIES: [&str; 8] = [
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
];

/// The newest symbols of libgcc that each system with glibc 2.17 has, which is what rustc requires at least.
const LIBGCC: (u32, u32) = (4, 8);

/// What the headers of a binary say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The system that it is built for.
    pub platform: &'static Platform,
    /// The oldest glibc that it runs with: major and minor version.
    pub glibc: (u32, u32),
}

impl Binary {
    /// Reads the headers of a binary.
    ///
    /// # Errors
    /// If it is not a program for one of [`PLATFORMS`], or may require something that such a system lacks.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let file = ElfBytes::<LittleEndian>::minimal_parse(bytes)
            .map_err(|error| format!("expected a program for Linux, in the format ELF: {error}"))?;
        let machine = file.ehdr.e_machine;
        let platform = PLATFORMS.iter().find(|platform| file.ehdr.class == Class::ELF64 && platform.machine == machine);
        let platform = platform.ok_or_else(|| {
            let targets = PLATFORMS.map(|platform| platform.target).join(", ");
            format!("the binary is for the machine {machine} of ELF; expected one of {targets}")
        })?;
        let requirements = Requirements::read(&file).map_err(|error| format!("invalid ELF: {error}"))?;
        let requirements =
            requirements.ok_or("the binary has no list of what it requires; expected one that is linked with glibc")?;
        if let Some(library) = requirements.libraries.iter().find(|library| !LIBRARIES.contains(library)) {
            return Err(format!("the binary requires `{library}`, which a system with glibc may lack"));
        }
        let mut glibc = None;
        for version in requirements.versions {
            let of_library = |prefix: &str| version.strip_prefix(prefix).and_then(number);
            match (of_library("GLIBC_"), of_library("GCC_")) {
                (Some(found), _) => glibc = glibc.max(Some(found)),
                (None, Some(found)) if found <= LIBGCC => {}
                _ => {
                    return Err(format!(
                        "the binary requires symbols of `{version}`, of which it is unclear who has them"
                    ));
                }
            }
        }
        let glibc = glibc.ok_or("the binary requires no version of glibc; expected one that is linked with glibc")?;
        Ok(Self { platform, glibc })
    }
}

/// The first two numbers of a version such as `2.2.5`; none if it has something else.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    let number = (numbers.next()??, numbers.next()??);
    numbers.all(|number| number.is_some()).then_some(number)
}

/// What a binary requires of the system that loads it.
struct Requirements<'b> {
    libraries: Vec<&'b str>,
    versions: Vec<&'b str>,
}

impl<'b> Requirements<'b> {
    /// Reads them; none if the binary is linked statically.
    fn read(file: &ElfBytes<'b, LittleEndian>) -> Result<Option<Self>, ParseError> {
        let Some(sections) = file.section_headers() else { return Ok(None) };
        let Some(section) = sections.iter().find(|section| section.sh_type == SHT_GNU_VERNEED) else { return Ok(None) };
        let names = sections.get(section.sh_link as usize)?;
        let names = file.section_data_as_strtab(&names)?;
        let (data, _) = file.section_data(&section)?;
        let (mut versions, count) = (Vec::new(), u64::from(section.sh_info));
        let mut of_files = 0;
        for (of_file, of_symbols) in VerNeedIterator::new(file.ehdr.endianness, file.ehdr.class, count, 0, data) {
            of_files += 1;
            let before = versions.len();
            for version in of_symbols {
                versions.push(names.get(version.vna_name as usize)?);
            }
            // The iterators end without an error where the data do.
            if versions.len() - before != usize::from(of_file.vn_cnt) {
                return Err(ParseError::BadOffset(of_files));
            }
        }
        if of_files != count {
            return Err(ParseError::BadOffset(of_files));
        }
        let dynamic = file.dynamic()?.into_iter().flat_map(|table| table.iter());
        let needed = dynamic.filter(|entry| entry.d_tag == DT_NEEDED);
        let libraries =
            needed.map(|entry| names.get(usize::try_from(entry.d_val())?)).collect::<Result<_, ParseError>>()?;
        Ok(Some(Self { libraries, versions }))
    }
}
