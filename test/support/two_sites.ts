/** Two sites of one installation: real servers with data folders, ports and databases of their own. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { signedRequest } from '../../src/areas/geo/link/index.ts';
import { startEmbedded } from '../../src/db/embedded.ts';
import { secretsFrom } from '../../src/secrets/index.ts';
import { dataFolder, freePort, type Server, serve } from '../operating/coppice.ts';
import { killDatabase } from './instance.ts';

const secretKey = 'the same on all sites of the installation';
const secondaryName = 'Lisbon';
/** Of everything that is waited for. */
const patience_ms = 60_000;

/** Waits until a question is answered with yes, or something else that counts as such. */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
  for (const giveUpAt = Date.now() + patience_ms; Date.now() < giveUpAt; await sleep(50)) {
    const answer = await ask();
    if (answer) return answer;
  }
  assert.fail(`${what}: not within ${patience_ms / 1000} seconds`);
}

export interface Site {
  environment: Record<string, string> & { COPPICE_URL: string; COPPICE_DATA: string; COPPICE_SSH_PORT: string };
  /** The running server; another one after a restart. */
  server: Server;
  /** Asks its database as superuser. */
  ask<Row extends object>(statement: string): Promise<Row[]>;
  /** SIGKILL for the server. */
  kill(): Promise<void>;
  killDatabase(): Promise<void>;
  /** Starts it again, with other variables where they are given. */
  restart(variables?: Record<string, string>): Promise<void>;
  /** What readiness says. */
  readiness(): Promise<{ status: number; message: string | undefined }>;
}

export interface Sites {
  primary: Site;
  secondary: Site;
  /** The id of the secondary's node. */
  node: number;
}

async function startSite(variables: Record<string, string>): Promise<Site> {
  const [data, port, sshPort] = [await dataFolder(), await freePort(), await freePort()];
  const environment = {
    COPPICE_DATA: data,
    COPPICE_PORT: String(port),
    COPPICE_SSH_PORT: String(sshPort),
    COPPICE_URL: `http://127.0.0.1:${port}`,
    COPPICE_SECRET_KEY: secretKey,
    ...variables,
  };
  const site: Site = {
    environment,
    server: await serve(environment),
    async ask<Row extends object>(statement: string): Promise<Row[]> {
      const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
      const client = new pg.Client({ connectionString });
      await client.connect();
      try {
        return (await client.query<Row>(statement)).rows;
      } finally {
        await client.end();
        await stop();
      }
    },
    async kill() {
      const { child } = site.server;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
    killDatabase: () => killDatabase(path.resolve(data)),
    async restart(given = {}) {
      site.server = await serve({ ...environment, ...given });
    },
    async readiness() {
      const answer = await fetch(`${environment.COPPICE_URL}/-/readiness`);
      const { message } = (await answer.json()) as { message?: string };
      return { status: answer.status, message };
    },
  };
  return site;
}

export const startPrimary = (): Promise<Site> =>
  startSite({ COPPICE_GEO_ROLE: 'primary', COPPICE_GEO_NODE_NAME: 'Porto' });

/** @param variables others for its environment */
export const startSecondary = (primary: Site, variables: Record<string, string> = {}): Promise<Site> =>
  startSite({
    COPPICE_GEO_ROLE: 'secondary',
    COPPICE_GEO_NODE_NAME: secondaryName,
    COPPICE_GEO_PRIMARY_URL: primary.environment.COPPICE_URL,
    ...variables,
  });

/**
 * Tells the primary of the secondary.
 * @returns the id of the node
 */
export async function addNode(primary: Site, secondary: Site): Promise<number> {
  const node = { name: secondaryName, url: secondary.environment.COPPICE_URL };
  const added = await primary.server.root.post('/geo_nodes', node);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return added.body.id;
}

/**
 * Asks the primary about itself, as a secondary does.
 * @param headers a signature
 * @returns the status, and why the signature is refused
 */
export async function handshake({ environment }: Site, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${environment.COPPICE_URL}/api/v4/geo/handshake`, { headers });
  const { reason = '' } = (await answer.json()) as { reason?: string };
  return `${answer.status} ${reason}`.trim();
}

/**
 * The headers of a signed handshake.
 * @param nodeName another than that of the secondary
 */
export async function signature({ environment }: Site, nodeName = secondaryName): Promise<Record<string, string>> {
  const geo = { role: 'secondary', nodeName, primaryUrl: environment.COPPICE_URL, databaseUrl: undefined } as const;
  const site = { secrets: secretsFrom(secretKey), geo };
  return (await signedRequest(site, { method: 'GET', path: '/handshake' })).headers;
}

export const isReady = async (site: Site): Promise<boolean> => (await site.readiness()).status === 200;
