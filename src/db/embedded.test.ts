import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseError, type EmbeddedOptions, socketAddress, startEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { openCluster } from './postgres_cluster.ts';

const top = mkdtempSync(path.join(tmpdir(), 'coppice-embedded-'));
const data = path.join(top, 'data');
const exclusive: EmbeddedOptions = { use: 'exclusive', durable: false };
const shared: EmbeddedOptions = { use: 'shared', durable: false };
after(() => rmSync(top, { recursive: true, force: true }));

async function ask(connectionString: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return Object.values((await client.query(statement)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

const postmaster = () => Number(readFileSync(path.join(data, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

/** An orphan that has ended may stay in the process table, since not every first process of a container reads the result. */
function isRunning(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== '';
  } catch {
    return false;
  }
}

/** A postmaster removes its files a moment before it ends. */
async function hasEnded(pid: number): Promise<boolean> {
  const end = Date.now() + 5000;
  while (isRunning(pid) && Date.now() < end) await setImmediate();
  return !isRunning(pid);
}

/** Another process that starts the database, owns it and stays. */
async function anotherCoppice(): Promise<ChildProcess> {
  const program = `
    const { startEmbedded } = await import(${JSON.stringify(path.join(import.meta.dirname, 'embedded.ts'))});
    await startEmbedded(${JSON.stringify(data)}, { use: 'exclusive', durable: false });
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

async function killHard(child: ChildProcess) {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('the database is created, stops without leaving processes, and keeps its rows', async () => {
  mkdirSync(path.join(data, 'postgres.new-4194303'), { recursive: true }); // what a process killed while making it leaves
  const first = await startEmbedded(data, exclusive);
  await ask(first.connectionString, 'create table kept as select 42 as answer');
  const pid = postmaster();
  await first.stop();
  assert.ok(await hasEnded(pid));
  assert.deepEqual(readdirSync(data).sort(), ['postgres', 'postgres.log']);
  assert.equal(statSync(path.join(data, 'postgres')).mode & 0o077, 0);

  const second = await startEmbedded(data, exclusive);
  assert.equal(await ask(second.connectionString, 'select answer from kept'), 42);
  await second.stop();
});

test('while one server runs it, a second one is refused and a command uses it', async (t) => {
  const owner = await startEmbedded(data, exclusive);
  t.after(() => owner.stop());
  await assert.rejects(startEmbedded(data, exclusive), DatabaseError);

  const guest = await startEmbedded(data, shared);
  assert.equal(guest.isOwner, false);
  await guest.stop();
  assert.equal(await ask(owner.connectionString, 'select 1'), 1, 'the guest leaves the database running');
});

test('a command owns the database for its duration if no server runs it', async () => {
  const command = await startEmbedded(data, shared);
  assert.equal(command.isOwner, true);
  const pid = postmaster();
  await command.stop();
  assert.ok(await hasEnded(pid));
});

test('commands that start together all get the database', async () => {
  const all = await Promise.all([1, 2, 3].map(() => startEmbedded(data, shared)));
  assert.equal(all.filter((database) => database.isOwner).length, 1);
  const [first] = all;
  assert.equal(await ask(first!.connectionString, 'select 1'), 1);
  await Promise.all(all.map((database) => database.stop()));
});

test('a running database whose server was killed is taken over and stopped', async () => {
  await killHard(await anotherCoppice());
  const pid = postmaster();
  assert.ok(isRunning(pid), 'it has outlived its Coppice');

  const heir = await startEmbedded(data, exclusive);
  assert.equal(postmaster(), pid);
  await heir.stop();
  assert.ok(await hasEnded(pid));
});

test('a killed database is restarted with all committed rows', async (t) => {
  const restarted = Promise.withResolvers<string>();
  const owner = await startEmbedded(data, { ...exclusive, onRestart: restarted.resolve });
  t.after(() => owner.stop());
  await ask(owner.connectionString, 'insert into kept values (43)');
  const pid = postmaster();
  process.kill(pid, 'SIGKILL');
  await restarted.promise;
  assert.notEqual(postmaster(), pid);
  assert.equal(await ask(owner.connectionString, 'select max(answer) from kept'), 43);
});

test('no number is given twice when the database is killed after a migration that has used its sequence', async (t) => {
  const restarted = Promise.withResolvers<string>();
  const owner = await startEmbedded(data, { ...exclusive, onRestart: restarted.resolve });
  t.after(() => owner.stop());
  const folder = path.join(top, 'migrations');
  mkdirSync(folder);
  const pears =
    'create table pears (id bigint generated always as identity primary key); insert into pears default values;';
  writeFileSync(path.join(folder, '0001_pears.sql'), pears);
  await migrate(owner.connectionString, { folder });
  const add = 'insert into pears default values returning id';
  assert.equal(await ask(owner.connectionString, add), '2');
  process.kill(postmaster(), 'SIGKILL');
  await restarted.promise;
  assert.ok(Number(await ask(owner.connectionString, add)) > 2);
});

const computing = 'select count(*) from generate_series(1, 3000) a, generate_series(1, 1000000) b';

/** Starts a statement that ends in minutes. */
async function compute(connectionString: string): Promise<{ pid: number }> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {}); // the connection is lost on purpose
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  client.query(computing).catch(() => {});
  const { pid } = rows[0]!;
  while ((await ask(connectionString, `select state from pg_stat_activity where pid = ${pid}`)) !== 'active');
  return { pid };
}

test('a postmaster that is killed while a statement computes is restarted at once', async (t) => {
  const restarted = Promise.withResolvers<string>();
  const owner = await startEmbedded(data, { ...exclusive, onRestart: restarted.resolve, onLost: restarted.reject });
  t.after(() => owner.stop());
  const orphan = await compute(owner.connectionString);
  process.kill(postmaster(), 'SIGKILL');
  await restarted.promise;
  assert.ok(await hasEnded(orphan.pid));
  assert.equal(await ask(owner.connectionString, 'select max(answer) from kept'), 43);
});

test('a start ends what a killed Coppice and a killed postmaster have left computing', async (t) => {
  const child = await anotherCoppice();
  const orphan = await compute(socketAddress((await openCluster(data, false)).socketFolder, 'coppice'));
  await killHard(child);
  process.kill(postmaster(), 'SIGKILL');
  const heir = await startEmbedded(data, exclusive);
  t.after(() => heir.stop());
  assert.ok(await hasEnded(orphan.pid));
  assert.equal(await ask(heir.connectionString, 'select max(answer) from kept'), 43);
});

/** Whether a process waits to own the database. */
const isWanted = async ({ connectionString }: { connectionString: string }) =>
  (await ask(connectionString, "select 1 from pg_locks where locktype = 'advisory' and not granted")) !== undefined;

test('a server starts while a command owns the database, and takes it over when the command ends', async () => {
  const command = await startEmbedded(data, shared);
  const pid = postmaster();
  const server = await startEmbedded(data, exclusive);
  assert.deepEqual([command.isOwner, server.isOwner], [true, false]);
  await assert.rejects(startEmbedded(data, exclusive), DatabaseError, 'a server waits already');
  await command.stop();
  assert.equal(postmaster(), pid);
  assert.equal(await ask(server.connectionString, 'select 1'), 1);
  while (await isWanted(server));
  await server.stop();
  assert.ok(await hasEnded(pid));
});

test('a server that stops before the command that owns the database leaves it to the command', async () => {
  const command = await startEmbedded(data, shared);
  const pid = postmaster();
  const server = await startEmbedded(data, exclusive);
  while (!(await isWanted(command)));
  await server.stop();
  assert.equal(await ask(command.connectionString, 'select 1'), 1);
  while (await isWanted(command));
  await command.stop();
  assert.ok(await hasEnded(pid));
});

test('a command that used the database of a server does not revive it', async () => {
  const child = await anotherCoppice();
  const command = await startEmbedded(data, shared);
  const pid = postmaster();
  await killHard(child);
  process.kill(pid, 'SIGKILL');
  await assert.rejects(ask(command.connectionString, 'select 1'));
  await command.stop();
  assert.equal(postmaster(), pid, 'the file of the killed postmaster is still there');
  assert.ok(await hasEnded(pid));
});

test('a command that restarts a killed database first hands it back to its server', async () => {
  const restarted = Promise.withResolvers<string>();
  const server = await startEmbedded(data, { ...exclusive, onRestart: restarted.resolve });
  const killed = postmaster();
  process.kill(killed, 'SIGKILL');
  while (isRunning(killed));
  const command = await startEmbedded(data, shared);
  await restarted.promise;
  const pid = postmaster();
  while (command.isOwner && !(await isWanted(command)));
  await command.stop();
  assert.ok(isRunning(pid));
  assert.equal(await ask(server.connectionString, 'select 1'), 1);
  await server.stop();
  while (isRunning(pid));
});

test('a process id in the lock file that was reused by another program does not prevent a start', async (t) => {
  const child = await anotherCoppice();
  const pid = postmaster();
  await killHard(child);
  process.kill(pid, 'SIGKILL');
  const file = path.join(data, 'postgres/postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(String(pid), String(process.pid)));

  const heir = await startEmbedded(data, exclusive);
  t.after(() => heir.stop());
  assert.equal(await ask(heir.connectionString, 'select max(answer) from kept'), 43);
});

test('a server prepares the database for replication, and whoever starts it later starts it so', async () => {
  const command = await startEmbedded(data, shared);
  assert.equal(await ask(command.connectionString, 'show wal_level'), 'minimal');
  const source = { ...exclusive, replicates: true };
  await assert.rejects(startEmbedded(data, source), DatabaseError);
  await command.stop();
  const killed = await anotherCoppice();
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const server = await startEmbedded(data, source);
  assert.equal(await ask(server.connectionString, 'show wal_level'), 'logical');
  assert.match(String(await ask(server.connectionString, 'show max_slot_wal_keep_size')), /^\d+[MG]B$/);
  await ask(server.connectionString, `select pg_create_logical_replication_slot('kept', 'pgoutput')`);
  await server.stop();
  const later = await startEmbedded(data, shared);
  assert.equal(await ask(later.connectionString, 'show wal_level'), 'logical');
  assert.equal(await ask(later.connectionString, 'show max_logical_replication_workers'), '5');
  await later.stop();
});
