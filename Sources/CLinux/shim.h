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

// prctl is variadic, which Swift does not import; pthread_setname_np needs _GNU_SOURCE, which modules do not get.
static inline int set_thread_name(const char *name) { return prctl(PR_SET_NAME, name); }
