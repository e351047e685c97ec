#!/usr/bin/env python3
"""dfu info beside nrfutil pkg display, on one 1 MiB package, in turn.

usage: info.py DFU NRFUTIL [RUNS]

DFU is the release binary, NRFUTIL the program of PyPI's nrfutil 6.1.7 (which wants a
Python below 3.11), RUNS how often each is run (15). Prints the median of wall time and
of peak memory of each, and the ratios.
"""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time


def measure(command):
    """Seconds and KiB that one run of a command takes."""
    with open(os.devnull, "wb") as nowhere:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{command[0]} ended with {status}")
    return seconds, usage.ru_maxrss


def main(dfu, nrfutil, runs=15):
    with tempfile.TemporaryDirectory() as folder:
        image, key, package = (os.path.join(folder, name) for name in ("app.bin", "key.pem", "app.zip"))
        with open(image, "wb") as file:
            file.write(random.Random(1).randbytes(1 << 20))
        subprocess.run([nrfutil, "keys", "generate", key], check=True, capture_output=True)
        subprocess.run(
            [nrfutil, "pkg", "generate", "--hw-version", "52", "--sd-req", "0x100", "--application", image,
             "--application-version", "1", "--key-file", key, package], check=True, capture_output=True)
        commands = {"dfu info": [dfu, "info", package], "nrfutil pkg display": [nrfutil, "pkg", "display", package]}
        results = {name: [] for name in commands}
        for _ in range(int(runs)):
            for name, command in commands.items():
                results[name].append(measure(command))
    medians = {}
    for name, values in results.items():
        seconds, memory = (statistics.median(column) for column in zip(*values))
        medians[name] = seconds, memory
        spread = [value[0] * 1000 for value in values]
        print(f"{name}: {seconds * 1000:.1f} ms ({min(spread):.1f} to {max(spread):.1f}), {memory / 1024:.1f} MiB")
    ours, theirs = medians["dfu info"], medians["nrfutil pkg display"]
    print(f"dfu takes 1/{theirs[0] / ours[0]:.0f} of the time and 1/{theirs[1] / ours[1]:.1f} of the memory")


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
