/** A PostgreSQL for tests and generators: in a temporary folder, careless about the loss of power, gone afterwards. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { startEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { copyCluster, preparedData } from './prepared_data.ts';

const run = promisify(execFile);

export interface TestServer {
  /** Connection string of the migrated database that others are cloned from. No connection to it may stay open. */
  template: string;
  /** For everything else that this run writes, at paths that other accounts can reach. It is removed with the server. */
  files: string;
  stop(): Promise<void>;
}

/** In the folder of a run: the data folder of its server. */
const ownData = 'server';

/**
 * Starts a server with one migrated database.
 * @param prepares whether there is also to be a data folder for `prepareData`
 */
export async function startTestServer({ prepares = false } = {}): Promise<TestServer> {
  await removeAbandoned();
  const folder = await mkdtemp(path.join(tmpdir(), `coppice-test-${process.pid}-`));
  const files = path.join(folder, 'files');
  await mkdir(files);
  for (const each of [folder, files]) await chmod(each, 0o711);
  const data = path.join(folder, ownData);
  let database = await startEmbedded(data, { use: 'exclusive', durable: false });
  let stopping: Promise<void> | undefined;
  const stopAll = async () => {
    await database.stop();
    await unmountBelow(folder);
    // What a process that is just ending has still written is gone the next time.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const stop = () => (stopping ??= stopAll());
  try {
    await migrate(database.connectionString);
    if (prepares) {
      await database.stop();
      await copyCluster(data, path.join(files, preparedData));
      database = await startEmbedded(data, { use: 'exclusive', durable: false });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { template: database.connectionString, files, stop };
}

/**
 * A copy of the template, for one test file.
 * @param template connection string of a migrated database
 * @returns the copy's connection string, and `drop`, which also ends what is still connected to it
 */
export async function cloneDatabase(template: string): Promise<{ connectionString: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Half the work of the usual strategy, which logs every page for the case of a crash.
  await administer(template, `create database ${name} template ${databaseOf(template)} strategy file_copy`);
  const connectionString = siblingOf(template, name);
  return { connectionString, drop: () => administer(template, `drop database if exists ${name} with (force)`) };
}

const databaseOf = (connectionString: string) => new URL(connectionString).pathname.slice(1);

function siblingOf(connectionString: string, database: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${database}`;
  return url.href;
}

async function administer(template: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: siblingOf(template, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** What test runs that were killed have left: their servers outlive them. A server that one of their tests started ends when it misses its folder. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^coppice-test-(\d+)-/.exec(name)?.[1]);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const folder = path.join(tmpdir(), name);
    const found = await stat(folder).catch(() => undefined);
    if (found === undefined || found.uid !== process.getuid?.()) continue;
    // Taking the server over is the way to stop it. Another run may be doing the same right now.
    const taken = await startEmbedded(path.join(folder, ownData), { use: 'exclusive', durable: false }).catch(
      () => undefined,
    );
    await taken?.stop();
    await unmountBelow(folder);
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** Takes away the file systems that a stopped test has mounted in its folders, the last one first. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const points = mounts.split('\n').flatMap((line) => line.split(' ', 2)[1] ?? []);
  for (const point of points.filter((each) => each.startsWith(`${folder}/`)).reverse())
    await run('umount', ['--lazy', point]).catch(() => {});
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
