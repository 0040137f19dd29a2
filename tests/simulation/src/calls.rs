//! The system calls on files, defined here in place of those of the C library. Calls on files of a
//! [`crate::Disk`] are simulated and recorded; all others go to the kernel unchanged.
//!
//! The linker prefers a definition in the program to that of a shared library, so calls of the
//! statically linked RocksDB and of Rust's standard library arrive here. Calls inside the C library
//! do not: reads of files opened with `fopen` and directory listings are neither recorded nor
//! refused. Nothing is written that way.
//!
//! `open` takes its mode as a variadic argument, which stable Rust cannot declare. On the tested
//! systems a third argument is passed in the same way whether it is declared variadic or not.
#![expect(
    unsafe_code,
    reason = "a function of the C library is replaced by a symbol of its name that takes raw pointers"
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use libc::{mode_t, off_t, size_t, ssize_t};

use crate::disk::SharedDisk;
use crate::faults::{Call, Errno, FileKind};
use crate::names::NodeId;
use crate::state::{DiskState, Verdict};

/// A descriptor of a file or directory of a disk.
#[derive(Debug)]
struct OpenFile {
    disk: Arc<SharedDisk>,
    node: NodeId,
    path: String,
    kind: FileKind,
    append: bool,
    /// Whether each write is synced before it returns.
    syncs_writes: bool,
}

/// The number of disks: without any, calls cost nothing.
static DISKS_COUNT: AtomicUsize = AtomicUsize::new(0);
static DISKS: RwLock<Vec<Arc<SharedDisk>>> = RwLock::new(Vec::new());
static FILES: RwLock<BTreeMap<c_int, Arc<OpenFile>>> = RwLock::new(BTreeMap::new());

thread_local! {
    static BYPASSED: Cell<bool> = const { Cell::new(false) };
}

/// Starts to simulate calls on paths of this disk.
pub(crate) fn register(disk: &Arc<SharedDisk>) {
    DISKS.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(disk));
    DISKS_COUNT.fetch_add(1, Ordering::SeqCst);
}

/// Leaves calls on paths and open files of this disk to the kernel from now on.
pub(crate) fn unregister(disk: &Arc<SharedDisk>) {
    DISKS.write().unwrap_or_else(PoisonError::into_inner).retain(|d| !Arc::ptr_eq(d, disk));
    let mut files = FILES.write().unwrap_or_else(PoisonError::into_inner);
    files.retain(|_, file| !Arc::ptr_eq(&file.disk, disk));
    DISKS_COUNT.fetch_sub(1, Ordering::SeqCst);
}

/// Runs `work` with the calls of this thread going to the kernel.
pub(crate) fn bypass<T>(work: impl FnOnce() -> T) -> T {
    let before = BYPASSED.replace(true);
    let done = work();
    BYPASSED.set(before);
    done
}

fn is_simulating() -> bool {
    DISKS_COUNT.load(Ordering::Relaxed) > 0 && !BYPASSED.get()
}

fn file_of(fd: c_int) -> Option<Arc<OpenFile>> {
    if !is_simulating() {
        return None;
    }
    FILES.read().unwrap_or_else(PoisonError::into_inner).get(&fd).cloned()
}

/// Returns the disk of a path, and the path below its root.
fn locate(dir: c_int, path: *const c_char) -> Option<(Arc<SharedDisk>, String)> {
    if !is_simulating() || path.is_null() {
        return None;
    }
    // SAFETY: callers of these functions pass zero-terminated strings, as the C library requires.
    let path = unsafe { CStr::from_ptr(path) }.to_str().ok()?;
    if !path.starts_with('/') {
        let dir = file_of(dir)?;
        return Some((Arc::clone(&dir.disk), format!("{}/{path}", dir.path)));
    }
    let disks = DISKS.read().unwrap_or_else(PoisonError::into_inner);
    disks.iter().find_map(|disk| Some((Arc::clone(disk), disk.below(path)?.to_owned())))
}

fn release(fd: c_int) {
    if DISKS_COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let file = FILES.write().unwrap_or_else(PoisonError::into_inner).remove(&fd);
    if let Some(file) = file {
        file.disk.lock().open.remove(&fd);
    }
}

fn fail(errno: Errno) -> c_int {
    let number = match errno {
        Errno::Io => libc::EIO,
        Errno::NoSpace => libc::ENOSPC,
        Errno::TooManyFiles => libc::EMFILE,
        Errno::Interrupted => libc::EINTR,
    };
    fail_with(number)
}

fn fail_with(number: c_int) -> c_int {
    // SAFETY: the C library provides an error location for every thread.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// Makes a system call with integers and pointers that the caller of the replaced function is
/// responsible for.
macro_rules! kernel {
    ($call:expr $(, $argument:expr)* $(,)?) => {
        // SAFETY: the arguments are those that the replaced function was called with.
        unsafe { libc::syscall($call $(, $argument)*) }
    };
}

fn kind_of(state: &mut DiskState, path: &str) -> FileKind {
    let node = state.tree.find(path);
    let is_dir = node.is_some_and(|node| state.tree.names_mut(node).is_some());
    if is_dir { FileKind::Directory } else { FileKind::of(path) }
}

fn open_at(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let open = || kernel!(libc::SYS_openat, dir, path, flags | libc::O_LARGEFILE, mode) as c_int;
    let Some((disk, below)) = locate(dir, path) else {
        let fd = open();
        release(fd);
        return fd;
    };
    let mut state = disk.lock();
    let known = state.tree.find(&below);
    let truncates = known.is_some() && flags & libc::O_TRUNC != 0;
    let call = match known {
        None if flags & libc::O_CREAT != 0 => Call::Create,
        _ if truncates => Call::Truncate,
        _ => Call::Open,
    };
    let kind = kind_of(&mut state, &below);
    if let Verdict::Fail(errno) = state.decide(&below, kind, call, 0) {
        return fail(errno);
    }
    let fd = open();
    if fd >= 0 {
        let node = known.unwrap_or_else(|| state.tree.create(&below));
        if truncates && let Some(inode) = state.tree.file_mut(node) {
            inode.set_len(0);
        }
        state.open.insert(fd, node);
        drop(state);
        let append = flags & libc::O_APPEND != 0;
        let syncs_writes = flags & libc::O_DSYNC != 0;
        let file = Arc::new(OpenFile { disk, node, path: below, kind, append, syncs_writes });
        FILES.write().unwrap_or_else(PoisonError::into_inner).insert(fd, file);
    }
    fd
}

fn write_at(fd: c_int, bytes: *const c_void, length: size_t, offset: Option<off_t>) -> ssize_t {
    let write = |length: size_t| match offset {
        Some(offset) => kernel!(libc::SYS_pwrite64, fd, bytes, length, offset) as ssize_t,
        None => kernel!(libc::SYS_write, fd, bytes, length) as ssize_t,
    };
    let Some(file) = file_of(fd) else { return write(length) };
    let mut state = file.disk.lock();
    let verdict = state.decide(&file.path, file.kind, Call::Write, length);
    let part = match verdict {
        Verdict::Go | Verdict::Pretend => length,
        Verdict::Part(part) | Verdict::PartThenFail(part) => part.min(length),
        Verdict::Fail(errno) => return fail(errno) as ssize_t,
    };
    let at = offset.unwrap_or_else(|| {
        let whence = if file.append { libc::SEEK_END } else { libc::SEEK_CUR };
        kernel!(libc::SYS_lseek, fd, 0, whence) as off_t
    });
    let written = write(part);
    if written > 0
        && let Some(inode) = state.tree.file_mut(file.node)
    {
        // SAFETY: the caller guarantees `length` bytes, and the kernel has just read these.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), written as usize) };
        inode.write(at.unsigned_abs(), bytes);
    }
    if matches!(verdict, Verdict::PartThenFail(_)) {
        return fail(Errno::Io) as ssize_t;
    }
    if file.syncs_writes && sync_content(&file, &mut state) != 0 {
        return -1;
    }
    written
}

fn sync(fd: c_int, call: libc::c_long) -> c_int {
    match file_of(fd) {
        Some(file) => sync_content(&file, &mut file.disk.lock()),
        None => kernel!(call, fd) as c_int,
    }
}

fn sync_content(file: &OpenFile, state: &mut DiskState) -> c_int {
    let verdict = state.decide(&file.path, file.kind, Call::Sync, 0);
    let DiskState { tree, random, stopped, .. } = state;
    match verdict {
        Verdict::Fail(errno) => {
            if !*stopped && let Some(inode) = tree.file_mut(file.node) {
                inode.fail_sync(random);
            }
            return fail(errno);
        }
        Verdict::Pretend => {}
        _ => {
            if let Some(inode) = tree.file_mut(file.node) {
                inode.sync();
            } else if let Some(names) = tree.names_mut(file.node) {
                names.sync();
            }
        }
    }
    0
}

fn truncate_open(fd: c_int, length: off_t) -> c_int {
    let Some(file) = file_of(fd) else {
        return kernel!(libc::SYS_ftruncate, fd, length) as c_int;
    };
    let mut state = file.disk.lock();
    if let Verdict::Fail(errno) = state.decide(&file.path, file.kind, Call::Truncate, 0) {
        return fail(errno);
    }
    let done = kernel!(libc::SYS_ftruncate, fd, length) as c_int;
    if done == 0
        && let Some(inode) = state.tree.file_mut(file.node)
    {
        inode.set_len(length.unsigned_abs());
    }
    done
}

fn read_at(fd: c_int, read: impl FnOnce() -> libc::c_long) -> ssize_t {
    if let Some(file) = file_of(fd)
        && let Verdict::Fail(errno) = file.disk.lock().decide(&file.path, file.kind, Call::Read, 0)
    {
        return fail(errno) as ssize_t;
    }
    read() as ssize_t
}

/// Makes a call that changes names: decides, executes and records it.
fn change_names(
    (dir, path): (c_int, *const c_char),
    call: Call,
    change: impl FnOnce() -> libc::c_long,
    record: impl FnOnce(&mut DiskState, &str),
) -> c_int {
    let Some((disk, below)) = locate(dir, path) else { return change() as c_int };
    let mut state = disk.lock();
    let kind = kind_of(&mut state, &below);
    if let Verdict::Fail(errno) = state.decide(&below, kind, call, 0) {
        return fail(errno);
    }
    let done = change() as c_int;
    if done == 0 {
        record(&mut state, &below);
    }
    done
}

fn link_at(from: (c_int, *const c_char), to: (c_int, *const c_char), flags: c_int) -> c_int {
    let source = locate(from.0, from.1);
    let link = || kernel!(libc::SYS_linkat, from.0, from.1, to.0, to.1, flags);
    change_names(to, Call::Rename, link, |state, to| {
        if let Some((_, from)) = source {
            state.tree.link(&from, to);
        }
    })
}

/// Returns the C library's own function of this name, for what is not a system call.
fn next(name: &CStr) -> *mut c_void {
    // SAFETY: the name is zero-terminated.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

#[unsafe(no_mangle)]
extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    open_at(libc::AT_FDCWD, path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    open_at(libc::AT_FDCWD, path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn openat(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    open_at(dir, path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn openat64(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    open_at(dir, path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn close(fd: c_int) -> c_int {
    release(fd);
    kernel!(libc::SYS_close, fd) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn fclose(stream: *mut libc::FILE) -> c_int {
    type Fclose = extern "C" fn(*mut libc::FILE) -> c_int;
    // SAFETY: the caller guarantees the stream; the function found has this signature.
    let (fd, fclose) = unsafe {
        (libc::fileno(stream), std::mem::transmute::<*mut c_void, Fclose>(next(c"fclose")))
    };
    release(fd);
    fclose(stream)
}

#[unsafe(no_mangle)]
extern "C" fn closedir(dir: *mut libc::DIR) -> c_int {
    type Closedir = extern "C" fn(*mut libc::DIR) -> c_int;
    // SAFETY: the caller guarantees the directory stream; the function found has this signature.
    let (fd, closedir) = unsafe {
        (libc::dirfd(dir), std::mem::transmute::<*mut c_void, Closedir>(next(c"closedir")))
    };
    release(fd);
    closedir(dir)
}

#[unsafe(no_mangle)]
extern "C" fn read(fd: c_int, into: *mut c_void, length: size_t) -> ssize_t {
    read_at(fd, || kernel!(libc::SYS_read, fd, into, length))
}

#[unsafe(no_mangle)]
extern "C" fn pread(fd: c_int, into: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
    read_at(fd, || kernel!(libc::SYS_pread64, fd, into, length, offset))
}

#[unsafe(no_mangle)]
extern "C" fn pread64(fd: c_int, into: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
    read_at(fd, || kernel!(libc::SYS_pread64, fd, into, length, offset))
}

#[unsafe(no_mangle)]
extern "C" fn write(fd: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
    write_at(fd, bytes, length, None)
}

#[unsafe(no_mangle)]
extern "C" fn pwrite(fd: c_int, bytes: *const c_void, length: size_t, offset: off_t) -> ssize_t {
    write_at(fd, bytes, length, Some(offset))
}

#[unsafe(no_mangle)]
extern "C" fn pwrite64(fd: c_int, bytes: *const c_void, length: size_t, offset: off_t) -> ssize_t {
    write_at(fd, bytes, length, Some(offset))
}

#[unsafe(no_mangle)]
extern "C" fn fsync(fd: c_int) -> c_int {
    sync(fd, libc::SYS_fsync)
}

#[unsafe(no_mangle)]
extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(fd, libc::SYS_fdatasync)
}

#[unsafe(no_mangle)]
extern "C" fn ftruncate(fd: c_int, length: off_t) -> c_int {
    truncate_open(fd, length)
}

#[unsafe(no_mangle)]
extern "C" fn ftruncate64(fd: c_int, length: off_t) -> c_int {
    truncate_open(fd, length)
}

/// Refuses copies to a disk, so that callers fall back to `write`.
#[unsafe(no_mangle)]
extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut off_t,
    to: c_int,
    to_offset: *mut off_t,
    length: size_t,
    flags: libc::c_uint,
) -> ssize_t {
    if file_of(to).is_some() {
        return fail_with(libc::EINVAL) as ssize_t;
    }
    kernel!(libc::SYS_copy_file_range, from, from_offset, to, to_offset, length, flags) as ssize_t
}

/// Refuses copies to a disk, see [`copy_file_range`].
#[unsafe(no_mangle)]
extern "C" fn sendfile64(to: c_int, from: c_int, offset: *mut off_t, length: size_t) -> ssize_t {
    if file_of(to).is_some() {
        return fail_with(libc::EINVAL) as ssize_t;
    }
    kernel!(libc::SYS_sendfile, to, from, offset, length) as ssize_t
}

#[unsafe(no_mangle)]
extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    let make = || kernel!(libc::SYS_mkdirat, libc::AT_FDCWD, path, mode);
    let record = |state: &mut DiskState, path: &str| state.tree.create_dir(path);
    change_names((libc::AT_FDCWD, path), Call::Create, make, record)
}

#[unsafe(no_mangle)]
extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let source = locate(libc::AT_FDCWD, from);
    let rename = || kernel!(libc::SYS_renameat2, libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0);
    change_names((libc::AT_FDCWD, to), Call::Rename, rename, |state, to| {
        if let Some((_, from)) = source {
            state.tree.rename(&from, to);
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    link_at((libc::AT_FDCWD, from), (libc::AT_FDCWD, to), 0)
}

#[unsafe(no_mangle)]
extern "C" fn linkat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    link_at((from_dir, from), (to_dir, to), flags)
}

#[unsafe(no_mangle)]
extern "C" fn unlink(path: *const c_char) -> c_int {
    unlinkat(libc::AT_FDCWD, path, 0)
}

#[unsafe(no_mangle)]
extern "C" fn rmdir(path: *const c_char) -> c_int {
    unlinkat(libc::AT_FDCWD, path, libc::AT_REMOVEDIR)
}

#[unsafe(no_mangle)]
extern "C" fn unlinkat(dir: c_int, path: *const c_char, flags: c_int) -> c_int {
    let unlink = || kernel!(libc::SYS_unlinkat, dir, path, flags);
    let record = |state: &mut DiskState, path: &str| state.tree.remove(path);
    change_names((dir, path), Call::Unlink, unlink, record)
}
