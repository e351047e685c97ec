"""Self-test of the simulated wristband: python3 test_band.py

Everything but the bare vectors goes through the band's stdin and stdout, as a host would.
"""
import os
import random
import struct
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import band  # noqa: E402

IMAGE = bytes(random.Random(1).randrange(256) for _ in range(2048 * 2 + 777))  # 3 blocks
CRC = zlib.crc32(IMAGE)
ANY = (255, 255, 255)


class Host:
    """A deliberately dumb host: it sends what it is told to, and checks nothing."""

    def __init__(self, *options, connect=True, order=">", kind="complement"):
        self.order, self.kind = order, kind
        self.p = subprocess.Popen([sys.executable, "-I", os.path.join(HERE, "band.py")] + list(options),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if connect:
            assert self.ask("connect") == []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.stdin.close()
        assert self.p.stdout.read() == ""
        self.p.stdout.close()
        assert self.p.wait(5) == 0

    def ask(self, line):
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()
        answer = []
        while True:
            text = self.p.stdout.readline()
            assert text.endswith("\n"), "the band went away"
            if text == "ok\n":
                return answer
            answer.append(text[:-1])

    def close(self, frame):
        tail = {"complement": [-sum(frame) % 256], "sum": [sum(frame) % 256], "none": []}[self.kind]
        return frame + bytes(tail)

    def frame(self, op, fmt="", *values):
        return self.close(bytes([0x1B, op]) + struct.pack(self.order + fmt, *values))

    def raw(self, packet):
        return self.ask("write " + bytes(packet).hex())

    def send(self, op, fmt="", *values):
        return self.raw(self.frame(op, fmt, *values))

    def damaged(self, op, fmt="", *values):
        frame = bytearray(self.frame(op, fmt, *values))
        frame[-1] ^= 0x40
        return self.raw(frame)

    def note(self, op, *body):
        """The lines that one reply makes; a (value,) is a u16."""
        frame = bytes([0x56, op])
        for b in body:
            frame += struct.pack(self.order + "H", b[0]) if isinstance(b, tuple) else bytes([b])
        return ["notify " + self.close(frame).hex().upper()]

    def start(self, version=(1, 2, 0), size=len(IMAGE), crc=CRC, block=2048):
        return self.send(0xA0, "IIBBBH", size, crc, *version, block)

    def started(self, next_block, limit=20, **kw):
        got, want = self.start(**kw), self.note(0xA0, 0, (next_block,), limit)
        assert got == want, (got, want)

    def header(self, k, data, crc=None):
        assert self.send(0xA1, "HHI", k, len(data), zlib.crc32(data) if crc is None else crc) == []

    def packets(self, data, step=16, skip=(), spoil=()):
        for s, at in enumerate(range(0, len(data), step)):
            piece = bytearray(data[at:at + step])
            if s in spoil:
                piece[0] ^= 1
            if s not in skip:
                assert self.send(0xA2, "B%ds" % len(piece), s, bytes(piece)) == []

    def end(self, k):
        return self.send(0xA3, "H", k)

    def block(self, k, image=IMAGE, block=2048, **kw):
        data = image[k * block:(k + 1) * block]
        self.header(k, data)
        self.packets(data, **kw)
        return self.end(k)

    def good(self, k, **kw):
        assert self.block(k, **kw) == self.note(0xA3, 0, (k,), (0xFFFF,))

    def complete(self, crc=CRC):
        return self.send(0xA4, "I", crc)

    def done(self, crc=CRC):
        assert self.complete(crc) == self.note(0xA4, 0) + ["reboot"]

    def dumps(self, text):
        got = self.ask("dump")
        assert got == ["dump " + text], (got, text)


def test_vectors_of_the_document():
    assert band.checksum("complement", bytes.fromhex("1B9901")) == b"\x4b"
    assert band.checksum("complement", bytes.fromhex("567B06")) == b"\x29"
    assert band.checksum("complement", bytes.fromhex("1BE5")) == b"\x00"
    assert band.checksum("sum", bytes.fromhex("1B9901")) == b"\xb5"
    assert band.checksum("none", bytes.fromhex("1B9901")) == b""
    assert band.unpack_time(0x8E69CF20) == (2017, 12, 26, 14, 30, 2)
    assert band.unpack_time(0xFE7EFDB0) == (2031, 12, 31, 23, 59, 3)
    assert zlib.crc32(b"123456789") == 0xCBF43926
    options = lambda: None  # noqa: E731
    options.byte_order, options.packet_limit, options.version = "big", 20, (1, 0, 0)
    u = band.Band(options, print).u
    assert [u(bytes.fromhex(h)) for h in ("000A0122", "0122", "22")] == [655650, 290, 34]
    with Host("--battery", "6") as h:
        assert h.ask("write 1B99014B") == ["notify 567B0629"]
        assert h.ask("write 1b 99 01 4b") == ["notify 567B0629"]
        assert h.ask("write 1BE500") == ["notify 56E501C4"]  # sound, and unknown: 01
        assert h.ask("write 1B9A8E69CF20" + "%02X" % (-(0x1B + 0x9A + 0x8E + 0x69 + 0xCF + 0x20) % 256)) \
            == h.note(0x9A, 0)


def test_whole_update():
    with Host("--keeps-blocks", "no") as h:
        h.dumps("1.0.0 0 00000000 0")
        assert h.ask("read") == ["value 1.0.0"]
        h.started(0)
        for k in range(3):
            h.good(k)
        h.dumps("1.0.0 0 00000000 3")
        h.done()
        h.dumps("1.2.0 %d %08X 0" % (len(IMAGE), CRC))
        assert h.ask("read") == ["error not connected"]
        assert h.ask("connect") == [] and h.ask("read") == ["value 1.2.0"]
        assert h.end(0) == h.note(0xA3, 2, (0,), (0xFFFF,))  # idle
        assert h.start() == h.note(0xA0, 5)  # the same is not newer


def test_options_of_the_wire():
    for order, name in ((">", "big"), ("<", "little")):
        for kind in ("complement", "sum", "none"):
            with Host("--byte-order", name, "--checksum", kind, order=order, kind=kind) as h:
                h.started(0)
                for k in range(3):
                    h.good(k)
                h.done()
                h.dumps("1.2.0 %d %08X 3" % (len(IMAGE), CRC))
    with Host("--packet-limit", "100") as h:
        h.started(0, limit=100)
        h.good(0, step=96)
        assert h.block(1, step=97) == h.note(0xA3, 8, (1,), (0,))  # too long: all dropped
        h.good(1, step=20)
    with Host("--packet-limit", "0") as h:
        h.started(0, limit=0)
        h.good(0)
        assert h.block(1, step=17) == h.note(0xA3, 8, (1,), (0,))


def test_missing_packets():
    with Host() as h:
        h.started(0)
        assert h.block(0, skip=[5, 9]) == h.note(0xA3, 8, (0,), (5,))
        assert h.end(0) == h.note(0xA3, 8, (0,), (5,))  # asked again: the same
        assert h.block(0, skip=[127]) == h.note(0xA3, 8, (0,), (127,))  # emptied by the header
        assert h.block(0, skip=[0]) == h.note(0xA3, 8, (0,), (0,))
        assert h.block(0, skip=range(128)) == h.note(0xA3, 8, (0,), (0,))
        h.good(0)
        # The header of block 1 is lost: its data belongs to no block.
        h.packets(IMAGE[2048:4096])
        assert h.end(1) == h.note(0xA3, 8, (1,), (0,))
        h.good(1)
        assert h.block(2, skip=[48]) == h.note(0xA3, 8, (2,), (48,))  # the short last packet
        h.good(2, step=7)


def test_damaged_blocks():
    with Host() as h:
        h.started(0)
        assert h.block(0, spoil=[3]) == h.note(0xA3, 7, (0,), (0xFFFF,))
        h.dumps("1.0.0 0 00000000 0")
        h.header(0, IMAGE[:2048])
        h.packets(IMAGE[:2048], spoil=[3])
        assert h.send(0xA2, "B16s", 3, IMAGE[48:64]) == []  # the later of two counts
        assert h.end(0) == h.note(0xA3, 0, (0,), (0xFFFF,))
        h.header(1, IMAGE[2048:4096], crc=1)
        h.packets(IMAGE[2048:4096])
        assert h.end(1) == h.note(0xA3, 7, (1,), (0xFFFF,))
        # Uneven packets, though their number and their joined bytes are right.
        data = IMAGE[2048:4096]
        h.header(1, data)
        cuts = [0, 10] + [10 * s - 2 for s in range(2, 205)] + [2048]
        for s, (at, to) in enumerate(zip(cuts, cuts[1:])):
            assert h.send(0xA2, "B%ds" % (to - at), s, data[at:to]) == []
        assert h.end(1) == h.note(0xA3, 7, (1,), (0xFFFF,))
        h.good(1)


def test_damaged_frames():
    with Host() as h:
        assert h.damaged(0x99, "B", 1) == h.note(0x99, 3)
        assert h.damaged(0x9A, "I", 0) == h.note(0x9A, 3)
        assert h.damaged(0xA0, "IIBBBH", len(IMAGE), CRC, 1, 2, 0, 2048) == h.note(0xA0, 3)
        h.started(0)
        data = IMAGE[:2048]
        assert h.damaged(0xA1, "HHI", 0, 2048, zlib.crc32(data)) == []
        h.packets(data)
        assert h.damaged(0xA3, "H", 0) == h.note(0xA3, 3)
        assert h.end(0) == h.note(0xA3, 8, (0,), (0,))
        h.header(0, data)
        h.packets(data, skip=[7])
        assert h.damaged(0xA2, "B16s", 7, data[112:128]) == []
        assert h.end(0) == h.note(0xA3, 8, (0,), (7,))
        for k in range(3):
            h.good(k)
        assert h.damaged(0xA5) == h.note(0xA5, 3)
        assert h.damaged(0xA4, "I", CRC) == h.note(0xA4, 3)
        h.dumps("1.0.0 0 00000000 3")
        h.done()


def test_frames_that_do_not_fit():
    with Host() as h:
        for packet in (b"", b"\x1b", b"\x1b\xa5", h.frame(0x99), h.frame(0x99, "H", 1), h.frame(0xA5, "B", 0),
                       h.frame(0xA0, "I", 1), h.frame(0xA2, "B", 0), h.close(b"\x56\x99\x01"),
                       h.frame(0xE5)[:-1] + b"\x07", h.frame(0xA0, "IIBBBH", 9, 9, 9, 9, 9, 9)[:-1]):
            assert h.raw(packet) == [], packet
        assert h.send(0x99, "B", 2) == h.note(0x99, 1)


def test_link_loss_and_resume():
    with Host() as h:
        h.started(0)
        h.good(0)
        h.header(1, IMAGE[2048:4096])
        h.packets(IMAGE[2048:4096])
        h.ask("disconnect")
        assert h.ask("write 1B99014B") == ["error not connected"]
        h.ask("connect")
        h.dumps("1.0.0 0 00000000 1")
        assert h.end(1) == h.note(0xA3, 8, (1,), (0,))  # the open block is gone
        h.started(1)
        h.good(1)
        h.header(2, IMAGE[4096:])
        h.packets(IMAGE[4096:])
        h.started(2)  # start drops it too
        assert h.end(2) == h.note(0xA3, 8, (2,), (0,))
        h.good(2)
        h.started(3)  # only complete is missing
        h.started(0, block=1024)  # another block size is another image
        h.dumps("1.0.0 0 00000000 0")
        h.good(0, block=1024)
        h.started(0, crc=CRC ^ 1)
        h.started(0, size=len(IMAGE) - 1)


def test_order_of_blocks():
    with Host() as h:
        assert h.end(0) == h.note(0xA3, 2, (0,), (0xFFFF,))  # no session
        assert h.complete() == h.note(0xA4, 2)
        h.header(0, IMAGE[:2048])
        h.started(0)
        assert h.block(1) == h.note(0xA3, 2, (1,), (0xFFFF,))  # header k > next is ignored
        h.good(0)
        assert h.end(0) == h.note(0xA3, 0, (0,), (0xFFFF,))  # held and not open
        h.good(1)
        h.good(0)  # received again: next stays
        h.dumps("1.0.0 0 00000000 2")
        assert h.block(0, spoil=[1]) == h.note(0xA3, 7, (0,), (0xFFFF,))
        h.dumps("1.0.0 0 00000000 2")
        h.started(2)
        assert h.complete() == h.note(0xA4, 2)  # blocks missing
        h.header(2, IMAGE[4096:4100])  # not the length of block 2: ignored
        h.packets(IMAGE[4096:4100])
        assert h.end(2) == h.note(0xA3, 8, (2,), (0,))
        h.good(2)
        assert h.end(3) == h.note(0xA3, 2, (3,), (0xFFFF,))  # there is no block 3
        h.header(1, IMAGE[2048:4096])
        h.done()  # an open block that is held already does not matter


def test_abort():
    with Host() as h:
        assert h.send(0xA5) == h.note(0xA5, 0)  # idle: harmless
        h.started(0)
        h.good(0)
        assert h.send(0xA5) == h.note(0xA5, 0)
        h.dumps("1.0.0 0 00000000 0")
        assert h.end(0) == h.note(0xA3, 2, (0,), (0xFFFF,))
        h.started(0)


def test_image_crc():
    for told, sent in ((CRC, CRC ^ 1), (CRC ^ 1, CRC ^ 1), (CRC ^ 1, CRC)):
        with Host() as h:
            h.started(0, crc=told)
            for k in range(3):
                h.good(k)
            assert h.complete(sent) == h.note(0xA4, 9)
            h.dumps("1.0.0 0 00000000 0")
            assert h.complete(CRC) == h.note(0xA4, 2)
            h.started(0, crc=told)


def test_start_refused():
    with Host("--version", "1.10.3", "--capacity", str(len(IMAGE))) as h:
        for version in ((1, 10, 3), (1, 10, 2), (1, 9, 200), (0, 255, 255)):
            assert h.start(version) == h.note(0xA0, 5)
        h.started(0, version=(1, 10, 4))
        h.good(0)
        assert h.start(size=len(IMAGE) + 1, version=(2, 0, 0)) == h.note(0xA0, 4)
        assert h.start(size=0) == h.start(block=0) == h.note(0xA0, 4)
        h.started(1, version=(2, 0, 0))  # the refused ones left the blocks alone
    with Host("--capacity", "100000") as h:
        assert h.start(size=65536, block=1) == h.note(0xA0, 4)
        h.started(0, size=65535, block=1)
    with Host("--battery", "0") as h:
        assert h.send(0x99, "B", 1) == h.note(0x7B, 0)
        assert h.start() == h.note(0xA0, 6)
    with Host("--battery", "255") as h:
        assert h.send(0x99, "B", 1) == h.note(0x7B, 255)
        h.started(0)


def test_any_version_and_blocks_kept():
    with Host("--version", "3.0.0", "--keeps-blocks", "yes") as h:
        h.started(0, version=ANY)
        for k in range(3):
            h.good(k)
        h.done()
        h.ask("connect")
        assert h.ask("read") == ["value 3.0.0"]  # FF FF FF is not kept
        h.dumps("3.0.0 %d %08X 3" % (len(IMAGE), CRC))
        assert h.complete() == h.note(0xA4, 2)  # idle, though the blocks are there
        h.started(3, version=ANY)
        h.started(3, version=(3, 0, 1))
        h.done()
        h.dumps("3.0.1 %d %08X 3" % (len(IMAGE), CRC))
        h.ask("connect")
        assert h.send(0xA5) == h.note(0xA5, 0)
        h.dumps("3.0.1 %d %08X 0" % (len(IMAGE), CRC))


def test_line_protocol():
    with Host(connect=False) as h:
        assert h.ask("write 1B99014B") == h.ask("read") == ["error not connected"]
        assert h.ask("hello") == h.ask("") == h.ask("connect now") == ["error unknown line"]
        assert h.ask("disconnect") == h.ask("connect") == h.ask("connect") == []
        assert h.ask("write 1B9") == h.ask("write xy") == ["error bad hex"]
        h.dumps("1.0.0 0 00000000 0")
    for bad in (["--version", "1.2"], ["--version", "1.2.256"], ["--version", "255.255.255"],
                ["--battery", "256"], ["--packet-limit", "-1"], ["--keeps-blocks", "maybe"]):
        assert subprocess.run([sys.executable, "-I", os.path.join(HERE, "band.py")] + bad,
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 2


if __name__ == "__main__":
    tests = [(n, f) for n, f in list(globals().items()) if n.startswith("test_")]
    for name, test in tests:
        test()
        print("pass", name[5:].replace("_", " "))
    print(len(tests), "tests passed")
