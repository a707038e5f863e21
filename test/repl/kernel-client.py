"""Drives the kernel through Jupyter's own client and prints what came back as JSON."""
import json
import sys
import time
from queue import Empty

from jupyter_client.manager import start_new_kernel

km, kc = start_new_kernel(kernel_name="touchstone", startup_timeout=30)
seen = {}


def run(code):
    out = []
    reply = kc.execute_interactive(code, timeout=30, output_hook=lambda m: out.append([m["msg_type"], m["content"]]))
    return {"reply": reply["content"], "out": [o for o in out if o[0] not in ("status", "execute_input")]}


def ask(send):
    send()
    return kc.get_shell_msg(timeout=30)["content"]


def stop(code):
    """Interrupt once the cell says that it is at work."""
    kc.execute(code)
    end = time.time() + 30
    while time.time() < end:
        message = kc.get_iopub_msg(timeout=30)
        if message["msg_type"] == "execute_input":
            break
    while time.time() < end:
        km.interrupt_kernel()
        try:
            return kc.get_shell_msg(timeout=1)["content"]
        except Empty:
            # A signal between two turns of the kernel is lost on code that never awaits; a person presses again.
            pass
    return None


try:
    seen["value"] = run("const a: number = 2\na * 3")
    seen["again"] = run("const a = 5; console.log('said'); _ + a")
    seen["error"] = run("const b = 1\nnosuch")
    seen["display"] = run("drawn")
    seen["table"] = run("rates")
    seen["question"] = run("?display.percent")
    seen["behind"] = run("display.percent?")
    seen["time"] = run(".time 1 + 1")
    seen["unknown"] = run(".nothing")
    seen["complete"] = ask(lambda: kc.complete('"\U0001f600"; drawn.tex', 14))
    seen["inspect"] = ask(lambda: kc.inspect("display.percent", 10))
    seen["incomplete"] = ask(lambda: kc.is_complete("f("))
    seen["stopped"] = stop("await forever()")
    seen["spinning"] = stop("while (true) {}")
    seen["after"] = run("a + 1")
finally:
    km.shutdown_kernel()
    seen["alive"] = km.is_alive()
json.dump(seen, sys.stdout)
