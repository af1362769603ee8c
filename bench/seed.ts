/** What the benchmark works on: repositories made with fast-import and pushed, freeze periods made over the API. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Instance, token } from './instance.ts';

const run = promisify(execFile);
/** git without the user's configuration. */
const gitEnvironment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
};
export const git = (...args: string[]) => run('git', args, { env: gitEnvironment, maxBuffer: 1 << 30 });

/** Files of this size, so that no answer is the one before. */
export const fourKilobytes = Array.from({ length: 200 }, (_, index) => `files/${index}.txt`);

const person = 'Ada <ada@example.com>';

/** Feeds lines to fast-import. */
export async function fastImport(repository: string, lines: Iterable<string>): Promise<void> {
  const child = spawn('git', ['-C', repository, 'fast-import', '--quiet'], {
    env: gitEnvironment,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  for (const line of lines) if (!child.stdin.write(line)) await once(child.stdin, 'drain');
  child.stdin.end();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`fast-import ended with ${code}`);
}

/** One commit that writes one file. */
export const commitOf = (number: number, branch: string, file: string, content: string) => {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  return `commit refs/heads/${branch}\ncommitter ${person} ${1_700_000_000 + number} +0000\n${data(`Change ${number}`)}M 100644 inline ${file}\n${data(content)}`;
};

function* history(commits: number): Generator<string> {
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index}`);
  for (let number = 0; number < commits; number++) {
    if (number % 25 === 0) lines[(number / 25) % lines.length] = `line changed by commit ${number}`;
    const isBlamed = number % 25 === 0;
    yield commitOf(
      number,
      'main',
      isBlamed ? 'blamed.txt' : `src/folder${number % 40}/file${number % 2000}.txt`,
      isBlamed ? `${lines.join('\n')}\n` : `content ${number}\n`,
    );
  }
  for (const [index, file] of fourKilobytes.entries())
    yield commitOf(commits + index, 'main', file, `${index} `.padEnd(4096, 'x'));
  for (let branch = 0; branch < 1000; branch++)
    yield `reset refs/heads/many/branch-${branch}\nfrom refs/heads/main\n\n`;
}

export interface Seed {
  project: number;
  /** The bare repository in the data folder of the instance. */
  repository: string;
}

/** A project of 5,000 commits and 1,000 branches, and 20 freeze periods. */
export async function seed(instance: Instance, folder: string): Promise<Seed> {
  const created = await instance.api.post('/projects', { name: 'bench' });
  const project = created.body.id as number;
  const source = path.join(folder, 'source.git');
  await git('init', '--quiet', '--bare', source);
  await fastImport(source, history(5000));
  const remote = `${instance.url.replace('://', `://root:${token}@`)}/root/bench.git`;
  await git('-C', source, 'push', '--quiet', '--mirror', remote);
  for (let hour = 0; hour < 20; hour++)
    await instance.api.post(`/projects/${project}/freeze_periods`, {
      freeze_start: `0 ${hour} * * *`,
      freeze_end: `30 ${hour} * * *`,
    });
  const { stdout } = await run('find', [path.join(instance.data, 'repositories'), '-name', '*.git', '-maxdepth', '4']);
  return { project, repository: stdout.trim().split('\n')[0]! };
}
