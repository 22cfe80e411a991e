//! Properties of ELF files that the guest's image needs: names of libraries, dependencies of modules, and
//! removal of debug information.

use object::elf::FileHeader64;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, elf};

type Header = FileHeader64<Endianness>;

/// Returns the program that loads a dynamically linked executable (`PT_INTERP`).
pub(super) fn interpreter(data: &[u8]) -> Result<Option<String>, object::Error> {
    let header = Header::parse(data)?;
    let endian = header.endian()?;
    for segment in header.program_headers(endian, data)? {
        if let Some(name) = segment.interpreter(endian, data)? {
            return Ok(Some(String::from_utf8_lossy(name).into_owned()));
        }
    }
    Ok(None)
}

/// Returns the name by which other files refer to a library (`DT_SONAME`), if the library has one.
pub(super) fn soname(data: &[u8]) -> Result<Option<String>, object::Error> {
    let header = Header::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let Some((entries, strings)) = sections.dynamic(endian, data)? else { return Ok(None) };
    let strings = sections.strings(endian, data, strings)?;
    for entry in entries {
        if entry.tag(endian) == elf::DT_SONAME {
            let name = entry.string(endian, strings)?;
            return Ok(Some(String::from_utf8_lossy(name).into_owned()));
        }
    }
    Ok(None)
}

/// Returns the loaded part of an executable or a library, without symbols and debug information. These are
/// most of a development build, and the guest would copy them at each boot.
pub(super) fn loaded(data: &[u8]) -> Result<Vec<u8>, object::Error> {
    let header = Header::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let ends = segments.iter().map(|s| s.p_offset(endian) + s.p_filesz(endian));
    let end = ends.max().unwrap_or(0).min(data.len() as u64) as usize;
    let mut kept = data[..end].to_vec();
    // The header must not refer to the section table any more: e_shoff, e_shnum, e_shstrndx.
    for field in [0x28..0x30, 0x3c..0x3e, 0x3e..0x40] {
        kept[field].fill(0);
    }
    Ok(kept)
}

/// Returns the names of the modules that a kernel module needs, from its `.modinfo` section.
pub(super) fn needed_modules(module: &[u8]) -> Result<Vec<String>, object::Error> {
    let file = object::File::parse(module)?;
    let Some(section) = file.section_by_name(".modinfo") else { return Ok(Vec::new()) };
    let data = section.data()?;
    let depends = data.split(|&byte| byte == 0).find_map(|entry| entry.strip_prefix(b"depends="));
    let depends = String::from_utf8_lossy(depends.unwrap_or_default()).into_owned();
    Ok(depends.split(',').filter(|name| !name.is_empty()).map(|n| n.replace('-', "_")).collect())
}
