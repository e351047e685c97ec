#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

// Declared under _GNU_SOURCE alone, which modules do not get.
int pipe2(int ends[2], int flags);

// prctl is variadic, which Swift does not import; pthread_setname_np needs _GNU_SOURCE too.
static inline int set_thread_name(const char *name) { return prctl(PR_SET_NAME, name); }

// The kernel's sockets of its Bluetooth drivers (include/net/bluetooth/bluetooth.h and hci_sock.h), which it does not
// export to programs; libbluetooth-dev would be a package for these lines.
struct sockaddr_hci {
    sa_family_t hci_family;
    unsigned short hci_dev;
    unsigned short hci_channel;
};
enum { BTPROTO_HCI = 1, HCI_DEV_NONE = 0xFFFF, HCI_CHANNEL_CONTROL = 3 };
