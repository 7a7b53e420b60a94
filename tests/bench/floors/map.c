/* map - the least a lazy push can cost: map a file, take its robust mutex, copy 128 bytes.
 * `map FILE make` makes the file first. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
  pthread_mutex_t mutex;
  unsigned long tail;
  char ring[1 << 16];
};

static int make(struct shared* shared) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return 1;
  if (pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) != 0) return 1;
  if (pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) != 0) return 1;
  return pthread_mutex_init(&shared->mutex, &attributes) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  char record[128];
  const int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0) return 1;
  if (argc > 2 && ftruncate(file, sizeof(struct shared)) != 0) return 1;
  struct shared* shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) return 1;
  if (argc > 2) return make(shared);
  memset(record, 'x', sizeof record);
  if (pthread_mutex_lock(&shared->mutex) != 0) return 1;
  memcpy(shared->ring + shared->tail % sizeof shared->ring, record, sizeof record);
  shared->tail += sizeof record;
  return pthread_mutex_unlock(&shared->mutex) == 0 ? 0 : 1;
}
