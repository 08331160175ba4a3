# One image for the hub and for each server: `start` runs the hub, `serve NAME` one server alone.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
ENV NODE_ENV=production \
    SUPERBLOOM_HOST=0.0.0.0 \
    SUPERBLOOM_DATA=/data \
    SUPERBLOOM_AGENTS=/data/agents
COPY --from=build /app/package.json /app/LICENSE /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/bin /app/bin
COPY --from=build /app/agents /app/agents
COPY --from=build /app/dist /app/dist
RUN ln -s /app/bin/superbloom.js /usr/local/bin/superbloom && install -d -o node -g node -m 0700 /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "const { url, certificate } = JSON.parse(fs.readFileSync(process.env.SUPERBLOOM_DATA + '/hub.json')); if (certificate) process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(url + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["superbloom"]
CMD ["start"]
