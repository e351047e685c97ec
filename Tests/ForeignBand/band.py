"""A simulated wristband that speaks the block-ack firmware update protocol.

It was written from the protocol's description alone, as a second and independent
implementation: a judge that shares no code, and no misunderstanding, with a host.
It talks over stdin and stdout, one line a message:
  host -> band   connect | disconnect | write HEX | read | dump
  band -> host   notify HEX | reboot | value TEXT | dump VERSION SIZE CRC BLOCKS |
                 error TEXT; and after all that one input line caused: ok
"""
import argparse
import sys
import zlib

OK, UNSUPPORTED, WRONG_STATE, BAD_CHECKSUM, TOO_LARGE = range(5)
NOT_NEWER, BATTERY_LOW, BLOCK_CRC, MISSING, IMAGE_CRC = range(5, 10)
HEADER, DATA, NONE_MISSING, ANY_VERSION = 0xA1, 0xA2, 0xFFFF, b"\xff\xff\xff"

def checksum(kind, data):
    """The bytes that close a frame: one, or none."""
    total = sum(data) & 0xFF
    return {"complement": bytes([-total & 0xFF]), "sum": bytes([total]), "none": b""}[kind]

def unpack_time(v):
    """(year, month, day, hour, minute, weekday) of a packed time."""
    return (2000 + (v >> 27), v >> 23 & 15, v >> 18 & 31, v >> 13 & 31, v >> 7 & 63, v >> 4 & 7)

class Band:
    def __init__(self, options, say):
        self.o, self.say, self.connected, self.clock = options, say, False, None
        self.version, self.size, self.crc = options.version, 0, 0  # the running image
        longest = max(options.packet_limit, 20) - 4  # the host reads a limit under 20 as 20
        self.commands = {  # op: (payload lengths that fit, what it does)
            0x99: ([1], self.battery), 0x9A: ([4], self.set_time),
            0xA0: ([13], self.start), HEADER: ([8], self.header),
            DATA: (range(2, longest + 2), self.data), 0xA3: ([2], self.block_end),
            0xA4: ([4], self.complete), 0xA5: ([0], self.abort)}
        self.forget()

    def forget(self):
        self.image = None        # (size, crc, block size) of the image held
        self.new_version = None  # of the latest accepted start; None: not told
        self.blocks = []         # the blocks held; "next" is their number
        self.session = False     # False: idle (a reboot may leave blocks behind)
        self.open = None         # the block being received: (index, length, crc, packets)

    def u(self, data):  # an unsigned integer
        return int.from_bytes(data, self.o.byte_order)

    def reply(self, op, value, u16s=(), last=b""):
        words = [v.to_bytes(2, self.o.byte_order) for v in u16s]
        frame = bytes([0x56, op, value]) + b"".join(words) + last
        self.say("notify " + (frame + checksum(self.o.checksum, frame)).hex().upper())

    def packet(self, packet):
        end = len(packet) - (self.o.checksum != "none")
        if end < 2 or packet[0] != 0x1B:
            return
        op, payload = packet[1], packet[2:end]
        sound = packet[end:] == checksum(self.o.checksum, packet[:end])
        unknown = (range(256), lambda _: self.reply(op, UNSUPPORTED))
        lengths, action = self.commands.get(op, unknown)
        # The length goes before the checksum: what was cut short is dropped, not answered.
        if len(payload) in lengths and sound:
            action(payload)
        # Damaged: an unknown op may itself be the damage; header and data have no answer.
        elif len(payload) in lengths and op in self.commands and op not in (HEADER, DATA):
            self.reply(op, BAD_CHECKSUM)

    def battery(self, p):
        self.reply(*(0x7B, self.o.battery) if p[0] == 1 else (0x99, UNSUPPORTED))

    def set_time(self, p):
        self.clock = unpack_time(self.u(p))
        self.reply(0x9A, OK)

    def start(self, p):
        self.open = None
        image = size, _, block_size = self.u(p[:4]), self.u(p[4:8]), self.u(p[11:])
        # A refused start leaves the blocks held alone: only an accepted one may replace
        # them. "Too large" is also the nearest to "empty" and to "too many blocks".
        if not 0 < size <= min(self.o.capacity, 65535 * block_size):
            return self.reply(0xA0, TOO_LARGE)
        version = None if p[8:11] == ANY_VERSION else tuple(p[8:11])
        if version and version <= self.version:
            return self.reply(0xA0, NOT_NEWER)
        if self.o.battery == 0:
            return self.reply(0xA0, BATTERY_LOW)
        if image != self.image:
            self.forget()
        self.image, self.session, self.new_version = image, True, version
        self.reply(0xA0, OK, [len(self.blocks)], bytes([self.o.packet_limit]))

    def block_length(self, k):
        """What block k must measure; 0 where it cannot come now."""
        if not self.session or k > len(self.blocks):
            return 0
        return max(0, min(self.image[2], self.image[0] - k * self.image[2]))

    def header(self, p):
        k, length, crc = self.u(p[:2]), self.u(p[2:4]), self.u(p[4:])
        # A length that is not this block's would shift all that follows it.
        if length and length == self.block_length(k):
            self.open = (k, length, crc, {})

    def data(self, p):
        if self.open:
            self.open[3][p[0]] = p[1:]

    def block_end(self, p):
        k, status, missing = self.u(p), OK, NONE_MISSING
        if not self.block_length(k):
            status = WRONG_STATE
        elif self.open and self.open[0] == k:
            status, missing = self.judge_block()
        elif k == len(self.blocks):
            status, missing = MISSING, 0  # its header never came
        self.reply(0xA3, status, [k, missing])

    def judge_block(self):
        """Keeps the block if it is whole; else it stays open: asked again, the same answer."""
        k, length, crc, packets = self.open
        # All but the last packet are as long as packet 0 (without it, it is what is missing).
        step = len(packets.get(0, b"?"))
        needed = range(-(-length // step))
        missing = [s for s in needed if s not in packets]
        if missing:
            return MISSING, missing[0]
        data = b"".join(packets[s] for s in needed)
        even = all(len(packets[s]) == step for s in needed[:-1])
        if not even or len(data) != length or zlib.crc32(data) != crc:
            return BLOCK_CRC, NONE_MISSING
        self.blocks[k:k + 1] = [data]  # received again, it replaces its copy; "next" stays
        self.open = None
        return OK, NONE_MISSING

    def complete(self, p):
        if not self.session or self.block_length(len(self.blocks)):
            return self.reply(0xA4, WRONG_STATE)
        size, wanted, crc = self.image[0], self.image[1], zlib.crc32(b"".join(self.blocks))
        if not crc == wanted == self.u(p):
            self.forget()
            return self.reply(0xA4, IMAGE_CRC)
        self.reply(0xA4, OK)
        # After FF FF FF the band keeps the version it had: with those bytes as its version
        # it would refuse every later update.
        self.version, self.size, self.crc = self.new_version or self.version, size, crc
        if self.o.keeps_blocks == "no":
            self.forget()
        self.connected, self.session, self.open, self.clock = False, False, None, None
        self.say("reboot")

    def abort(self, _):
        self.forget()
        self.reply(0xA5, OK)

    def line(self, text):
        word, _, rest = text.partition(" ")
        version = "%d.%d.%d" % self.version
        if text in ("connect", "disconnect"):
            self.open = None  # a new link, too, means that the old one is gone
            self.connected = text == "connect"
        elif text == "dump":
            self.say("dump %s %d %08X %d" % (version, self.size, self.crc, len(self.blocks)))
        elif text != "read" and word != "write":
            self.say("error unknown line")
        elif not self.connected:
            self.say("error not connected")
        elif text == "read":
            self.say("value " + version)
        else:
            try:
                packet = bytes.fromhex(rest)
            except ValueError:
                return self.say("error bad hex")
            self.packet(packet)

def version_of(text):
    parts = bytes(int(n) for n in text.split("."))  # bytes: each is 0...255, else ValueError
    if len(parts) != 3 or parts == ANY_VERSION:
        raise ValueError(text)
    return tuple(parts)

def main():
    a = argparse.ArgumentParser(description="A simulated block-ack wristband on stdin and stdout.")
    a.add_argument("--version", type=version_of, default=(1, 0, 0), metavar="X.Y.Z")
    a.add_argument("--battery", type=int, default=8, choices=range(256), metavar="TENTHS")
    a.add_argument("--capacity", type=int, default=1048576, metavar="BYTES")
    a.add_argument("--packet-limit", type=int, default=20, choices=range(256), metavar="N")
    a.add_argument("--keeps-blocks", choices=["yes", "no"], default="yes")
    a.add_argument("--byte-order", choices=["big", "little"], default="big")
    a.add_argument("--checksum", choices=["complement", "sum", "none"], default="complement")
    options = a.parse_args()
    sys.stdin.reconfigure(errors="replace")  # a stray byte is an unknown line, not a crash
    band = Band(options, lambda text: print(text, flush=True))
    for text in iter(sys.stdin.readline, ""):
        band.line(text.strip())
        print("ok", flush=True)

if __name__ == "__main__":
    main()
