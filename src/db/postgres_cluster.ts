/** A PostgreSQL cluster on this machine: creates it, starts its postmaster, and checks whether the postmaster is alive. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync, renameSync } from 'node:fs';
import { chown, lstat, mkdir, readdir, readFile, readlink, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { syncFolderNow } from '../foundation/durable_names.ts';
import { letWaitForProcessor } from '../foundation/scheduling.ts';
import { type Account, DatabaseError, type Programs, programsFor, unlessExists } from './postgres_programs.ts';

export interface Cluster {
  /** The cluster's own folder, absolute and without symbolic links. */
  folder: string;
  logFile: string;
  /** The folder of the socket. It is not below `data`, because the path of a socket is limited to 107 bytes. */
  socketFolder: string;
  account: Account;
  programs: Programs;
  /** Whether a commit must survive a power failure; not in tests. */
  durable: boolean;
}

/** PostgreSQL refuses to run as root. This is the uid of `no one` on most systems; it needs no entry in /etc/passwd. */
const nobody: Account = { uid: 65_534, gid: 65_534 };

/** The superuser and only role: every account that can reach the socket is trusted. */
export const role = 'coppice';

const megabyte = 1024 * 1024;

/** Written to postgresql.conf when the cluster is created. Operators can change them there. */
const initialSettings = {
  io_method: 'sync', // three processes less; what is read is mostly in memory
  io_max_concurrency: '4', // so that nothing is reserved for reads that never run at the same time
  max_pred_locks_per_transaction: '10', // no transaction is serializable
  jit: 'off', // statements are short, so compiling them would cost more than it saves
  shared_buffers: `${Math.round(Math.min(Math.max(totalmem() / 16 / megabyte, 128), 512))}MB`,
  random_page_cost: '1.1', // for an SSD, and for pages that are mostly in memory
  wal_buffers: '4MB', // enough for the sessions that commit at the same time; all of it is touched sooner or later
  max_connections: '100',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * Describes the cluster below `data`, which is created if there is none.
 * @param data the folder of everything embedded; created if it is missing
 * @throws DatabaseError when it cannot be used here
 */
export async function openCluster(data: string, durable: boolean): Promise<Cluster> {
  if (process.getuid === undefined) {
    throw new DatabaseError(
      'PostgreSQL in the box needs Linux or macOS. Set COPPICE_DATABASE_URL to use a server of your own.',
    );
  }
  await mkdir(data, { recursive: true, mode: 0o700 });
  const home = await realpath(data);
  const folder = path.join(home, 'postgres');
  const account = await accountFor(folder);
  const cluster: Cluster = {
    folder,
    logFile: path.join(home, 'postgres.log'),
    socketFolder: `/tmp/coppice-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`,
    account,
    programs: await programsFor(account),
    durable,
  };
  await makeOnce(cluster);
  return cluster;
}

/** Root uses the account that owns the cluster, so that a cluster created without root keeps working. */
async function accountFor(folder: string): Promise<Account> {
  const uid = process.getuid!();
  if (uid !== 0) return { uid, gid: process.getgid!() };
  const owner = await stat(folder).catch(() => undefined);
  return owner === undefined || owner.uid === 0 ? nobody : { uid: owner.uid, gid: owner.gid };
}

/** Created under another name and then renamed, so that a process killed meanwhile leaves nothing that looks like a cluster. */
async function makeOnce(cluster: Cluster): Promise<void> {
  const version = await readFile(path.join(cluster.folder, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version?.trim() === cluster.programs.major) return;
  if (version !== undefined) {
    throw new DatabaseError(
      `${cluster.folder} was made by PostgreSQL ${version.trim()}, but this Coppice brings ${cluster.programs.major}. ` +
        'Make a backup with the version of Coppice that made it, and restore it here.',
    );
  }
  const beside = `${cluster.folder}.new-${process.pid}`;
  await removeAbandoned(cluster);
  try {
    await mkdir(beside, { mode: 0o700 });
    await handOver(beside, cluster.account);
    await initialise(cluster, beside);
    await rename(beside, cluster.folder).catch(unlessExists);
  } finally {
    await rm(beside, { recursive: true, force: true }); // it failed, or another process was faster
  }
  syncFolderNow(path.dirname(cluster.folder));
}

async function handOver(folder: string, { uid, gid }: Account): Promise<void> {
  if (process.getuid!() === 0) await chown(folder, uid, gid);
}

async function initialise(cluster: Cluster, folder: string): Promise<void> {
  const settings = Object.entries(initialSettings).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const child = run(cluster, cluster.programs.initdb, folder, 'pipe', [
    ...['--username', role, '--auth-local=trust', '--auth-host=reject', '--encoding=UTF8'],
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    ...settings,
    ...(cluster.durable ? [] : ['--no-sync']),
  ]);
  const ended = new Promise<number | null>((resolve, reject) => child.on('exit', resolve).on('error', reject));
  const complaints = await text(child.stderr!);
  if ((await ended) !== 0)
    throw new DatabaseError(`PostgreSQL could not make its cluster in ${folder}: ${complaints.trim()}`);
}

/**
 * Starts a PostgreSQL program on a folder. If this process is root, the program runs as another account, which may be unable to reach the folder (anything
 * below /root). It therefore gets the folder as an open descriptor, which needs no path.
 */
function run(
  cluster: Cluster,
  program: string,
  folder: string,
  errors: number | 'pipe',
  options: string[],
): ChildProcess {
  const isRoot = process.getuid!() === 0;
  if (isRoot && process.platform !== 'linux')
    throw new DatabaseError('PostgreSQL in the box does not run as root here; use an ordinary account.');
  const descriptor = openSync(folder, 'r');
  try {
    return spawn(program, ['-D', isRoot ? '/proc/self/fd/3' : folder, ...options], {
      ...(isRoot ? cluster.account : {}),
      cwd: '/',
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'ignore', errors, descriptor],
      // A process group of its own: Ctrl-C reaches the whole group of the terminal, and must not stop the database before its users.
      detached: true,
    });
  } finally {
    closeSync(descriptor);
  }
}

/** Removes the remains of processes that were killed while they created a cluster. */
async function removeAbandoned(cluster: Cluster): Promise<void> {
  const home = path.dirname(cluster.folder);
  for (const name of await readdir(home)) {
    const pid = Number(/^postgres\.new-(\d+)$/.exec(name)?.[1]);
    if (Number.isNaN(pid) || (isAlive(pid) && pid !== process.pid)) continue;
    // An initdb that outlived its parent may still be writing; the next start removes its folder.
    await rm(path.join(home, name), { recursive: true, force: true }).catch(unlessExists);
  }
}

/**
 * Starts the postmaster, which outlives this process. Callers try its socket to see whether it has started.
 * @throws DatabaseError when the folder of the socket belongs to another account
 */
export async function startPostmaster(cluster: Cluster): Promise<ChildProcess> {
  await makeSocketFolder(cluster);
  await forgetReusedPid(cluster);
  await endOrphans(cluster);
  const log = await openLog(cluster.logFile);
  try {
    const child = run(cluster, cluster.programs.postgres, cluster.folder, log, [
      '-c',
      'listen_addresses=',
      '-c',
      'port=5432',
      '-c',
      'unix_socket_permissions=0700',
      ...['-c', `unix_socket_directories=${cluster.socketFolder}`],
      ...(cluster.durable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off']),
    ]);
    child.on('error', () => {}); // waiting for the socket reports it as an exit
    letWaitForProcessor(child.pid);
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

/** The socket needs no password, so its folder must be closed to all other accounts. */
async function makeSocketFolder({ socketFolder, account }: Cluster): Promise<void> {
  await mkdir(socketFolder, { mode: 0o700 }).catch(unlessExists);
  const found = await lstat(socketFolder);
  // A folder of root is one that another start has created but not handed over yet, perhaps because it was killed.
  const isOurs =
    found.isDirectory() && (found.mode & 0o077) === 0 && [account.uid, process.getuid!()].includes(found.uid);
  if (!isOurs) {
    throw new DatabaseError(
      `${socketFolder} must be a folder that only the database's account can enter; it is not. Remove it and start again.`,
    );
  }
  await handOver(socketFolder, account);
}

/** Removes the folder of the socket after the postmaster has ended, unless another one has started meanwhile. */
export async function removeSocketFolder({ socketFolder }: Cluster): Promise<void> {
  await rmdir(socketFolder).catch(() => {});
}

async function openLog(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && found.size > 10_000_000) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/**
 * PostgreSQL trusts a lock file whose process is alive. After a crash that number may belong to another program, or to a zombie that the first process of a
 * container does not reap. Without the files it still notices the children of a dead postmaster by the shared memory of the folder.
 */
async function forgetReusedPid(cluster: Cluster): Promise<void> {
  for (const file of [pidFile(cluster), path.join(cluster.socketFolder, '.s.PGSQL.5432.lock')]) {
    const pid = await recordedPid(file);
    if (pid === undefined || !isAlive(pid) || (await isPostmaster(cluster, pid))) continue;
    await rm(file, { force: true });
  }
}

/** The process number of the cluster's postmaster, if it is alive. */
export async function runningPostmaster(cluster: Cluster): Promise<number | undefined> {
  const pid = await recordedPid(pidFile(cluster));
  return pid !== undefined && (await isPostmaster(cluster, pid)) ? pid : undefined;
}

const pidFile = ({ folder }: Cluster) => path.join(folder, 'postmaster.pid');

async function recordedPid(file: string): Promise<number | undefined> {
  const content = await readFile(file, 'utf8').catch(() => '');
  return Number(content.split('\n')[0]) || undefined;
}

async function isPostmaster(cluster: Cluster, pid: number): Promise<boolean> {
  return process.platform === 'linux' ? await belongsTo(cluster, pid) : isAlive(pid);
}

/** PostgreSQL programs run in their data folder; a program that later got the same number does not. */
async function belongsTo({ folder }: Cluster, pid: number): Promise<boolean> {
  try {
    const program = await readlink(`/proc/${pid}/exe`);
    const [works, belongs] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(folder)]);
    return /\/postgres( \(deleted\))?$/.test(program) && works.ino === belongs.ino && works.dev === belongs.dev;
  } catch {
    return false; // it has ended, or belongs to another account
  }
}

/**
 * Kills the children of a killed postmaster. A busy child notices its death only at the end of its statement, and until then no other postmaster can start.
 * Killing is safe, because the next start recovers from the log anyway.
 */
async function endOrphans(cluster: Cluster): Promise<void> {
  if (process.platform !== 'linux') return; // on other systems the start is retried until the statement has ended
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger)) {
    if (!(await belongsTo(cluster, pid)) || !(await isOrphan(cluster, pid))) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {} // it has just ended
  }
}

/** A postmaster has the command line that it was started with, perhaps just now by another process; its children have a title. */
async function isOrphan(cluster: Cluster, pid: number): Promise<boolean> {
  const [title, status] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''),
  ]);
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
  return title.startsWith('postgres: ') && !(await belongsTo(cluster, parent));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
