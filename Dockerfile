# One image for all processes of the service; docker-compose.yml says which one a container runs.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json sdk/
RUN npm ci
COPY tsconfig.json ./
COPY actors actors
COPY browser-farm browser-farm
COPY core core
COPY deploy deploy
COPY http http
COPY provider provider
COPY schemas schemas
COPY start start
COPY tui tui
COPY wire wire
RUN npm run build

FROM node:20-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates chromium fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json sdk/
RUN npm ci --omit=dev && npm cache clean --force
COPY --from=build /app/dist dist

ENV NODE_ENV=production \
  NODE_OPTIONS="--enable-source-maps" \
  SERVICE_ENV=production \
  HOST=0.0.0.0 \
  PORT=4000 \
  HEALTH_PORT=4001 \
  CHROMIUM_PATH=/usr/bin/chromium

# Not root: the browser keeps its own sandbox then.
USER node
EXPOSE 4000 4001
CMD ["node", "dist/http/main.js"]
