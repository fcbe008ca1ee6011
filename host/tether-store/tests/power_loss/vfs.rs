//! Where the suite stands between SQLite and the system: all of its unsafe code.
//!
//! Writes, truncations and names are seen by a VFS that passes everything through to
//! the system's own; it is the default one of this process. What is synced is seen
//! one floor below, at the system's call `fsync`, because a VFS is not told when a
//! folder is synced, and the store makes some files itself. That call does nothing
//! else here: what is durable is for the model to say. What the store writes itself is
//! seen there as well, at `write`.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, Once, PoisonError};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

use super::disk::{self, Handle};

/// The system's VFS.
static SYSTEM: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());

/// Open files that a disk watches, by where SQLite keeps their structure.
static OPEN: LazyLock<Mutex<HashMap<usize, Open>>> = LazyLock::new(Mutex::default);

/// Ours for each set of the system's methods: one for files with locks, one without.
static METHODS: LazyLock<Mutex<HashMap<usize, &'static sqlite3_io_methods>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// Whether this thread writes for SQLite, which is seen already.
    static BY_SQLITE: Cell<bool> = const { Cell::new(false) };
}

#[derive(Clone)]
struct Open {
    handle: Handle,
    /// What the system does with it.
    system: &'static sqlite3_io_methods,
}

/// Makes the VFS the default one of this process, once.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite's VFSs are never freed, so that a copy of the default one keeps
        // working; ours is leaked for the same reason. The system's methods do not
        // depend on which of the two they are handed, except for `xOpen`, which gets
        // its own below.
        let registered = unsafe {
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
            let system = ffi::sqlite3_vfs_find(ptr::null());
            SYSTEM.store(system, Ordering::Release);
            let ours = sqlite3_vfs {
                pNext: ptr::null_mut(),
                zName: c"power-loss".as_ptr(),
                xOpen: Some(open),
                xDelete: Some(delete),
                ..*system
            };
            ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1)
        };
        assert_eq!(registered, ffi::SQLITE_OK);
    });
}

fn open_files() -> MutexGuard<'static, HashMap<usize, Open>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watched(file: *mut sqlite3_file) -> Open {
    open_files().get(&file.addr()).cloned().expect("only watched files have these methods")
}

/// The system's methods, with those that change something replaced.
fn watching(system: &'static sqlite3_io_methods) -> &'static sqlite3_io_methods {
    let mut methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
    methods.entry(ptr::from_ref(system).addr()).or_insert_with(|| {
        let ours = sqlite3_io_methods {
            xWrite: Some(write),
            xTruncate: Some(truncate),
            xClose: Some(close),
            ..*system
        };
        Box::leak(Box::new(ours))
    })
}

/// SAFETY: `name` is a text that ends with NUL, or null.
unsafe fn path<'a>(name: *const c_char) -> Option<&'a Path> {
    // SAFETY: as the caller promised.
    (!name.is_null()).then(|| Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes())))
}

/// SAFETY: called by SQLite, as an `xOpen`.
unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    opened_as: *mut c_int,
) -> c_int {
    let system = SYSTEM.load(Ordering::Acquire);
    // SAFETY: SQLite's own arguments go to the VFS whose files they fit: ours says the
    // same size of a file's structure.
    let open =
        || unsafe { ((*system).xOpen.expect("every VFS has one"))(system, name, file, flags, opened_as) };
    // SAFETY: SQLite hands in a name, or null for a temporary file.
    let Some(disk) = unsafe { path(name) }.and_then(|path| Some((disk::of(path)?, path))) else {
        return open();
    };
    let (disk, path) = disk;
    let mut code = ffi::SQLITE_OK;
    let opened = disk.opened(path, || {
        code = open();
        code == ffi::SQLITE_OK
    });
    if let Some(handle) = opened {
        // SAFETY: a file that is open has methods, which are static; nobody else uses it
        // yet. The system's methods find all that they need in the rest of its structure,
        // which stays as it is.
        let system = unsafe { &*(*file).pMethods };
        open_files().insert(file.addr(), Open { handle, system });
        // SAFETY: as above.
        unsafe { (*file).pMethods = watching(system) };
    }
    code
}

/// SAFETY: called by SQLite, as an `xWrite` of a file that is watched.
unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, bytes: c_int, at: i64) -> c_int {
    let Open { handle, system } = watched(file);
    BY_SQLITE.set(true);
    // SAFETY: SQLite's own arguments.
    let code = unsafe { (system.xWrite.expect("every file has one"))(file, from, bytes, at) };
    BY_SQLITE.set(false);
    if code == ffi::SQLITE_OK {
        // SAFETY: so many bytes were just written from there.
        let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes as usize) };
        handle.wrote(at as usize, bytes);
    }
    code
}

/// SAFETY: called by SQLite, as an `xTruncate` of a file that is watched.
unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: i64) -> c_int {
    let Open { handle, system } = watched(file);
    // SAFETY: SQLite's own arguments.
    let code = unsafe { (system.xTruncate.expect("every file has one"))(file, length) };
    if code == ffi::SQLITE_OK {
        handle.truncated(length as usize);
    }
    code
}

/// SAFETY: called by SQLite, as an `xClose` of a file that is watched.
unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let Open { system, .. } = watched(file);
    open_files().remove(&file.addr());
    // SAFETY: SQLite's own argument.
    unsafe { (system.xClose.expect("every file has one"))(file) }
}

/// SAFETY: called by SQLite, as an `xDelete`.
unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    let system = SYSTEM.load(Ordering::Acquire);
    // SAFETY: SQLite hands in a name. The folder is synced only once the name is seen to
    // be gone.
    let (code, path) = unsafe {
        let delete = (*system).xDelete.expect("every VFS has one");
        (delete(system, name, sync_folder), path(name).expect("a file to delete has a name"))
    };
    if code == ffi::SQLITE_OK
        && let Some(disk) = disk::of(path)
    {
        disk.deleted(path);
    }
    code
}

/// Takes the place of the system's call in this process, for SQLite and for Rust.
// SAFETY: it has the system's signature, and what it promises is for the model to keep.
#[unsafe(no_mangle)]
extern "C" fn fsync(descriptor: c_int) -> c_int {
    if disk::synced(descriptor) {
        return 0;
    }
    // SAFETY: the system's own call says where the thread keeps its number.
    unsafe { *__errno_location() = INPUT_OUTPUT };
    -1
}

/// As [`fsync`].
// SAFETY: as for `fsync`.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    fsync(descriptor)
}

/// As [`fsync`]: what is written without SQLite. It is written all the same.
// SAFETY: it has the system's signature, and does what the system does.
#[unsafe(export_name = "write")]
unsafe extern "C" fn write_without_sqlite(descriptor: c_int, from: *const c_void, bytes: usize) -> isize {
    if !BY_SQLITE.get() {
        // SAFETY: asks for a number, of whatever it is.
        let at = unsafe { lseek(descriptor, 0, SEEK_CUR) };
        if let Ok(at) = usize::try_from(at) {
            // SAFETY: the caller has so many bytes there.
            disk::writes(descriptor, at, unsafe { std::slice::from_raw_parts(from.cast(), bytes) });
        }
    }
    // SAFETY: the caller's own arguments, as the one piece of a list.
    unsafe { writev(descriptor, &Piece { from, bytes }, 1) }
}

#[repr(C)]
struct Piece {
    from: *const c_void,
    bytes: usize,
}

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
    fn lseek(descriptor: c_int, by: i64, from: c_int) -> i64;
    fn writev(descriptor: c_int, pieces: *const Piece, count: c_int) -> isize;
}

/// The system's number for an error of input or output.
const INPUT_OUTPUT: c_int = 5;

/// The system's number for the place where a file is.
const SEEK_CUR: c_int = 1;
