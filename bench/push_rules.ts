/** Push rules: what they add to a push, and whether expressions of users keep others waiting. */
import path from 'node:path';
import { MatchingTimeout, matchEach } from '../src/expressions/index.ts';
import { expensive } from '../test/support/expressions.ts';
import { type Instance, startInstance, token } from './instance.ts';
import { inTurn } from './measure.ts';
import { fastImport, git } from './seed.ts';
import { ms, plainRow, type Row, timesRow } from './table.ts';

const pushes = 5;
const commits = 1_000;

/** All but signatures, which fast-import cannot write. */
const rule = {
  commit_message_regex: '^(Add|Fix) [A-Za-z0-9 ]+',
  commit_message_negative_regex: '(WIP|DO NOT MERGE)',
  branch_name_regex: '^push-[0-9]+$',
  deny_delete_tag: true,
  member_check: true,
  prevent_secrets: true,
  author_email_regex: '^[^@]+@[a-z.]+$',
  file_name_regex: '\\.(exe|dll|jar)$',
  max_file_size: 10,
  commit_committer_check: true,
  commit_committer_name_check: true,
  reject_non_dco_commits: true,
};

/** A root commit and others after it, of five new files each. */
function* history(turn: number, { name, email }: { name: string; email: string }): Generator<string> {
  const message = `Add files\n\nSigned-off-by: ${name} <${email}>\n`;
  for (let number = 0; number < commits; number++) {
    const when = `${1_700_000_000 + number} +0000`;
    yield `commit refs/heads/push-${turn}\ncommitter ${name} <${email}> ${when}\ndata ${message.length}\n${message}`;
    for (let file = 0; file < 5; file++) {
      const content = `${turn} ${number} ${file}\n`;
      yield `M 100644 inline src/folder${number % 40}/file${number}-${file}.txt\ndata ${content.length}\n${content}\n`;
    }
  }
}

async function pushBeside({ api, url }: Instance, folder: string): Promise<Row> {
  const { body: user } = await api.get('/user');
  const source = path.join(folder, 'rules.git');
  await git('init', '--quiet', '--bare', source);
  for (let turn = 0; turn < pushes; turn++) await fastImport(source, history(turn, user));
  const remoteOf = async (name: string) => {
    const { body } = await api.post('/projects', { name });
    return { id: body.id as number, remote: `${url.replace('://', `://root:${token}@`)}/root/${name}.git` };
  };
  const [ruled, free] = [await remoteOf('ruled'), await remoteOf('free')];
  const set = await api.post(`/projects/${ruled.id}/push_rule`, rule);
  if (set.status !== 201) throw new Error(`the rule was refused: ${JSON.stringify(set.body)}`);
  const pushTo = (remote: string) => (turn: number) => git('-C', source, 'push', '--quiet', remote, `push-${turn}`);
  const [product, limit] = await inTurn(pushes, pushTo(ruled.remote), pushTo(free.remote));
  return timesRow('push of 1,000 commits with all rules, beside one without', product!, limit!, '≤ 1.6×');
}

/** The longest time in which this process came to nothing else while each expression was matched. */
async function longestBlock_ms(): Promise<number> {
  const texts = ['a'.repeat(1_048_576), 'ab'.repeat(524_288)];
  // What compiling the thread's modules takes is not what is measured.
  await matchEach({ source: 'a' }, ['a'], 10_000);
  let last = performance.now();
  let longest_ms = 0;
  const timer = setInterval(() => {
    longest_ms = Math.max(longest_ms, performance.now() - last);
    last = performance.now();
  }, 1);
  for (const source of expensive)
    await matchEach({ source }, texts, 1_000).catch((error: unknown) => {
      if (!(error instanceof MatchingTimeout)) throw error;
    });
  clearInterval(timer);
  return longest_ms;
}

/** @param folder for the data of an instance and for the repository that is pushed */
export async function measurePushRules(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'push-rules'));
  try {
    const pushed = await pushBeside(instance, folder);
    const block_ms = await longestBlock_ms();
    return [pushed, plainRow('30 expensive expressions on 1 MiB: longest block', ms(block_ms), '≤ 50 ms')];
  } finally {
    await instance.stop();
  }
}
