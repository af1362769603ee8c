/** The real git program as a client of the server under test: its own home, no settings of the machine, and no password prompt. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { addressesInText, checkAddresses } from './dead_links.ts';
import { atFileEnd } from './file_end.ts';
import { type ProgramResult, runProgram } from './small_process.ts';

export type GitResult = ProgramResult;

export interface GitClient {
  /** A folder of this client, for work trees. */
  folder: string;
  /** Runs git in `folder`, or in `at` below it. Never throws for what git says. */
  run(
    args: readonly string[],
    options?: { at?: string; env?: Record<string, string>; input?: string },
  ): Promise<GitResult>;
}

/** A new client with an empty folder, removed when the test file ends. */
export async function gitClient(): Promise<GitClient> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-git-'));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  const own = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ada Lovelace',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada Lovelace',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
  const run: GitClient['run'] = async (args, { at = '.', env = {}, input } = {}) => {
    const result = await runProgram('git', args, { cwd: path.join(folder, at), env: { ...own, ...env }, input });
    checkAddresses(addressesInText(result.stderr), `What git ${args[0]} prints`);
    return result;
  };
  return { folder, run };
}

/**
 * The address of a repository with credentials in it.
 * @param token left out, none
 */
export function remoteOf(url: string, full_path: string, token?: string): string {
  const remote = new URL(`${url}/${full_path}.git`);
  if (token !== undefined) Object.assign(remote, { username: 'git', password: token });
  return remote.href;
}
