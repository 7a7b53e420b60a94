/* acker - the least that a command of `fq worker --stream` can do: a line of JSON in, `ack RECEIPT` out. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

enum { kBytes = 1 << 18 };
static char in[kBytes], out[kBytes];

static int write_all(const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t done = write(STDOUT_FILENO, bytes, count);
    if (done < 0) return 0;
    bytes += done;
    count -= (size_t)done;
  }
  return 1;
}

/* The verdict on one line, appended at `at`; 0: it has no receipt. */
static char* answer(const char* line, const char* end, char* at) {
  static const char kKey[] = "\"receipt\":\"";
  const char* from = memmem(line, (size_t)(end - line), kKey, sizeof kKey - 1);
  const char* to = from ? memchr(from + sizeof kKey - 1, '"', (size_t)(end - from) - (sizeof kKey - 1)) : 0;
  if (!to) return 0;
  from += sizeof kKey - 1;
  at = mempcpy(at, "ack ", 4);
  at = mempcpy(at, from, (size_t)(to - from));
  *at++ = '\n';
  return at;
}

int main(void) {
  size_t held = 0;
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, in + held, sizeof in - held);
    if (got <= 0) return got == 0 ? 0 : 1;
    held += (size_t)got;
    const char* line = in;
    char* at = out; /* an answer is shorter than its line */
    for (const char* end; (end = memchr(line, '\n', held - (size_t)(line - in))); line = end + 1) {
      at = answer(line, end, at);
      if (!at) return 1;
    }
    held -= (size_t)(line - in);
    memmove(in, line, held);
    if (!write_all(out, (size_t)(at - out))) return 1;
  }
}
