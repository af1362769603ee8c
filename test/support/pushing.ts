/** A clone whose commits are made as a test describes them, and pushed over HTTP and SSH. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { noRule, type Rule } from '../../src/areas/code/push_rules/rules.ts';
import { type GitResult, gitClient, remoteOf } from './git.ts';
import { headOf } from './repository.ts';
import { sshFor, withKey } from './ssh.ts';
import type { Persona, World } from './world.ts';

type Transport = 'http' | 'ssh';
export const transports: readonly Transport[] = ['http', 'ssh'];

/** Name and address of somebody whom the server does not know. */
export const stranger: [string, string] = ['Eve', 'eve@elsewhere.test'];

/** A commit of one file. */
export interface NewCommit {
  message?: string;
  file?: string;
  content?: string | Buffer;
  /** Name and address; by default those of the persona's account. */
  author?: [string, string];
  committer?: [string, string];
  /** Whether it carries a signature, which nobody looks into. */
  signed?: boolean;
}

interface Clone {
  git(...args: string[]): Promise<string>;
  /** Adds a commit to the present branch; returns its id. */
  commit(commit?: NewCommit): Promise<string>;
  /** Goes back to `origin/main`, on a branch of another name. */
  begin(branch: string): Promise<void>;
  push(transport: Transport, ...refs: string[]): Promise<GitResult>;
  /** Commits from a text for `git fast-import`. */
  import(input: string): Promise<void>;
  /** Name and address of the persona. */
  person: [string, string];
}

const signature = 'gpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----\n';

/** A clone of the world's project by a persona, who can push over both transports. */
export async function cloneFor(here: World, persona: Persona): Promise<Clone> {
  const { url, project, people } = here;
  const [client, ssh] = [await gitClient(), await sshFor(here)];
  const { file } = await ssh.keyOf(persona);
  const { username, token } = people[persona];
  const person: [string, string] = [username.replaceAll('-', ' '), `${username}@example.com`];
  const remotes = { http: remoteOf(url, project.full_path, token), ssh: ssh.remote() };
  const git = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await client.run(args, { at: 'work' });
    assert.equal(code, 0, `git ${args[0]}: ${stderr}`);
    return stdout.trim();
  };
  const cloned = await client.run(['clone', '-q', remotes.http, 'work']);
  assert.equal(cloned.code, 0, cloned.stderr);
  let count = 0;
  return {
    git,
    person,
    async commit({
      message = 'Add a file',
      file: name = `file-${++count}.txt`,
      content = `${count}\n`,
      signed,
      ...people
    } = {}) {
      const target = path.join(client.folder, 'work', name);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, content);
      await git('add', '--', name);
      const [author, committer] = [people.author ?? person, people.committer ?? people.author ?? person];
      const env = {
        GIT_AUTHOR_NAME: author[0],
        GIT_AUTHOR_EMAIL: author[1],
        GIT_COMMITTER_NAME: committer[0],
        GIT_COMMITTER_EMAIL: committer[1],
      };
      const made = await client.run(['commit', '-q', '-m', message], { at: 'work', env });
      assert.equal(made.code, 0, made.stderr);
      if (signed) {
        const text = (await client.run(['cat-file', 'commit', 'HEAD'], { at: 'work' })).stdout;
        const input = text.replace(/^(committer .*\n)/m, `$1${signature}`);
        const written = await client.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { at: 'work', input });
        await git('reset', '-q', '--hard', written.stdout.trim());
      }
      return git('rev-parse', 'HEAD');
    },
    begin: async (branch) => void (await git('checkout', '-q', '-B', branch, 'origin/main', '--no-track')),
    push: (transport, ...refs) => {
      const settings = transport === 'ssh' ? withKey(file, ssh.hostKey) : [];
      return client.run([...settings, 'push', remotes[transport], ...refs], { at: 'work' });
    },
    import: async (input) => {
      const { code, stderr } = await client.run(['fast-import', '--quiet', '--force'], { at: 'work', input });
      assert.equal(code, 0, stderr);
    },
  };
}

/** The lines of ours that git shows, without what it puts before them. */
export const toldBy = ({ stderr }: GitResult): string[] =>
  [...stderr.matchAll(/^remote: GitLab: (.*?) *$/gm)].map(([, text]) => text!);

/** Puts a rule in the place of the one that the project has. */
export async function setRule({ as, project }: World, fields: Partial<Rule>): Promise<void> {
  const url = `/projects/${project.id}/push_rule`;
  const set = await as('maintainer').put(url, { ...noRule, ...fields });
  if (set.status === 404) assert.equal((await as('maintainer').post(url, { ...noRule, ...fields })).status, 201);
  else assert.equal(set.status, 200, JSON.stringify(set.body));
}

/** Pushes a commit on a branch of its own, and says what happened to the branch. */
export async function tryCommit(
  here: World,
  clone: Clone,
  transport: Transport,
  { branch = `try-${transport}`, ...commit }: NewCommit & { branch?: string },
) {
  await clone.begin(branch);
  await clone.commit(commit);
  const before = await headOf(here, branch);
  const result = await clone.push(transport, `+${branch}`);
  const after = await headOf(here, branch);
  return { code: result.code, told: toldBy(result), moved: before !== after, stderr: result.stderr };
}
