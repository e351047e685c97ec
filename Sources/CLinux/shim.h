#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

// Declared under _GNU_SOURCE alone, which modules do not get.
int pipe2(int ends[2], int flags);

// prctl is variadic, which Swift does not import; pthread_setname_np needs _GNU_SOURCE too.
static inline int set_thread_name(const char *name) { return prctl(PR_SET_NAME, name); }
