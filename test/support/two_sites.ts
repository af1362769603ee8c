/** Two sites of one installation: real servers with data folders, ports and databases of their own. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../../src/db/embedded.ts';
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
  environment: Record<string, string> & { COPPICE_URL: string; COPPICE_DATA: string };
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

async function startSite(variables: Record<string, string>): Promise<Site> {
  const [data, port] = [await dataFolder(), await freePort()];
  const environment = {
    COPPICE_DATA: data,
    COPPICE_PORT: String(port),
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

export const startPrimary = (): Promise<Site> => startSite({ COPPICE_GEO_ROLE: 'primary', COPPICE_GEO_NODE_NAME: 'Porto' });

/** @param variables besides those of every secondary */
export const startSecondary = (primary: Site, variables: Record<string, string> = {}): Promise<Site> =>
  startSite({
    COPPICE_GEO_ROLE: 'secondary',
    COPPICE_GEO_NODE_NAME: secondaryName,
    COPPICE_GEO_PRIMARY_URL: primary.environment.COPPICE_URL,
    ...variables,
  });

/** Tells the primary of the secondary. */
export async function addNode(primary: Site): Promise<void> {
  const added = await primary.server.root.post('/geo_nodes', { name: secondaryName, url: 'https://lisbon.example' });
  assert.equal(added.status, 201, JSON.stringify(added.body));
}

export const isReady = async (site: Site): Promise<boolean> => (await site.readiness()).status === 200;
