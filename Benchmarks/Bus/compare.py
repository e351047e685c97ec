#!/usr/bin/env python3
"""dfu beside a minimal bleak client: the same bus, the same simulated band, the same frames, in turn.

usage: compare.py DFU PYTHON [RUNS] [KIB] [SPEC]

DFU is the release binary, PYTHON an interpreter that has PyPI's bleak, RUNS how often each updates the band (7), KIB the
image's size (200), SPEC options of the simulated band (interval=7.5&mtu=247&dle=on&phy=2M). Prints the median, the least
and the most of wall time, CPU time, peak memory and D-Bus messages of each, and the ratios. The band's answers carry
nothing that changes from run to run, so the frames are those that dfu wrote in a run before.
"""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

ADDRESS = "C0:FF:EE:00:00:01"
CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bleak_client.py")


class Bus:
    """A bus with a simulated band in range."""

    def __init__(self, dfu, options, image):
        spec = f"sim:band?address={ADDRESS}&image={image}&{options}"
        self.process = subprocess.Popen(
            [dfu, "simulate", "--disconnect-delay", "0", "--device", spec], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline().strip()
        if "=" not in line:
            sys.exit("dfu simulate does not start")
        self.address = line.split("=", 1)[1].strip("'\"")
        self.image = image

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def run(self, command):
        """Seconds, CPU seconds and KiB that a command takes, and what it prints."""
        environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.address, XDG_STATE_HOME=os.path.dirname(self.image))
        with tempfile.TemporaryFile("w+") as output:
            begin = time.perf_counter()
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begin
            output.seek(0)
            text = output.read()
        if status != 0:
            sys.exit(f"{' '.join(command)} ended with {status}: {text}")
        return (seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss), text

    def count(self, command):
        """The messages that pass the bus while a command runs, and the most KiB that it has for itself alone."""
        # To a file: a monitor that nobody reads stops, and misses the rest.
        output = tempfile.TemporaryFile("w+")
        monitor = subprocess.Popen(["dbus-monitor", "--address", self.address, "--profile"], stdout=output)
        while not os.fstat(output.fileno()).st_size:
            time.sleep(0.05)
        environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.address, XDG_STATE_HOME=os.path.dirname(self.image))
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        dirty = 0
        while process.poll() is None:
            dirty = max(dirty, private_kib(process.pid))
            time.sleep(0.01)
        time.sleep(0.5)
        monitor.terminate()
        monitor.wait()
        output.seek(0)
        lines = output.read().splitlines()
        output.close()
        return sum(line.split("\t")[0] in ("mc", "mr", "err", "sig") for line in lines), dirty


def private_kib(process):
    """The memory of a process that no file stands behind, and that nobody shares."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Private_Dirty:"))
    except OSError:
        return 0


def record(bus, dfu, package, frames, folder):
    """Writes down what dfu and the band say to each other."""
    log = os.path.join(folder, "log")
    bus.run([dfu, "flash", package, "--device", ADDRESS, "--gap", "0", "--no-verify", "--log", log])
    with open(log) as source, open(frames, "w") as target:
        for line in source:
            for arrow in ("->", "<-"):
                if f": {arrow} " in line:
                    target.write(f"{arrow} {line.split()[-1]}\n")


def main(dfu, python, runs="7", kib="200", options="interval=7.5&mtu=247&dle=on&phy=2M"):
    with tempfile.TemporaryDirectory() as folder:
        image = random.Random(1).randbytes(int(kib) * 1024)
        package = os.path.join(folder, f"band_v1.1.0_{zlib.crc32(image):08X}.bin")
        frames, arrived = (os.path.join(folder, name) for name in ("frames", "image"))
        with open(package, "wb") as file:
            file.write(image)
        with Bus(dfu, options, arrived) as bus:
            record(bus, dfu, package, frames, folder)
        commands = {
            "dfu": [dfu, "flash", package, "--device", ADDRESS, "--gap", "0", "--no-verify", "--json"],
            "bleak": [python, CLIENT, frames, ADDRESS],
        }
        measures = {name: [] for name in commands}
        for _ in range(int(runs)):
            for name, command in commands.items():
                with Bus(dfu, options, arrived) as bus:
                    measures[name].append(bus.run(command)[0])
                with open(arrived, "rb") as file:
                    if file.read() != image:
                        sys.exit(f"{name}: the band has another image")
        counts = {}
        for name, command in commands.items():
            with Bus(dfu, options, arrived) as bus:
                counts[name] = bus.count(command)
    medians = {}
    for name, rows in measures.items():
        columns = list(zip(*rows))
        medians[name] = [statistics.median(column) for column in columns] + list(counts[name])
        wall, processor, memory = columns
        print(
            f"{name}: wall {medians[name][0]:.3f} s ({min(wall):.3f} to {max(wall):.3f}), "
            f"CPU {medians[name][1]:.3f} s ({min(processor):.3f} to {max(processor):.3f}), "
            f"memory {medians[name][2] / 1024:.1f} MiB, of its own {counts[name][1] / 1024:.1f} MiB, "
            f"{counts[name][0]} D-Bus messages")
    ratios = [ours / theirs for ours, theirs in zip(medians["dfu"], medians["bleak"])]
    print(
        "dfu / bleak: wall {:.2f}, CPU {:.2f}, memory {:.2f}, messages {:.3f}, memory of its own {:.2f}".format(*ratios))


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
