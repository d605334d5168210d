import sys
from pathlib import Path
import torch
from benchmarks.universal.collect import store
from benchmarks.universal.runs import specs

torch.set_num_threads(1)
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
rounds, part, of = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
for spec in specs(rounds)[part::of]:
    store(spec, folder)
