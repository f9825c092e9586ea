#include "CLossySQLite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// A file of this layer; the system's own file object follows it in the same memory.
struct lossy_file {
    sqlite3_file base;
    const char *path;
    // Made by this opening, and its name not yet on disk.
    int is_new;
    sqlite3_file *real;
};

static struct berth_lossy_listener listener;
static int skips_sync;
static sqlite3_vfs *system_vfs;
static sqlite3_vfs lossy_vfs;

static struct lossy_file *lossy(sqlite3_file *file) { return (struct lossy_file *)file; }
static sqlite3_file *real(sqlite3_file *file) { return lossy(file)->real; }

static int lossy_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int lossy_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

// Tells the listener what stands from an offset on, at most `limit` bytes of it.
static int tell(sqlite3_file *file, sqlite3_int64 offset, sqlite3_int64 limit) {
    sqlite3_int64 length = 0;
    int code = real(file)->pMethods->xFileSize(real(file), &length);
    if (code != SQLITE_OK) return code;
    sqlite3_int64 count = length > offset ? length - offset : 0;
    if (count > limit) count = limit;
    void *bytes = NULL;
    if (count > 0) {
        bytes = malloc((size_t)count);
        if (!bytes) return SQLITE_IOERR_NOMEM;
        code = real(file)->pMethods->xRead(real(file), bytes, (int)count, offset);
    }
    if (code == SQLITE_OK && listener.will_write(lossy(file)->path, length, offset, bytes, (int)count))
        code = SQLITE_IOERR_WRITE;
    free(bytes);
    return code;
}

static int lossy_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    if (lossy(file)->path) {
        int code = tell(file, offset, count);
        if (code != SQLITE_OK) return code;
    }
    return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int lossy_truncate(sqlite3_file *file, sqlite3_int64 length) {
    if (lossy(file)->path) {
        int code = tell(file, length, 1 << 30);
        if (code != SQLITE_OK) return code;
    }
    return real(file)->pMethods->xTruncate(real(file), length);
}

static int lossy_sync(sqlite3_file *file, int flags) {
    if (skips_sync) return SQLITE_OK;
    unsigned long long mark = listener.will_synchronize();
    int code = real(file)->pMethods->xSync(real(file), flags);
    if (code != SQLITE_OK || !lossy(file)->path) return code;
    // The system's layer synchronises the folder with the first sync of a new journal.
    int with_name = lossy(file)->is_new;
    lossy(file)->is_new = 0;
    return listener.did_synchronize(lossy(file)->path, with_name, mark) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int lossy_file_size(sqlite3_file *file, sqlite3_int64 *length) {
    return real(file)->pMethods->xFileSize(real(file), length);
}
static int lossy_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int lossy_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int lossy_check_lock(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
static int lossy_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int lossy_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int lossy_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
static int lossy_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}
static int lossy_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void lossy_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int lossy_shm_unmap(sqlite3_file *file, int deletes) {
    return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

// Version 2: with shared memory for the write-ahead log, without mapped pages, which would pass this layer by.
static const sqlite3_io_methods methods = {
    2,
    lossy_close,
    lossy_read,
    lossy_write,
    lossy_truncate,
    lossy_sync,
    lossy_file_size,
    lossy_lock,
    lossy_unlock,
    lossy_check_lock,
    lossy_control,
    lossy_sector_size,
    lossy_characteristics,
    lossy_shm_map,
    lossy_shm_lock,
    lossy_shm_barrier,
    lossy_shm_unmap,
    NULL,
    NULL,
};

static int lossy_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *opened) {
    (void)vfs;
    const int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    memset(file, 0, (size_t)lossy_vfs.szOsFile);
    lossy(file)->real = (sqlite3_file *)(lossy(file) + 1);
    int exists = 1;
    if (name && (flags & kept)) {
        int code = system_vfs->xAccess(system_vfs, name, SQLITE_ACCESS_EXISTS, &exists);
        if (code != SQLITE_OK) return code;
    }
    int code = system_vfs->xOpen(system_vfs, name, real(file), flags, opened);
    if (!real(file)->pMethods) return code;
    file->pMethods = &methods;
    if (code != SQLITE_OK || !name || !(flags & kept)) return code;
    lossy(file)->path = name;
    lossy(file)->is_new = !exists;
    return !exists && listener.did_make(name) ? SQLITE_IOERR : SQLITE_OK;
}

static int lossy_delete(sqlite3_vfs *vfs, const char *name, int syncs_folder) {
    (void)vfs;
    int code = system_vfs->xDelete(system_vfs, name, syncs_folder && !skips_sync);
    if (code != SQLITE_OK) return code;
    return listener.did_remove(name) ? SQLITE_IOERR_DELETE : SQLITE_OK;
}

int berth_lossy_sqlite_begin(const struct berth_lossy_listener *told, int skips) {
    if (system_vfs) return SQLITE_MISUSE;
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) return code;
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (!found) return SQLITE_ERROR;
    listener = *told;
    skips_sync = skips;
    system_vfs = found;
    lossy_vfs = *found;
    lossy_vfs.zName = "berth-lossy";
    lossy_vfs.pNext = NULL;
    lossy_vfs.szOsFile = (int)sizeof(struct lossy_file) + found->szOsFile;
    lossy_vfs.xOpen = lossy_open;
    lossy_vfs.xDelete = lossy_delete;
    return sqlite3_vfs_register(&lossy_vfs, 1);
}
