/** PostgreSQL as an operator runs it beside Coppice. */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Account, programsFor } from '../../src/db/postgres_programs.ts';
import { folder, freePort } from './coppice.ts';

/** A PostgreSQL that the distribution brings, the newest there is; .ci/run installs one. Without any, the one in the box runs as if it were an operator's. */
async function programs(account: Account): Promise<string> {
  const asked = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim();
  const known = globSync(['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/opt/homebrew/opt/postgresql*/bin'])
    .sort()
    .reverse();
  const found = [asked, ...known].find((bin) => bin && existsSync(path.join(bin, 'initdb')));
  return found ?? path.dirname((await programsFor(account)).initdb);
}

/** An account under which PostgreSQL runs: it refuses to run as root. */
function accountHere(): Account {
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  return uid === 0 ? { uid: 65_534, gid: 65_534 } : { uid, gid };
}

/** A folder of that account. */
async function ownFolder({ uid, gid }: Account): Promise<string> {
  const top = await folder();
  chownSync(top, uid!, gid!);
  return top;
}

/** A server as an operator runs it beside Coppice. The role `ada` needs a password. */
export async function startPostgres(t: TestContext): Promise<string> {
  const account = accountHere();
  const bin = await programs(account);
  const top = await ownFolder(account);
  const cluster = path.join(top, 'cluster');
  const options = { ...account, cwd: '/', stdio: 'ignore' as const };
  execFileSync(
    path.join(bin, 'initdb'),
    ['-D', cluster, '-U', 'forge', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    options,
  );
  const access = path.join(cluster, 'pg_hba.conf');
  writeFileSync(access, `local all ada scram-sha-256\n${readFileSync(access, 'utf8')}`);
  const child = spawn(
    path.join(bin, 'postgres'),
    ['-D', cluster, '-k', top, '-c', 'listen_addresses=', '-c', 'fsync=off'],
    options,
  );
  t.after(() => child.kill('SIGQUIT'));
  const address = (database: string) => `postgresql:///${database}?host=${encodeURIComponent(top)}&user=forge`;
  await createDatabase(address('postgres'));
  t.diagnostic(`with PostgreSQL ${readFileSync(path.join(cluster, 'PG_VERSION'), 'utf8').trim()} from ${bin}`);
  return address('coppice');
}

export interface Pair {
  /** The address with both hosts. */
  address: string;
  /** Kills the primary. */
  kill(): Promise<void>;
  /** Makes the standby the primary. */
  promote(): Promise<unknown>;
}

/** A primary and a standby that has what is acknowledged, on ports of this machine. Undefined where the programs for a standby are missing. */
export async function startPair(t: TestContext): Promise<Pair | undefined> {
  const account = accountHere();
  const bin = await programs(account);
  if (!existsSync(path.join(bin, 'pg_basebackup'))) return undefined;
  const options = { ...account, cwd: '/', stdio: 'ignore' as const };
  const run = (program: string, ...words: string[]) => execFileSync(path.join(bin, program), words, options);
  const [top, ports] = [await ownFolder(account), [await freePort(), await freePort()] as const];
  const [first, second] = [path.join(top, 'first'), path.join(top, 'second')];
  const start = (cluster: string, port: number, ...more: string[]): ChildProcess => {
    const child = spawn(
      path.join(bin, 'postgres'),
      ['-D', cluster, '-k', top, '-p', String(port), '-c', 'fsync=off', ...more],
      options,
    );
    t.after(() => child.kill('SIGQUIT'));
    return child;
  };
  run('initdb', '-D', first, '-U', 'forge', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync');
  const primary = start(first, ports[0], '-c', 'wal_level=replica');
  const at = (port: number, database: string) => `postgresql://forge@127.0.0.1:${port}/${database}`;
  await createDatabase(at(ports[0], 'postgres'));
  run('pg_basebackup', '-D', second, '-d', at(ports[0], 'postgres'), '-R', '-c', 'fast', '--no-sync');
  start(second, ports[1]);
  await execute(
    at(ports[0], 'postgres'),
    "alter system set synchronous_standby_names = '*'",
    'select pg_reload_conf()',
  );
  while (
    (await numberOf(at(ports[0], 'postgres'), "select count(*) from pg_stat_replication where sync_state = 'sync'")) ===
    0
  )
    await sleep(50);
  return {
    address: `postgresql://forge@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/coppice`,
    kill: async () => {
      const ended = once(primary, 'exit');
      primary.kill('SIGKILL');
      await ended;
    },
    promote: () => promisify(execFile)(path.join(bin, 'pg_ctl'), ['promote', '-D', second], { ...account, cwd: '/' }),
  };
}

export const createDatabase = (address: string, name = 'coppice') => execute(address, `create database ${name}`);

async function numberOf(address: string, statement: string): Promise<number> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(statement);
  await client.end();
  return Number(Object.values(rows[0]!)[0]);
}

/** Runs statements, when the server is ready. */
export async function execute(address: string, ...statements: string[]): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: address });
    client.on('error', () => {});
    try {
      await client.connect();
      for (const statement of statements) await client.query(statement);
      return await client.end();
    } catch (error) {
      await client.end().catch(() => {});
      const { code } = error as NodeJS.ErrnoException;
      if (!['ECONNREFUSED', 'ENOENT', '57P03'].includes(code ?? '')) throw error;
    }
  }
}

/** What two servers on a database have in common. */
export const sharedBy = async (database: string) => ({
  COPPICE_DATABASE_URL: database,
  COPPICE_SECRET_KEY: 'the same on both servers, and no other',
  COPPICE_STORAGES: `default=${await folder()}`,
  COPPICE_BLOBS: await folder(),
});
