# One image for every part of a farm: the command `farm` and its arguments. Every version in it comes from the lock.
FROM python:3.12-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m venv /opt/farm
COPY pyproject.toml requirements.lock README.md LICENSE farm.py ./
COPY agent_client agent_client
COPY evals evals
COPY registry registry
COPY rl_training rl_training
COPY servers servers
COPY synth synth
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/farm/bin/pip install -c requirements.lock '.[postgres]' && /opt/farm/bin/pip check

FROM python:3.12-slim
RUN useradd --uid 10001 --user-group --no-log-init --no-create-home --home-dir /var/lib/farm \
        --shell /usr/sbin/nologin farm \
    && install --directory --owner farm --group farm --mode 700 /var/lib/farm
COPY --from=build /opt/farm /opt/farm
ENV PATH=/opt/farm/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 FARM_STATE=/var/lib/farm
# Nothing runs as root: guests share the farm's uid today. Root, with SETUID and SETGID, is needed only once the farm
# gives each guest a uid of its own; this line and the capabilities in docker-compose.yml then change together.
USER 10001:10001
WORKDIR /var/lib/farm
EXPOSE 8700
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import json, urllib.request as r; raise SystemExit(json.load(r.urlopen('http://127.0.0.1:8700/v1/health', timeout=4))['status'] != 'ok')"]
ENTRYPOINT ["farm"]
CMD ["up", "--host", "0.0.0.0"]
