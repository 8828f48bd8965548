# One image for every part of a farm: the command `farm` and its arguments. Every version in it comes from the lock.
FROM python:3.12-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m venv /opt/farm
COPY pyproject.toml requirements.lock README.md LICENSE envfarm.py envfarm_verifiers.py farm.py ./
COPY agent_client agent_client
COPY bench bench
COPY evals evals
COPY registry registry
COPY rl_training rl_training
COPY servers servers
COPY synth synth
RUN --mount=type=cache,target=/root/.cache/pip \
    /opt/farm/bin/pip install -c requirements.lock '.[postgres]' && /opt/farm/bin/pip check

FROM python:3.12-slim
RUN install --directory --mode 700 /var/lib/farm
COPY --from=build /opt/farm /opt/farm
ENV PATH=/opt/farm/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 FARM_STATE=/var/lib/farm
# The farm runs as root for one reason: so that each guest, which runs untrusted code, gets a user id of its own. It needs
# the capabilities SETUID and SETGID for that and KILL to end guests; docker-compose.yml takes all others away.
WORKDIR /var/lib/farm
EXPOSE 8700
HEALTHCHECK --interval=10s --timeout=10s --start-period=2m --retries=3 \
    CMD ["python", "-c", "import json, urllib.request as r; raise SystemExit(json.load(r.urlopen('http://127.0.0.1:8700/v1/health', timeout=4))['status'] != 'ok')"]
ENTRYPOINT ["farm"]
CMD ["up", "--host", "0.0.0.0"]
