//! The system calls on files, defined here in place of the C library's. Calls on files of a [`crate::Disk`] are decided and
//! recorded; all others go to the kernel as they are.
//!
//! The linker takes a definition of the program before that of a shared library, so RocksDB, which is linked statically, and
//! Rust's standard library come here. What the C library calls inside itself does not: reads of files opened with `fopen`
//! and the listing of folders are neither recorded nor refused. Nothing writes that way.
//!
//! `open` takes its mode as a variable argument, which has no stable spelling in Rust. On the systems that are tested, a third
//! argument is passed the same way whether it is declared variable or not.
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

use crate::disk::Shared;
use crate::faults::{Call, Errno, FileKind};
use crate::names::NodeId;
use crate::state::{State, Verdict};

/// A descriptor of a file or folder of a disk.
#[derive(Debug)]
struct OpenFile {
    disk: Arc<Shared>,
    node: NodeId,
    path: String,
    kind: FileKind,
    append: bool,
}

/// How many disks there are: without any, calls cost nothing.
static DISKS_COUNT: AtomicUsize = AtomicUsize::new(0);
static DISKS: RwLock<Vec<Arc<Shared>>> = RwLock::new(Vec::new());
static FILES: RwLock<BTreeMap<c_int, Arc<OpenFile>>> = RwLock::new(BTreeMap::new());

thread_local! {
    static UNWATCHED: Cell<bool> = const { Cell::new(false) };
}

/// StartTime to decide calls on paths of this disk.
pub(crate) fn watch(disk: &Arc<Shared>) {
    DISKS.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(disk));
    DISKS_COUNT.fetch_add(1, Ordering::SeqCst);
}

/// Leaves calls on paths and open files of this disk to the kernel.
pub(crate) fn forget(disk: &Arc<Shared>) {
    DISKS.write().unwrap_or_else(PoisonError::into_inner).retain(|d| !Arc::ptr_eq(d, disk));
    let mut files = FILES.write().unwrap_or_else(PoisonError::into_inner);
    files.retain(|_, file| !Arc::ptr_eq(&file.disk, disk));
    DISKS_COUNT.fetch_sub(1, Ordering::SeqCst);
}

/// Runs `work` with the calls of this thread going to the kernel.
pub(crate) fn unwatched<T>(work: impl FnOnce() -> T) -> T {
    let before = UNWATCHED.replace(true);
    let done = work();
    UNWATCHED.set(before);
    done
}

fn is_watching() -> bool {
    DISKS_COUNT.load(Ordering::Relaxed) > 0 && !UNWATCHED.get()
}

fn file_of(fd: c_int) -> Option<Arc<OpenFile>> {
    if !is_watching() {
        return None;
    }
    FILES.read().unwrap_or_else(PoisonError::into_inner).get(&fd).cloned()
}

/// The disk of a path and the path below its root.
fn place_of(folder: c_int, path: *const c_char) -> Option<(Arc<Shared>, String)> {
    if !is_watching() || path.is_null() {
        return None;
    }
    // SAFETY: callers of these functions pass strings that end in zero, as the C library demands.
    let path = unsafe { CStr::from_ptr(path) }.to_str().ok()?;
    if !path.starts_with('/') {
        let folder = file_of(folder)?;
        return Some((Arc::clone(&folder.disk), format!("{}/{path}", folder.path)));
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
    // SAFETY: the C library gives every thread a place for its error.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// The kernel's answer to a system call of integers and pointers that the caller of the replaced function vouches for.
macro_rules! kernel {
    ($call:expr $(, $argument:expr)* $(,)?) => {
        // SAFETY: the arguments are those that the replaced function was called with.
        unsafe { libc::syscall($call $(, $argument)*) }
    };
}

fn kind_of(state: &mut State, path: &str) -> FileKind {
    let node = state.tree.find(path);
    let is_folder = node.is_some_and(|node| state.tree.names_mut(node).is_some());
    if is_folder { FileKind::Folder } else { FileKind::of(path) }
}

fn open_at(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let open = || kernel!(libc::SYS_openat, folder, path, flags | libc::O_LARGEFILE, mode) as c_int;
    let Some((disk, below)) = place_of(folder, path) else {
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
        let file = Arc::new(OpenFile { disk, node, path: below, kind, append });
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
        // SAFETY: the caller vouches for `length` bytes, and the kernel has just read these.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), written as usize) };
        inode.write(at.unsigned_abs(), bytes);
    }
    if matches!(verdict, Verdict::PartThenFail(_)) {
        return fail(Errno::Io) as ssize_t;
    }
    written
}

fn sync(fd: c_int, call: libc::c_long) -> c_int {
    let Some(file) = file_of(fd) else { return kernel!(call, fd) as c_int };
    let mut state = file.disk.lock();
    let verdict = state.decide(&file.path, file.kind, Call::Sync, 0);
    let State { tree, random, stopped, .. } = &mut *state;
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

/// A call that changes names: decided, done and recorded.
fn change_names(
    (folder, path): (c_int, *const c_char),
    call: Call,
    change: impl FnOnce() -> libc::c_long,
    record: impl FnOnce(&mut State, &str),
) -> c_int {
    let Some((disk, below)) = place_of(folder, path) else { return change() as c_int };
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
    let source = place_of(from.0, from.1);
    let link = || kernel!(libc::SYS_linkat, from.0, from.1, to.0, to.1, flags);
    change_names(to, Call::Rename, link, |state, to| {
        if let Some((_, from)) = source {
            state.tree.link(&from, to);
        }
    })
}

/// The C library's own function of this name, for what the kernel alone cannot do.
fn next(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends in zero.
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
extern "C" fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    open_at(folder, path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    open_at(folder, path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn close(fd: c_int) -> c_int {
    release(fd);
    kernel!(libc::SYS_close, fd) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn fclose(stream: *mut libc::FILE) -> c_int {
    type Fclose = extern "C" fn(*mut libc::FILE) -> c_int;
    // SAFETY: the caller vouches for the stream; the function found has this signature.
    let (fd, fclose) = unsafe {
        (libc::fileno(stream), std::mem::transmute::<*mut c_void, Fclose>(next(c"fclose")))
    };
    release(fd);
    fclose(stream)
}

#[unsafe(no_mangle)]
extern "C" fn closedir(folder: *mut libc::DIR) -> c_int {
    type Closedir = extern "C" fn(*mut libc::DIR) -> c_int;
    // SAFETY: the caller vouches for the folder; the function found has this signature.
    let (fd, closedir) = unsafe {
        (libc::dirfd(folder), std::mem::transmute::<*mut c_void, Closedir>(next(c"closedir")))
    };
    release(fd);
    closedir(folder)
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

/// Copies to a disk go through `write`, which callers fall back to.
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

/// See [`copy_file_range`].
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
    let record = |state: &mut State, path: &str| state.tree.create_folder(path);
    change_names((libc::AT_FDCWD, path), Call::Create, make, record)
}

#[unsafe(no_mangle)]
extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let source = place_of(libc::AT_FDCWD, from);
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
    from_folder: c_int,
    from: *const c_char,
    to_folder: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    link_at((from_folder, from), (to_folder, to), flags)
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
extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    let unlink = || kernel!(libc::SYS_unlinkat, folder, path, flags);
    let record = |state: &mut State, path: &str| state.tree.remove(path);
    change_names((folder, path), Call::Unlink, unlink, record)
}
