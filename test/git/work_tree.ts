/** What the tests of this folder share: a person with git on one side, the project in the server on the other. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type GitClient, type GitResult, gitClient, remoteOf } from '../support/git.ts';
import type { Persona, World } from '../support/world.ts';

/** A clone that a person works in. */
export interface WorkTree {
  folder: string;
  /** Runs git in the clone, which must succeed. Gives what it wrote to standard output, without the last line end. */
  git(...args: string[]): Promise<string>;
  /** Runs git in the clone, which must fail. Gives what the person reads. */
  refused(...args: string[]): Promise<string>;
  /** Commits a file and gives the id of the commit. */
  commit(name: string, content: string | Buffer): Promise<string>;
}

/** The address of the project of a world for a persona, whose token is in it. */
export const remoteFor = ({ url, project, people }: World, persona: Persona): string =>
  remoteOf(url, project.full_path, people[persona].token);

const succeeded = ({ code, stdout, stderr }: GitResult): string => {
  assert.equal(code, 0, stderr);
  return stdout.replace(/\n$/, '');
};
const failed = ({ code, stdout, stderr }: GitResult): string => {
  assert.notEqual(code, 0, `git was not refused: ${stdout}${stderr}`);
  return stderr;
};

function workTree({ folder, run }: GitClient, name: string): WorkTree {
  const git: WorkTree['git'] = async (...args) => succeeded(await run(args, { at: name }));
  return {
    folder: path.join(folder, name),
    git,
    refused: async (...args) => failed(await run(args, { at: name })),
    async commit(file, content) {
      const place = path.join(folder, name, file);
      await mkdir(path.dirname(place), { recursive: true });
      await writeFile(place, content);
      await git('add', '--', file);
      await git('commit', '-q', '-m', `Change ${file}`);
      return git('rev-parse', 'HEAD');
    },
  };
}

/** Clones a remote with a git of its own. */
export async function clone(remote: string, ...options: string[]): Promise<WorkTree> {
  const client = await gitClient();
  succeeded(await client.run(['clone', '-q', ...options, remote, 'work']));
  return workTree(client, 'work');
}

/** Clones what must be refused; gives what the person reads. */
export async function refusedClone(remote: string, ...options: string[]): Promise<string> {
  return failed(await (await gitClient()).run(['clone', ...options, remote, 'work']));
}

/** A repository of a person's own with nothing in it, that has the remote as its `origin`. */
export async function begin(remote: string, branch: string): Promise<WorkTree> {
  const client = await gitClient();
  succeeded(await client.run(['init', '-q', '-b', branch, 'work']));
  const work = workTree(client, 'work');
  await work.git('remote', 'add', 'origin', remote);
  return work;
}
