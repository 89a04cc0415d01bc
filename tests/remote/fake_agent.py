"""A stand-in for the program that runs a model: it speaks the protocol, and misbehaves as its weights tell it."""

import hashlib
import json
import os
import signal
import sys
import time


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def behaviour(path: str) -> dict[str, object]:
    with open(path, "rb") as handle:
        text = handle.read().split(b"\0")[0]
    return json.loads(text) if text else {}


def misbehave(what: object) -> None:
    if what == "garbage":
        print("Segmentation fault? No: just talking.", flush=True)
    elif what == "hang":
        time.sleep(3600)
    elif what == "exit":
        print("the agent's last words", file=sys.stderr, flush=True)
        sys.exit(1)
    elif isinstance(what, str) and what.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, what))
        time.sleep(60)


def verify(request: dict, how: dict) -> dict:
    outputs = []
    for tensor in request["expected"]:
        with open(tensor["path"], "rb") as handle:
            size = len(handle.read())
        wrong = 3 if how.get("answer") == "wrong" else 0
        outputs.append({"name": "y", "mismatches": wrong, "nan_count": 0, "shape": tensor["shape"], "bytes": size})
        outputs[-1] |= {"max_abs_error": 0.5 * bool(wrong), "max_rel_error": 0.25 * bool(wrong)}
    return {"passed": not any(output["mismatches"] for output in outputs), "outputs": outputs}


def profile(request: dict, threads: int) -> dict:
    runs = request["runs"]
    for tensor in request["inputs"]:
        os.stat(tensor["path"])
    return {
        "runs": runs,
        "run_wall_ns": [1100] * runs,
        "step_start_ns": [[10, 510]] * runs,
        "step_duration_ns": [[500, 400]] * runs,
        "profiler_cost_ns": 20,
        "unprofiled_run_ns": [1000] * runs,
        "threads": threads,
        "peak_rss_bytes": 1 << 20,
        "arena_bytes": 64,
    }


def main(argv: list[str]) -> int:
    if argv[:1] == ["--sha256"]:
        for name in argv[1:]:
            with open(name, "rb") as handle:
                say({"file": name, "sha256": hashlib.sha256(handle.read()).hexdigest()})
        return 0
    threads = int(argv[argv.index("--threads") + 1]) if "--threads" in argv else 2
    how = behaviour(argv[argv.index("--weights") + 1])
    if how.get("noise"):
        print("Welcome to the board!\n", flush=True)
    misbehave(how.get("start"))
    if "refuse" in how:
        say({"event": "error", "error": how["refuse"]})
        return 1
    ready = {"event": "ready", "protocol": how.get("protocol", 1), "model": "tiny", "target": "host", "arch": "x86_64"}
    say(ready | {"threads": threads, "cpus": [0], "features": ["asimd"], "pid": os.getpid()})
    for line in sys.stdin:
        request = json.loads(line)
        misbehave(how.get(request["cmd"]))
        reply = {"id": request["id"], "ok": True}
        if request["cmd"] == "verify":
            reply |= verify(request, how)
        elif request["cmd"] == "profile":
            reply |= profile(request, threads)
        elif request["cmd"] == "fail":
            error = {"kind": "shape", "what": "wrong extent", "thing": "x", "expected": "3", "found": "4"}
            reply = {"id": request["id"], "ok": False, "error": error}
        say(reply)
        if request["cmd"] == "quit":
            break
    return 0


sys.exit(main(sys.argv[1:]))
