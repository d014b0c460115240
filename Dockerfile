# Groundwire's image: every process of the stack, as a user without rights, on a root file system that may be read-only.
#
#     docker build -t groundwire .
#     docker compose up                # see compose.yaml

FROM python:3.12.12-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir uv==0.13.9
# hnswlib is compiled for any processor of this kind, not for the one that builds.
ENV HNSWLIB_NO_NATIVE=1 UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /groundwire
COPY pyproject.toml README.md LICENSE ./
RUN uv sync --no-install-project
COPY . .
RUN uv sync --no-editable

FROM python:3.12.12-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin groundwire \
    && install -d -o groundwire -g groundwire -m 700 /var/lib/groundwire /index
COPY --from=build /groundwire/.venv /groundwire/.venv
ENV PATH=/groundwire/.venv/bin:$PATH GROUNDWIRE_STATE=/var/lib/groundwire GROUNDWIRE_INDEX_DIR=/index PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /tmp
ENTRYPOINT ["groundwire"]
CMD ["--help"]
