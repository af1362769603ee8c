/** Creating and deleting repositories on disk. */
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GitError, git } from './command.ts';
import { pastStaleLocks } from './locks.ts';
import { closeReaders } from './readers.ts';
import { isValidBranchName } from './ref_names.ts';
import type { ObjectFormat, Repository } from './types.ts';

/** Settings that a repository on a server needs and that differ from git's defaults. */
const settings = `[gc]
	auto = 0
[maintenance]
	auto = false
[core]
	# What was confirmed to a client must survive a power failure.
	fsync = committed,reference
	logAllRefUpdates = false
	filesRefLockTimeout = 1000
	packedRefsTimeout = 5000
	# Looking for likeness between large files costs minutes of a clone and finds nothing.
	bigFileThreshold = 50m
	commitGraph = true
	multiPackIndex = true
[receive]
	autogc = false
	# One pack is two waits for the disk, its objects one by one are as many as there are.
	unpackLimit = 20
	advertisePushOptions = true
	denyDeleteCurrent = ignore
	# Objects that git's own clients would refuse to make: folders named .git, broken trees, names with tricks.
	fsckObjects = true
[receive "fsck"]
	# Old tools wrote these, and many honest histories hold them.
	badTimezone = ignore
	missingSpaceBeforeDate = ignore
	zeroPaddedFilemode = ignore
[uploadpack]
	# A partial clone asks for blobs by id.
	allowFilter = true
	allowAnySHA1InWant = true
[transfer]
	# Ours alone: neither shown to clients nor to be pushed.
	hideRefs = refs/coppice
[repack]
	writeBitmaps = true
	useDeltaBaseOffset = true
[pack]
	writeReverseIndex = true
	threads = 1
`;

/**
 * Creates an empty bare repository at an absolute path whose parent folders may be missing. It appears complete or not at all.
 * Throws when something is there already (`EEXIST`, `ENOTEMPTY`) and when the branch name is invalid.
 */
export async function createRepository(
  path: string,
  { defaultBranch, objectFormat = 'sha1' }: { defaultBranch: string; objectFormat?: ObjectFormat },
): Promise<Repository> {
  if (!isValidBranchName(defaultBranch)) throw new GitError('init', 128, `not a branch name: ${defaultBranch}`);
  const parent = dirname(path);
  await mkdir(parent, { recursive: true });
  const draft = join(parent, `.new-${randomUUID()}`);
  try {
    await initialise(draft, defaultBranch, objectFormat);
    for (const name of ['config', 'HEAD', '.']) await syncToDisk(join(draft, name));
    await rename(draft, path);
    await syncToDisk(parent);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  return { path };
}

/** What `git init` writes into `config`, which depends only on its version and the object format, so that one run for each serves all repositories. */
const initialConfig = new Map<ObjectFormat, Buffer>();

async function initialise(path: string, defaultBranch: string, objectFormat: ObjectFormat): Promise<void> {
  const config = initialConfig.get(objectFormat);
  if (config === undefined) {
    await git(
      undefined,
      'init',
      ['--quiet', '--bare', '--template=', `--initial-branch=${defaultBranch}`, `--object-format=${objectFormat}`],
      [path],
    );
    const written = await readFile(join(path, 'config'));
    // Refs that are not stored as files would need further files.
    if (!written.includes('refstorage')) initialConfig.set(objectFormat, written);
  } else {
    for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
      await mkdir(join(path, folder), { recursive: true });
    await writeFile(join(path, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`);
    await writeFile(join(path, 'config'), config);
  }
  await appendFile(join(path, 'config'), settings);
}

async function syncToDisk(path: string): Promise<void> {
  await using file = await open(path, 'r');
  await file.sync();
}

/** Deletes a repository, which disappears at once even if deleting its files takes long. A missing one is no error, and the next call finishes an interrupted deletion. */
export async function deleteRepository(repository: Repository): Promise<void> {
  const doomed = join(dirname(repository.path), `.deleted-${basename(repository.path)}`);
  await closeReaders(repository);
  await rm(doomed, { recursive: true, force: true });
  try {
    await rename(repository.path, doomed);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  await rm(doomed, { recursive: true, force: true });
}

/** Points `HEAD` to a branch, which need not exist. Throws `GitError` when the name is invalid. */
export async function setHead(repository: Repository, branch: string): Promise<void> {
  if (!isValidBranchName(branch)) throw new GitError('symbolic-ref', 128, `not a branch name: ${branch}`);
  await pastStaleLocks(repository, () => git(repository, 'symbolic-ref', [], ['HEAD', `refs/heads/${branch}`]));
}

/** The same for a repository with a damaged `HEAD`, which git does not recognise as a repository. */
export async function replaceHead(repository: Repository, branch: string): Promise<void> {
  const head = join(repository.path, 'HEAD');
  const draft = join(repository.path, `.new-${randomUUID()}`);
  await writeFile(draft, `ref: refs/heads/${branch}\n`);
  await syncToDisk(draft);
  await rename(draft, head);
  await syncToDisk(repository.path);
}

/** Whether the file `config` of a repository exists and has its essential settings; after a power failure it may be empty. */
export async function hasConfig(repository: Repository): Promise<boolean> {
  const config = await readFile(join(repository.path, 'config'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return config.includes('repositoryformatversion');
}

/** The object format of a repository, according to its file `config`. */
export async function objectFormatOf(repository: Repository): Promise<ObjectFormat> {
  const config = await readFile(join(repository.path, 'config'), 'utf8');
  return /objectformat\s*=\s*sha256/i.test(config) ? 'sha256' : 'sha1';
}

/** Writes the `config` of a new repository. */
export async function replaceConfig(repository: Repository, objectFormat: ObjectFormat): Promise<void> {
  const draft = join(dirname(repository.path), `.new-${randomUUID()}`);
  try {
    await initialise(draft, 'main', objectFormat);
    await syncToDisk(join(draft, 'config'));
    await rename(join(draft, 'config'), join(repository.path, 'config'));
    await syncToDisk(repository.path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
