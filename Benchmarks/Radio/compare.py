#!/usr/bin/env python3
"""dfu beside bleak over the real BlueZ and an emulated radio, the same packets in turn, in the lab's guest.

usage: Tests/lab/run --real-time --limit 3600 -- python3 Benchmarks/Radio/compare.py DFU STREAM [RUNS [KIB]]

DFU and STREAM are release binaries, RUNS how often each is measured (3), KIB an image's size (50). Prints a table for raw
streams and one for whole updates: the medians.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

ADDRESS = "C0:FF:EE:00:00:01"
HERE = os.path.dirname(os.path.abspath(__file__))
BLEAK_UPDATE = os.path.join(HERE, "..", "Bus", "bleak_client.py")
BLEAK_STREAM = os.path.join(HERE, "bleak_stream.py")
# Milliseconds from one connection event to the next, and packets in one.
PACES = ((7.5, 6), (30, 4))
SIZES = (20, 244)


class Band:
    """A band on the air."""

    def __init__(self, dfu, folder, interval, packets, size):
        self.image = os.path.join(folder, "arrived")
        options = f"address={ADDRESS}&image={self.image}&interval={interval}&packets={packets}&dle=on&mtu={size + 3}"
        self.process = subprocess.Popen(
            [dfu, "simulate", "--json", "--radio", os.environ["DFU_RADIO"], "--device", "sim:band?" + options],
            stdout=subprocess.PIPE, text=True)
        while json.loads(self.process.stdout.readline())["event"] != "device":
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.stdout.read()
        self.process.wait()
        # What BlueZ remembers of it would shorten the next connection, or spoil it.
        subprocess.run(["bluetoothctl", "remove", ADDRESS], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run(command):
    """What a command prints, and its CPU seconds."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        output.seek(0)
        text = output.read()
        if status != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}: {text}{errors.read()}")
    return text, usage.ru_utime + usage.ru_stime


def count(command):
    """The messages that pass the bus while a command runs."""
    output = tempfile.TemporaryFile("w+")
    monitor = subprocess.Popen(["dbus-monitor", "--system", "--profile"], stdout=output, stderr=subprocess.DEVNULL)
    while not os.fstat(output.fileno()).st_size:
        time.sleep(0.05)
    run(command)
    time.sleep(0.5)
    monitor.terminate()
    monitor.wait()
    output.seek(0)
    return sum(line.split("\t")[0] in ("mc", "mr", "err", "sig") for line in output)


def transfer_seconds(text):
    """From the start of an update's procedure to the band's last answer, by the times of dfu's JSON lines."""
    def seconds(line):
        clock = line["time"].split("T")[1].rstrip("Z").split(":")
        return int(clock[0]) * 3600 + int(clock[1]) * 60 + float(clock[2])
    lines = [json.loads(line) for line in text.splitlines()]
    begin = next(seconds(line) for line in lines if line.get("phase") == "check")
    end = next(seconds(line) for line in lines if line.get("fraction") == 1)
    return (end - begin) % 86400


def record(dfu, package, frames, folder):
    """Writes down what dfu and the band say to each other."""
    # A log is added to: one of its own for each link.
    with tempfile.NamedTemporaryFile("r", dir=folder) as log:
        run([dfu, "flash", package, "--device", ADDRESS, "--gap", "0", "--no-verify", "--log", log.name])
        with open(frames, "w") as target:
            for line in log:
                for arrow in ("->", "<-"):
                    if f": {arrow} " in line:
                        target.write(f"{arrow} {line.split()[-1]}\n")


def bound(frames, interval, packets):
    """The seconds that these frames take: whole events of packets, and one more for each answer that is waited for."""
    events = written = 0
    with open(frames) as file:
        for line in file:
            if line.startswith("->"):
                written += 1
            else:
                events += -(-written // packets) + 1
                written = 0
    return events * interval / 1000


def ratios(medians):
    """Ours over theirs, figure by figure; in a guest whose clock stands still while programs compute there is no CPU time."""
    return [f"{ours / theirs:.2f}" if theirs else "" for ours, theirs in zip(medians["dfu"], medians["bleak"])]


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def streams(dfu, stream, runs, folder):
    row("stream", "program", "rate", "CPU")
    row("---", "---", "--:", "--:")
    for interval, packets in PACES:
        for size in SIZES:
            number = max(200, 60_000 // size)
            commands = {"dfu": [stream], "bleak": ["python3", BLEAK_STREAM]}
            measures = {name: [] for name in commands}
            for _ in range(runs):
                for name, command in commands.items():
                    with Band(dfu, folder, interval, packets, size):
                        text, processor = run(command + [ADDRESS, str(size), str(number)])
                        measures[name].append((size * number / 1000 / float(text), processor))
            medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in measures.items()}
            link = f"{number} × {size} bytes, {interval} ms × {packets}"
            for name, (rate, processor) in medians.items():
                row(link, name, f"{rate:.1f} kB/s", f"{processor:.3f} s")
            row("", "dfu / bleak", *ratios(medians))


def updates(dfu, runs, kib, folder):
    row("update", "program", "transfer", "of the bound", "CPU of the whole", "D-Bus messages")
    row("---", "---", "--:", "--:", "--:", "--:")
    image = random.Random(1).randbytes(kib * 1024)
    package = os.path.join(folder, f"band_v1.1.0_{zlib.crc32(image):08X}.bin")
    with open(package, "wb") as file:
        file.write(image)
    flash = [dfu, "flash", package, "--device", ADDRESS, "--gap", "0", "--no-verify", "--json"]
    for interval, packets in PACES:
        for size in SIZES:
            frames = os.path.join(folder, "frames")
            with Band(dfu, folder, interval, packets, size):
                record(dfu, package, frames, folder)
            commands = {"dfu": flash, "bleak": ["python3", BLEAK_UPDATE, frames, ADDRESS]}
            seconds = {"dfu": transfer_seconds, "bleak": float}
            measures = {name: [] for name in commands}
            messages = {}
            for _ in range(runs):
                for name, command in commands.items():
                    with Band(dfu, folder, interval, packets, size) as band:
                        text, processor = run(command)
                        measures[name].append((seconds[name](text), processor))
                    with open(band.image, "rb") as file:
                        if file.read() != image:
                            sys.exit(f"{name}: the band has another image")
            for name, command in commands.items():
                with Band(dfu, folder, interval, packets, size):
                    messages[name] = count(command)
            medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in measures.items()}
            link = f"{kib} KiB, {size}-byte packets, {interval} ms × {packets}"
            least = bound(frames, interval, packets)
            for name, (duration, processor) in medians.items():
                row(link, name, f"{duration:.2f} s", f"{least / duration:.1%}", f"{processor:.3f} s", messages[name])
            duration, processor = ratios(medians)
            row("", "dfu / bleak", duration, "", processor, f"{messages['dfu'] / messages['bleak']:.3f}")


def main(dfu, stream, runs="3", kib="50"):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        streams(dfu, stream, int(runs), folder)
        print()
        updates(dfu, int(runs), int(kib), folder)


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
