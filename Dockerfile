# The app as an image, for a Hugging Face Docker Space and for any other container engine: README, "Host it".
# `tools/space_dry_run.sh` runs these steps without an engine; tools/container.py knows the instructions used here and no others.
FROM python:3.11-slim

# cpu or cuda. TORCH_INDEX: address of PyTorch's package index for the CPU (its build for x86-64 is in the lock); empty: the
# one pip uses anyway, whose build for Linux is CUDA's (it runs on a CPU, but is several gigabytes larger). The locks pin
# that build: torch 2.13.0 with the libraries of CUDA 13.0 (requirements-cuda.lock); the GPU's driver must know CUDA 13.
ARG DEVICE=cpu
ARG TORCH_INDEX=

RUN useradd -m -u 1000 user
USER user
ENV HOME=/home/user PATH=/home/user/env/bin:$PATH
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /home/user/app

# The libraries first: a change of the app does not install them again. Each file has the sum that is in its lock
# (tools/constraints.py), or the image is not built; nothing is installed that is in none.
COPY --chown=user requirements.lock requirements-torch.lock requirements-cuda.lock ./
RUN python3 -m venv /home/user/env && \
    case "$DEVICE" in cpu|cuda) ;; *) echo "DEVICE must be cpu or cuda, not '$DEVICE'." >&2; exit 1 ;; esac && \
    if [ "$DEVICE" = cuda ] && [ -n "$TORCH_INDEX" ]; then echo "TORCH_INDEX is for DEVICE=cpu." >&2; exit 1; fi && \
    if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir --no-deps --require-hashes --index-url "$TORCH_INDEX" -r requirements-torch.lock; \
    else \
        pip install --no-cache-dir --no-deps --require-hashes -r requirements-torch.lock -r requirements-cuda.lock; \
    fi && \
    pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock && \
    pip check

# `static` is a link, which not every way of uploading keeps.
COPY --chown=user . ./
RUN ln -sfn assets/static static

# Models and sentence vectors, while the network is there; from here on nobody asks the hub.
ENV OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
RUN python -m seqviz bake
ENV HF_HUB_OFFLINE=1 SEQVIZ_PRELOAD=minilm,smollm2 SEQVIZ_DEVICE=$DEVICE

EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --retries=3 \
    CMD python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:7860/_stcore/health', timeout=4)"
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.port=7860", "--server.address=0.0.0.0", "--server.headless=true"]
