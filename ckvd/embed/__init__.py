"""Text to vectors: the models, their tokenizers, the ONNX session and the quantiser.

Nothing is imported here: a worker process needs `tokenizer` alone, a keyword search none of it.
"""
