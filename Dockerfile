# The image holds the program; everything that lasts is in the one volume, /data. docs/operating.md has the line that runs it.
FROM node:24-bookworm-slim

RUN apt-get update \
 && apt-get install --yes --no-install-recommends git ca-certificates \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/coppice
COPY package.json package-lock.json .npmrc ./
COPY scripts/link_node.mjs scripts/
RUN npm ci --omit=dev && npm cache clean --force
COPY . .
RUN node_modules/.bin/node scripts/build.ts

# The account `node` of the base image; PostgreSQL in the box runs as the same.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
# The Node that package-lock.json pins; the one of the base image only installs it.
ENV PATH=/opt/coppice/node_modules/.bin:$PATH
ENV COPPICE_DATA=/data COPPICE_HOST=0.0.0.0 COPPICE_PORT=3000 MALLOC_ARENA_MAX=1
EXPOSE 3000 2222

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.COPPICE_PORT}/-/readiness`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# Not through npm, which would stand between the signal to stop and the server.
ENTRYPOINT ["node", "build/main.js"]
CMD ["serve"]
