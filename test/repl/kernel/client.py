"""Drives the kernel through Jupyter's own client and prints what came back as JSON."""
import json
import sys
import time
from queue import Empty
from random import Random

from jupyter_client.manager import start_new_kernel

km, kc = start_new_kernel(kernel_name="touchstone", startup_timeout=30, stdout=sys.stderr)
seen = {}


def run(code):
    out = []
    reply = kc.execute_interactive(code, timeout=30, output_hook=lambda m: out.append([m["msg_type"], m["content"]]))
    return {"reply": reply["content"], "out": [o for o in out if o[0] not in ("status", "execute_input")]}


def ask(send):
    send()
    return kc.get_shell_msg(timeout=30)["content"]


def worked():
    """Processor time that the kernel has used, in ticks."""
    process = getattr(km, "provisioner", None) or km.kernel
    with open(f"/proc/{process.pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[11])


def says(kind):
    """Wait for a message of this kind. What a cell prints leaves once the part before its first await has run."""
    while kc.get_iopub_msg(timeout=30)["msg_type"] != kind:
        pass


def spins():
    """Wait until the kernel is seen to work: it says nothing before the cell is at its end."""
    begun, end = worked(), time.time() + 30
    while worked() < begun + 20 and time.time() < end:
        time.sleep(0.02)


def stop(code, at_work):
    """Interrupt a cell that is at work."""
    kc.execute(code)
    says("execute_input")
    at_work()
    km.interrupt_kernel()
    return kc.get_shell_msg(timeout=30)["content"]


def interrupted_at_random(times):
    """How cells ended that were interrupted at a random moment, from before they began to after their end."""
    random = Random(1)
    ends = []
    for _ in range(times):
        code = random.choice(["while (true) {}", "await forever()", "1 + 1", "await 0; while (!signal.aborted) await tick()"])
        kc.execute(code)
        time.sleep(random.random() * 0.02)
        while True:
            # The answer says that it was heard: it comes to no later cell.
            kc.control_channel.send(kc.session.msg("interrupt_request", {}))
            kc.get_control_msg(timeout=30)
            try:
                ends.append(kc.get_shell_msg(timeout=0.5)["content"].get("ename", "ok"))
                break
            except Empty:
                # An interrupt that came before the cell stops nothing. A person presses again.
                if not km.is_alive():
                    return ends
    return ends


try:
    seen["value"] = run("const a: number = 2\na * 3")
    seen["again"] = run("const a = 5; console.log('said'); _ + a")
    seen["error"] = run("const b = 1\nnosuch")
    seen["display"] = run("drawn")
    seen["table"] = run("rates")
    seen["question"] = run("?display.duration")
    seen["behind"] = run("display.duration?")
    seen["time"] = run(".time 1 + 1")
    seen["unknown"] = run(".nothing")
    seen["complete"] = ask(lambda: kc.complete('"\U0001f600"; drawn.tex', 14))
    seen["inspect"] = ask(lambda: kc.inspect("display.duration", 10))
    seen["incomplete"] = ask(lambda: kc.is_complete("f("))
    seen["stopped"] = stop("console.log(1); await forever()", lambda: says("stream"))
    seen["spinning"] = stop("while (true) {}", spins)
    seen["deaf"] = stop("await 0; console.log(1); await tick(); while (true) {}", spins)
    seen["random"] = interrupted_at_random(200)
    seen["after"] = run("a + 1")
finally:
    km.shutdown_kernel()
    seen["alive"] = km.is_alive()
json.dump(seen, sys.stdout)
