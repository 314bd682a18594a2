"""One measurement in a fresh process: ``python -m benchmarks.worker FUNCTION '{"n": 5000, ...}'``.

Prints one line of JSON. Started by ``python -m benchmarks``; there is no need to call it by hand.
"""

import contextlib
import json
import os
import sys

# Set before numpy is loaded: one thread, and no chatter from tensorflow.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


def main(function, arguments):
    from benchmarks import clipping, machine, measure

    functions = {
        "quick_methods": measure.quick_methods,
        "slow_method": measure.slow_method,
        "discriminative": measure.discriminative,
        "many_rows": measure.many_rows,
        "imports": measure.imports,
        "paper_data": clipping.paper_data,
        "facts": machine.facts,
    }
    with contextlib.redirect_stdout(sys.stderr):  # the line on stdout is the result's alone
        result = functions[function](**json.loads(arguments))
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
