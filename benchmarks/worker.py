"""One measurement in a fresh process: ``python -m benchmarks.worker FUNCTION JSON LIMIT``.

Prints one line of JSON. Started by ``python -m benchmarks``; there is no need to call it by hand.
"""

import contextlib
import json
import os
import sys
import threading
import time

OVER_LIMIT = 75


def stop_after(limit):
    """End this process once it has used ``limit`` CPU seconds.

    Not by RLIMIT_CPU: while that is set, Linux moves the CPU clock of the process in ticks of some
    milliseconds, and every short timing would be rounded to them.
    """
    while time.process_time() < limit:
        time.sleep(1)
    os._exit(OVER_LIMIT)


def prepare_environment():
    """One thread, and no chatter from tensorflow; before numpy is loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


def main(function, arguments, limit):
    prepare_environment()
    threading.Thread(target=stop_after, args=(float(limit),), daemon=True).start()
    from benchmarks import clipping, machine, measure, searches

    functions = {
        "quick_methods": measure.quick_methods,
        "slow_method": measure.slow_method,
        "discriminative": measure.discriminative,
        "many_rows": measure.many_rows,
        "imports": measure.imports,
        "paper_data": clipping.paper_data,
        "shared_searches": searches.shared_searches,
        "facts": machine.facts,
    }
    with contextlib.redirect_stdout(sys.stderr):  # the line on stdout is the result's alone
        result = functions[function](**json.loads(arguments))
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
