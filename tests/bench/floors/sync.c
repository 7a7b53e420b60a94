/* sync - the least a durable push can cost: open a file, write 128 bytes at its place, fdatasync. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char record[128];
  const int file = argc > 1 ? open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  memset(record, 'x', sizeof record);
  if (file < 0 || write(file, record, sizeof record) != (ssize_t)sizeof record) return 1;
  return fdatasync(file) == 0 ? 0 : 1;
}
