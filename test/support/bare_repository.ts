/** Repositories that disappear with the test, and git as a user runs it, for tests without a server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  type Change,
  closeReaders,
  createRepository,
  type Person,
  type Repository,
  updateRefs,
  writeCommit,
} from '../../src/git/index.ts';
import { runProgram } from './small_process.ts';

export const someone: Person = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  date: new Date('2025-03-01T12:00:00Z'),
};

/** A folder that is removed after the test, with the readers of every repository. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-git-'));
  t.after(async () => {
    await closeReaders();
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

export async function temporaryRepository(
  t: TestContext,
  objectFormat: 'sha1' | 'sha256' = 'sha1',
): Promise<Repository> {
  return createRepository(join(await temporaryFolder(t), 'project.git'), { defaultBranch: 'main', objectFormat });
}

/** A change that puts a text at a path. */
export const put = (path: string, text: string | Buffer): Change => ({
  op: 'put',
  path,
  mode: '100644',
  content: Buffer.from(text),
});

/** Commits on top of a branch, which it creates when needed, and gives the id of the commit. */
export async function commitTo(
  repository: Repository,
  {
    branch = 'main',
    parent = null,
    message = 'A change',
    date = someone.date,
    author = someone,
    changes,
  }: {
    branch?: string;
    parent?: string | null;
    message?: string;
    date?: Date;
    author?: Person;
    changes: Change[];
  },
): Promise<string> {
  const { id } = await writeCommit(repository, {
    parent,
    message,
    author: { ...author, date },
    committer: { ...someone, date },
    changes,
  });
  await updateRefs(repository, [{ ref: `refs/heads/${branch}`, old: parent, new: id }]);
  return id;
}

/**
 * git as a user runs it, with a name and without the settings of this machine. Gives what it wrote on both outputs.
 * @throws Error when git fails
 */
export async function userGit(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram('git', args, { cwd, env: userEnvironment });
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout + stderr;
}

/** The same for a command that git must refuse; gives what it said. */
export async function refusedGit(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram('git', args, { cwd, env: userEnvironment });
  if (code === 0) throw new Error(`git ${args.join(' ')} was not refused: ${stdout}${stderr}`);
  return stderr;
}

const userEnvironment = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Grace Hopper',
  GIT_AUTHOR_EMAIL: 'grace@example.com',
  GIT_COMMITTER_NAME: 'Grace Hopper',
  GIT_COMMITTER_EMAIL: 'grace@example.com',
};
